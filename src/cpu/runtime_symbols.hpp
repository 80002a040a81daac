// The functions of the runtime that kernels call by name: what the compiled code of a pipeline is linked to. Each file
// of native bodies adds its own; all are listed in runtime_symbols.cpp.
//
// The address of a group function (metal.simd_*, metal.quad_*) is that of its reference::Combine; everything else has
// the C signature of its builtin.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

namespace metalloid::cpu {

class RuntimeSymbols {
 public:
  static const RuntimeSymbols& all();

  template <class Result, class... Parameters>
  void add(std::string name, Result (*body)(Parameters...)) {
    addresses_[std::move(name)] = reinterpret_cast<void*>(body);
  }

  // Null if there is no such function.
  void* find(std::string_view name) const {
    auto entry = addresses_.find(std::string(name));
    return entry == addresses_.end() ? nullptr : entry->second;
  }

  const std::unordered_map<std::string, void*>& addresses() const { return addresses_; }

 private:
  std::unordered_map<std::string, void*> addresses_;
};

void add_number_conversions(RuntimeSymbols& symbols);    // number_conversions.cpp: of half and bfloat
void add_reference_functions(RuntimeSymbols& symbols);   // reference/runtime.cpp: barriers, meetings, turns
void add_group_functions(RuntimeSymbols& symbols);       // reference/group_functions.cpp: the Combine of each
void add_vector_functions(RuntimeSymbols& symbols);      // vector/runtime.cpp: barriers, turns
void add_log_function(RuntimeSymbols& symbols);          // os_log.cpp
void add_texture_functions(RuntimeSymbols& symbols);     // textures: for all lanes of a group
void add_validation_functions(RuntimeSymbols& symbols);  // validation/runtime.cpp

}  // namespace metalloid::cpu

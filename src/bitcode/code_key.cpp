#include "bitcode/code_key.hpp"

#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>
#include <xxhash.h>

#include "builtins/builtins.hpp"

namespace metalloid::bitcode {

namespace {

Status add_to_key(cache::CacheKey& key, const device::SpecialisedFunction& function) {
  auto code = function.library->code(function.name);
  if (!code) return Error{code.error()};
  const auto& bytes = (*code)->bitcode;
  key.add(function.name).add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  for (const device::ConstantValue& constant : function.constants)
    key.add(std::to_string(constant.index))
        .add({reinterpret_cast<const char*>(constant.bytes.data()), constant.bytes.size()});
  return success();
}

// What the entry is made from besides the code: attributes of parameters are not in it.
void add_to_key(cache::CacheKey& key, const Function& kernel, std::span<const device::Slot> slots) {
  std::string entry;
  for (const Parameter& parameter : kernel.parameters)
    entry += fmt::format("{} {};", static_cast<int>(parameter.kind), static_cast<int>(parameter.grid_value));
  for (const device::Slot& slot : slots) entry += fmt::format("{},", slot.parameter);
  key.add(entry);
}

}  // namespace

Result<cache::CacheKey> key_of(std::string_view compiler, const device::PipelineRequest& request,
                               std::span<const device::Slot> slots) {
  static const std::string builtins_hash = [] {
    const auto bytes = builtins::bitcode();
    return fmt::format("{:016x}", XXH3_64bits(bytes.data(), bytes.size()));
  }();
  cache::CacheKey key(compiler);
  key.add(LLVM_VERSION_STRING).add(builtins_hash);
  if (auto added = add_to_key(key, request.kernel); !added) return Error{added.error()};
  add_to_key(key, *request.kernel.library->find(request.kernel.name), slots);
  for (const device::SpecialisedFunction& function : request.linked)
    if (auto added = add_to_key(key, function); !added) return Error{added.error()};
  return key;
}

}  // namespace metalloid::bitcode

// Object code in memory, ready to be called; its memory is given back when the object goes.
#pragma once

#include <cstdint>
#include <memory>
#include <metalloid/result.hpp>
#include <string>
#include <vector>

#include "cpu/object_code.hpp"
#include "cpu/thread_state.hpp"

namespace llvm::orc {
class JITDylib;
class LLJIT;
}  // namespace llvm::orc

namespace metalloid::cpu {

namespace validation {
struct SiteTable;
}

// Links object code to the runtime. One for all pipelines of a device, kept alive by them.
class Loader {
 public:
  static Result<std::shared_ptr<Loader>> make();
  Loader();
  ~Loader();

 private:
  friend class LoadedCode;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  llvm::orc::JITDylib* runtime_ = nullptr;
};

class LoadedCode {
 public:
  static Result<std::unique_ptr<LoadedCode>> load(std::shared_ptr<Loader> loader, const std::string& object,
                                                  size_t visible_functions, bool validated);
  ~LoadedCode();

  Entry entry = nullptr;
  const ObjectLayout* layout = nullptr;
  const validation::SiteTable* sites = nullptr;  // if it was compiled for shader validation
  std::vector<uint64_t> visible_functions;       // addresses, in the order of the request

 private:
  LoadedCode(std::shared_ptr<Loader> loader, llvm::orc::JITDylib& library);
  std::shared_ptr<Loader> loader_;
  llvm::orc::JITDylib& library_;
};

}  // namespace metalloid::cpu

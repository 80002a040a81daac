#include "bitcode/builtin_bodies.hpp"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/Error.h>
#include <llvm/Transforms/IPO/Internalize.h>

#include "builtins/builtins.hpp"

namespace metalloid::bitcode {

namespace {

// A body is compiled as part of the kernel that calls it, for the kernel's processor.
void forget_origin(llvm::Function& function) {
  for (const char* attribute : {"target-cpu", "target-features", "tune-cpu", "frame-pointer"})
    function.removeFnAttr(attribute);
}

}  // namespace

Status link_builtin_bodies(llvm::Module& module) {
  const auto bytes = builtins::bitcode();
  const llvm::MemoryBufferRef buffer(llvm::StringRef(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
                                     "builtins");
  auto bodies = llvm::getLazyBitcodeModule(buffer, module.getContext());
  if (!bodies) return Error{"internal error: the builtins cannot be read: " + llvm::toString(bodies.takeError())};
  (*bodies)->setTargetTriple(module.getTargetTriple());
  (*bodies)->setDataLayout(module.getDataLayout());
  const bool failed = llvm::Linker::linkModules(module, std::move(*bodies), llvm::Linker::LinkOnlyNeeded,
                                                [](llvm::Module& linked, const llvm::StringSet<>& added) {
                                                  llvm::internalizeModule(linked, [&](const llvm::GlobalValue& value) {
                                                    return !value.hasName() || !added.contains(value.getName());
                                                  });
                                                  for (llvm::Function& function : linked)
                                                    if (added.contains(function.getName())) forget_origin(function);
                                                });
  if (failed) return Error{"internal error: the builtins could not be linked"};
  return success();
}

bool accesses_texture(llvm::StringRef name) {
  if (!name.starts_with("metal.texture_")) return false;
  for (llvm::StringRef word : {"_read.", "_write.", "_sample", "_gather", "_atomic"})
    if (name.contains(word)) return true;
  return false;
}

}  // namespace metalloid::bitcode

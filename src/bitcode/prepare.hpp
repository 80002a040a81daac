// A module made ready for a device: the kernel and the visible functions linked to it, with their function constants
// folded, the bodies of builtins linked in, loads of constant memory marked as such, and C's calling convention
// throughout. What is left for the device are threadgroup variables (address space 3), the builtins that are its own, and
// the kernel's parameters.
#pragma once

#include <llvm/IR/Module.h>

#include <memory>
#include <metalloid/result.hpp>
#include <string>
#include <vector>

#include "device/pipeline.hpp"

namespace metalloid::bitcode {

struct Prepared {
  std::unique_ptr<llvm::Module> module;
  llvm::Function* kernel = nullptr;
  std::vector<llvm::Function*> linked;  // in the order of the request
};

Result<Prepared> prepare(llvm::LLVMContext& context, const device::PipelineRequest& request);

}  // namespace metalloid::bitcode

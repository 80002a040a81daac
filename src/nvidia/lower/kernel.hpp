// A kernel of a library in the form that LLVM's code generator for NVIDIA's GPUs takes: all steps of the table in
// docs/nvidia.md, in their order.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <metalloid/result.hpp>
#include <span>

#include "nvidia/compile.hpp"

namespace metalloid::nvidia::lower {

Result<std::unique_ptr<llvm::TargetMachine>> make_machine(const Architecture& architecture);

struct LoweredKernel {
  std::unique_ptr<llvm::Module> module;
  CompiledKernel kernel;  // without its PTX
};

Result<LoweredKernel> lower_kernel(llvm::LLVMContext& context, const device::PipelineRequest& request,
                                   std::span<const device::Slot> slots, const Architecture& architecture,
                                   const Assumptions& assumptions, llvm::TargetMachine& machine);

}  // namespace metalloid::nvidia::lower

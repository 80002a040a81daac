#include "nvidia/lower/threadgroup_memory.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "bitcode/address_spaces.hpp"

namespace metalloid::nvidia::lower {

namespace {

const llvm::Align alignment(16);  // accesses of 16 bytes are the fastest

bool has_initial_value(const llvm::GlobalVariable& variable) {
  return variable.hasInitializer() && !llvm::isa<llvm::UndefValue>(variable.getInitializer());
}

bool is_threadgroup_variable(const llvm::GlobalVariable& variable) {
  return variable.getAddressSpace() == bitcode::threadgroup_address_space && variable.hasInitializer();
}

}  // namespace

void initialise_threadgroup_variables(llvm::Function& entry) {
  llvm::Module& module = *entry.getParent();
  llvm::SmallVector<llvm::GlobalVariable*> initialised;
  for (llvm::GlobalVariable& variable : module.globals()) {
    if (!is_threadgroup_variable(variable)) continue;
    variable.setAlignment(std::max(alignment, variable.getAlign().valueOrOne()));
    variable.setLinkage(llvm::GlobalValue::InternalLinkage);
    if (has_initial_value(variable)) initialised.push_back(&variable);
  }
  if (initialised.empty()) return;

  // Threads that end at once, at an edge of the grid, are gone by now: thread 0 never is one.
  llvm::Instruction* call = entry.back().getTerminator()->getPrevNode();
  llvm::IRBuilder<> builder(call);
  llvm::Value* index = builder.getInt32(0);
  for (const char* axis : {"x", "y", "z"})
    index = builder.CreateOr(index, builder.CreateCall(module.getOrInsertFunction(
                                        std::string("llvm.nvvm.read.ptx.sreg.tid.") + axis, builder.getInt32Ty())));
  llvm::Instruction* writes = llvm::SplitBlockAndInsertIfThen(builder.CreateIsNull(index), call, /*Unreachable=*/false);
  builder.SetInsertPoint(writes);
  for (llvm::GlobalVariable* variable : initialised) {
    llvm::Constant* value = variable->getInitializer();
    auto* kept =
        new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true, llvm::GlobalValue::InternalLinkage,
                                 value, "", nullptr, llvm::GlobalValue::NotThreadLocal, bitcode::device_address_space);
    kept->setAlignment(alignment);
    builder.CreateMemCpy(variable, variable->getAlign(), kept, alignment,
                         module.getDataLayout().getTypeAllocSize(value->getType()));
    variable->setInitializer(llvm::UndefValue::get(value->getType()));
  }
  builder.SetInsertPoint(call);
  builder.CreateCall(module.getOrInsertFunction("metal.threadgroup_barrier", builder.getVoidTy(), builder.getInt32Ty()),
                     {builder.getInt32(2)});
}

uint32_t size_of_threadgroup_variables(const llvm::Module& module) {
  uint64_t size = 0;
  for (const llvm::GlobalVariable& variable : module.globals())
    if (is_threadgroup_variable(variable))
      size = llvm::alignTo(size, variable.getAlign().valueOrOne()) +
             module.getDataLayout().getTypeAllocSize(variable.getValueType());
  return static_cast<uint32_t>(size);
}

}  // namespace metalloid::nvidia::lower

#include "nvidia/lower/threadgroup_memory.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "bitcode/address_spaces.hpp"

namespace metalloid::nvidia::lower {

namespace {

const llvm::Align alignment(16);  // accesses of 16 bytes are the fastest

constexpr llvm::StringLiteral dynamic_memory = "metalloid_threadgroup_memory";
constexpr uint32_t most_of_a_module = 48 << 10;  // bytes

bool has_initial_value(const llvm::GlobalVariable& variable) {
  return variable.hasInitializer() && !llvm::isa<llvm::UndefValue>(variable.getInitializer());
}

bool is_threadgroup_variable(const llvm::GlobalVariable& variable) {
  return variable.getAddressSpace() == bitcode::threadgroup_address_space && variable.hasInitializer();
}

uint64_t size_of(const llvm::GlobalVariable& variable) {
  return variable.getDataLayout().getTypeAllocSize(variable.getValueType());
}

}  // namespace

llvm::GlobalVariable* dynamic_threadgroup_memory(llvm::Module& module) {
  if (llvm::GlobalVariable* made = module.getNamedGlobal(dynamic_memory)) return made;
  auto* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), 0);
  auto* memory = new llvm::GlobalVariable(module, type, /*isConstant=*/false, llvm::GlobalValue::ExternalLinkage,
                                          nullptr, dynamic_memory, nullptr, llvm::GlobalValue::NotThreadLocal,
                                          bitcode::threadgroup_address_space);
  memory->setAlignment(alignment);
  return memory;
}

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
      size = llvm::alignTo(size, variable.getAlign().valueOrOne()) + size_of(variable);
  return static_cast<uint32_t>(llvm::alignTo(size, alignment));
}

bool make_large_variables_dynamic(llvm::Module& module) {
  const uint32_t size = size_of_threadgroup_variables(module);
  if (size <= most_of_a_module) return false;
  llvm::GlobalVariable* const arguments = module.getNamedGlobal(dynamic_memory);
  if (arguments) arguments->setName("");
  llvm::GlobalVariable* const memory = dynamic_threadgroup_memory(module);
  const auto become = [&](llvm::GlobalVariable& variable, uint64_t offset) {
    auto* const place = llvm::ConstantInt::get(llvm::Type::getInt64Ty(module.getContext()), offset);
    auto* const byte = llvm::Type::getInt8Ty(module.getContext());
    variable.replaceAllUsesWith(llvm::ConstantExpr::getInBoundsGetElementPtr(byte, memory, place));
    variable.eraseFromParent();
  };
  if (arguments) become(*arguments, size);
  uint64_t offset = 0;
  for (llvm::GlobalVariable& variable : llvm::make_early_inc_range(module.globals())) {
    if (!is_threadgroup_variable(variable)) continue;
    memory->setAlignment(std::max(memory->getAlign().valueOrOne(), variable.getAlign().valueOrOne()));
    offset = llvm::alignTo(offset, variable.getAlign().valueOrOne());
    const uint64_t bytes = size_of(variable);
    become(variable, offset);
    offset += bytes;
  }
  return true;
}

}  // namespace metalloid::nvidia::lower

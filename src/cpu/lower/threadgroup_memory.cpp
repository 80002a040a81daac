#include "cpu/lower/threadgroup_memory.hpp"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/ReplaceConstant.h>

#include <map>

#include "bitcode/address_spaces.hpp"
#include "cpu/lower/thread_values.hpp"

namespace metalloid::cpu::lower {

namespace {

constexpr uint64_t dynamic_memory_alignment = 16;

void write_bytes(const llvm::Constant& value, const llvm::DataLayout& layout, std::string& image, uint64_t offset) {
  if (llvm::isa<llvm::UndefValue>(value) || value.isNullValue()) return;
  if (const auto* structure = llvm::dyn_cast<llvm::StructType>(value.getType())) {
    const llvm::StructLayout* places = layout.getStructLayout(const_cast<llvm::StructType*>(structure));
    for (unsigned i = 0; i < structure->getNumElements(); ++i)
      write_bytes(*value.getAggregateElement(i), layout, image, offset + places->getElementOffset(i));
    return;
  }
  if (const auto* array = llvm::dyn_cast<llvm::ArrayType>(value.getType())) {
    const uint64_t stride = layout.getTypeAllocSize(array->getElementType());
    for (uint64_t i = 0; i < array->getNumElements(); ++i)
      write_bytes(*value.getAggregateElement(i), layout, image, offset + i * stride);
    return;
  }
  llvm::APInt bits;
  if (const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(&value)) bits = integer->getValue();
  if (const auto* number = llvm::dyn_cast<llvm::ConstantFP>(&value)) bits = number->getValueAPF().bitcastToAPInt();
  const uint64_t size = layout.getTypeStoreSize(value.getType());
  bits = bits.zextOrTrunc(size * 8);
  for (uint64_t i = 0; i < size; ++i) image[offset + i] = static_cast<char>(bits.extractBitsAsZExtValue(8, i * 8));
}

}  // namespace

uint64_t threadgroup_bytes(const llvm::Module& module) {
  const llvm::DataLayout& layout = module.getDataLayout();
  uint64_t bytes = 0;
  for (const llvm::GlobalVariable& global : module.globals())
    if (global.getAddressSpace() == bitcode::threadgroup_address_space)
      bytes = llvm::alignTo(bytes, layout.getPreferredAlign(&global)) + layout.getTypeAllocSize(global.getValueType());
  return llvm::alignTo(bytes, dynamic_memory_alignment);
}

ThreadgroupLayout lower_threadgroup_memory(llvm::Module& module) {
  ThreadgroupLayout result;
  llvm::SmallVector<llvm::GlobalVariable*> variables;
  for (llvm::GlobalVariable& global : module.globals())
    if (global.getAddressSpace() == bitcode::threadgroup_address_space) variables.push_back(&global);

  const llvm::DataLayout& layout = module.getDataLayout();
  std::map<llvm::Function*, llvm::Value*> memory_in;
  for (llvm::GlobalVariable* variable : variables) {
    const uint64_t offset = llvm::alignTo(result.bytes, layout.getPreferredAlign(variable));
    result.bytes = offset + layout.getTypeAllocSize(variable->getValueType());
    const bool is_initialised = variable->hasInitializer() && !llvm::isa<llvm::UndefValue>(variable->getInitializer());
    result.variables.push_back({variable->getName().str(), offset, result.bytes - offset, is_initialised});
    if (is_initialised) {
      result.initial.resize(result.bytes);
      write_bytes(*variable->getInitializer(), layout, result.initial, offset);
    }

    llvm::convertUsersOfConstantsToInstructions(variable);
    for (llvm::Use& use : llvm::make_early_inc_range(variable->uses())) {
      auto* instruction = llvm::cast<llvm::Instruction>(use.getUser());
      llvm::Function& function = *instruction->getFunction();
      llvm::Value*& memory = memory_in[&function];
      if (!memory) {
        llvm::Value* thread = thread_state(function);
        auto* after = llvm::dyn_cast<llvm::Instruction>(thread);
        llvm::IRBuilder<> builder(after ? after->getNextNode() : &*function.getEntryBlock().getFirstInsertionPt());
        memory = threadgroup_memory(builder, thread);
      }
      auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction);
      llvm::IRBuilder<> builder(phi ? phi->getIncomingBlock(use)->getTerminator() : instruction);
      use.set(builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), memory, offset, variable->getName()));
    }
    variable->eraseFromParent();
  }
  result.bytes = llvm::alignTo(result.bytes, dynamic_memory_alignment);
  return result;
}

}  // namespace metalloid::cpu::lower

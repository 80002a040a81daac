#include "cpu/lower/entry.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "cpu/lower/thread_values.hpp"
#include "cpu/thread_state.hpp"

namespace metalloid::cpu::lower {

namespace {

class EntryBuilder {
 public:
  // Loads stand before the kernel's own code, in the same block, so that its allocas stay in the first one.
  EntryBuilder(llvm::Function& entry, std::span<const device::Slot> slots, const vector::Variant* variant)
      : builder_(&entry.getEntryBlock(), entry.getEntryBlock().getFirstInsertionPt()),
        thread_(entry.getArg(0)),
        slots_(slots),
        variant_(variant) {
    llvm::Value* grid = load_fixed_member(builder_, threadgroup_state(builder_, thread_),
                                          offsetof(ThreadgroupState, grid), builder_.getPtrTy());
    arguments_ = load_fixed_member(builder_, grid, offsetof(GridState, arguments), builder_.getPtrTy());
  }

  // The value of a parameter of the kernel. Structs (vectors, arrays of textures) are passed by value in memory.
  llvm::Value* argument(const llvm::Argument& parameter, uint32_t number, const Parameter& reflection) {
    llvm::Type* in_memory = parameter.hasByValAttr() ? parameter.getParamByValType() : nullptr;
    if (reflection.kind == ParameterKind::grid_value)
      return in_memory
                 ? vector(in_memory, parameter, reflection.grid_value)
                 : integer(grid_value(builder_, thread_, reflection.grid_value, 0, variant_), parameter.getType());
    const auto [first, count] = slots_of(number);
    if (in_memory) return handles(in_memory, parameter, first, count);
    if (count == 0) return llvm::Constant::getNullValue(parameter.getType());
    llvm::Value* value = slot(first);
    if (reflection.kind == ParameterKind::threadgroup_memory)
      return builder_.CreatePtrAdd(threadgroup_memory(builder_, thread_), value);
    return parameter.getType()->isPointerTy() ? builder_.CreateIntToPtr(value, parameter.getType())
                                              : integer(value, parameter.getType());
  }

 private:
  struct Range {
    uint32_t first, count;
  };

  // A parameter that function constants switch off has no slots.
  Range slots_of(uint32_t parameter) const {
    Range range{0, 0};
    for (uint32_t i = 0; i < slots_.size(); ++i)
      if (slots_[i].parameter == parameter && range.count++ == 0) range.first = i;
    return range;
  }

  llvm::Value* slot(uint32_t number) {
    return load_fixed_member(builder_, arguments_,
                             number * sizeof(device::Argument) + offsetof(device::Argument, value),
                             builder_.getInt64Ty());
  }

  llvm::Value* integer(llvm::Value* value, llvm::Type* type) { return builder_.CreateZExtOrTrunc(value, type); }

  llvm::Value* memory(llvm::Type* type, const llvm::Argument& parameter) {
    llvm::AllocaInst* place = builder_.CreateAlloca(type);
    place->setAlignment(parameter.getParamAlign().valueOrOne());
    return place;
  }

  llvm::Value* vector(llvm::Type* type, const llvm::Argument& parameter, GridValue value) {
    llvm::Value* place = memory(type, parameter);
    auto* components = llvm::cast<llvm::StructType>(type);
    for (unsigned i = 0; i < components->getNumElements(); ++i) {
      llvm::Type* component = components->getElementType(i);
      if (!component->isIntegerTy()) continue;  // padding
      builder_.CreateStore(integer(grid_value(builder_, thread_, value, i, variant_), component),
                           builder_.CreateStructGEP(components, place, i));
    }
    return place;
  }

  llvm::Value* handles(llvm::Type* type, const llvm::Argument& parameter, uint32_t first, uint32_t count) {
    llvm::Value* place = memory(type, parameter);
    const uint64_t size = parameter.getParent()->getDataLayout().getTypeAllocSize(type);
    if (count * sizeof(uint64_t) < size)
      builder_.CreateMemSet(place, builder_.getInt8(0), size, parameter.getParamAlign());
    for (uint32_t i = 0; i < count; ++i)
      builder_.CreateStore(slot(first + i), builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), place, i));
    return place;
  }

  llvm::IRBuilder<> builder_;
  llvm::Value* thread_;
  llvm::Value* arguments_;
  std::span<const device::Slot> slots_;
  const vector::Variant* variant_;
};

}  // namespace

void make_entry(llvm::Function& kernel, const Function& reflection, std::span<const device::Slot> slots,
                const vector::Variant* variant) {
  llvm::Module& module = *kernel.getParent();
  llvm::LLVMContext& context = module.getContext();
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {llvm::PointerType::getUnqual(context)},
                                       /*vararg=*/false);
  llvm::Function* entry = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, entry_name, module);
  entry->setAttributes(llvm::AttributeList::get(context, llvm::AttributeList::FunctionIndex,
                                                llvm::AttrBuilder(context, kernel.getAttributes().getFnAttrs())));
  entry->addParamAttr(0, llvm::Attribute::NonNull);
  entry->addParamAttr(0, llvm::Attribute::NoUndef);

  entry->splice(entry->end(), &kernel);
  entry->setSubprogram(kernel.getSubprogram());
  kernel.setSubprogram(nullptr);

  EntryBuilder builder(*entry, slots, variant);
  for (uint32_t i = 0; i < kernel.arg_size(); ++i) {
    llvm::Argument& parameter = *kernel.getArg(i);
    parameter.replaceAllUsesWith(builder.argument(parameter, i, reflection.parameters[i]));
  }
  kernel.eraseFromParent();
}

}  // namespace metalloid::cpu::lower

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "bitcode/address_spaces.hpp"
#include "nvidia/lower/grid_values.hpp"
#include "nvidia/lower/passes.hpp"
#include "nvidia/lower/threadgroup_memory.hpp"

namespace metalloid::nvidia::lower {

namespace {

class Entry {
 public:
  Entry(llvm::Function& kernel, const Function& reflection, std::span<const device::Slot> slots,
        const Assumptions& assumptions)
      : kernel_(kernel),
        reflection_(reflection),
        slots_(slots),
        assumptions_(assumptions),
        builder_(kernel.getContext()) {}

  llvm::Function* make() {
    declare();
    builder_.SetInsertPoint(llvm::BasicBlock::Create(builder_.getContext(), "", entry_));
    const GridValues values(builder_, entry_->getArg(static_cast<unsigned>(slots_.size())),
                            lane_order(*kernel_.getParent()), assumptions_.is_even);
    llvm::SmallVector<llvm::Value*> arguments;
    for (uint32_t i = 0; i < kernel_.arg_size(); ++i)
      arguments.push_back(argument(*kernel_.getArg(i), i, reflection_.parameters[i], values));
    llvm::CallInst* call = builder_.CreateCall(&kernel_, arguments);
    call->setAttributes(kernel_.getAttributes());
    builder_.CreateRetVoid();
    kernel_.setLinkage(llvm::GlobalValue::InternalLinkage);
    kernel_.removeFnAttr(llvm::Attribute::NoInline);
    kernel_.removeFnAttr(llvm::Attribute::OptimizeNone);
    kernel_.addFnAttr(llvm::Attribute::AlwaysInline);
    return entry_;
  }

 private:
  void declare() {
    llvm::SmallVector<llvm::Type*> parameters;
    for (const device::Slot& slot : slots_) parameters.push_back(type_of(slot));
    parameters.push_back(builder_.getPtrTy());
    auto* type = llvm::FunctionType::get(builder_.getVoidTy(), parameters, /*isVarArg=*/false);
    entry_ = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, llvm::StringRef(entry_symbol),
                                    kernel_.getParent());
    entry_->setCallingConv(llvm::CallingConv::PTX_Kernel);
    entry_->addFnAttr(llvm::Attribute::NoUnwind);
    entry_->addFnAttr(llvm::Attribute::Convergent);
    const auto size = static_cast<unsigned>(slots_.size());
    auto* in_memory = llvm::ArrayType::get(builder_.getInt32Ty(), sizeof(LaunchSize) / sizeof(uint32_t));
    entry_->addParamAttr(size, llvm::Attribute::getWithByValType(builder_.getContext(), in_memory));
    entry_->addParamAttr(size,
                         llvm::Attribute::getWithAlignment(builder_.getContext(), llvm::Align(alignof(LaunchSize))));
  }

  // Buffers are pointers, so that what is known of them can be said.
  llvm::Type* type_of(const device::Slot& slot) {
    llvm::Type* type = kernel_.getArg(slot.parameter)->getType();
    return type->isPointerTy() && type->getPointerAddressSpace() == bitcode::device_address_space
               ? type
               : builder_.getInt64Ty();
  }

  llvm::Value* argument(const llvm::Argument& parameter, uint32_t number, const Parameter& reflection,
                        const GridValues& values) {
    llvm::Type* type = parameter.getType();
    llvm::Type* in_memory = parameter.hasByValAttr() ? parameter.getParamByValType() : nullptr;
    if (reflection.kind == ParameterKind::grid_value)
      return in_memory ? vector(in_memory, parameter, reflection.grid_value, values)
                       : builder_.CreateZExtOrTrunc(values.get(reflection.grid_value, 0), type);
    llvm::SmallVector<llvm::Value*> given;
    for (unsigned i = 0; i < slots_.size(); ++i)
      if (slots_[i].parameter == number) given.push_back(entry_->getArg(i));
    if (in_memory) return handles(in_memory, parameter, given);
    if (given.empty()) return llvm::Constant::getNullValue(type);
    llvm::Value* value = given.front();
    if (reflection.kind == ParameterKind::threadgroup_memory)
      return builder_.CreatePtrAdd(dynamic_threadgroup_memory(*kernel_.getParent()), value);
    if (value->getType() == type) return value;
    return type->isPointerTy() ? builder_.CreateIntToPtr(value, type) : builder_.CreateZExtOrTrunc(value, type);
  }

  llvm::AllocaInst* memory(llvm::Type* type, const llvm::Argument& parameter) {
    llvm::IRBuilder<> start(&entry_->getEntryBlock(), entry_->getEntryBlock().begin());
    llvm::AllocaInst* place = start.CreateAlloca(type);
    place->setAlignment(parameter.getParamAlign().valueOrOne());
    return place;
  }

  llvm::Value* vector(llvm::Type* type, const llvm::Argument& parameter, GridValue value, const GridValues& values) {
    llvm::Value* place = memory(type, parameter);
    auto* components = llvm::cast<llvm::StructType>(type);
    for (unsigned i = 0; i < components->getNumElements(); ++i) {
      llvm::Type* component = components->getElementType(i);
      if (!component->isIntegerTy()) continue;  // padding
      builder_.CreateStore(builder_.CreateZExtOrTrunc(values.get(value, i), component),
                           builder_.CreateStructGEP(components, place, i));
    }
    return place;
  }

  // Arrays of textures and samplers.
  llvm::Value* handles(llvm::Type* type, const llvm::Argument& parameter, llvm::ArrayRef<llvm::Value*> given) {
    llvm::Value* place = memory(type, parameter);
    const uint64_t size = kernel_.getDataLayout().getTypeAllocSize(type);
    if (given.size() * sizeof(uint64_t) < size)
      builder_.CreateMemSet(place, builder_.getInt8(0), size, parameter.getParamAlign());
    for (unsigned i = 0; i < given.size(); ++i) {
      llvm::Value* handle = given[i];
      if (handle->getType()->isPointerTy()) handle = builder_.CreatePtrToInt(handle, builder_.getInt64Ty());
      builder_.CreateStore(handle, builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), place, i));
    }
    return place;
  }

  llvm::Function& kernel_;
  const Function& reflection_;
  std::span<const device::Slot> slots_;
  const Assumptions& assumptions_;
  llvm::IRBuilder<> builder_;
  llvm::Function* entry_ = nullptr;
};

}  // namespace

llvm::Function* make_entry(llvm::Function& kernel, const Function& reflection, std::span<const device::Slot> slots,
                           const Assumptions& assumptions) {
  return Entry(kernel, reflection, slots, assumptions).make();
}

}  // namespace metalloid::nvidia::lower

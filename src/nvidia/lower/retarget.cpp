#include "nvidia/lower/retarget.hpp"

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "bitcode/address_spaces.hpp"

namespace metalloid::nvidia::lower {

namespace {

constexpr unsigned generic_address_space = 4;  // of libraries

unsigned address_space_here(unsigned there) {
  if (there == generic_address_space) return 0;
  return there == bitcode::constant_address_space ? bitcode::device_address_space : there;
}

class AddressSpaces final : public llvm::ValueMapTypeRemapper {
 public:
  llvm::Type* remapType(llvm::Type* type) override {
    if (llvm::Type* mapped = types_.lookup(type)) return mapped;
    return types_[type] = map(type);  // mapping it may add others
  }

 private:
  llvm::Type* map(llvm::Type* type) {
    llvm::LLVMContext& context = type->getContext();
    if (auto* pointer = llvm::dyn_cast<llvm::PointerType>(type))
      return llvm::PointerType::get(context, address_space_here(pointer->getAddressSpace()));
    if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type))
      return llvm::ArrayType::get(remapType(array->getElementType()), array->getNumElements());
    if (auto* vector = llvm::dyn_cast<llvm::VectorType>(type))
      return llvm::VectorType::get(remapType(vector->getElementType()), vector->getElementCount());
    if (auto* function = llvm::dyn_cast<llvm::FunctionType>(type)) {
      llvm::SmallVector<llvm::Type*> parameters;
      for (llvm::Type* parameter : function->params()) parameters.push_back(remapType(parameter));
      return llvm::FunctionType::get(remapType(function->getReturnType()), parameters, function->isVarArg());
    }
    if (auto* structure = llvm::dyn_cast<llvm::StructType>(type); structure && !structure->isOpaque()) {
      llvm::SmallVector<llvm::Type*> members;
      for (llvm::Type* member : structure->elements()) members.push_back(remapType(member));
      if (llvm::ArrayRef(members) == structure->elements()) return structure;
      return llvm::StructType::get(context, members, structure->isPacked());
    }
    return type;
  }

  llvm::DenseMap<llvm::Type*, llvm::Type*> types_;
};

// Casts between address spaces that are one here cannot be constants, which have no form for a cast that is none.
void make_instructions_of_constant_casts(llvm::Module& module) {
  llvm::SmallVector<llvm::Constant*> constants;
  for (llvm::GlobalVariable& global : module.globals()) constants.push_back(&global);
  for (llvm::Function& function : module) constants.push_back(&function);
  llvm::convertUsersOfConstantsToInstructions(constants);
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
      for (llvm::Use& use : instruction.operands())
        if (auto* cast = llvm::dyn_cast<llvm::ConstantExpr>(use);
            cast && cast->getOpcode() == llvm::Instruction::AddrSpaceCast) {
          auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction);
          llvm::IRBuilder<> builder(phi ? phi->getIncomingBlock(use)->getTerminator() : &instruction);
          use.set(builder.Insert(cast->getAsInstruction()));
        }
}

void drop_casts_to_the_same(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
    if (auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastInst>(&instruction);
        cast && cast->getSrcTy() == cast->getDestTy()) {
      cast->replaceAllUsesWith(cast->getOperand(0));
      cast->eraseFromParent();
    }
}

// Scopes of atomic accesses have other names here. A SIMD-group has none of its own.
void rename_scopes(llvm::Function& function) {
  llvm::LLVMContext& context = function.getContext();
  const auto group = context.getOrInsertSyncScopeID("block");
  llvm::SmallVector<llvm::StringRef> names;
  context.getSyncScopeNames(names);
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (const auto scope = llvm::getAtomicSyncScopeID(&instruction);
        scope && (names[*scope] == "workgroup" || names[*scope] == "subgroup"))
      llvm::setAtomicSyncScopeID(&instruction, group);
}

// The names of intrinsics say what address spaces they are for.
void rename_intrinsics(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module))
    if (auto renamed = llvm::Intrinsic::remangleIntrinsicFunction(&function)) {
      function.replaceAllUsesWith(*renamed);
      function.eraseFromParent();
    }
}

llvm::GlobalVariable* declare(llvm::Module& module, llvm::GlobalVariable& variable, AddressSpaces& spaces) {
  auto* copy = new llvm::GlobalVariable(
      module, spaces.remapType(variable.getValueType()), variable.isConstant(), variable.getLinkage(), nullptr,
      variable.getName(), nullptr, llvm::GlobalValue::NotThreadLocal, address_space_here(variable.getAddressSpace()));
  copy->setAlignment(variable.getAlign());
  return copy;
}

}  // namespace

bitcode::Prepared retarget(bitcode::Prepared prepared, const llvm::TargetMachine& machine) {
  llvm::Module& old = *prepared.module;
  llvm::StripDebugInfo(old);
  make_instructions_of_constant_casts(old);
  auto module = std::make_unique<llvm::Module>(old.getName(), old.getContext());
  module->setTargetTriple(machine.getTargetTriple());
  module->setDataLayout(machine.createDataLayout());

  AddressSpaces spaces;
  llvm::ValueToValueMapTy copies;
  for (llvm::GlobalVariable& variable : old.globals()) copies[&variable] = declare(*module, variable, spaces);
  for (llvm::Function& function : old) {
    auto* copy = llvm::Function::Create(llvm::cast<llvm::FunctionType>(spaces.remapType(function.getFunctionType())),
                                        function.getLinkage(), /*AddrSpace=*/0, function.getName(), module.get());
    copies[&function] = copy;
    for (auto [from, to] : llvm::zip(function.args(), copy->args())) copies[&from] = &to;
  }
  for (llvm::GlobalVariable& variable : old.globals())
    if (variable.hasInitializer())
      llvm::cast<llvm::GlobalVariable>(copies[&variable])
          ->setInitializer(llvm::MapValue(variable.getInitializer(), copies, llvm::RF_None, &spaces));
  for (llvm::Function& function : old) {
    auto* copy = llvm::cast<llvm::Function>(copies[&function]);
    if (function.isDeclaration()) {
      copy->copyAttributesFrom(&function);
      continue;
    }
    llvm::SmallVector<llvm::ReturnInst*> returns;
    llvm::CloneFunctionInto(copy, &function, copies, llvm::CloneFunctionChangeType::DifferentModule, returns, "",
                            nullptr, &spaces);
    drop_casts_to_the_same(*copy);
    rename_scopes(*copy);
    copy->setComdat(nullptr);
    copy->removeFnAttr("target-cpu");
    copy->removeFnAttr("target-features");
  }
  rename_intrinsics(*module);

  bitcode::Prepared here;
  here.kernel = llvm::cast<llvm::Function>(copies[prepared.kernel]);
  for (llvm::Function* function : prepared.linked) here.linked.push_back(llvm::cast<llvm::Function>(copies[function]));
  here.module = std::move(module);
  return here;
}

}  // namespace metalloid::nvidia::lower

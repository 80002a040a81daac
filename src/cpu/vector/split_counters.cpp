#include "cpu/vector/split_counters.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/ReplaceConstant.h>

#include <map>
#include <optional>

#include "bitcode/address_spaces.hpp"

namespace metalloid::cpu::vector {

namespace {

constexpr llvm::StringLiteral distance_metadata = "metalloid.distance";

// Clearing and adding up parts takes time, too, and the arena has room for some more than a kernel may ask for.
constexpr uint64_t most_bytes = 4096, most_bytes_added = 16384;

constexpr llvm::Align counter_alignment = llvm::Align::Constant<4>();

struct Accesses {
  llvm::SmallVector<llvm::LoadInst*> loads;
  llvm::SmallVector<llvm::StoreInst*> stores;
  llvm::SmallVector<llvm::AtomicRMWInst*> additions;
};

bool is_counter(const llvm::Type* type, llvm::Align alignment) {
  return type->isIntegerTy(32) && alignment >= counter_alignment;
}

// None if something else is done with the memory.
std::optional<Accesses> find_accesses(llvm::Value& memory) {
  Accesses found;
  llvm::SmallVector<llvm::Value*> pointers{&memory};
  while (!pointers.empty()) {
    llvm::Value* pointer = pointers.pop_back_val();
    for (llvm::User* user : pointer->users()) {
      if (llvm::isa<llvm::GetElementPtrInst>(user)) {
        pointers.push_back(user);
      } else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user);
                 load && is_counter(load->getType(), load->getAlign())) {
        found.loads.push_back(load);
      } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
                 store && is_counter(store->getValueOperand()->getType(), store->getAlign())) {
        found.stores.push_back(store);
      } else if (auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(user);
                 change && change->getOperation() == llvm::AtomicRMWInst::Add && change->use_empty() &&
                 is_counter(change->getType(), change->getAlign())) {
        found.additions.push_back(change);
      } else {
        return std::nullopt;
      }
    }
  }
  return found;
}

// Whether lanes count one thing after another: in a loop, with indices of their own.
bool are_worth_parts(const llvm::SmallVectorImpl<llvm::AtomicRMWInst*>& additions) {
  std::map<llvm::Function*, llvm::LoopInfo> loops;
  return llvm::any_of(additions, [&](llvm::AtomicRMWInst* addition) {
    const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(addition->getPointerOperand());
    if (!address || address->hasAllConstantIndices()) return false;
    llvm::Function* function = addition->getFunction();
    const auto [known, is_new] = loops.try_emplace(function);
    if (is_new) known->second.analyze(llvm::DominatorTree(*function));
    return known->second.getLoopFor(addition->getParent()) != nullptr;
  });
}

llvm::Value* part_of(llvm::IRBuilder<>& builder, llvm::Value* pointer, unsigned part, uint64_t distance) {
  return builder.CreateConstGEP1_64(builder.getInt8Ty(), pointer, part * distance);
}

void add_up(llvm::LoadInst& load, uint64_t distance) {
  load.dropUnknownNonDebugMetadata();  // what it says of the counter is not so of its parts
  llvm::IRBuilder<> builder(load.getNextNode());
  llvm::Value* others = builder.getInt32(0);
  for (unsigned part = 1; part < parts_of_counter; ++part) {
    auto* other = llvm::cast<llvm::LoadInst>(load.clone());
    other->setOperand(0, part_of(builder, load.getPointerOperand(), part, distance));
    other->setAlignment(counter_alignment);
    others = builder.CreateAdd(others, builder.Insert(other));
  }
  llvm::Value* sum = builder.CreateAdd(&load, others);
  load.replaceUsesWithIf(sum, [&](llvm::Use& use) { return use.getUser() != sum; });
}

void clear_other_parts(llvm::StoreInst& store, uint64_t distance) {
  llvm::IRBuilder<> builder(store.getNextNode());
  for (unsigned part = 1; part < parts_of_counter; ++part) {
    auto* other = llvm::cast<llvm::StoreInst>(store.clone());
    other->setOperand(0, builder.getInt32(0));
    other->setOperand(1, part_of(builder, store.getPointerOperand(), part, distance));
    other->setAlignment(counter_alignment);
    builder.Insert(other);
  }
}

void split(llvm::GlobalVariable& variable, const Accesses& accesses, uint64_t distance) {
  auto* type = llvm::ArrayType::get(variable.getValueType(), parts_of_counter);
  auto* parts = new llvm::GlobalVariable(*variable.getParent(), type, false, variable.getLinkage(),
                                         llvm::UndefValue::get(type), variable.getName(), &variable,
                                         llvm::GlobalValue::NotThreadLocal, variable.getAddressSpace());
  parts->setAlignment(variable.getAlign());
  variable.replaceAllUsesWith(parts);
  for (llvm::LoadInst* load : accesses.loads) add_up(*load, distance);
  for (llvm::StoreInst* store : accesses.stores) clear_other_parts(*store, distance);
  llvm::LLVMContext& context = variable.getContext();
  auto* number = llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), distance);
  for (llvm::AtomicRMWInst* addition : accesses.additions)
    addition->setMetadata(distance_metadata, llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(number)));
}

}  // namespace

void split_counters(llvm::Module& module) {
  uint64_t bytes_added = 0;
  for (llvm::GlobalVariable& variable : llvm::make_early_inc_range(module.globals())) {
    if (variable.getAddressSpace() != bitcode::threadgroup_address_space) continue;
    const uint64_t bytes = module.getDataLayout().getTypeAllocSize(variable.getValueType());
    const uint64_t more = bytes * (parts_of_counter - 1);
    const bool is_undefined = variable.hasInitializer() && llvm::isa<llvm::UndefValue>(variable.getInitializer());
    if (!is_undefined || !llvm::isAligned(counter_alignment, bytes)) continue;
    if (bytes > most_bytes || bytes_added + more > most_bytes_added) continue;
    llvm::convertUsersOfConstantsToInstructions(&variable);
    const auto accesses = find_accesses(variable);
    if (!accesses || !are_worth_parts(accesses->additions)) continue;
    split(variable, *accesses, bytes);
    variable.eraseFromParent();
    bytes_added += more;
  }
}

uint64_t distance_of_parts(const llvm::Instruction& addition) {
  const llvm::MDNode* distance = addition.getMetadata(distance_metadata);
  return distance ? llvm::mdconst::extract<llvm::ConstantInt>(distance->getOperand(0))->getZExtValue() : 0;
}

}  // namespace metalloid::cpu::vector

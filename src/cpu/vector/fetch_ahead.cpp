#include "cpu/vector/fetch_ahead.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "bitcode/address_spaces.hpp"
#include "cpu/lower/thread_values.hpp"
#include "cpu/thread_state.hpp"
#include "cpu/vector/target.hpp"

namespace metalloid::cpu::vector {

namespace {

constexpr llvm::StringLiteral mark = "metalloid.places";

constexpr size_t most_marks = 4;
constexpr unsigned longest_way_to_addresses = 64;  // in instructions
constexpr unsigned longest_group = 1000;           // in a longer one, memory counts for less, and code is there twice

// As much of the last cache as others may leave to a core; a Zen 5 waits for enough of its lines by itself, and is
// slowed down by being asked for them.
uint64_t large_buffer(const llvm::Function& function) {
  return uint64_t{is_zen_5(function) ? 32U : 8U} << 20;
}

llvm::CallInst* as_mark(llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName() == mark ? call : nullptr;
}

bool is_fixed(const llvm::LoadInst& load) {
  return load.hasMetadata(llvm::LLVMContext::MD_invariant_load);
}

// How many loads a value depends on, each the next one's address: those of what nobody changes do not count.
class Depths {
 public:
  static constexpr unsigned unknown = 100;

  unsigned of(const llvm::Value* value) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (!instruction) return 0;
    if (const auto found = known_.find(instruction); found != known_.end()) return found->second;
    const unsigned depth = compute(*instruction);
    known_[instruction] = depth;
    return depth;
  }

 private:
  unsigned compute(const llvm::Instruction& instruction) {
    if (llvm::isa<llvm::AllocaInst>(instruction)) return unknown;
    unsigned deepest = 0;
    for (const llvm::Value* operand : instruction.operands()) deepest = std::max(deepest, of(operand));
    if (deepest >= unknown || instruction.mayHaveSideEffects()) return unknown;
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
      return deepest + (is_fixed(*load) || load->getPointerAddressSpace() == bitcode::constant_address_space ? 0 : 1);
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (call && !llvm::isa<llvm::IntrinsicInst>(call)) return unknown;
    return deepest + (instruction.mayReadFromMemory() ? 1 : 0);
  }

  llvm::DenseMap<const llvm::Instruction*, unsigned> known_;
};

// Marks whose places follow from what is read at fixed ones; the others are taken away.
llvm::SmallVector<llvm::CallInst*> near_marks(llvm::Function& function) {
  Depths depths;
  llvm::SmallVector<llvm::CallInst*> near;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    llvm::CallInst* call = as_mark(instruction);
    if (!call) continue;
    if (near.size() < most_marks && depths.of(call->getArgOperand(0)) <= 1)
      near.push_back(call);
    else
      call->eraseFromParent();
  }
  return near;
}

// What an effect gives is not known from then on, just as what is in memory.
void erase_effects(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (instruction.isTerminator() || !instruction.mayHaveSideEffects() || as_mark(instruction)) continue;
    if (!instruction.use_empty())
      instruction.replaceAllUsesWith(
          new llvm::LoadInst(instruction.getType(), function.getArg(0), "", instruction.getIterator()));
    instruction.eraseFromParent();
  }
}

// Memory decides neither on what is read, since it may change until the group is there, nor on the way.
bool may_run_ahead(llvm::Function& function) {
  if (function.getInstructionCount() > longest_way_to_addresses) return false;
  Depths depths;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&instruction);
    if (branch ? branch->isConditional() && depths.of(branch->getCondition()) > 0
               : instruction.isTerminator() && !llvm::isa<llvm::ReturnInst>(instruction))
      return false;
    if (!as_mark(instruction) && !branch && depths.of(&instruction) > 1) return false;
  }
  return true;
}

// To the second cache, which waits for more lines at once than the first; for what will be written, too.
void fetch(llvm::CallInst& places) {
  llvm::IRBuilder<> builder(&places);
  llvm::Value* pointers = places.getArgOperand(0);
  const unsigned width = llvm::cast<llvm::FixedVectorType>(pointers->getType())->getNumElements();
  enum { reading = 0, to_second_cache = 2, data = 1 };
  for (unsigned lane = 0; lane < width; ++lane)
    builder.CreateIntrinsic(llvm::Intrinsic::prefetch, {builder.getPtrTy()},
                            {builder.CreateExtractElement(pointers, lane), builder.getInt32(reading),
                             builder.getInt32(to_second_cache), builder.getInt32(data)});
  places.eraseFromParent();
}

// What all lanes access at these places at once.
void find_accesses(llvm::Value* pointers, llvm::SmallVectorImpl<llvm::IntrinsicInst*>& found) {
  for (llvm::User* user : pointers->users()) {
    if (llvm::isa<llvm::GetElementPtrInst, llvm::AddrSpaceCastInst>(user)) find_accesses(user, found);
    auto* access = llvm::dyn_cast<llvm::IntrinsicInst>(user);
    if (!access) continue;
    const bool is_gather = access->getIntrinsicID() == llvm::Intrinsic::masked_gather;
    if (!is_gather && access->getIntrinsicID() != llvm::Intrinsic::masked_scatter) continue;
    const auto* mask = llvm::dyn_cast<llvm::Constant>(access->getArgOperand(is_gather ? 1 : 2));
    if (mask && mask->isAllOnesValue() && !llvm::is_contained(found, access)) found.push_back(access);
  }
}

}  // namespace

void mark_places(llvm::IRBuilder<>& builder, llvm::Value* pointers, uint64_t offset_of_argument) {
  llvm::Type* flat = llvm::VectorType::get(builder.getPtrTy(), llvm::cast<llvm::VectorType>(pointers->getType()));
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  builder.CreateCall(module.getOrInsertFunction(mark, builder.getVoidTy(), flat, builder.getInt64Ty()),
                     {builder.CreateAddrSpaceCast(pointers, flat), builder.getInt64(offset_of_argument)});
}

std::optional<uint64_t> offset_of_argument(const llvm::Value* pointer, const llvm::DataLayout& layout) {
  const llvm::Value* value = llvm::getUnderlyingObject(pointer, /*MaxLookup=*/0);
  if (const auto* cast = llvm::dyn_cast<llvm::IntToPtrInst>(value)) value = cast->getOperand(0);
  // The address of what was loaded is a member of what the next is the address of.
  const auto follow = [&](llvm::APInt& offset) {
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(value);
    if (!load || !is_fixed(*load)) return false;
    value = load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/false);
    return true;
  };
  llvm::APInt argument(64, 0);
  if (!follow(argument)) return std::nullopt;
  for (const uint64_t expected :
       {offsetof(GridState, arguments), offsetof(ThreadgroupState, grid), offsetof(ThreadState, threadgroup)}) {
    llvm::APInt offset(64, 0);
    if (!follow(offset) || offset != expected) return std::nullopt;
  }
  if (!llvm::isa<llvm::Argument>(value)) return std::nullopt;
  return argument.getZExtValue() - offsetof(device::Argument, value);
}

void erase_marks(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
    if (llvm::CallInst* call = as_mark(instruction)) call->eraseFromParent();
}

CodeAhead take_code_ahead(llvm::Function& group, const std::function<void(llvm::Function&)>& simplify) {
  if (group.getInstructionCount() > longest_group) erase_marks(group);
  const auto marks = near_marks(group);
  if (marks.empty()) return {};
  CodeAhead ahead;
  for (const llvm::CallInst* places : marks) {
    llvm::Value* pointers = places->getArgOperand(0);
    if (auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastInst>(pointers)) pointers = cast->getOperand(0);
    find_accesses(pointers, ahead.accesses);
  }
  llvm::ValueToValueMapTy map;
  llvm::Function* copy = llvm::CloneFunction(&group, map);
  erase_marks(group);
  copy->setLinkage(llvm::GlobalValue::InternalLinkage);
  llvm::stripDebugInfo(*copy);
  erase_effects(*copy);
  simplify(*copy);
  if (may_run_ahead(*copy)) {
    for (llvm::CallInst* places : near_marks(*copy)) {
      ahead.arguments.push_back(llvm::cast<llvm::ConstantInt>(places->getArgOperand(1))->getZExtValue());
      fetch(*places);
    }
  }
  if (ahead.arguments.empty())
    copy->eraseFromParent();
  else
    ahead.fetch = copy;
  return ahead;
}

void access_one_by_one(llvm::IntrinsicInst& access) {
  llvm::IRBuilder<> builder(&access);
  const bool is_gather = access.getIntrinsicID() == llvm::Intrinsic::masked_gather;
  const unsigned place = is_gather ? 0 : 1;
  llvm::Value* const pointers = access.getArgOperand(place);
  const llvm::Align alignment = access.getParamAlign(place).valueOrOne();
  const unsigned width = llvm::cast<llvm::FixedVectorType>(pointers->getType())->getNumElements();
  llvm::Value* loaded = is_gather ? llvm::PoisonValue::get(access.getType()) : nullptr;
  for (unsigned lane = 0; lane < width; ++lane) {
    llvm::Value* pointer = builder.CreateExtractElement(pointers, lane);
    if (is_gather)
      loaded = builder.CreateInsertElement(
          loaded, builder.CreateAlignedLoad(access.getType()->getScalarType(), pointer, alignment), lane);
    else
      builder.CreateAlignedStore(builder.CreateExtractElement(access.getArgOperand(0), lane), pointer, alignment);
  }
  if (is_gather) access.replaceAllUsesWith(loaded);
  access.eraseFromParent();
}

llvm::Value* is_worth_fetching(llvm::IRBuilder<>& builder, llvm::Value* state, const CodeAhead& ahead) {
  llvm::Value* grid = lower::load_fixed_member(builder, lower::threadgroup_state(builder, state),
                                               offsetof(ThreadgroupState, grid), builder.getPtrTy());
  llvm::Value* arguments = lower::load_fixed_member(builder, grid, offsetof(GridState, arguments), builder.getPtrTy());
  llvm::Value* large = builder.getInt64(large_buffer(*builder.GetInsertBlock()->getParent()));
  llvm::Value* worth = builder.getFalse();
  for (const uint64_t argument : ahead.arguments) {
    llvm::Value* bytes = lower::load_fixed_member(builder, arguments, argument + offsetof(device::Argument, length),
                                                  builder.getInt64Ty());
    worth = builder.CreateOr(worth, builder.CreateICmpUGE(bytes, large));
  }
  return worth;
}

void fetch_streams(llvm::Function& group) {
  if (is_zen_5(group)) return;
  constexpr uint64_t nearest = 2048, apart = 1024, line = 64;
  enum { reading = 0, to_first_cache = 3, data = 1 };
  llvm::SmallVector<const llvm::Value*> arrays;
  for (llvm::Instruction& instruction : llvm::instructions(group)) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (!load || !load->getType()->isVectorTy() || load->getPointerAddressSpace() != bitcode::device_address_space)
      continue;
    const llvm::Value* array = llvm::getUnderlyingObject(load->getPointerOperand(), /*MaxLookup=*/0);
    if (!llvm::is_contained(arrays, array)) arrays.push_back(array);
    const bool is_further = (llvm::find(arrays, array) - arrays.begin()) % 2 == 1;
    llvm::IRBuilder<> builder(load);
    const uint64_t ahead = is_further ? nearest + apart : nearest;
    const uint64_t bytes = group.getDataLayout().getTypeStoreSize(load->getType()).getFixedValue();
    for (uint64_t place = 0; place < bytes; place += line)
      builder.CreateIntrinsic(
          llvm::Intrinsic::prefetch, {load->getPointerOperandType()},
          {builder.CreateConstGEP1_64(builder.getInt8Ty(), load->getPointerOperand(), ahead + place),
           builder.getInt32(reading), builder.getInt32(to_first_cache), builder.getInt32(data)});
  }
}

}  // namespace metalloid::cpu::vector

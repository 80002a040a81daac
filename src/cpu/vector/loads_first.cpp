#include "cpu/vector/loads_first.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <optional>
#include <vector>

#include "bitcode/address_spaces.hpp"
#include "cpu/vector/all_lanes.hpp"
#include "cpu/vector/neighbours.hpp"
#include "cpu/vector/restarts.hpp"
#include "cpu/vector/shape_analysis.hpp"

namespace metalloid::cpu::vector {

namespace {

constexpr size_t most_instructions = 300, most_copied = 150;  // of a block
constexpr size_t most_pairs = 4;

struct AccessedPlace {
  llvm::Instruction* access;
  Place place;
  int64_t bytes;
};

// A load and a store before it, whose addresses must not be so far apart; others that are counted like one of the two
// are constants away from it.
struct Pair {
  AccessedPlace load, store;
  int64_t lowest, highest;  // bytes
};

// Some loads of a block that can come before its first store.
struct Plan {
  llvm::SmallVector<llvm::Value*> loads;
  llvm::SmallVector<AccessedPlace> stores;
  llvm::SmallVector<Pair> pairs;
};

bool is_simple(const llvm::Instruction& instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return load->isSimple();
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return store->isSimple();
  return false;
}

// An index that is extended does not wrap around on the way to this place, in lanes that use it.
bool stays_in_type(const Place& place) {
  if (!place.extension || place.added == 0) return true;
  const auto* sum = llvm::dyn_cast<llvm::OverflowingBinaryOperator>(place.extension->getOperand(0));
  return sum && (llvm::isa<llvm::ZExtInst>(place.extension) ? sum->hasNoUnsignedWrap() : sum->hasNoSignedWrap());
}

// A lane's own memory is none of others', nor is threadgroup memory that of a buffer.
bool are_different_memory(const llvm::Instruction& a, const llvm::Instruction& b) {
  const unsigned spaces[] = {llvm::getLoadStoreAddressSpace(&a), llvm::getLoadStoreAddressSpace(&b)};
  if (spaces[0] != spaces[1] && spaces[0] != 0 && spaces[1] != 0) return true;
  const llvm::Value* objects[] = {llvm::getUnderlyingObject(llvm::getLoadStorePointerOperand(&a)),
                                  llvm::getUnderlyingObject(llvm::getLoadStorePointerOperand(&b))};
  return objects[0] != objects[1] &&
         llvm::any_of(objects, [](const llvm::Value* object) { return llvm::isa<llvm::AllocaInst>(object); });
}

class Planner {
 public:
  explicit Planner(llvm::BasicBlock& block) : block_(block), layout_(block.getDataLayout()) {}

  std::optional<Plan> plan() {
    if (block_.size() > most_instructions) return std::nullopt;
    bool is_worth_it = false;
    for (llvm::Instruction& instruction : block_) {
      if (!instruction.mayReadOrWriteMemory()) continue;
      if (!is_simple(instruction)) {
        if (!plan_.loads.empty()) break;
        plan_.stores.clear();  // what comes behind may still do
        loads_.clear();
        continue;
      }
      const AccessedPlace accessed = look_at(instruction);
      if (llvm::isa<llvm::StoreInst>(instruction)) {
        plan_.stores.push_back(accessed);
        continue;
      }
      if (!plan_.stores.empty()) {
        if (!can_come_first(accessed)) return std::nullopt;
        plan_.loads.push_back(&instruction);
        is_worth_it |= has_neighbour(accessed, loads_) || has_neighbour(plan_.stores.back(), plan_.stores);
      }
      loads_.push_back(accessed);
    }
    if (!is_worth_it || plan_.pairs.size() > most_pairs) return std::nullopt;
    return std::move(plan_);
  }

 private:
  AccessedPlace look_at(llvm::Instruction& access) const {
    return {&access, place_of(access, /*by_index=*/true, layout_),
            static_cast<int64_t>(layout_.getTypeStoreSize(llvm::getLoadStoreType(&access)).getFixedValue())};
  }

  static bool has_neighbour(const AccessedPlace& accessed, llvm::ArrayRef<AccessedPlace> others) {
    return llvm::any_of(others, [&](const AccessedPlace& other) {
      return other.access != accessed.access && other.place.is_counted_like(accessed.place) &&
             std::abs(other.place.distance_from(accessed.place)) < furthest_neighbour;
    });
  }

  // Before all stores so far, if pairs are as far apart as the plan says.
  bool can_come_first(const AccessedPlace& load) {
    if (llvm::getLoadStoreAddressSpace(load.access) == bitcode::constant_address_space) return true;
    for (const AccessedPlace& store : plan_.stores) {
      if (are_different_memory(*load.access, *store.access)) continue;
      if (llvm::getLoadStoreAddressSpace(store.access) != bitcode::device_address_space) return false;
      if (!stays_in_type(load.place) || !stays_in_type(store.place)) return false;
      if (load.place.is_counted_like(store.place)) {
        const int64_t distance = load.place.distance_from(store.place);
        if (distance > -load.bytes && distance < store.bytes) return false;
      } else {
        keep_apart(load, store);
      }
    }
    return true;
  }

  void keep_apart(const AccessedPlace& load, const AccessedPlace& store) {
    auto* pair = llvm::find_if(plan_.pairs, [&](const Pair& other) {
      return other.load.place.is_counted_like(load.place) && other.store.place.is_counted_like(store.place);
    });
    const bool is_new = pair == plan_.pairs.end();
    if (is_new) pair = &plan_.pairs.emplace_back(Pair{load, store, 0, 0});
    const int64_t distance = store.place.distance_from(pair->store.place) - load.place.distance_from(pair->load.place);
    const int64_t lowest = distance - load.bytes + 1, highest = distance + store.bytes - 1;
    pair->lowest = is_new ? lowest : std::min(pair->lowest, lowest);
    pair->highest = is_new ? highest : std::max(pair->highest, highest);
  }

  llvm::BasicBlock& block_;
  const llvm::DataLayout& layout_;
  Plan plan_;
  llvm::SmallVector<AccessedPlace> loads_;
};

// Computed earlier, with all it needs. False: it needs what cannot be.
bool bring_before(llvm::Value* value, llvm::Instruction& place, bool also_loads) {
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction || instruction->getParent() != place.getParent() || instruction->comesBefore(&place)) return true;
  const bool is_load = also_loads && llvm::isa<llvm::LoadInst>(instruction);
  if (!is_load && (llvm::isa<llvm::PHINode, llvm::CallInst>(instruction) || instruction->mayReadOrWriteMemory()))
    return false;
  for (llvm::Value* operand : instruction->operands())
    if (!bring_before(operand, place, also_loads)) return false;
  instruction->moveBefore(place.getIterator());
  return true;
}

// Where they count from, if both have the same index: all lanes have the same distance then.
struct Addresses {
  explicit Addresses(const Pair& pair) {
    const Place &from = pair.load.place, &to = pair.store.place;
    const bool has_same_index = from.has_index_of(to);
    load = has_same_index ? const_cast<llvm::Value*>(from.base) : llvm::getLoadStorePointerOperand(pair.load.access);
    store = has_same_index ? const_cast<llvm::Value*>(to.base) : llvm::getLoadStorePointerOperand(pair.store.access);
    added = has_same_index ? from.distance_from(to) : 0;
  }

  llvm::Value *load, *store;
  int64_t added;  // bytes to the distance of the two
};

bool bring_addresses_before(const Plan& plan, llvm::Instruction& place) {
  return llvm::all_of(plan.pairs, [&](const Pair& pair) {
    const Addresses addresses(pair);
    return bring_before(addresses.load, place, /*also_loads=*/false) &&
           bring_before(addresses.store, place, /*also_loads=*/false);
  });
}

llvm::Value* are_apart(llvm::IRBuilder<>& builder, const Pair& pair) {
  const Addresses addresses(pair);
  const auto number = [&](llvm::Value* address) { return builder.CreatePtrToInt(address, builder.getInt64Ty()); };
  llvm::Value* distance = builder.CreateSub(number(addresses.load), number(addresses.store));
  llvm::Value* above_lowest =
      builder.CreateAdd(distance, builder.getInt64(static_cast<uint64_t>(addresses.added - pair.lowest)));
  return builder.CreateICmpUGT(above_lowest, builder.getInt64(static_cast<uint64_t>(pair.highest - pair.lowest)));
}

void bring_before(llvm::ArrayRef<llvm::Value*> loads, llvm::Instruction& first_store) {
  for (llvm::Value* load : loads)
    if (!bring_before(load, first_store, /*also_loads=*/true)) return;
}

llvm::Value* all_are_apart(const Plan& plan) {
  llvm::IRBuilder<> builder(plan.stores.front().access);
  llvm::Value* all = builder.getTrue();
  for (const Pair& pair : plan.pairs) all = builder.CreateAnd(all, are_apart(builder, pair));
  return all;
}

// Groups that have them too near start again: variants for partial groups are as they were written.
void start_again_if_near(llvm::BasicBlock& block, const Plan& plan) {
  llvm::Instruction* first_store = plan.stores.front().access;
  llvm::Value* condition = all_are_apart(plan);
  llvm::BasicBlock* next = block.splitBasicBlock(first_store);
  llvm::BasicBlock* again = llvm::BasicBlock::Create(block.getContext(), "again", block.getParent());
  llvm::IRBuilder<> builder(again);
  builder.CreateCall(block.getModule()->getOrInsertFunction(start_again_function, builder.getVoidTy()));
  builder.CreateRetVoid();
  branch_together(&block, condition, next, again);
  bring_before(plan.loads, *first_store);
}

// The block has two ways from its first store on, which come together at its end.
void make_ways(llvm::BasicBlock& block, const Plan& plan) {
  llvm::Instruction* first_store = plan.stores.front().access;
  llvm::Value* condition = all_are_apart(plan);
  llvm::BasicBlock* as_written = block.splitBasicBlock(first_store);
  llvm::BasicBlock* end = as_written->splitBasicBlock(as_written->getTerminator());
  llvm::ValueToValueMapTy copies;
  llvm::BasicBlock* loads_first = llvm::CloneBasicBlock(as_written, copies, ".loads_first", block.getParent());
  llvm::remapInstructionsInBlocks({loads_first}, copies);
  branch_together(&block, condition, loads_first, as_written);

  for (llvm::Instruction& instruction : *as_written) {
    llvm::SmallVector<llvm::Use*> outside;
    for (llvm::Use& use : instruction.uses())
      if (llvm::cast<llvm::Instruction>(use.getUser())->getParent() != as_written) outside.push_back(&use);
    if (outside.empty()) continue;
    auto* joined = llvm::PHINode::Create(instruction.getType(), 2, "", end->begin());
    joined->addIncoming(&instruction, as_written);
    joined->addIncoming(copies[&instruction], loads_first);
    for (llvm::Use* use : outside) use->set(joined);
  }
  llvm::SmallVector<llvm::Value*> loads;
  for (llvm::Value* load : plan.loads) loads.push_back(copies[load]);
  bring_before(loads, llvm::cast<llvm::Instruction>(*copies[first_store]));
}

}  // namespace

bool loads_first(llvm::Function& function, const ShapeAnalysis& shapes) {
  std::vector<std::pair<llvm::BasicBlock*, Plan>> found;
  for (llvm::BasicBlock& block : function)
    if (auto plan = Planner(block).plan(); plan && bring_addresses_before(*plan, *plan->stores.front().access))
      found.push_back({&block, std::move(*plan)});
  bool any = false;
  for (auto& [block, plan] : found) {
    if (plan.pairs.empty()) {  // of other memory
      bring_before(plan.loads, *plan.stores.front().access);
    } else if (!shapes.is_masked(block) && nothing_happens_before(*plan.stores.front().access)) {
      start_again_if_near(*block, plan);
    } else if (block->size() <= most_copied) {
      make_ways(*block, plan);
    } else {
      continue;
    }
    any = true;
  }
  return any;
}

}  // namespace metalloid::cpu::vector

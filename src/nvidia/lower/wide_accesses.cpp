// Loads and stores of neighbouring elements of device memory as accesses of 8 or 16 bytes. Metal's vectors in packed
// form, copies of structures and unrolled loops access elements one by one, aligned to an element only. Where LLVM can
// prove more, it joins them itself; here, a block's accesses are joined in a second version of them, which runs if the
// addresses happen to be multiples of 16 or 8. Several accesses share one test, as long as nothing is in their way.
//
//   a = load p; b = load p + 4; c = load p + 8; d = load p + 12
//
// becomes
//
//   if (p % 16 == 0) { v = load4 p; } else { a' = load p; … }   a = phi(v[0], a') …
#include "nvidia/lower/wide_accesses.hpp"

#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <optional>

#include "bitcode/address_spaces.hpp"

namespace metalloid::nvidia::lower {

namespace {

using llvm::Instruction;
using llvm::Value;

constexpr int64_t widest = 16;
constexpr size_t most_accesses = 32;  // of one test: what is loaded together is in registers together

Value* pointer_of(Instruction* access) {
  return llvm::getLoadStorePointerOperand(access);
}
llvm::Type* type_of(Instruction* access) {
  return llvm::getLoadStoreType(access);
}
int64_t size_of(Instruction* access) {
  return static_cast<int64_t>(access->getDataLayout().getTypeStoreSize(type_of(access)).getFixedValue());
}

// Accesses that lie one behind the other, as wide as one of the hardware's.
struct Run {
  llvm::SmallVector<Instruction*, 8> accesses;  // by address
  int64_t bytes = 0;
};

// Runs that one test decides about.
struct Cluster {
  llvm::SmallVector<Run> runs;
  bool is_of_loads = true;
};

bool is_candidate(Instruction& instruction) {
  const bool is_load = llvm::isa<llvm::LoadInst>(instruction), is_store = llvm::isa<llvm::StoreInst>(instruction);
  if ((!is_load && !is_store) || instruction.isVolatile() || instruction.isAtomic()) return false;
  if (pointer_of(&instruction)->getType()->getPointerAddressSpace() != bitcode::device_address_space) return false;
  llvm::Type* const type = type_of(&instruction);
  const int64_t size = size_of(&instruction);
  if (!type->isIntOrIntVectorTy() && !type->isFPOrFPVectorTy()) return false;
  if (type->getPrimitiveSizeInBits() != 8 * static_cast<uint64_t>(size)) return false;
  const bool is_power = size == 1 || size == 2 || size == 4 || size == 8 || size == widest;
  return is_power;
}

enum class Kind { load, invariant_load, store };

std::optional<Kind> kind_of(Instruction& instruction) {
  if (!is_candidate(instruction)) return std::nullopt;
  if (llvm::isa<llvm::StoreInst>(instruction)) return Kind::store;
  return instruction.hasMetadata(llvm::LLVMContext::MD_invariant_load) ? Kind::invariant_load : Kind::load;
}

class Block {
 public:
  Block(llvm::BasicBlock& block, llvm::ScalarEvolution& evolution) : block_(block), evolution_(evolution) {}

  std::vector<Cluster> clusters() {
    for (const Kind kind : {Kind::invariant_load, Kind::load, Kind::store}) {
      llvm::SmallVector<Instruction*> together;
      for (Instruction& instruction : block_) {
        const bool is_one = kind_of(instruction) == kind;
        if (!together.empty() && (is_one ? together.size() == most_accesses : separates(instruction, kind)))
          close(together, kind);
        // Stores to places of which it is not known how far they are apart keep their order.
        if (is_one && kind == Kind::store && !together.empty() && families({together[0], &instruction}).size() > 1)
          close(together, kind);
        if (is_one) together.push_back(&instruction);
      }
      close(together, kind);
    }
    return std::move(clusters_);
  }

 private:
  static bool separates(const Instruction& instruction, Kind kind) {
    const Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
    if (pointer && pointer->getType()->getPointerAddressSpace() == bitcode::threadgroup_address_space &&
        !instruction.isAtomic() && !instruction.isVolatile())
      return false;
    if (kind == Kind::invariant_load) return false;
    if (kind == Kind::load) return instruction.mayWriteToMemory() || instruction.isAtomic();
    return instruction.mayReadOrWriteMemory() && !instruction.hasMetadata(llvm::LLVMContext::MD_invariant_load);
  }

  // Accesses a constant distance apart, by address.
  using Family = llvm::SmallVector<std::pair<int64_t, Instruction*>>;

  llvm::SmallVector<Family> families(llvm::ArrayRef<Instruction*> accesses) {
    llvm::SmallVector<Family> result;
    for (Instruction* access : accesses) {
      const llvm::SCEV* address = evolution_.getSCEV(pointer_of(access));
      bool is_placed = false;
      for (Family& family : result) {
        if (type_of(family[0].second) != type_of(access)) continue;
        const auto distance =
            evolution_.computeConstantDifference(address, evolution_.getSCEV(pointer_of(family[0].second)));
        if (!distance) continue;
        family.emplace_back(distance->getSExtValue(), access);
        is_placed = true;
        break;
      }
      if (!is_placed) result.push_back({{0, access}});
    }
    for (Family& family : result) llvm::sort(family, llvm::less_first());
    return result;
  }

  void close(llvm::SmallVector<Instruction*>& accesses, Kind kind) {
    Cluster cluster{.runs = {}, .is_of_loads = kind != Kind::store};
    for (const Family& family : families(accesses)) add_runs(family, cluster);
    if (!cluster.runs.empty()) clusters_.push_back(std::move(cluster));
    accesses.clear();
  }

  static void add_runs(const Family& family, Cluster& cluster) {
    const int64_t size = size_of(family[0].second);
    for (size_t first = 0, end = 0; first < family.size(); first = end) {
      end = first + 1;
      while (end < family.size() && family[end].first == family[end - 1].first + size) ++end;
      // Where a place is accessed twice, all is left as it is.
      const bool is_repeated = end < family.size() && family[end].first == family[end - 1].first;
      while (end < family.size() && family[end].first == family[end - 1].first) ++end;
      if (is_repeated) continue;
      const int64_t all = static_cast<int64_t>(end - first) * size;
      const int64_t bytes = all >= widest ? widest : all == widest / 2 ? all : 0;
      if (bytes == 0 || (bytes == size && !type_of(family[first].second)->isVectorTy())) continue;
      const auto count = static_cast<size_t>(bytes / size);
      for (size_t start = first; start + count <= end; start += count) {
        Run run{.accesses = {}, .bytes = bytes};
        for (size_t i = start; i < start + count; ++i) run.accesses.push_back(family[i].second);
        const auto alignment = llvm::getLoadStoreAlignment(run.accesses[0]);
        if (alignment < llvm::Align(static_cast<uint64_t>(bytes))) cluster.runs.push_back(std::move(run));
      }
    }
  }

  llvm::BasicBlock& block_;
  llvm::ScalarEvolution& evolution_;
  std::vector<Cluster> clusters_;
};

// Moves what computes the value in front of an instruction of the same block, if it can be there.
bool can_be_before(Value* value, Instruction* place) {
  auto* instruction = llvm::dyn_cast<Instruction>(value);
  if (!instruction || instruction->getParent() != place->getParent()) return true;
  if (instruction == place) return false;
  if (instruction->comesBefore(place)) return true;
  return !llvm::isa<llvm::PHINode, llvm::CallBase>(instruction) && !instruction->mayReadOrWriteMemory() &&
         llvm::isSafeToSpeculativelyExecute(instruction) &&
         llvm::all_of(instruction->operands(), [&](Value* operand) { return can_be_before(operand, place); });
}

void move_before(Value* value, Instruction* place) {
  auto* instruction = llvm::dyn_cast<Instruction>(value);
  if (!instruction || instruction->getParent() != place->getParent() || instruction->comesBefore(place)) return;
  for (Value* operand : instruction->operands()) move_before(operand, place);
  instruction->moveBefore(place->getIterator());
}

class Versions {
 public:
  explicit Versions(Cluster& cluster) : cluster_(cluster) {}

  bool make() {
    for (const Run& run : cluster_.runs)
      for (Instruction* access : run.accesses)
        if (access->getParent() != cluster_.runs[0].accesses[0]->getParent()) return false;  // parted by another
    choose_place();
    llvm::erase_if(cluster_.runs, [&](const Run& run) {
      return cluster_.is_of_loads && !llvm::all_of(run.accesses, [&](Instruction* access) {
               return can_be_before(pointer_of(access), place_);
             });
    });
    if (cluster_.runs.empty()) return false;
    choose_place();
    if (cluster_.is_of_loads)
      for (const Run& run : cluster_.runs)
        for (Instruction* access : run.accesses) move_before(pointer_of(access), place_);
    else
      place_ = place_->getNextNode();

    llvm::IRBuilder<> builder(place_);
    Value* all = builder.getInt64(0);
    int64_t most = 0;
    for (const Run& run : cluster_.runs) {
      all = builder.CreateOr(all, builder.CreatePtrToInt(pointer_of(run.accesses[0]), builder.getInt64Ty()));
      most = std::max(most, run.bytes);
    }
    Value* const is_aligned = builder.CreateIsNull(builder.CreateAnd(all, static_cast<uint64_t>(most - 1)));
    SplitBlockAndInsertIfThenElse(is_aligned, place_->getIterator(), &wide_end_, &narrow_end_);
    for (const Run& run : cluster_.runs) cluster_.is_of_loads ? load(run) : store(run);
    return true;
  }

 private:
  // Loads come where the first was, stores where the last was.
  void choose_place() {
    place_ = cluster_.runs[0].accesses[0];
    for (const Run& run : cluster_.runs)
      for (Instruction* access : run.accesses)
        if (cluster_.is_of_loads == access->comesBefore(place_)) place_ = access;
  }

  static llvm::Type* word_type(llvm::IRBuilderBase& builder, int64_t bytes) {
    return llvm::FixedVectorType::get(builder.getInt32Ty(), static_cast<unsigned>(bytes / 4));
  }
  static llvm::Type* elements_type(const Run& run) {
    llvm::Type* const type = type_of(run.accesses[0]);
    if (run.accesses.size() == 1) return type;
    auto* bits = llvm::Type::getIntNTy(type->getContext(), static_cast<unsigned>(8 * size_of(run.accesses[0])));
    return llvm::FixedVectorType::get(bits, static_cast<unsigned>(run.accesses.size()));
  }

  void load(const Run& run) {
    llvm::IRBuilder<> builder(wide_end_);
    llvm::LoadInst* words = builder.CreateAlignedLoad(word_type(builder, run.bytes), pointer_of(run.accesses[0]),
                                                      llvm::Align(static_cast<uint64_t>(run.bytes)));
    if (llvm::all_of(run.accesses, [](const Instruction* access) {
          return access->hasMetadata(llvm::LLVMContext::MD_invariant_load);
        }))
      words->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(words->getContext(), {}));
    Value* const elements = builder.CreateBitCast(words, elements_type(run));
    llvm::BasicBlock* const rest = place_->getParent();
    for (size_t i = 0; i < run.accesses.size(); ++i) {
      Instruction* const access = run.accesses[i];
      Value* const element = run.accesses.size() == 1
                                 ? elements
                                 : builder.CreateBitCast(builder.CreateExtractElement(elements, i), access->getType());
      auto* either = llvm::PHINode::Create(access->getType(), 2, "", rest->begin());
      access->replaceAllUsesWith(either);
      if (place_ == access) place_ = access->getNextNode();
      access->moveBefore(narrow_end_->getIterator());
      either->addIncoming(element, wide_end_->getParent());
      either->addIncoming(access, narrow_end_->getParent());
    }
  }

  void store(const Run& run) {
    llvm::IRBuilder<> builder(wide_end_);
    const auto value_of = [](Instruction* access) { return llvm::cast<llvm::StoreInst>(access)->getValueOperand(); };
    Value* elements = value_of(run.accesses[0]);
    if (run.accesses.size() > 1) {
      elements = llvm::PoisonValue::get(elements_type(run));
      for (size_t i = 0; i < run.accesses.size(); ++i)
        elements = builder.CreateInsertElement(
            elements, builder.CreateBitCast(value_of(run.accesses[i]), elements->getType()->getScalarType()), i);
    }
    builder.CreateAlignedStore(builder.CreateBitCast(elements, word_type(builder, run.bytes)),
                               pointer_of(run.accesses[0]), llvm::Align(static_cast<uint64_t>(run.bytes)));
    for (Instruction* access : run.accesses) access->moveBefore(narrow_end_->getIterator());
  }

  Cluster& cluster_;
  Instruction *place_ = nullptr, *wide_end_ = nullptr, *narrow_end_ = nullptr;
};

// Lanes that take different versions might be asked before they are together again.
bool asks_who_is_active(const llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), [](const Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (!call) return false;
    const auto* assembly = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand());
    return call->getIntrinsicID() == llvm::Intrinsic::nvvm_activemask ||
           (assembly && llvm::StringRef(assembly->getAsmString()).contains("activemask"));
  });
}

}  // namespace

void widen_accesses(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  if (llvm::any_of(*function.getParent(), asks_who_is_active)) return;
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  std::vector<Cluster> clusters;
  for (llvm::BasicBlock& block : function)
    for (Cluster& cluster : Block(block, evolution).clusters()) clusters.push_back(std::move(cluster));
  bool is_changed = false;
  for (Cluster& cluster : clusters) is_changed |= Versions(cluster).make();
  if (is_changed) analyses.invalidate(function, llvm::PreservedAnalyses::none());
}

}  // namespace metalloid::nvidia::lower

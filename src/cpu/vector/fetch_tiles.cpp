#include "cpu/vector/fetch_tiles.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

#include <vector>

namespace metalloid::cpu::vector {

namespace {

constexpr int64_t line = 64;

// What a value will be in the loop's next iteration, computed at the builder's place.
class NextIteration {
 public:
  NextIteration(const llvm::Loop& loop, llvm::IRBuilder<>& builder) : loop_(loop), builder_(builder) {}

  // Null: that takes more than arithmetic.
  llvm::Value* of(llvm::Value* value) { return after(value, /*in_next=*/true); }

  // Whether it depends on more than constants how far that is from what the value is now.
  bool is_far() const { return is_far_; }

 private:
  static constexpr unsigned most_instructions = 16;

  llvm::Value* after(llvm::Value* value, bool in_next) {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (!instruction || !loop_.contains(instruction)) return value;
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction)) {
      if (phi->getParent() != loop_.getHeader()) return nullptr;
      return in_next ? after(phi->getIncomingValueForBlock(loop_.getLoopLatch()), /*in_next=*/false) : phi;
    }
    const bool is_arithmetic = llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::GetElementPtrInst>(instruction) &&
                               !instruction->isIntDivRem();
    if (!is_arithmetic || ++count_ > most_instructions) return nullptr;
    const bool scales = instruction->getOpcode() == llvm::Instruction::Mul || instruction->isShift();
    is_far_ |= (scales || !in_next) && llvm::none_of(instruction->operands(), [](const llvm::Use& use) {
                 return llvm::isa<llvm::Constant>(use);
               });
    llvm::SmallVector<llvm::Value*, 4> operands;
    for (llvm::Value* operand : instruction->operands()) {
      operands.push_back(after(operand, in_next));
      if (!operands.back()) return nullptr;
    }
    llvm::Instruction* copy = instruction->clone();
    for (unsigned i = 0; i < operands.size(); ++i) copy->setOperand(i, operands[i]);
    copy->dropPoisonGeneratingFlags();
    return builder_.Insert(copy);
  }

  const llvm::Loop& loop_;
  llvm::IRBuilder<>& builder_;
  unsigned count_ = 0;
  bool is_far_ = false;
};

struct Tile {
  llvm::CallInst* load;
  llvm::Value* base;
  int64_t offset;
};

std::vector<Tile> find_tiles(llvm::Function& lane_form, const llvm::LoopInfo& loops) {
  std::vector<Tile> tiles;
  for (llvm::Instruction& instruction : llvm::instructions(lane_form)) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (!call || !call->getCalledFunction() ||
        !call->getCalledFunction()->getName().starts_with("metal.simdgroup_load.device."))
      continue;
    const llvm::Loop* loop = loops.getLoopFor(call->getParent());
    if (!loop || !loop->getLoopLatch() || !loop->isLoopInvariant(call->getArgOperand(1))) continue;
    llvm::APInt offset(64, 0);
    llvm::Value* base = call->getArgOperand(0)->stripAndAccumulateConstantOffsets(lane_form.getDataLayout(), offset,
                                                                                  /*AllowNonInbounds=*/true);
    // Tiles of the same rows share lines.
    const bool is_fetched = llvm::any_of(tiles, [&](const Tile& other) {
      return other.base == base && other.load->getArgOperand(1) == call->getArgOperand(1) &&
             std::abs(other.offset - offset.getSExtValue()) < line;
    });
    if (!is_fetched) tiles.push_back({call, base, offset.getSExtValue()});
  }
  return tiles;
}

}  // namespace

void fetch_tiles(llvm::Function& lane_form) {
  constexpr unsigned rows = 8;
  const llvm::DominatorTree dominators(lane_form);
  const llvm::LoopInfo loops(dominators);
  for (const Tile& tile : find_tiles(lane_form, loops)) {
    llvm::IRBuilder<> builder(tile.load);
    NextIteration iteration(*loops.getLoopFor(tile.load->getParent()), builder);
    llvm::Value* next = iteration.of(tile.load->getArgOperand(0));
    if (!next || !iteration.is_far()) continue;
    llvm::Type* element = tile.load->getType()->getScalarType();
    for (unsigned row = 0; row < rows; ++row) {
      llvm::Value* place = builder.CreateMul(tile.load->getArgOperand(1), builder.getInt64(row));
      builder.CreateIntrinsic(llvm::Intrinsic::prefetch, {next->getType()},
                              {builder.CreateGEP(element, next, place), builder.getInt32(/*read*/ 0),
                               builder.getInt32(/*nearest cache*/ 3), builder.getInt32(/*data*/ 1)});
    }
  }
}

}  // namespace metalloid::cpu::vector

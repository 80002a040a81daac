#include "cpu/vector/split_divisions.hpp"

#include <llvm/ADT/DepthFirstIterator.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <map>
#include <optional>
#include <tuple>

#include "cpu/vector/divisions.hpp"
#include "cpu/vector/lane_form.hpp"
#include "cpu/vector/shape_analysis.hpp"

namespace metalloid::cpu::vector {

namespace {

// Copies cost time to compile: that of a longer kernel gains less, since divisions are a smaller part of it.
constexpr size_t most_instructions = 300;

struct Division {
  llvm::BinaryOperator* instruction;
  llvm::Value* divisor;
  uint64_t step;  // of the dividend from lane to lane

  llvm::Value* dividend() const { return instruction->getOperand(0); }
  bool is_signed() const { return is_signed_division(*instruction); }
};

// What is known of a condition where a dividend is not negative and a divisor is positive.
class SignedCase {
 public:
  SignedCase(const llvm::Value* dividend, const llvm::Value* divisor) : dividend_(dividend), divisor_(divisor) {}

  bool is_false(llvm::Value* condition) const {
    using namespace llvm::PatternMatch;
    llvm::Value *a = nullptr, *b = nullptr;
    if (match(condition, m_LogicalAnd(m_Value(a), m_Value(b)))) return is_false(a) || is_false(b);
    if (match(condition, m_LogicalOr(m_Value(a), m_Value(b)))) return is_false(a) && is_false(b);
    const auto* comparison = llvm::dyn_cast<llvm::ICmpInst>(condition);
    return comparison && comparison->getOperand(0)->getType()->isIntegerTy() &&
           range(comparison->getOperand(0)).icmp(comparison->getInversePredicate(), range(comparison->getOperand(1)));
  }

 private:
  llvm::ConstantRange range(const llvm::Value* value) const {
    using namespace llvm::PatternMatch;
    const unsigned bits = value->getType()->getIntegerBitWidth();
    const llvm::APInt above_all = llvm::APInt::getSignedMinValue(bits);
    if (value == dividend_) return {llvm::APInt::getZero(bits), above_all};
    if (value == divisor_) return {llvm::APInt(bits, 1), above_all};
    if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value)) return constant->getValue();
    const llvm::Value* sum = nullptr;
    const llvm::APInt* more = nullptr;
    if (match(value, m_Add(m_Value(sum), m_APInt(more)))) return range(sum).add(*more);
    return llvm::ConstantRange::getFull(bits);
  }

  const llvm::Value *dividend_, *divisor_;
};

// Signed divisions divide by 1 where the result would be none (bitcode/total_division.hpp), which lanes find out for
// themselves; where both numbers are positive there is no such case.
llvm::Value* divisor_of(const llvm::Instruction& division) {
  llvm::Value* divisor = division.getOperand(1);
  if (!is_signed_division(division)) return divisor;
  while (auto* choice = llvm::dyn_cast<llvm::SelectInst>(divisor)) {
    const SignedCase positive(division.getOperand(0), choice->getFalseValue());
    if (!positive.is_false(choice->getCondition())) break;
    divisor = choice->getFalseValue();
  }
  return divisor;
}

std::optional<Division> as_division(llvm::Instruction& instruction, const ShapeAnalysis& shapes, unsigned width) {
  if (!instruction.isIntDivRem() || instruction.getType()->getIntegerBitWidth() > 64) return std::nullopt;
  const Shape dividend = shapes.shape(instruction.getOperand(0));
  llvm::Value* divisor = divisor_of(instruction);
  if (!dividend.is_known() || dividend.factor || !dividend.guards.empty() || !shapes.is_uniform(divisor))
    return std::nullopt;
  const int64_t step = dividend.step(1);
  for (unsigned lane = 0; lane < width; ++lane)
    if (step <= 0 || dividend.step(lane) != step * static_cast<int64_t>(lane)) return std::nullopt;
  const uint64_t row = static_cast<uint64_t>(step) * (width - 1);
  if (!is_worth_asking(divisor, row)) return std::nullopt;
  if (row >= llvm::maxUIntN(instruction.getType()->getIntegerBitWidth() - 1)) return std::nullopt;
  return Division{llvm::cast<llvm::BinaryOperator>(&instruction), divisor, static_cast<uint64_t>(step)};
}

// Whether an instruction may be moved to a place before it. Where others decide whether it is reached, memory may not
// be there, and divisors may be 0.
bool can_be_moved(const llvm::Instruction& instruction, const llvm::Instruction& place,
                  const llvm::DominatorTree& dominators) {
  if (instruction.mayHaveSideEffects() || llvm::isa<llvm::PHINode>(instruction)) return false;
  if (!dominators.dominates(&place, &instruction)) return false;
  if (instruction.getParent() == place.getParent())
    return !instruction.mayReadFromMemory() || instruction.hasMetadata(llvm::LLVMContext::MD_invariant_load);
  return !instruction.mayReadFromMemory() && llvm::isSafeToSpeculativelyExecute(&instruction);
}

// Brings a value, and what it is computed from, before a place; false if that cannot be.
bool is_brought_before(llvm::Value* value, llvm::Instruction* place, const llvm::DominatorTree& dominators) {
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction || dominators.dominates(instruction, place)) return true;
  if (!can_be_moved(*instruction, *place, dominators)) return false;
  for (llvm::Value* operand : instruction->operands())
    if (!is_brought_before(operand, place, dominators)) return false;
  instruction->moveBefore(place->getIterator());
  instruction->dropPoisonGeneratingAnnotations();
  return true;
}

// From the first on that lanes would make one by one.
llvm::SmallVector<Division> find_divisions(llvm::Function& function, const llvm::LoopInfo& loops,
                                           const ShapeAnalysis& shapes, unsigned width) {
  llvm::SmallVector<Division> found;
  for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function)) {
    const bool is_for_all = !loops.getLoopFor(block) && !shapes.is_masked(block);
    for (llvm::Instruction& instruction : *block)
      if (const auto division = as_division(instruction, shapes, width);
          division && (!found.empty() || (is_for_all && !shapes.is_known(&instruction))))
        found.push_back(*division);
  }
  return found;
}

// What the lanes of a group in one row have.
struct Row {
  llvm::Value *quotient, *remainder;
  llvm::Value* is_one;  // whether they are
};

// The division may be made where the kernel does not: whatever it divides by there is no reason to fail.
Row row_of(llvm::IRBuilder<>& builder, const Division& division, unsigned width) {
  llvm::Type* type = division.instruction->getType();
  const unsigned bits = type->getIntegerBitWidth();
  const auto number = [&](uint64_t value) { return llvm::ConstantInt::get(type, value); };
  llvm::Value* divisor = builder.CreateFreeze(division.divisor);
  divisor = builder.CreateSelect(builder.CreateIsNull(divisor), number(1), divisor);
  llvm::Value* offset = builder.CreateMul(builder.CreateZExtOrTrunc(lane(builder, width), type), number(division.step));
  llvm::Value* first = builder.CreateSub(builder.CreateFreeze(division.dividend()), offset);
  llvm::Value* rest = builder.CreateURem(first, divisor);
  const uint64_t furthest = division.step * (width - 1);
  const uint64_t most = division.is_signed() ? llvm::maxUIntN(bits - 1) : llvm::maxUIntN(bits);
  llvm::Value* is_one = builder.CreateAnd(builder.CreateICmpULE(first, number(most - furthest)),
                                          builder.CreateICmpUGT(builder.CreateSub(divisor, rest), number(furthest)));
  if (division.is_signed()) is_one = builder.CreateAnd(is_one, builder.CreateICmpSGT(divisor, number(0)));
  return {builder.CreateUDiv(first, divisor), builder.CreateAdd(rest, offset), is_one};
}

}  // namespace

bool split_divisions(llvm::Function& function, const llvm::LoopInfo& loops, const ShapeAnalysis& shapes,
                     unsigned width) {
  if (function.getParent()->getFunction("metal.threadgroup_barrier")) return false;
  const llvm::SmallVector<Division> found = find_divisions(function, loops, shapes, width);
  if (found.empty()) return false;
  llvm::Instruction* place = found.front().instruction;
  const llvm::SmallPtrSet<llvm::BasicBlock*, 16> reached(llvm::df_begin(place->getParent()),
                                                         llvm::df_end(place->getParent()));
  size_t instructions = 0;
  for (const llvm::BasicBlock* block : reached) instructions += block->size();
  if (instructions > most_instructions) return false;

  const llvm::DominatorTree dominators(function);
  llvm::IRBuilder<> builder(place);
  llvm::Value* together = builder.getTrue();
  std::map<std::tuple<llvm::Value*, llvm::Value*, bool>, Row> rows;
  llvm::SmallVector<std::pair<llvm::BinaryOperator*, llvm::Value*>> fast;
  for (const Division& division : found) {
    if (!reached.contains(division.instruction->getParent()) ||
        !is_brought_before(division.dividend(), place, dominators) ||
        !is_brought_before(division.divisor, place, dominators))
      continue;
    const auto [entry, is_new] = rows.try_emplace({division.dividend(), division.divisor, division.is_signed()}, Row{});
    Row& row = entry->second;
    if (is_new) {
      row = row_of(builder, division, width);
      together = builder.CreateAnd(together, row.is_one);
    }
    fast.push_back({division.instruction, is_remainder(*division.instruction) ? row.remainder : row.quotient});
  }

  llvm::BasicBlock *head = place->getParent(), *apart = head->splitBasicBlock(place);
  llvm::SmallVector<llvm::BasicBlock*> blocks(llvm::depth_first(apart)), clones;
  llvm::ValueToValueMapTy copies;
  for (llvm::BasicBlock* block : blocks) {
    clones.push_back(llvm::CloneBasicBlock(block, copies, ".together", &function));
    copies[block] = clones.back();
  }
  llvm::remapInstructionsInBlocks(clones, copies);
  for (llvm::BasicBlock* block : clones) {
    const llvm::SmallPtrSet<llvm::BasicBlock*, 4> before(llvm::pred_begin(block), llvm::pred_end(block));
    for (llvm::PHINode& phi : block->phis())
      phi.removeIncomingValueIf([&](unsigned i) { return !before.contains(phi.getIncomingBlock(i)); },
                                /*DeletePHIIfEmpty=*/false);
  }
  for (const auto& [division, value] : fast) {
    auto* copy = llvm::cast<llvm::Instruction>(copies.lookup(division));
    copy->replaceAllUsesWith(value);
    copy->eraseFromParent();
  }
  head->getTerminator()->eraseFromParent();
  builder.SetInsertPoint(head);
  builder.CreateCondBr(together, clones.front(), apart,
                       llvm::MDBuilder(function.getContext()).createLikelyBranchWeights());
  return true;
}

}  // namespace metalloid::cpu::vector

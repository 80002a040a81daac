#include "cpu/vector/shape_analysis.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/Operator.h>

#include "cpu/vector/all_lanes.hpp"
#include "cpu/vector/atomics.hpp"
#include "cpu/vector/divisions.hpp"
#include "cpu/vector/groups.hpp"
#include "cpu/vector/lane_form.hpp"
#include "cpu/vector/matrix_rows.hpp"
#include "cpu/vector/variant.hpp"

namespace metalloid::cpu::vector {

namespace {

bool is_conditional(const llvm::Instruction* terminator) {
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(terminator);
  return branch && branch->isConditional();
}

const llvm::ConstantInt* small_constant(const llvm::Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value);
  return constant && constant->getBitWidth() <= 64 ? constant : nullptr;
}

// What guards.cpp can check.
bool can_be_guarded(const Shape& operand, const llvm::Instruction& guard) {
  return operand.is_known() && !operand.factor && guard.getType()->getIntegerBitWidth() <= 32;
}

// Whether a number only takes part in the arithmetic of addresses. What needs it in every lane computes it there.
bool is_for_addresses(const llvm::Instruction& number) {
  constexpr size_t most = 32;
  llvm::SmallPtrSet<const llvm::Instruction*, 16> seen;
  llvm::SmallVector<const llvm::Instruction*> left{&number};
  while (!left.empty()) {
    const llvm::Instruction* value = left.pop_back_val();
    if (!seen.insert(value).second) continue;
    if (seen.size() > most) return false;
    for (const llvm::User* user : value->users()) {
      if (llvm::isa<llvm::GetElementPtrInst>(user)) continue;
      if (!llvm::isa<llvm::BinaryOperator, llvm::ZExtInst, llvm::SExtInst, llvm::MinMaxIntrinsic>(user)) return false;
      left.push_back(llvm::cast<llvm::Instruction>(user));
    }
  }
  return true;
}

}  // namespace

ShapeAnalysis::ShapeAnalysis(llvm::Function& function, const llvm::LoopInfo& loops,
                             const llvm::PostDominatorTree& post_dominators, unsigned width)
    : loops_(loops), post_dominators_(post_dominators), layout_(function.getDataLayout()), width_(width) {
  for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function)) order_.push_back(block);
  analyse();
}

void ShapeAnalysis::assume_agreement(const llvm::BasicBlock* block) {
  agreed_.insert(block);
  analyse_again();
}

void ShapeAnalysis::analyse_again() {
  joins_.clear();
  masked_.clear();
  divergent_branches_.clear();
  divergent_loops_.clear();
  analyse();
}

// What is divergent decides which shapes hold, and shapes decide what is divergent: from the fewest divergent branches
// upwards, until nothing changes.
void ShapeAnalysis::analyse() {
  do find_shapes();
  while (find_divergence());
}

void ShapeAnalysis::find_shapes() {
  shapes_.clear();
  for (bool changed = true; changed;) {
    changed = false;
    for (const llvm::BasicBlock* block : order_)
      for (const llvm::Instruction& instruction : *block) {
        if (instruction.getType()->isVoidTy()) continue;
        Shape& present = shapes_[&instruction];
        if (present.is_varying()) continue;
        Shape shape = transfer(instruction);
        if (!present.is_unknown()) shape = present.joined(shape);
        if (shape == present) continue;
        shapes_[&instruction] = std::move(shape);
        changed = true;
      }
  }
}

Shape ShapeAnalysis::shape(const llvm::Value* value) const {
  if (const auto* constant = small_constant(value)) {
    return Shape::constant(width_, static_cast<int64_t>(constant->getZExtValue())).in_type(constant->getBitWidth());
  }
  if (!llvm::isa<llvm::Instruction>(value)) return Shape::uniform(width_);
  auto found = shapes_.find(value);
  return found == shapes_.end() ? Shape::unknown() : found->second;
}

bool ShapeAnalysis::find_divergence() {
  bool grew = false;
  for (const llvm::BasicBlock* block : order_) {
    const llvm::Instruction* last = block->getTerminator();
    if (!is_conditional(last) || divergent_branches_.contains(block) || agreed_.contains(block)) continue;
    if (is_uniform(llvm::cast<llvm::BranchInst>(last)->getCondition())) continue;
    divergent_branches_.insert(block);
    find_region(block);
    grew = true;
  }
  if (grew) find_divergent_loops();
  return grew;
}

// Between a branch that lanes disagree on and the block where all meet again, some lanes are off, and values that come
// together come from different lanes.
void ShapeAnalysis::find_region(const llvm::BasicBlock* branch) {
  const llvm::BasicBlock* end = nullptr;
  if (const auto* node = post_dominators_.getNode(const_cast<llvm::BasicBlock*>(branch)); node && node->getIDom())
    end = node->getIDom()->getBlock();
  llvm::SmallPtrSet<const llvm::BasicBlock*, 16> region;
  llvm::SmallVector<const llvm::BasicBlock*> left(llvm::successors(branch));
  while (!left.empty()) {
    const llvm::BasicBlock* block = left.pop_back_val();
    if (block == end || !region.insert(block).second) continue;
    left.append(llvm::succ_begin(block), llvm::succ_end(block));
  }
  for (const llvm::BasicBlock* block : region) masked_.insert(block);
  const auto is_reached = [&](const llvm::BasicBlock* block) { return block == branch || region.contains(block); };
  if (end) region.insert(end);
  for (const llvm::BasicBlock* block : region)
    if (!loops_.isLoopHeader(block) && llvm::count_if(llvm::predecessors(block), is_reached) >= 2)
      for (const llvm::PHINode& phi : block->phis())
        if (!phi.hasConstantValue()) joins_.insert(&phi);
}

void ShapeAnalysis::find_divergent_loops() {
  for (const llvm::BasicBlock* block : order_)
    if (divergent_branches_.contains(block))
      for (const llvm::Loop* loop = loops_.getLoopFor(block); loop; loop = loop->getParentLoop())
        if (llvm::any_of(llvm::successors(block), [&](const auto* next) { return !loop->contains(next); }))
          divergent_loops_.insert(loop);
  // An edge out of two loops, of which lanes leave the outer one at different times, leaves the inner one so as well.
  for (bool grew = true; grew;) {
    grew = false;
    for (const llvm::BasicBlock* block : order_)
      for (const llvm::Loop* loop = loops_.getLoopFor(block); loop; loop = loop->getParentLoop())
        for (const llvm::BasicBlock* next : llvm::successors(block)) {
          if (loop->contains(next)) continue;
          for (const llvm::Loop* outer = loop->getParentLoop(); outer; outer = outer->getParentLoop())
            if (!outer->contains(next) && divergent_loops_.contains(outer))
              grew |= divergent_loops_.insert(loop).second;
        }
  }
  for (const llvm::Loop* loop : divergent_loops_) {
    for (const llvm::BasicBlock* block : loop->blocks()) masked_.insert(block);
    llvm::SmallVector<llvm::BasicBlock*> exits;
    loop->getExitBlocks(exits);
    for (const llvm::BasicBlock* exit : exits)
      for (const llvm::PHINode& phi : exit->phis())
        if (llvm::any_of(phi.incoming_values(), [&](const llvm::Value* value) {
              const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
              return instruction && loop->contains(instruction);
            }))
          joins_.insert(&phi);
  }
}

bool ShapeAnalysis::is_limit(const llvm::BasicBlock* block) const {
  const llvm::Instruction* last = block->getTerminator();
  if (!is_conditional(last)) return false;
  const auto* condition = llvm::dyn_cast<llvm::ICmpInst>(llvm::cast<llvm::BranchInst>(last)->getCondition());
  if (!condition) return false;
  const Shape a = shape(condition->getOperand(0)), b = shape(condition->getOperand(1));
  return a.is_known() && b.is_known() && !(a.is_constant() && b.is_constant());
}

bool ShapeAnalysis::has_divergent_exit(const llvm::BasicBlock* block) const {
  if (divergent_branches_.contains(block)) return true;
  for (const llvm::Loop* loop = loops_.getLoopFor(block); loop; loop = loop->getParentLoop())
    if (divergent_loops_.contains(loop) &&
        llvm::any_of(llvm::successors(block), [&](const auto* next) { return !loop->contains(next); }))
      return true;
  return false;
}

Shape ShapeAnalysis::transfer(const llvm::Instruction& instruction) const {
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) return phi_shape(*phi);
  bool all_uniform = true;
  for (const llvm::Value* operand : instruction.operands()) {
    const Shape operand_shape = shape(operand);
    if (operand_shape.is_unknown()) return Shape::unknown();
    all_uniform &= operand_shape.is_uniform();
  }
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) return call_shape(*call);
  if (instruction.isAtomic())
    return all_uniform && atomic_gives_uniform(instruction) ? Shape::uniform(width_) : Shape::varying();
  if (all_uniform) return uniform_result(instruction);
  if (const auto* comparison = llvm::dyn_cast<llvm::ICmpInst>(&instruction)) return comparison_shape(*comparison);
  llvm::Type* type = instruction.getType();
  if (!type->isPointerTy() && !(type->isIntegerTy() && type->getIntegerBitWidth() <= 64)) return Shape::varying();
  if (const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) return address_shape(*address);
  if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) return cast_shape(*cast);
  if (const auto* choice = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
    const Shape a = shape(choice->getTrueValue()), b = shape(choice->getFalseValue());
    return is_uniform(choice->getCondition()) && a.guards.empty() && b.guards.empty() ? a.joined(b) : Shape::varying();
  }
  if (llvm::isa<llvm::FreezeInst>(instruction)) return shape(instruction.getOperand(0));
  return llvm::isa<llvm::BinaryOperator>(instruction) && !type->isIntegerTy(1) ? arithmetic_shape(instruction)
                                                                               : Shape::varying();
}

// A guarded shape does not survive a phi: where the guard fails, the lanes are computed again from what they were
// computed from, and a phi forgets that.
Shape ShapeAnalysis::phi_shape(const llvm::PHINode& phi) const {
  if (joins_.contains(&phi)) return Shape::varying();
  Shape result;
  for (const llvm::Value* value : phi.incoming_values()) {
    const Shape incoming = shape(value);
    if (!incoming.guards.empty()) return Shape::varying();
    result = result.joined(incoming);
  }
  if (result.is_known() && result.factor) {
    // The factor must be known wherever the phi is.
    const auto* factor = llvm::dyn_cast<llvm::Instruction>(result.factor);
    if (factor && loops_.getLoopFor(factor->getParent()) &&
        loops_.getLoopFor(factor->getParent())->contains(phi.getParent()))
      return Shape::varying();
  }
  return result;
}

Shape ShapeAnalysis::call_shape(const llvm::CallInst& call) const {
  const llvm::Function* called = call.getCalledFunction();
  if (!called) return Shape::varying();
  if (is_row_function(called->getName()))
    return called->getName().starts_with(matrix_name) ? Shape::varying() : Shape::uniform(width_);
  if (called->getName() == all_lanes_function) return Shape::uniform(width_);
  if (called->getName() == lane_function) {
    Shape::Lanes lanes;
    for (unsigned l = 0; l < width_; ++l) lanes.push_back(l);
    return Shape::constants(std::move(lanes));
  }
  llvm::SmallVector<bool> uniform;
  for (const llvm::Value* argument : call.args()) uniform.push_back(is_uniform(argument));
  if (is_group_function(called->getName()))
    return width_ <= lanes_of_simdgroup && gives_uniform(called->getName(), uniform) ? Shape::uniform(width_)
                                                                                     : Shape::varying();
  if (const auto* limit = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&call)) return limit_shape(*limit);
  const bool pure = called->doesNotAccessMemory() || called->onlyReadsMemory();
  return called->isIntrinsic() && pure && llvm::all_of(uniform, [](bool is) { return is; }) ? Shape::uniform(width_)
                                                                                            : Shape::varying();
}

// What differs from lane to lane keeps its steps as far as it is within the limit: coordinates that are clamped to an
// image, say, in all groups but those at its edges.
Shape ShapeAnalysis::limit_shape(const llvm::MinMaxIntrinsic& limit) const {
  const Shape a = shape(limit.getLHS()), b = shape(limit.getRHS());
  if (a.is_uniform() && b.is_uniform()) return Shape::uniform(width_);
  const Shape& limited = a.is_uniform() ? b : a;
  if (!(a.is_uniform() || b.is_uniform()) || !can_be_guarded(limited, limit)) return Shape::varying();
  Shape result = limited.with_other_base();
  result.add_guards({&limit});
  return result;
}

// Of uniform operands the result is uniform; what its base is a multiple of is worth knowing.
Shape ShapeAnalysis::uniform_result(const llvm::Instruction& instruction) const {
  Shape result = Shape::uniform(width_);
  if (llvm::isa<llvm::AllocaInst>(instruction)) {
    result.alignment = llvm::cast<llvm::AllocaInst>(instruction).getAlign().value();
    return result;
  }
  if (!instruction.getType()->isIntegerTy() || instruction.getType()->getIntegerBitWidth() > 64) return result;
  const unsigned bits = instruction.getType()->getIntegerBitWidth();
  const auto alignment = [&](unsigned operand) {
    const Shape of = shape(instruction.getOperand(operand));
    if (!of.is_constant()) return of.alignment;
    return of.offsets[0] == 0 ? Shape::zero_base / 2
                              : uint64_t{1} << llvm::countr_zero(static_cast<uint64_t>(of.offsets[0]));
  };
  const auto limit = [&](uint64_t value) {
    return std::min({value, uint64_t{1} << 56, bits < 56 ? uint64_t{1} << bits : uint64_t{1} << 56});
  };
  switch (instruction.getOpcode()) {
    case llvm::Instruction::Add:
    case llvm::Instruction::Sub:
    case llvm::Instruction::Or:
      result.alignment = limit(std::min(alignment(0), alignment(1)));
      break;
    case llvm::Instruction::And:
      result.alignment = limit(std::max(alignment(0), alignment(1)));
      break;
    case llvm::Instruction::Mul:
      result.alignment = limit(llvm::SaturatingMultiply(alignment(0), alignment(1)));
      break;
    case llvm::Instruction::Shl:
      if (const auto* count = small_constant(instruction.getOperand(1)); count && count->getZExtValue() < 32)
        result.alignment = limit(llvm::SaturatingMultiply(alignment(0), uint64_t{1} << count->getZExtValue()));
      break;
    case llvm::Instruction::ZExt:
    case llvm::Instruction::SExt:
      if (!instruction.getOperand(0)->getType()->isIntegerTy(1)) result.alignment = limit(alignment(0));
      break;
    default:
      break;
  }
  return result;
}

// Marks of arithmetic that does not wrap around count for nothing here: see early_extensions.hpp.
Shape ShapeAnalysis::arithmetic_shape(const llvm::Instruction& instruction) const {
  const Shape a = shape(instruction.getOperand(0)), b = shape(instruction.getOperand(1));
  if (!a.is_known() || !b.is_known()) return Shape::varying();
  const unsigned bits = instruction.getType()->getIntegerBitWidth();
  const auto* constant = small_constant(instruction.getOperand(1));
  switch (instruction.getOpcode()) {
    case llvm::Instruction::Add: {
      const Shape result = Shape::sum(a, b, 1).in_type(bits);
      return may_be_negative(instruction) ? result : result.exact_in_type(bits);
    }
    case llvm::Instruction::Sub:
      return Shape::sum(a, b, -1).in_type(bits);
    case llvm::Instruction::Mul:
      if (constant) return a.times(constant->getSExtValue()).in_type(bits);
      if (a.is_uniform()) return b.times(instruction.getOperand(0)).in_type(bits);
      if (b.is_uniform()) return a.times(instruction.getOperand(1)).in_type(bits);
      return Shape::varying();
    case llvm::Instruction::Shl:
      if (!constant || constant->getZExtValue() >= bits) return Shape::varying();
      return a.times(static_cast<int64_t>(uint64_t{1} << constant->getZExtValue())).in_type(bits);
    case llvm::Instruction::LShr:
      return constant ? a.shifted_right(static_cast<unsigned>(constant->getLimitedValue(63))) : Shape::varying();
    case llvm::Instruction::And:
      return constant ? a.and_with(constant->getZExtValue(), bits) : Shape::varying();
    case llvm::Instruction::Xor:
      return constant ? a.xor_with(constant->getZExtValue()) : Shape::varying();
    case llvm::Instruction::Or:
      return constant ? a.or_with(constant->getZExtValue()) : Shape::varying();
    case llvm::Instruction::UDiv:
    case llvm::Instruction::SDiv:
    case llvm::Instruction::URem:
    case llvm::Instruction::SRem:
      return division_shape(instruction);
    default:
      return Shape::varying();
  }
}

// Whether the highest bit may be set, whatever marks say of arithmetic on the way.
bool ShapeAnalysis::may_be_negative(const llvm::Value& value) const {
  return !llvm::computeKnownBits(&value, layout_, nullptr, nullptr, nullptr, /*UseInstrInfo=*/false).isNonNegative();
}

// Lanes of a row that is shorter than the divisor have the same quotient, unless a multiple of it is among them: as
// those of `i % width` and `i / width` in most groups.
Shape ShapeAnalysis::division_shape(const llvm::Instruction& division) const {
  const Shape dividend = shape(division.getOperand(0));
  if (!is_uniform(division.getOperand(1)) || !can_be_guarded(dividend, division) || !is_for_addresses(division))
    return Shape::varying();
  const auto [least, most] = std::minmax_element(dividend.offsets.begin(), dividend.offsets.end());
  if (!is_worth_asking(division.getOperand(1), static_cast<uint64_t>(*most - *least))) return Shape::varying();
  Shape result = is_remainder(division) ? dividend.with_other_base() : Shape::uniform(width_);
  result.is_exact_unsigned = true;
  result.is_exact_signed = !is_remainder(division) || is_signed_division(division);
  result.add_guards(dividend.guards);
  result.add_guards({&division});
  return result;
}

// Of values that are constants in every lane, so is the comparison.
Shape ShapeAnalysis::comparison_shape(const llvm::ICmpInst& comparison) const {
  const Shape a = shape(comparison.getOperand(0)), b = shape(comparison.getOperand(1));
  if (!comparison.getOperand(0)->getType()->isIntegerTy() || !a.is_constant() || !b.is_constant())
    return Shape::varying();
  const unsigned bits = comparison.getOperand(0)->getType()->getIntegerBitWidth();
  Shape::Lanes results;
  for (unsigned l = 0; l < width_; ++l)
    results.push_back(llvm::ICmpInst::compare(llvm::APInt(bits, static_cast<uint64_t>(a.offsets[l]), false, true),
                                              llvm::APInt(bits, static_cast<uint64_t>(b.offsets[l]), false, true),
                                              comparison.getPredicate()));
  return Shape::constants(std::move(results));
}

Shape ShapeAnalysis::cast_shape(const llvm::CastInst& cast) const {
  const Shape operand = shape(cast.getOperand(0));
  if (!operand.is_known()) return Shape::varying();
  llvm::Type* from = cast.getSrcTy();
  switch (cast.getOpcode()) {
    case llvm::Instruction::Trunc: {
      if (cast.getType()->isIntegerTy(1)) return Shape::varying();
      Shape result = operand;
      result.is_exact_signed = result.is_exact_unsigned = false;
      return result.in_type(cast.getType()->getIntegerBitWidth());
    }
    case llvm::Instruction::BitCast:
    case llvm::Instruction::AddrSpaceCast:
    case llvm::Instruction::PtrToInt:
    case llvm::Instruction::IntToPtr:
      return from->isPointerTy() == cast.getType()->isPointerTy() || layout_.getTypeSizeInBits(from) == 64 ||
                     from->isPointerTy()
                 ? (cast.getType()->isIntegerTy() ? operand.in_type(cast.getType()->getIntegerBitWidth()) : operand)
                 : Shape::varying();
    case llvm::Instruction::ZExt:
    case llvm::Instruction::SExt: {
      const bool is_signed = cast.getOpcode() == llvm::Instruction::SExt;
      if (operand.is_constant()) {
        Shape result = operand;
        if (is_signed)
          for (int64_t& offset : result.offsets)
            offset = llvm::SignExtend64(static_cast<uint64_t>(offset), from->getIntegerBitWidth());
        return result.in_type(cast.getType()->getIntegerBitWidth());
      }
      if (from->isIntegerTy(1)) return Shape::varying();
      Shape result = operand;
      const bool exact = operand.keeps_steps_extended(is_signed, from->getIntegerBitWidth());
      if (!exact) result.add_guards({&cast});
      // A narrower factor has been extended before.
      if (result.factor && result.factor->getType()->getIntegerBitWidth() >= from->getIntegerBitWidth())
        result.factor_is_signed = is_signed;
      result.is_exact_signed = exact;
      result.is_exact_unsigned = exact && !is_signed;
      if (!exact) result.is_exact_signed = true;  // where the guard holds
      return result;
    }
    default:
      return Shape::varying();
  }
}

Shape ShapeAnalysis::address_shape(const llvm::GetElementPtrInst& address) const {
  Shape result = shape(address.getPointerOperand());
  for (auto index = llvm::gep_type_begin(address); index != llvm::gep_type_end(address); ++index) {
    if (!result.is_known()) return Shape::varying();
    if (index.isStruct()) continue;
    const Shape step = shape(index.getOperand());
    if (!step.is_known()) return Shape::varying();
    if (step.is_uniform()) continue;
    if (index.getOperand()->getType()->getIntegerBitWidth() != 64 && !step.is_exact_signed) return Shape::varying();
    result = Shape::sum(result, step.times(static_cast<int64_t>(index.getSequentialElementStride(layout_))), 1);
  }
  if (result.is_known()) result.alignment = 1;
  return result;
}

}  // namespace metalloid::cpu::vector

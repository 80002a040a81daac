#include "cpu/vector/widener.hpp"

#include <llvm/IR/CFG.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "bitcode/block_order.hpp"
#include "cpu/thread_state.hpp"
#include "cpu/vector/lane_form.hpp"
#include "cpu/vector/target.hpp"

namespace metalloid::cpu::vector {

namespace {

constexpr unsigned bytes_of_nowhere = 64;
constexpr unsigned instructions_worth_a_skip = 24;

}  // namespace

llvm::SmallVector<llvm::Type*, 2> scalars_of(llvm::Type* type) {
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
    return llvm::SmallVector<llvm::Type*, 2>(vector->getNumElements(), vector->getElementType());
  llvm::SmallVector<llvm::Type*, 2> scalars;
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    for (llvm::Type* element : structure->elements()) scalars.append(scalars_of(element));
  } else if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    for (uint64_t i = 0; i < array->getNumElements(); ++i) scalars.append(scalars_of(array->getElementType()));
  } else {
    scalars.push_back(type);
  }
  return scalars;
}

Widener::Widener(llvm::Function& lane_form, const ShapeAnalysis& shapes, const llvm::LoopInfo& loops,
                 const Variant& variant, const llvm::SmallPtrSetImpl<const llvm::BasicBlock*>& agreements,
                 Explanation* explanation)
    : old_(lane_form),
      shapes_(shapes),
      loops_(loops),
      layout_(lane_form.getDataLayout()),
      context_(lane_form.getContext()),
      variant_(variant),
      width_(variant.width),
      agreements_(agreements),
      explanation_(explanation),
      has_slow_gathers_(is_zen(lane_form)),
      gathers_words_well_(!is_zen(lane_form) || is_zen_5(lane_form)),
      has_mask_registers_(has_mask_registers(lane_form)),
      has_masked_words_(has_feature(lane_form, "avx")),
      builder_(context_) {}

llvm::Function* Widener::widen(std::string& problem) {
  new_ = llvm::Function::Create(old_.getFunctionType(), llvm::GlobalValue::ExternalLinkage, "", old_.getParent());
  new_->setAttributes(old_.getAttributes());
  if (explanation_) new_->setSubprogram(old_.getSubprogram());
  entry_ = llvm::BasicBlock::Create(context_, "", new_);
  builder_.SetInsertPoint(entry_);
  llvm::AllocaInst* nowhere = builder_.CreateAlloca(llvm::ArrayType::get(builder_.getInt8Ty(), bytes_of_nowhere));
  nowhere->setAlignment(llvm::Align(bytes_of_nowhere));
  nowhere_ = nowhere;

  order_ = bitcode::block_order(old_, loops_);
  for (llvm::BasicBlock* block : order_) {
    place_[block] = static_cast<unsigned>(place_.size());
    blocks_[block] = new_block(block->getName());
  }
  make_slots();
  builder_.SetInsertPoint(entry_);
  if (variant_.is_partial) {
    llvm::Value* state = new_->getArg(0);
    llvm::Value* count = builder_.CreateLoad(
        builder_.getInt32Ty(),
        builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), state, offsetof(ThreadState, lanes)));
    llvm::SmallVector<uint32_t> numbers;
    for (unsigned l = 0; l < width_; ++l) numbers.push_back(l);
    lanes_there_ = builder_.CreateICmpULT(llvm::ConstantDataVector::get(context_, numbers), splat(count));
  }
  builder_.CreateBr(blocks_[order_[0]]);

  for (llvm::BasicBlock* block : order_) {
    widen_block(block);
    if (!problem_.empty()) {
      problem = problem_;
      new_->eraseFromParent();
      return nullptr;
    }
  }
  llvm::DominatorTree dominators(*new_);
  expect_nobody_yet(dominators);
  llvm::erase_if(promoted_, [](llvm::AllocaInst* slot) { return !llvm::isAllocaPromotable(slot); });
  llvm::PromoteMemToReg(promoted_, dominators);
  return new_;
}

llvm::AllocaInst* Widener::make_slot(llvm::Type* type) {
  llvm::IRBuilder<> builder(entry_, entry_->begin());
  promoted_.push_back(builder.CreateAlloca(type));
  return promoted_.back();
}

llvm::Value* Widener::load_slot(llvm::AllocaInst* slot) {
  return builder_.CreateLoad(slot->getAllocatedType(), slot);
}

void Widener::make_slots() {
  llvm::SmallPtrSet<const llvm::Value*, 16> kept;
  const std::function<void(const llvm::Instruction&)> keep = [&](const llvm::Instruction& instruction) {
    if (!kept.insert(&instruction).second) return;
    if (instruction.getType()->isPointerTy()) {  // accesses may count from its base
      llvm::Value* base = distance_of(const_cast<llvm::Instruction*>(&instruction), layout_).base;
      if (const auto* from = llvm::dyn_cast<llvm::Instruction>(base)) keep(*from);
    }
    if (shapes_.shape(&instruction).guards.empty()) return;
    for (const llvm::Value* operand : instruction.operands())  // lanes may be computed again from them
      if (const auto* from = llvm::dyn_cast<llvm::Instruction>(operand)) keep(*from);
  };
  for (const llvm::BasicBlock* block : order_)
    for (const llvm::Instruction& instruction : *block) {
      if (instruction.getType()->isVoidTy()) continue;
      const bool lives_on = llvm::any_of(instruction.users(), [&](const llvm::User* user) {
        return llvm::cast<llvm::Instruction>(user)->getParent() != block || llvm::isa<llvm::PHINode>(user);
      });
      if (lives_on || llvm::isa<llvm::PHINode>(instruction)) keep(instruction);
      const Shape shape = shapes_.shape(&instruction);
      if (const auto* factor = llvm::dyn_cast_or_null<llvm::Instruction>(shape.is_known() ? shape.factor : nullptr))
        keep(*factor);
      for (const llvm::Instruction* guard : shape.guards) {
        if (guard->isIntDivRem()) keep(*guard);
        for (const llvm::Value* operand : guard->operands())
          if (const auto* guarded = llvm::dyn_cast<llvm::Instruction>(operand)) keep(*guarded);
      }
      if (lives_on && shape.is_known() && llvm::isa<llvm::ZExtInst, llvm::SExtInst>(instruction))  // of neighbours
        if (const auto* extended = llvm::dyn_cast<llvm::Instruction>(instruction.getOperand(0))) keep(*extended);
      if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
        if (const auto table = table_load(*load, layout_))  // its address is not asked for, but what is within it
          if (const auto* index = llvm::dyn_cast<llvm::Instruction>(table->index); index && index->getParent() != block)
            keep(*index);
    }
  for (const llvm::BasicBlock* block : order_) {
    for (const llvm::Instruction& instruction : *block) {
      if (!kept.contains(&instruction)) continue;
      auto& slots = slots_[&instruction];
      if (shapes_.is_known(&instruction))
        slots.push_back(make_slot(instruction.getType()));
      else
        for (llvm::Type* scalar : scalars_of(instruction.getType())) slots.push_back(make_slot(vector_of(scalar)));
    }
    if (shapes_.is_masked(block)) mask_slots_[block] = make_slot(vector_of(builder_.getInt1Ty()));
  }
}

llvm::Value* Widener::scalar(llvm::Value* value) {
  if (auto* argument = llvm::dyn_cast<llvm::Argument>(value)) return new_->getArg(argument->getArgNo());
  if (!llvm::isa<llvm::Instruction>(value)) return value;
  if (auto found = scalars_.find(value); found != scalars_.end()) return found->second;
  llvm::Value* loaded = load_slot(slots_[value][0]);
  scalars_[value] = loaded;
  remembered_.push_back({value, /*is_scalar=*/true});
  return loaded;
}

const Components& Widener::lanes(llvm::Value* value) {
  if (auto found = lanes_.find(value); found != lanes_.end()) return found->second;
  const Shape shape = shapes_.shape(value);
  Components components;
  if (!shape.is_known()) {
    for (llvm::AllocaInst* slot : slots_[value]) components.push_back(load_slot(slot));
  } else if (!shape.guards.empty()) {
    components = widened(llvm::cast<llvm::Instruction>(*value));
  } else if (const auto types = scalars_of(value->getType()); types.size() > 1 || types[0] != value->getType()) {
    llvm::Value* whole = scalar(value);
    const std::function<void(llvm::Value*)> split = [&](llvm::Value* part) {
      llvm::Type* type = part->getType();
      if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
        for (unsigned i = 0; i < vector->getNumElements(); ++i) split(builder_.CreateExtractElement(part, i));
      } else if (type->isAggregateType()) {
        const auto count = type->isArrayTy() ? type->getArrayNumElements() : type->getStructNumElements();
        for (unsigned i = 0; i < count; ++i) split(builder_.CreateExtractValue(part, i));
      } else {
        components.push_back(splat(part));
      }
    };
    split(whole);
  } else {
    components.push_back(spread(value, shape));
  }
  remembered_.push_back({value, /*is_scalar=*/false});
  return lanes_[value] = std::move(components);
}

// What is remembered of values in one of several ways is not there in the others.
void Widener::forget_since(size_t mark) {
  for (; remembered_.size() > mark; remembered_.pop_back()) {
    const auto& [value, is_scalar] = remembered_.back();
    if (is_scalar)
      scalars_.erase(value);
    else
      lanes_.erase(value);
  }
}

llvm::Value* Widener::spread(llvm::Value* value, const Shape& shape) {
  if (llvm::isa<llvm::Constant>(value) || shape.is_uniform()) return splat(scalar(value));
  llvm::Type* type = value->getType();
  llvm::Type* number = type->isPointerTy() ? builder_.getInt64Ty() : type;
  const auto constant = [&](auto step) {
    llvm::SmallVector<llvm::Constant*> steps;
    for (unsigned l = 0; l < width_; ++l)
      steps.push_back(llvm::ConstantInt::get(number, static_cast<uint64_t>(step(l)), /*signed=*/false, /*trunc=*/true));
    return llvm::ConstantVector::get(steps);
  };
  if (shape.is_constant()) return constant([&](unsigned l) { return shape.offsets[l]; });
  llvm::Value* steps = constant([&](unsigned l) { return shape.step(l); });
  if (shape.factor) {
    llvm::Value* factor = scalar(shape.factor);
    factor = shape.factor_is_signed ? builder_.CreateSExtOrTrunc(factor, number)
                                    : builder_.CreateZExtOrTrunc(factor, number);
    steps = builder_.CreateAdd(
        steps, builder_.CreateMul(splat(factor), constant([&](unsigned l) { return shape.factor_step(l); })));
  }
  if (type->isPointerTy()) return builder_.CreateGEP(builder_.getInt8Ty(), scalar(value), steps);
  return builder_.CreateAdd(splat(scalar(value)), steps);
}

Operand Widener::operand(llvm::Value* value) {
  return {shapes_.is_uniform(value) ? scalar(value) : nullptr, lanes(value)};
}

void Widener::define(const llvm::Instruction& instruction, Components components) {
  if (auto found = slots_.find(&instruction); found != slots_.end())
    for (size_t i = 0; i < components.size(); ++i) builder_.CreateStore(components[i], found->second[i]);
  lanes_[&instruction] = std::move(components);
}

void Widener::define_scalar(const llvm::Instruction& instruction, llvm::Value* value) {
  if (auto found = slots_.find(&instruction); found != slots_.end()) builder_.CreateStore(value, found->second[0]);
  scalars_[&instruction] = value;
}

llvm::BasicBlock* Widener::new_block(const llvm::Twine& name) {
  return llvm::BasicBlock::Create(context_, name, new_);
}

llvm::Value* Widener::any(llvm::Value* mask) {
  llvm::Value* bits = builder_.CreateBitCast(mask, builder_.getIntNTy(width_));
  return builder_.CreateIsNotNull(bits);
}

llvm::Value* Widener::all(llvm::Value* mask) {
  llvm::Value* bits = builder_.CreateBitCast(mask, builder_.getIntNTy(width_));
  return builder_.CreateICmpEQ(bits, llvm::Constant::getAllOnesValue(bits->getType()));
}

Components Widener::choose(llvm::Value* condition, const std::function<Components()>& likely,
                           const std::function<Components()>& unlikely) {
  llvm::BasicBlock *yes = new_block("likely"), *no = new_block("unlikely"), *after = new_block("after");
  builder_.CreateCondBr(condition, yes, no, llvm::MDBuilder(context_).createLikelyBranchWeights());
  const auto make = [&](llvm::BasicBlock* block, const std::function<Components()>& way) {
    builder_.SetInsertPoint(block);
    const size_t mark = remembered_.size();
    Components result = way();
    forget_since(mark);
    llvm::BasicBlock* end = builder_.GetInsertBlock();
    builder_.CreateBr(after);
    return std::pair{std::move(result), end};
  };
  const auto [a, a_end] = make(yes, likely);
  const auto [b, b_end] = make(no, unlikely);
  builder_.SetInsertPoint(after);
  Components result;
  for (size_t i = 0; i < a.size(); ++i) {
    llvm::PHINode* phi = builder_.CreatePHI(a[i]->getType(), 2);
    phi->addIncoming(a[i], a_end);
    phi->addIncoming(b[i], b_end);
    result.push_back(phi);
  }
  return result;
}

void Widener::give_up(const llvm::Instruction& instruction) {
  if (!problem_.empty()) return;
  llvm::raw_string_ostream stream(problem_);
  stream << "the instruction" << instruction << " cannot be widened";
}

void Widener::widen_block(llvm::BasicBlock* block) {
  builder_.SetInsertPoint(blocks_[block]);
  scalars_.clear();
  lanes_.clear();
  remembered_.clear();
  mask_ = nullptr;
  load_mask(block);
  if (shapes_.is_masked(block) && !may_run_empty(block)) skip_if_empty(block);
  for (llvm::Instruction& instruction : *block)
    if (!llvm::isa<llvm::PHINode>(instruction) && !instruction.isTerminator()) widen_instruction(instruction);
  leave(block);
}

// No lane is on its way to a block, nor has brought anything, where all ways to it begin. That is not in loops that the
// block is behind: lanes of earlier iterations wait there for the others.
void Widener::expect_nobody_yet(const llvm::DominatorTree& dominators) {
  const llvm::LoopInfo loops(dominators);
  const auto start = [&](const llvm::BasicBlock* block, llvm::AllocaInst* slot, llvm::Constant* value) {
    llvm::BasicBlock* beginning = blocks_[block];
    if (!dominators.isReachableFromEntry(beginning)) return;
    for (llvm::User* user : slot->users())
      if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
          store && dominators.isReachableFromEntry(store->getParent()))
        beginning = dominators.findNearestCommonDominator(beginning, store->getParent());
    const llvm::Loop* loop = loops.getLoopFor(beginning);
    for (; loop && !loop->contains(blocks_[block]); loop = loops.getLoopFor(beginning))
      beginning = dominators.getNode(loop->getHeader())->getIDom()->getBlock();
    const bool is_behind_slots = beginning != entry_;
    new llvm::StoreInst(value, slot,
                        is_behind_slots ? beginning->getFirstInsertionPt() : entry_->getTerminator()->getIterator());
  };
  for (const auto& [block, slot] : mask_slots_)
    start(block, slot, llvm::Constant::getNullValue(slot->getAllocatedType()));
  for (const llvm::BasicBlock* block : order_)
    if (loops_.getLoopFor(block) && !loops_.isLoopHeader(block) && block->hasNPredecessorsOrMore(2))
      for (const llvm::PHINode& phi : block->phis())
        if (!shapes_.is_known(&phi))
          for (llvm::AllocaInst* slot : slots_[&phi])
            start(block, slot, llvm::PoisonValue::get(slot->getAllocatedType()));
}

void Widener::load_mask(llvm::BasicBlock* block) {
  if (!shapes_.is_masked(block)) {
    mask_ = lanes_there_;
    return;
  }
  llvm::AllocaInst* slot = mask_slots_[block];
  mask_ = load_slot(slot);
  if (loops_.isLoopHeader(block)) builder_.CreateStore(llvm::Constant::getNullValue(slot->getAllocatedType()), slot);
}

// Blocks that do nothing but compute may run for no lane; testing would cost more.
bool Widener::may_run_empty(const llvm::BasicBlock* block) const {
  if (loops_.isLoopHeader(block)) return false;
  if (block->getTerminator()->getNumSuccessors() > 1 && !shapes_.has_divergent_exit(block)) return false;
  if (block->getTerminator()->getNumSuccessors() == 0) return true;
  for (const llvm::BasicBlock* next : llvm::successors(block))  // would overwrite what other lanes bring
    if (llvm::any_of(next->phis(), [&](const llvm::PHINode& phi) { return shapes_.is_known(&phi); })) return false;
  unsigned count = 0;
  for (const llvm::Instruction& instruction : *block) {
    if (instruction.mayReadOrWriteMemory() || llvm::isa<llvm::CallBase>(instruction)) {
      const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (!call || !call->doesNotAccessMemory()) return false;
    }
    // What it divides by may come from a block that was skipped. In lanes that are off, vectors divide by 1.
    if (instruction.isIntDivRem() && shapes_.is_known(&instruction) &&
        !llvm::isa<llvm::Constant>(instruction.getOperand(1)))
      return false;
    if (!llvm::isa<llvm::PHINode>(instruction)) ++count;
  }
  return count <= instructions_worth_a_skip;
}

// If there are no lanes, whatever comes after the block, and after the loop if it starts one, is next.
void Widener::skip_if_empty(llvm::BasicBlock* block) {
  llvm::SmallVector<llvm::BasicBlock*> targets;
  if (loops_.isLoopHeader(block)) {
    loops_.getLoopFor(block)->getExitBlocks(targets);
  } else {
    llvm::BasicBlock* back = back_edge(block);
    for (llvm::BasicBlock* next : llvm::successors(block))
      if (next != back) targets.push_back(next);
  }
  llvm::BasicBlock* next = next_of(block, targets);
  if (!next) return;
  llvm::BasicBlock* body = new_block(block->getName());
  builder_.CreateCondBr(any(mask_), body, blocks_[next]);
  builder_.SetInsertPoint(body);
}

// The first of all that is still to be visited; the others are put off until after it.
llvm::BasicBlock* Widener::next_of(llvm::BasicBlock* block, llvm::ArrayRef<llvm::BasicBlock*> targets) {
  Blocks all = deferred_[block];
  all.insert(targets.begin(), targets.end());
  all.remove(block);
  if (all.empty()) return nullptr;
  llvm::BasicBlock* next = *llvm::min_element(all, [&](auto* a, auto* b) { return place_[a] < place_[b]; });
  for (llvm::BasicBlock* other : all)
    if (other != next) deferred_[next].insert(other);
  return next;
}

llvm::BasicBlock* Widener::back_edge(llvm::BasicBlock* block) const {
  for (llvm::BasicBlock* next : llvm::successors(block))
    if (const llvm::Loop* loop = loops_.getLoopFor(next); loop && loop->getHeader() == next && loop->contains(block))
      return next;
  return nullptr;
}

void Widener::leave(llvm::BasicBlock* block) {
  llvm::Instruction* last = block->getTerminator();
  if (llvm::isa<llvm::ReturnInst>(last)) {
    builder_.CreateRetVoid();
  } else if (agreements_.contains(block)) {
    agree_or_restart(block);
  } else if (last->getNumSuccessors() == 2 && !shapes_.has_divergent_exit(block)) {
    leave_together(block, scalar(llvm::cast<llvm::BranchInst>(last)->getCondition()));
  } else {
    leave_apart(block);
  }
}

void Widener::leave_together(llvm::BasicBlock* block, llvm::Value* condition) {
  llvm::BasicBlock* ways[2] = {new_block("way"), new_block("way")};
  builder_.CreateCondBr(condition, ways[0], ways[1]);
  llvm::BasicBlock* back = back_edge(block);
  for (unsigned i = 0; i < 2; ++i) {
    llvm::BasicBlock* next = block->getTerminator()->getSuccessor(i);
    builder_.SetInsertPoint(ways[i]);
    const size_t mark = remembered_.size();
    follow_edge(block, next, mask_);
    forget_since(mark);
    builder_.CreateBr(blocks_[next == back ? back : next_of(block, {next})]);
  }
}

void Widener::leave_apart(llvm::BasicBlock* block) {
  llvm::BasicBlock* back = back_edge(block);
  llvm::Value* lanes_back = nullptr;
  llvm::SmallVector<llvm::BasicBlock*> targets;
  const auto go = [&](llvm::BasicBlock* next, llvm::Value* lanes) {
    follow_edge(block, next, lanes);
    if (next == back)
      lanes_back = lanes ? lanes : mask();
    else
      targets.push_back(next);
  };
  auto* branch = llvm::cast<llvm::BranchInst>(block->getTerminator());
  if (branch->isConditional() && branch->getSuccessor(0) != branch->getSuccessor(1)) {
    llvm::Value* condition = builder_.CreateFreeze(vector(branch->getCondition()));
    llvm::Value* opposite = builder_.CreateNot(condition);
    go(branch->getSuccessor(0), mask_ ? builder_.CreateAnd(mask_, condition) : condition);
    go(branch->getSuccessor(1), mask_ ? builder_.CreateAnd(mask_, opposite) : opposite);
  } else {
    go(branch->getSuccessor(0), mask_);
  }
  const bool loops_apart = back && shapes_.is_divergent_loop(loops_.getLoopFor(back));
  if (back && !loops_apart) {
    builder_.CreateBr(blocks_[back]);
    return;
  }
  llvm::BasicBlock* next = next_of(block, targets);
  if (loops_apart)
    builder_.CreateCondBr(any(lanes_back), blocks_[back], blocks_[next]);
  else
    builder_.CreateBr(blocks_[next]);
}

// Nothing has happened yet, so a group whose lanes do not agree can start again where it is expected.
void Widener::agree_or_restart(llvm::BasicBlock* block) {
  auto* branch = llvm::cast<llvm::BranchInst>(block->getTerminator());
  note(*branch, Hindrance::restart);
  llvm::Value* condition = builder_.CreateFreeze(vector(branch->getCondition()));
  llvm::Value* bits = builder_.CreateBitCast(condition, builder_.getIntNTy(width_));
  llvm::BasicBlock *split = new_block("disagree"), *agreed = new_block("agree");
  llvm::Value* none = builder_.CreateIsNull(bits);
  llvm::Value* every = builder_.CreateICmpEQ(bits, llvm::Constant::getAllOnesValue(bits->getType()));
  builder_.CreateCondBr(builder_.CreateOr(none, every), agreed, split,
                        llvm::MDBuilder(context_).createLikelyBranchWeights());
  builder_.SetInsertPoint(split);
  start_again();
  builder_.CreateRetVoid();
  builder_.SetInsertPoint(agreed);
  leave_together(block, every);
}

// As a partial group.
void Widener::start_again() {
  builder_.CreateCall(
      old_.getParent()->getOrInsertFunction(partial_function, builder_.getVoidTy(), builder_.getPtrTy()),
      {new_->getArg(0)});
}

bool Widener::waits_for_others(const llvm::BasicBlock* from, const llvm::BasicBlock* to) const {
  if (loops_.isLoopHeader(to)) return false;
  if (to->hasNPredecessorsOrMore(2)) return true;
  for (const llvm::Loop* loop = loops_.getLoopFor(from); loop; loop = loop->getParentLoop())
    if (shapes_.is_divergent_loop(loop) && !loop->contains(to)) return true;
  return false;
}

// `lanes` go from one block to another: they take along the values of phis and are added to its mask. Null: all.
void Widener::follow_edge(llvm::BasicBlock* from, llvm::BasicBlock* to, llvm::Value* lanes) {
  const bool others_are_there = waits_for_others(from, to);
  struct Move {
    llvm::AllocaInst* slot;
    llvm::Value* value;
    bool is_known;
  };
  llvm::SmallVector<Move> moves;
  for (llvm::PHINode& phi : to->phis()) {
    llvm::Value* value = phi.getIncomingValueForBlock(from);
    const auto& slots = slots_[&phi];
    if (shapes_.is_known(&phi)) {
      moves.push_back({slots[0], scalar(value), true});
      continue;
    }
    const Components components = this->lanes(value);
    for (size_t i = 0; i < slots.size(); ++i) moves.push_back({slots[i], components[i], false});
  }
  for (const Move& move : moves) {
    llvm::Value* value = move.value;
    if (lanes && others_are_there && !move.is_known) value = builder_.CreateSelect(lanes, value, load_slot(move.slot));
    builder_.CreateStore(value, move.slot);
  }
  if (!shapes_.is_masked(to)) return;
  llvm::AllocaInst* slot = mask_slots_[to];
  llvm::Value* there = lanes ? lanes : mask();
  if (others_are_there) there = builder_.CreateOr(there, load_slot(slot));
  builder_.CreateStore(there, slot);
}

}  // namespace metalloid::cpu::vector

// Lanes that change one variable by adding (or by another operation whose order does not matter) are added up first and
// make one atomic access; what each lane sees as the old value is as if they had come in lane order. All others take
// turns in a loop over the active lanes.
//
// Either is a function of the module, one for each kind of access: kernels with many atomics stay small, and groups
// without an active lane touch no memory. Operands that are the same in all lanes are passed once. Threadgroup memory
// needs no atomic instructions, because a threadgroup runs on one host thread, and its groups change places at barriers
// and turns only; so short is an access there that lanes which are all active take their turns without a loop, each by
// a counter of its own if there are several (split_counters.hpp), and find indices where they were just loaded from.
#include "cpu/vector/atomics.hpp"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include <optional>

#include "bitcode/address_spaces.hpp"
#include "cpu/vector/lane_loops.hpp"
#include "cpu/vector/split_counters.hpp"

namespace metalloid::cpu::vector {

namespace {

using Operation = llvm::AtomicRMWInst::BinOp;

constexpr auto relaxed = llvm::AtomicOrdering::Monotonic;

llvm::Type* value_type(const llvm::Instruction& instruction) {
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return store->getValueOperand()->getType();
  if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    return exchange->getNewValOperand()->getType();
  return instruction.getType();
}

unsigned pointer_operand(const llvm::Instruction& instruction) {
  return llvm::isa<llvm::StoreInst>(instruction) ? llvm::StoreInst::getPointerOperandIndex() : 0;
}

unsigned address_space(const llvm::Instruction& instruction) {
  return instruction.getOperand(pointer_operand(instruction))->getType()->getPointerAddressSpace();
}

// How the operands of all lanes become one operand: of subtractions, the sum. None for operations whose order matters.
std::optional<Operation> combining(const llvm::Instruction& instruction) {
  const auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
  if (!change) return std::nullopt;
  switch (change->getOperation()) {
    case llvm::AtomicRMWInst::Sub:
      return llvm::AtomicRMWInst::Add;
    case llvm::AtomicRMWInst::FSub:
      return llvm::AtomicRMWInst::FAdd;
    case llvm::AtomicRMWInst::Add:
    case llvm::AtomicRMWInst::FAdd:
    case llvm::AtomicRMWInst::And:
    case llvm::AtomicRMWInst::Or:
    case llvm::AtomicRMWInst::Xor:
    case llvm::AtomicRMWInst::Min:
    case llvm::AtomicRMWInst::Max:
    case llvm::AtomicRMWInst::UMin:
    case llvm::AtomicRMWInst::UMax:
      return change->getOperation();
    default:
      return std::nullopt;
  }
}

// The operand that changes nothing.
llvm::Constant* neutral(Operation operation, llvm::Type* type) {
  const unsigned bits = type->getScalarSizeInBits();
  switch (operation) {
    case llvm::AtomicRMWInst::FAdd:
      return llvm::ConstantFP::getNegativeZero(type);
    case llvm::AtomicRMWInst::And:
    case llvm::AtomicRMWInst::UMin:
      return llvm::Constant::getAllOnesValue(type);
    case llvm::AtomicRMWInst::Min:
      return llvm::ConstantInt::get(type, llvm::APInt::getSignedMaxValue(bits));
    case llvm::AtomicRMWInst::Max:
      return llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(bits));
    default:
      return llvm::Constant::getNullValue(type);
  }
}

llvm::Value* reduce(llvm::IRBuilder<>& builder, Operation operation, llvm::Value* lanes) {
  switch (operation) {
    case llvm::AtomicRMWInst::FAdd: {
      llvm::Type* type = lanes->getType()->getScalarType();
      auto* sum = builder.CreateFAddReduce(llvm::ConstantFP::getNegativeZero(type), lanes);
      llvm::cast<llvm::Instruction>(sum)->setHasAllowReassoc(true);
      return sum;
    }
    case llvm::AtomicRMWInst::And:
      return builder.CreateAndReduce(lanes);
    case llvm::AtomicRMWInst::Or:
      return builder.CreateOrReduce(lanes);
    case llvm::AtomicRMWInst::Xor:
      return builder.CreateXorReduce(lanes);
    case llvm::AtomicRMWInst::Min:
    case llvm::AtomicRMWInst::Max:
      return operation == llvm::AtomicRMWInst::Max ? builder.CreateIntMaxReduce(lanes, /*IsSigned=*/true)
                                                   : builder.CreateIntMinReduce(lanes, /*IsSigned=*/true);
    case llvm::AtomicRMWInst::UMin:
      return builder.CreateIntMinReduce(lanes);
    case llvm::AtomicRMWInst::UMax:
      return builder.CreateIntMaxReduce(lanes);
    default:
      return builder.CreateAddReduce(lanes);
  }
}

// In each lane, the lanes before it combined.
llvm::Value* combine_lanes_before(llvm::IRBuilder<>& builder, Operation operation, llvm::Value* lanes, unsigned width) {
  llvm::Value* none = neutral(operation, lanes->getType());
  const auto moved_up = [&](llvm::Value* from, unsigned distance) {
    llvm::SmallVector<int> places;
    for (unsigned lane = 0; lane < width; ++lane) places.push_back(int(lane < distance ? width : lane - distance));
    return builder.CreateShuffleVector(from, none, places);
  };
  llvm::Value* before = moved_up(lanes, 1);
  for (unsigned distance = 1; distance < width; distance *= 2)
    before = llvm::buildAtomicRMWValue(operation, builder, moved_up(before, distance), before);
  return before;
}

// What was loaded from device memory at the end of a block can be loaded again: what is written to threadgroup memory
// does not change it. Null if something else was written since.
llvm::LoadInst* loaded_at_end(llvm::Value* value, const llvm::BasicBlock* block) {
  auto* load = llvm::dyn_cast<llvm::LoadInst>(value);
  if (!load || !load->isSimple() || load->getParent() != block) return nullptr;
  const unsigned space = load->getPointerAddressSpace();
  if (space != bitcode::device_address_space && space != bitcode::constant_address_space) return nullptr;
  for (const llvm::Instruction* later = load; later; later = later->getNextNode())
    if (later->mayWriteToMemory()) return nullptr;
  return load;
}

// Where lanes can read their indices one by one, which saves the way over the stack. Where there are two ways to load
// them (Widener::choose), those that were gathered are stored. Null if they are in no memory.
llvm::Value* memory_of(llvm::Value* indices, llvm::IRBuilder<>& builder) {
  llvm::BasicBlock* block = builder.GetInsertBlock();
  if (llvm::LoadInst* load = loaded_at_end(indices, block))
    return builder.CreateAddrSpaceCast(load->getPointerOperand(), builder.getPtrTy());
  auto* phi = llvm::dyn_cast<llvm::PHINode>(indices);
  if (!phi || phi->getParent() != block) return nullptr;
  const auto is_loaded = [&](llvm::Use& way) { return loaded_at_end(way, phi->getIncomingBlock(way)) != nullptr; };
  const auto writes = [](const llvm::Instruction& instruction) { return instruction.mayWriteToMemory(); };
  if (llvm::none_of(phi->incoming_values(), is_loaded) || llvm::any_of(*block, writes)) return nullptr;
  llvm::PHINode* memory = llvm::IRBuilder<>(phi).CreatePHI(builder.getPtrTy(), phi->getNumIncomingValues());
  for (llvm::Use& way : phi->incoming_values()) {
    llvm::BasicBlock* from = phi->getIncomingBlock(way);
    llvm::IRBuilder<> at_end(from->getTerminator());
    if (llvm::LoadInst* load = loaded_at_end(way, from)) {
      memory->addIncoming(at_end.CreateAddrSpaceCast(load->getPointerOperand(), builder.getPtrTy()), from);
    } else {
      llvm::BasicBlock& entry = block->getParent()->getEntryBlock();
      llvm::AllocaInst* place = llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(way->getType());
      at_end.CreateStore(way, place);
      memory->addIncoming(place, from);
    }
  }
  return memory;
}

// The function that makes one kind of access: (pointers, operands…, indices, bits of the active lanes).
class AccessFunction {
 public:
  AccessFunction(const llvm::Function& caller, const llvm::Instruction& access, unsigned width, bool one_address,
                 llvm::ArrayRef<bool> is_passed_once, const std::optional<Places>& places, llvm::Type* indices)
      : caller_(caller),
        module_(*const_cast<llvm::Module*>(caller.getParent())),
        access_(access),
        type_(value_type(access)),
        width_(width),
        one_address_(one_address),
        is_passed_once_(is_passed_once),
        places_(places),
        indices_(indices),
        distance_of_parts_(one_address ? 0 : distance_of_parts(access)),
        gives_value_(!access.use_empty() && !access.getType()->isVoidTy()),
        alignment_(module_.getDataLayout().getTypeStoreSize(type_).getFixedValue()),
        builder_(module_.getContext()) {}

  llvm::Function* get() {
    const std::string name = name_of_access();
    if (llvm::Function* made = module_.getFunction(name)) return made;
    declare(name);
    builder_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "", function_));
    if (one_address_)
      access_together();
    else
      take_turns();
    return function_;
  }

 private:
  std::string name_of_access() const {
    std::string name = "metalloid.atomic.";
    llvm::raw_string_ostream stream(name);
    if (const auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&access_))
      stream << llvm::AtomicRMWInst::getOperationName(change->getOperation());
    else
      stream << access_.getOpcodeName();
    stream << '.' << *type_ << '.' << address_space(access_) << '.' << width_;
    if (one_address_) stream << ".together";
    for (const bool is_once : is_passed_once_) stream << (is_once ? ".once" : ".each");
    if (places_) stream << '.' << *index_type() << (places_->are_signed ? 's' : 'u') << places_->stride;
    if (places_ && indices_->isPointerTy()) stream << ".loaded";
    if (distance_of_parts_ > 0) stream << ".parts" << distance_of_parts_;
    if (gives_value_) stream << ".value";
    return name;
  }

  llvm::Type* vector_of(llvm::Type* scalar) const { return llvm::FixedVectorType::get(scalar, width_); }

  llvm::Type* result_type() {
    if (!gives_value_) return builder_.getVoidTy();
    if (one_address_ && llvm::isa<llvm::LoadInst>(access_)) return type_;
    if (llvm::isa<llvm::AtomicCmpXchgInst>(access_))
      return llvm::StructType::get(vector_of(type_), vector_of(builder_.getInt1Ty()));
    return vector_of(type_);
  }

  void declare(const std::string& name) {
    llvm::SmallVector<llvm::Type*> parameters;
    for (const auto& [i, operand] : llvm::enumerate(access_.operands()))
      parameters.push_back(is_passed_once_[i] ? operand->getType() : vector_of(operand->getType()));
    if (places_) parameters.push_back(indices_);
    parameters.push_back(builder_.getIntNTy(width_));
    function_ = function_beside(caller_, name, result_type(), parameters);
  }

  bool is_in_threadgroup_memory() const { return address_space(access_) == bitcode::threadgroup_address_space; }

  llvm::Value* bits() const { return function_->getArg(function_->arg_size() - 1); }
  llvm::Value* indices() const { return function_->getArg(function_->arg_size() - 2); }
  llvm::Type* index_type() const { return places_->indices->getType()->getScalarType(); }

  llvm::Value* place(llvm::Value* array, llvm::Value* index) {
    llvm::Value* steps = places_->are_signed ? builder_.CreateSExt(index, builder_.getInt64Ty())
                                             : builder_.CreateZExt(index, builder_.getInt64Ty());
    return builder_.CreatePtrAdd(array, builder_.CreateMul(steps, builder_.getInt64(places_->stride)));
  }

  void access_together() {
    llvm::BasicBlock* start = builder_.GetInsertBlock();
    auto* work = llvm::BasicBlock::Create(module_.getContext(), "active", function_);
    auto* end = llvm::BasicBlock::Create(module_.getContext(), "end", function_);
    builder_.CreateCondBr(builder_.CreateIsNull(bits()), end, work);
    builder_.SetInsertPoint(work);
    llvm::Value* result = emit_together();
    builder_.CreateBr(end);
    builder_.SetInsertPoint(end);
    if (!gives_value_) {
      builder_.CreateRetVoid();
      return;
    }
    llvm::PHINode* given = builder_.CreatePHI(result->getType(), 2);
    given->addIncoming(llvm::Constant::getNullValue(result->getType()), start);
    given->addIncoming(result, work);
    builder_.CreateRet(given);
  }

  llvm::Value* emit_together() {
    llvm::Value* pointer = function_->getArg(pointer_operand(access_));
    if (llvm::isa<llvm::LoadInst>(access_)) return emit_one({pointer});
    if (llvm::isa<llvm::StoreInst>(access_)) {
      llvm::Value* zeros = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, bits(), builder_.getTrue());
      llvm::Value* last = builder_.CreateSub(llvm::ConstantInt::get(bits()->getType(), width_ - 1), zeros);
      return emit_one({builder_.CreateExtractElement(function_->getArg(0), last), pointer});
    }
    const Operation operation = *combining(access_);
    llvm::Value* active = builder_.CreateBitCast(bits(), vector_of(builder_.getInt1Ty()));
    llvm::Value* operands = builder_.CreateSelect(active, function_->getArg(1), neutral(operation, vector_of(type_)));
    llvm::Value* old = emit_one({pointer, reduce(builder_, operation, operands)});
    if (!gives_value_) return nullptr;
    llvm::Value* before = combine_lanes_before(builder_, operation, operands, width_);
    return llvm::buildAtomicRMWValue(llvm::cast<llvm::AtomicRMWInst>(access_).getOperation(), builder_,
                                     builder_.CreateVectorSplat(width_, old), before);
  }

  // The lanes' operands and results are arrays on the stack.
  void take_turns() {
    llvm::SmallVector<llvm::Value*> operands;
    for (unsigned i = 0; i < access_.getNumOperands(); ++i) {
      llvm::Value* operand = function_->getArg(i);
      if (!is_passed_once_[i]) {
        operand = builder_.CreateAlloca(function_->getArg(i)->getType());
        builder_.CreateStore(function_->getArg(i), operand);
      }
      operands.push_back(operand);
    }
    llvm::Value* places = places_ ? indices() : nullptr;
    if (places && !indices_->isPointerTy()) {
      places = builder_.CreateAlloca(indices_);
      builder_.CreateStore(indices(), places);
    }
    const auto element = [&](llvm::Type* type, llvm::Value* array, llvm::Value* lane) {
      return builder_.CreateLoad(type, builder_.CreateInBoundsGEP(type, array, lane));
    };
    const auto operands_of = [&](llvm::Value* lane, llvm::Value* part) {
      llvm::SmallVector<llvm::Value*> of_lane = operands;
      for (unsigned i = 0; i < operands.size(); ++i)
        if (!is_passed_once_[i]) of_lane[i] = element(access_.getOperand(i)->getType(), operands[i], lane);
      llvm::Value*& pointer = of_lane[pointer_operand(access_)];
      if (places) {
        llvm::LoadInst* index = element(index_type(), places, lane);
        index->setAlignment(llvm::Align(1));  // in device memory they may lie anywhere
        pointer = place(pointer, index);
      }
      if (distance_of_parts_ > 0)
        pointer = builder_.CreatePtrAdd(pointer, builder_.CreateMul(part, builder_.getInt64(distance_of_parts_)));
      return of_lane;
    };
    if (is_in_threadgroup_memory() && !gives_value_) {
      const Ways ways = ways_by(builder_, bits());
      builder_.SetInsertPoint(ways.all);
      count_lanes(builder_, width_, [&](llvm::Value* lane, unsigned place) {
        emit_one(operands_of(lane, builder_.getInt64(place % parts_of_counter)));
      });
      builder_.CreateRetVoid();
      builder_.SetInsertPoint(ways.some);
    }
    llvm::Type* byte = builder_.getInt8Ty();
    llvm::AllocaInst *old = nullptr, *success = nullptr;
    if (gives_value_) {
      old = builder_.CreateAlloca(vector_of(type_));
      success = builder_.CreateAlloca(vector_of(byte));
      builder_.CreateStore(llvm::Constant::getNullValue(vector_of(type_)), old);
      builder_.CreateStore(llvm::Constant::getNullValue(vector_of(byte)), success);
    }
    const bool is_exchange = llvm::isa<llvm::AtomicCmpXchgInst>(access_);
    loop_over_lanes(builder_, bits(), [&](llvm::Value* lane, llvm::Value* left) -> llvm::Value* {
      const auto of_lane = operands_of(lane, builder_.CreateAnd(lane, parts_of_counter - 1));
      llvm::Value* result = emit_one(of_lane);
      if (!gives_value_) return left;
      llvm::Value* found = is_exchange ? builder_.CreateExtractValue(result, 0) : result;
      builder_.CreateStore(found, builder_.CreateInBoundsGEP(type_, old, lane));
      if (!is_exchange) return left;
      llvm::Value* succeeded = builder_.CreateExtractValue(result, 1);
      builder_.CreateStore(builder_.CreateZExt(succeeded, byte), builder_.CreateInBoundsGEP(byte, success, lane));
      if (places && indices_->isPointerTy()) return left;  // they are not there for all lanes
      return fail_together(left, succeeded, found, old,
                           places ? element(index_type(), places, lane) : of_lane[pointer_operand(access_)]);
    });
    if (!gives_value_) {
      builder_.CreateRetVoid();
      return;
    }
    llvm::Value* values = builder_.CreateLoad(vector_of(type_), old);
    if (is_exchange) {
      llvm::Value* exchanged = builder_.CreateIsNotNull(builder_.CreateLoad(vector_of(byte), success));
      llvm::Value* both = builder_.CreateInsertValue(llvm::PoisonValue::get(result_type()), values, 0);
      values = builder_.CreateInsertValue(both, exchanged, 1);
    }
    builder_.CreateRet(values);
  }

  // Of the lanes that are left, others that would exchange a value in the same place fail as this one did, up to the
  // first that expects what is there. Where all lanes of a group update one place, and those that fail try again, each
  // would otherwise fail as often as there are lanes before it.
  llvm::Value* fail_together(llvm::Value* left, llvm::Value* succeeded, llvm::Value* found, llvm::Value* all_found,
                             llvm::Value* place) {
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    auto* failed = llvm::BasicBlock::Create(module_.getContext(), "failed", function_);
    auto* after = llvm::BasicBlock::Create(module_.getContext(), "after", function_);
    builder_.CreateCondBr(succeeded, after, failed);
    builder_.SetInsertPoint(failed);
    llvm::Value* expected = function_->getArg(1);
    if (is_passed_once_[1]) expected = builder_.CreateVectorSplat(width_, expected);
    llvm::Value* there = places_ ? indices() : function_->getArg(0);
    const auto bits_of = [&](llvm::Value* lanes) { return builder_.CreateBitCast(lanes, left->getType()); };
    llvm::Value* same =
        builder_.CreateAnd(left, bits_of(builder_.CreateICmpEQ(there, builder_.CreateVectorSplat(width_, place))));
    llvm::Value* expecting =
        builder_.CreateAnd(same, bits_of(builder_.CreateICmpEQ(expected, builder_.CreateVectorSplat(width_, found))));
    llvm::Value* first = builder_.CreateAnd(expecting, builder_.CreateNeg(expecting));
    llvm::Value* before_it = builder_.CreateSub(first, llvm::ConstantInt::get(left->getType(), 1));
    llvm::Value* fail = builder_.CreateAnd(same, before_it);
    llvm::Value* others = builder_.CreateLoad(vector_of(type_), all_found);
    builder_.CreateStore(builder_.CreateSelect(builder_.CreateBitCast(fail, vector_of(builder_.getInt1Ty())),
                                               builder_.CreateVectorSplat(width_, found), others),
                         all_found);
    llvm::Value* rest = builder_.CreateAnd(left, builder_.CreateNot(fail));
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
    llvm::PHINode* result = builder_.CreatePHI(left->getType(), 2);
    result->addIncoming(left, before);
    result->addIncoming(rest, failed);
    return result;
  }

  // The access of one lane. Its value, if it has one.
  llvm::Value* emit_one(llvm::ArrayRef<llvm::Value*> operands) {
    return is_in_threadgroup_memory() ? emit_plain(operands) : emit_atomic_one(operands);
  }

  llvm::Value* emit_plain(llvm::ArrayRef<llvm::Value*> operands) {
    llvm::Value* pointer = operands[pointer_operand(access_)];
    if (llvm::isa<llvm::StoreInst>(access_)) return builder_.CreateAlignedStore(operands[0], pointer, alignment_);
    llvm::Value* old = builder_.CreateAlignedLoad(type_, pointer, alignment_);
    if (const auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&access_))
      builder_.CreateAlignedStore(llvm::buildAtomicRMWValue(change->getOperation(), builder_, old, operands[1]),
                                  pointer, alignment_);
    if (!llvm::isa<llvm::AtomicCmpXchgInst>(access_)) return old;
    llvm::Value* equal = builder_.CreateICmpEQ(old, operands[1]);
    builder_.CreateAlignedStore(builder_.CreateSelect(equal, operands[2], old), pointer, alignment_);
    llvm::Value* result = builder_.CreateInsertValue(llvm::PoisonValue::get(access_.getType()), old, 0);
    return builder_.CreateInsertValue(result, equal, 1);
  }

  llvm::Value* emit_atomic_one(llvm::ArrayRef<llvm::Value*> operands) {
    if (const auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&access_))
      return builder_.CreateAtomicRMW(change->getOperation(), operands[0], operands[1], alignment_, relaxed);
    if (llvm::isa<llvm::AtomicCmpXchgInst>(access_))
      return builder_.CreateAtomicCmpXchg(operands[0], operands[1], operands[2], alignment_, relaxed, relaxed);
    if (llvm::isa<llvm::StoreInst>(access_)) {
      llvm::StoreInst* store = builder_.CreateAlignedStore(operands[0], operands[1], alignment_);
      store->setAtomic(relaxed);
      return store;
    }
    llvm::LoadInst* load = builder_.CreateAlignedLoad(type_, operands[0], alignment_);
    load->setAtomic(relaxed);
    return load;
  }

  const llvm::Function& caller_;
  llvm::Module& module_;
  const llvm::Instruction& access_;
  llvm::Type* type_;
  unsigned width_;
  bool one_address_;
  llvm::ArrayRef<bool> is_passed_once_;  // of each operand
  const std::optional<Places>& places_;
  llvm::Type* indices_;  // lanes' indices, or a pointer to them; null without places
  uint64_t distance_of_parts_;
  bool gives_value_;
  llvm::Align alignment_;
  llvm::IRBuilder<> builder_;
  llvm::Function* function_ = nullptr;
};

}  // namespace

bool is_atomic_access(const llvm::Instruction& instruction) {
  return instruction.isAtomic() &&
         llvm::isa<llvm::LoadInst, llvm::StoreInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction);
}

bool atomic_gives_uniform(const llvm::Instruction& instruction) {
  return llvm::isa<llvm::LoadInst>(instruction);
}

void make_threadgroup_accesses_plain(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (!is_atomic_access(instruction) || address_space(instruction) != bitcode::threadgroup_address_space) continue;
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) load->setAtomic(llvm::AtomicOrdering::NotAtomic);
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) store->setAtomic(llvm::AtomicOrdering::NotAtomic);
  }
}

Components emit_atomic(Emission emission, const llvm::Instruction& instruction, llvm::ArrayRef<Operand> operands,
                       const std::optional<Places>& places) {
  llvm::IRBuilder<>& builder = emission.builder;
  const unsigned pointer = pointer_operand(instruction);
  const bool together = operands[pointer].uniform &&
                        (llvm::isa<llvm::LoadInst, llvm::StoreInst>(instruction) || combining(instruction).has_value());

  llvm::SmallVector<llvm::Value*> arguments;
  llvm::SmallVector<bool> is_passed_once;
  for (const auto& [i, operand] : llvm::enumerate(operands)) {
    const bool is_place = places && i == pointer;
    is_passed_once.push_back(together ? i == pointer : is_place || (operand.uniform && i != pointer));
    arguments.push_back(is_place ? places->array : is_passed_once.back() ? operand.uniform : operand.lanes[0]);
  }
  llvm::Value* indices = nullptr;
  if (places) {
    const bool can_be_read = address_space(instruction) == bitcode::threadgroup_address_space;
    llvm::Value* loaded = can_be_read ? memory_of(places->indices, builder) : nullptr;
    indices = loaded ? loaded : places->indices;
    arguments.push_back(indices);
  }
  arguments.push_back(emission.mask_bits());
  const llvm::Function& caller = *builder.GetInsertBlock()->getParent();
  AccessFunction access(caller, instruction, emission.width, together, is_passed_once, places,
                        indices ? indices->getType() : nullptr);
  llvm::CallInst* result = builder.CreateCall(access.get(), arguments);

  if (llvm::isa<llvm::StoreInst>(instruction)) return {};
  if (llvm::isa<llvm::AtomicCmpXchgInst>(instruction)) {
    if (result->getType()->isVoidTy())
      return {llvm::PoisonValue::get(emission.vector_of(value_type(instruction))),
              llvm::PoisonValue::get(emission.vector_of(builder.getInt1Ty()))};
    return {builder.CreateExtractValue(result, 0), builder.CreateExtractValue(result, 1)};
  }
  if (!result->getType()->isVoidTy()) return {result};
  const bool gives_uniform = together && llvm::isa<llvm::LoadInst>(instruction);
  return {llvm::PoisonValue::get(gives_uniform ? instruction.getType() : emission.vector_of(instruction.getType()))};
}

}  // namespace metalloid::cpu::vector

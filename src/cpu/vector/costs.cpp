#include "cpu/vector/costs.hpp"

#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <cmath>

#include "bitcode/address_spaces.hpp"
#include "cpu/textures/texture_calls.hpp"
#include "cpu/vector/accesses.hpp"
#include "cpu/vector/all_lanes.hpp"
#include "cpu/vector/groups.hpp"
#include "cpu/vector/lane_form.hpp"
#include "cpu/vector/lone_lanes.hpp"
#include "cpu/vector/neighbours.hpp"
#include "cpu/vector/tables.hpp"
#include "cpu/vector/target.hpp"
#include "cpu/vector/widener.hpp"

namespace metalloid::cpu::vector {

namespace {

constexpr double exponential = 9;  // as many steps

// Of a thread alone.
constexpr double integer_step = 0.35, float_step = 0.5, load = 0.5, store = 1, direct_branch = 0.7;
constexpr double unforeseen_branch = 4;  // a branch that threads disagree on is guessed wrong at times; an exit, once
constexpr double float_division = 4, square_root = 5, integer_division = 7, long_division = 12;
constexpr double locked = 18;
constexpr double texel = 40, sample = 170;  // of one thread
constexpr double function_call = 30;        // and what it does, which nobody has looked at

// Of a group.
constexpr double mask_steps = 3;  // of a branch that lanes disagree on: masks of both sides, is there a lane
constexpr double guard_steps = 2;
constexpr double lookup_steps = 2;  // of a small table
constexpr int64_t cache_line = 64;
constexpr double far_load = 2.5, far_store = 4;         // of lanes that have cache lines of their own
constexpr unsigned lines_of_set = 8;                    // of the nearest cache
constexpr double further_run = 0.7;                     // of lanes that lie apart from the others
constexpr double part_of_strides_above_1 = 0.5;         // of those that are small; others are one vector
constexpr double part_of_word = 1.3;                    // gathered with the word that it is in, and cut out
constexpr double part_of_many = 2;                      // put together in more registers than there are
constexpr double texels = 200, samples = 800;           // of one texture
constexpr double barrier = 60;                          // a switch of stacks, and the return from it is foreseen badly
constexpr double taking_turns = 17;                     // whatever they then do
constexpr double plain_update = 1.2, plain_access = 5;  // of threadgroup memory, which needs no lock: without a value

bool is_access(const llvm::Instruction& instruction) {
  return llvm::isa<llvm::LoadInst, llvm::StoreInst>(instruction);
}

// What registers and addresses take care of.
bool is_free(const llvm::Instruction& instruction) {
  if (const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    return intrinsic->isAssumeLikeIntrinsic();
  return llvm::isa<llvm::PHINode, llvm::AllocaInst, llvm::FreezeInst, llvm::BitCastInst, llvm::PtrToIntInst,
                   llvm::IntToPtrInst, llvm::AddrSpaceCastInst, llvm::ExtractValueInst, llvm::InsertValueInst,
                   llvm::ReturnInst, llvm::FenceInst>(instruction);
}

bool leaves_a_loop(const llvm::Instruction& branch, const llvm::LoopInfo& loops) {
  const llvm::Loop* loop = loops.getLoopFor(branch.getParent());
  return loop && loop->isLoopExiting(branch.getParent());
}

// Vector operations instead of one, in steps.
double steps_of(const llvm::Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case llvm::Instruction::FDiv:
    case llvm::Instruction::FRem:
      return 9;
    case llvm::Instruction::Mul:
      return instruction.getType()->getScalarSizeInBits() > 32 ? 3 : 1.5;
    default:
      break;
  }
  if (const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) switch (intrinsic->getIntrinsicID()) {
      case llvm::Intrinsic::sqrt:
        return 12;
      case llvm::Intrinsic::fma:
      case llvm::Intrinsic::fmuladd:
      case llvm::Intrinsic::fabs:
        return 1;
      case llvm::Intrinsic::exp2:
        return exponential;
      default:
        return 2;
    }
  return 1;
}

}  // namespace

Costs::Costs(const llvm::Function& function, const ShapeAnalysis& shapes, const llvm::LoopInfo& loops,
             const llvm::TargetTransformInfo& target, Strides strides)
    : shapes_(shapes),
      loops_(loops),
      layout_(function.getDataLayout()),
      strides_(strides),
      register_bits_(static_cast<double>(
          target.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector).getFixedValue())),
      register_count_(target.getNumberOfRegisters(target.getRegisterClassForType(/*Vector=*/true))),
      has_mask_registers_(has_mask_registers(function)) {
  register_bits_ = std::max(register_bits_, 128.0);
  if (has_mask_registers_) register_bits_ = 512;
  vector_step_ = register_bits_ > 256 ? 0.7 : 0.45;
  gathered_lane_ = has_mask_registers_ ? 1.5 : 2;
  scattered_lane_ = has_mask_registers_ ? 2 : 3;
}

double Costs::registers(llvm::Type* type, unsigned width) const {
  if (!type->isSized()) return 0;
  double bits = 0;
  for (llvm::Type* scalar : scalars_of(type)) {
    const auto size = static_cast<double>(layout_.getTypeSizeInBits(scalar).getFixedValue());
    if (size == 1 && has_mask_registers_) continue;  // they have registers of their own
    bits += std::ceil(std::max(size, size == 1 ? 32.0 : 8.0) * width / register_bits_) * register_bits_;
  }
  return bits / register_bits_;
}

double Costs::alone(const llvm::Instruction& instruction) const {
  if (is_free(instruction)) return 0;
  llvm::Type* type = instruction.getType();
  if (instruction.isAtomic()) return is_access(instruction) ? store : locked;
  if (llvm::isa<llvm::LoadInst>(instruction)) return load;
  if (llvm::isa<llvm::StoreInst>(instruction)) return store;
  if (llvm::isa<llvm::GetElementPtrInst>(instruction)) return integer_step / 2;
  if (instruction.isTerminator()) return branch(instruction, 1);
  if (instruction.isIntDivRem()) return type->getScalarSizeInBits() > 32 ? long_division : integer_division;
  if (instruction.getOpcode() == llvm::Instruction::FDiv) return float_division;
  if (const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    return intrinsic->getIntrinsicID() == llvm::Intrinsic::sqrt   ? square_root
           : intrinsic->getIntrinsicID() == llvm::Intrinsic::exp2 ? exponential * float_step
                                                                  : float_step;
  if (const auto* called = llvm::dyn_cast<llvm::CallInst>(&instruction)) return call(*called, 1);
  if (type->isHalfTy()) return 3 * float_step;
  return type->isFPOrFPVectorTy() ? float_step : integer_step;
}

double Costs::together(const llvm::Instruction& instruction, unsigned width) const {
  if (width == 1) return alone(instruction);
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
    const bool is_blended = shapes_.is_masked(phi->getParent()) || phi->getNumIncomingValues() > 1;
    return shapes_.is_known(phi) || !is_blended ? 0 : registers(phi->getType(), width) * vector_step_;
  }
  if (is_free(instruction)) return 0;
  if (instruction.isAtomic()) return atomic(instruction, width);
  if (const auto* from = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return access(instruction, from->getPointerOperand(), from->getType(), /*is_store=*/false, width);
  if (const auto* to = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    return access(instruction, to->getPointerOperand(), to->getValueOperand()->getType(), /*is_store=*/true, width);
  if (instruction.isTerminator()) return branch(instruction, width);
  if (llvm::isa<llvm::CallInst>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction))
    return call(llvm::cast<llvm::CallInst>(instruction), width);
  if (shapes_.is_known(&instruction)) return alone(instruction);
  if (instruction.isIntDivRem()) return division(instruction.getType(), width);
  return arithmetic(instruction, width);
}

double Costs::arithmetic(const llvm::Instruction& instruction, unsigned width) const {
  llvm::Type* type = instruction.getType();
  double most = registers(type, width);
  for (const llvm::Value* operand : instruction.operands())
    if (!operand->getType()->isLabelTy() && !operand->getType()->isMetadataTy() &&
        !operand->getType()->isFunctionTy() && !llvm::isa<llvm::Function>(operand))
      most = std::max(most, registers(operand->getType(), width));
  most = std::max(most, 0.5);
  double steps = steps_of(instruction);
  if (type->isHalfTy()) steps = steps * 2 + 3;  // as two registers of float
  return most * steps * vector_step_;
}

// Up to 32 bits as doubles, beyond one by one.
double Costs::division(llvm::Type* type, unsigned width) const {
  if (type->getScalarSizeInBits() > 32) return width * (long_division + 2);
  return std::ceil(64.0 * width / register_bits_) * 22 * vector_step_;
}

double Costs::access(const llvm::Instruction& instruction, const llvm::Value* pointer, llvm::Type* type, bool is_store,
                     unsigned width) const {
  const Shape shape = shapes_.shape(pointer);
  if (shape.is_uniform()) return is_store ? store + 1 : load;
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  const unsigned count = vector ? vector->getNumElements() : 1;
  const auto bytes = static_cast<int64_t>(layout_.getTypeStoreSize(type->getScalarType()).getFixedValue());
  if (const auto* from = llvm::dyn_cast<llvm::LoadInst>(&instruction); from && !shape.is_known())
    if (table_load(*from, layout_))
      return lookup_steps * registers(llvm::Type::getInt32Ty(from->getContext()), width) * vector_step_;
  const double one_by_one = width * count * (is_store ? scattered_lane_ : gathered_lane_) *
                            (bytes < 4 ? part_of_word : 1) * (width > lanes_of_simdgroup ? part_of_many : 1);
  if (!shape.is_known()) return one_by_one;

  const bool is_masked = shapes_.is_masked(instruction.getParent());
  unsigned runs = 1;
  bool is_even = !shape.factor;
  const auto lanes = std::min(width, static_cast<unsigned>(shape.offsets.size()));
  const size_t period = is_store || is_masked ? lanes : period_of(shape).offsets.size();
  for (unsigned l = 1; l < lanes; ++l) {
    const int64_t step = shape.step(l) - shape.step(l - 1);
    is_even &= step == shape.step(1);
    runs += l < period && ((step != bytes * count && step != 0) || shape.factor_step(l) != shape.factor_step(l - 1));
  }
  // As far apart as rows of a matrix, whose lengths are powers of two as often as not: then all share a set of the
  // cache, and what is stored does with what was loaded.
  double cost = guard_steps * static_cast<double>(shape.guards.size());
  if (shape.factor && runs == lanes && strides_ == Strides::small) return cost + one_by_one * part_of_strides_above_1;
  const bool is_rows = shape.factor && runs == lanes && (is_store || width > lines_of_set);
  const bool is_far = is_rows || (is_even && std::abs(shape.step(1)) >= cache_line);
  const double whole =
      registers(type, width) * (is_store ? store : vector_step_) * (is_masked && !has_mask_registers_ ? 2 : 1);
  if (count == 1 && runs <= most_runs)
    return cost + whole + (runs - 1) * (is_far && is_store ? far_store : further_run);
  const Access one{type->getScalarType(), count, bytes, llvm::Align()};
  if (const auto windows = windows_of(shape, one, lanes);
      !windows.empty() && ((!is_store && !is_masked) || are_orders(windows)))
    return cost + whole + registers(type, width) * vector_step_ + further_run * static_cast<double>(windows.size() - 1);
  const Rows rows = rows_of(shape, std::min(lanes, static_cast<unsigned>(period)), bytes);
  const int64_t stride = rows.stride / bytes;
  int64_t wanted = 0;
  if (lies_in_stride(one, rows.stride))
    wanted = count > 1 ? count : count_neighbours(instruction, rows.stride, layout_);
  const bool is_over_stride = is_store ? is_stored_over_stride(stride, wanted) : is_loaded_over_stride(stride, wanted);
  if ((is_masked && !has_mask_registers_) || wanted == 0 || !is_over_stride)
    return is_far ? std::max(one_by_one, width * (is_store ? far_store : far_load)) : one_by_one;
  const double shuffled = registers(type, width) * static_cast<double>(stride);
  const double missing =
      std::max(0.0, registers(type->getScalarType(), width) * static_cast<double>(stride) - register_count_);
  return std::min(one_by_one, cost + whole + shuffled * vector_step_ + missing * spill() / static_cast<double>(wanted));
}

double Costs::atomic(const llvm::Instruction& instruction, unsigned width) const {
  const llvm::Value* pointer = instruction.getOperand(llvm::isa<llvm::StoreInst>(instruction) ? 1 : 0);
  if (shapes_.is_uniform(pointer)) return locked + 8 * vector_step_;
  if (pointer->getType()->getPointerAddressSpace() == bitcode::threadgroup_address_space)
    return taking_turns + width * (instruction.use_empty() ? plain_update : plain_access);
  return width * (is_access(instruction) ? scattered_lane_ : locked + 2);
}

double Costs::call(const llvm::CallInst& call, unsigned width) const {
  const llvm::Function* called = call.getCalledFunction();
  if (!called) return function_call * width;
  if (called->getName() == lane_function || called->getName() == "metal.simdgroup_barrier") return 0;
  if (called->getName() == all_lanes_function) return width == 1 ? 0 : integer_step;
  if (called->getName() == "metal.threadgroup_barrier") return barrier;
  if (is_group_function(called->getName())) return 6 * vector_step_ * registers(call.getType(), width);
  if (is_lone_lane(*called)) return function_call;
  if (textures::is_native(called->getName())) {
    const bool is_sampled = textures::has_sampler(call);
    if (width > 1 && shapes_.are_uniform(textures::resources(call))) return is_sampled ? samples : texels;
    return width * (is_sampled ? sample : texel);
  }
  return width * (function_call + (width > 1 ? 2.0 + call.arg_size() : 0));
}

double Costs::branch(const llvm::Instruction& branch, unsigned width) const {
  if (branch.getNumSuccessors() < 2) return 0;
  const bool is_divergent = shapes_.is_divergent_branch(branch.getParent());
  if (width == 1) return direct_branch + (is_divergent && !leaves_a_loop(branch, loops_) ? unforeseen_branch : 0);
  return direct_branch + (is_divergent ? mask_steps : 0);
}

double Costs::latency(const llvm::Instruction& instruction, bool alone) const {
  const bool is_scalar = alone || shapes_.is_known(&instruction);
  if (is_free(instruction)) return 0;
  if (llvm::isa<llvm::LoadInst>(instruction)) {
    const bool is_gather = !alone && !shapes_.is_known(instruction.getOperand(0)) &&
                           !table_load(llvm::cast<llvm::LoadInst>(instruction), layout_);
    return is_gather ? 16 : 5;
  }
  if (instruction.isIntDivRem()) return is_scalar ? 12 : 30;
  switch (instruction.getOpcode()) {
    case llvm::Instruction::FDiv:
      return 12;
    case llvm::Instruction::FAdd:
    case llvm::Instruction::FSub:
    case llvm::Instruction::FMul:
    case llvm::Instruction::Mul:
    case llvm::Instruction::SIToFP:
    case llvm::Instruction::UIToFP:
    case llvm::Instruction::FPToSI:
    case llvm::Instruction::FPToUI:
      return 3.5;
    case llvm::Instruction::GetElementPtr:
      return 1;
    default:
      break;
  }
  if (llvm::isa<llvm::CallInst>(instruction)) return 4;
  return 1;
}

}  // namespace metalloid::cpu::vector

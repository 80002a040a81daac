#include "emulated_simdgroup.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <bit>
#include <cmath>

namespace metalloid::nvidia {

namespace emulation {

void Simdgroup::run_lane() {
  simdgroup->work();
  simdgroup->ended |= 1u << simdgroup->lane;
  simdgroup->progressed = true;
}

bool Simdgroup::take_turn() {
  simdgroup = this;
  progressed = false;
  ++turns;
  for (uint32_t i = 0; i < lanes; ++i) {
    lane = (i * (2 * turns + 1) + turns) % lanes;
    if ((existing & ~ended) >> lane & 1) swapcontext(&scheduler, &contexts[lane]);
  }
  return progressed;
}

namespace {

uint32_t lane_id() {
  return simdgroup->lane;
}
uint32_t active_mask() {
  return simdgroup->active;
}

uint32_t shuffle(const char* kind, uint32_t mask, uint32_t word, uint32_t from, bool exists) {
  const uint32_t own = word, result = simdgroup->meet(kind, mask, word).seen[from & 31];
  return exists ? result : own;
}
uint32_t shuffle_index(uint32_t mask, uint32_t word, uint32_t index, uint32_t) {
  return shuffle("idx", mask, word, index, true);
}
uint32_t shuffle_xor(uint32_t mask, uint32_t word, uint32_t bits, uint32_t) {
  return shuffle("bfly", mask, word, lane_id() ^ (bits & 31), true);
}
uint32_t shuffle_up(uint32_t mask, uint32_t word, uint32_t delta, uint32_t) {
  return shuffle("up", mask, word, lane_id() - (delta & 31), lane_id() >= (delta & 31));
}
uint32_t shuffle_down(uint32_t mask, uint32_t word, uint32_t delta, uint32_t) {
  return shuffle("down", mask, word, lane_id() + (delta & 31), lane_id() + (delta & 31) < lanes);
}

uint32_t ballot(uint32_t mask, uint32_t condition) {
  const auto& meeting = simdgroup->meet("vote", mask, condition);
  uint32_t bits = 0;
  for (uint32_t i = 0; i < lanes; ++i) bits |= (meeting.met >> i & meeting.seen[i] & 1) << i;
  return bits;
}
uint32_t vote_all(uint32_t mask, uint32_t condition) {
  const auto& meeting = simdgroup->meet("all", mask, condition);
  bool all = true;
  for (uint32_t i = 0; i < lanes; ++i) all &= !(meeting.met >> i & 1) || meeting.seen[i];
  return all;
}
uint32_t vote_any(uint32_t mask, uint32_t condition) {
  const auto& meeting = simdgroup->meet("any", mask, condition);
  bool any = false;
  for (uint32_t i = 0; i < lanes; ++i) any |= (meeting.met >> i & 1) && meeting.seen[i];
  return any;
}

void wait(uint32_t mask) {
  simdgroup->meet("bar", mask, 0);
}

template <class Operation>
uint32_t reduce(const char* name, uint32_t word, uint32_t mask, Operation operation) {
  const auto& meeting = simdgroup->meet(name, mask, word);
  uint32_t result = word;
  for (uint32_t i = 0; i < lanes; ++i)
    if (i != lane_id() && meeting.met >> i & 1) result = operation(result, meeting.seen[i]);
  return result;
}
uint32_t reduce_add(uint32_t word, uint32_t mask) {
  return reduce("add", word, mask, [](uint32_t a, uint32_t b) { return a + b; });
}
uint32_t reduce_umin(uint32_t word, uint32_t mask) {
  return reduce("umin", word, mask, [](uint32_t a, uint32_t b) { return std::min(a, b); });
}
uint32_t reduce_umax(uint32_t word, uint32_t mask) {
  return reduce("umax", word, mask, [](uint32_t a, uint32_t b) { return std::max(a, b); });
}
uint32_t reduce_min(uint32_t word, uint32_t mask) {
  return reduce("min", word, mask, [](uint32_t a, uint32_t b) { return uint32_t(std::min(int32_t(a), int32_t(b))); });
}
uint32_t reduce_max(uint32_t word, uint32_t mask) {
  return reduce("max", word, mask, [](uint32_t a, uint32_t b) { return uint32_t(std::max(int32_t(a), int32_t(b))); });
}
uint32_t reduce_and(uint32_t word, uint32_t mask) {
  return reduce("and", word, mask, [](uint32_t a, uint32_t b) { return a & b; });
}
uint32_t reduce_or(uint32_t word, uint32_t mask) {
  return reduce("or", word, mask, [](uint32_t a, uint32_t b) { return a | b; });
}
uint32_t reduce_xor(uint32_t word, uint32_t mask) {
  return reduce("xor", word, mask, [](uint32_t a, uint32_t b) { return a ^ b; });
}

// Round to nearest, ties away from zero, to 10 bits after the point.
uint32_t to_tf32(float number) {
  const auto bits = std::bit_cast<uint32_t>(number);
  return std::isfinite(number) ? (bits + 0x1000) & ~0x1FFFu : bits;
}

uint32_t transpose(uint32_t word) {
  const Words words = simdgroup->meet("movmatrix", ~0u, word).seen;
  const uint32_t row = lane_id() / 4, column = lane_id() % 4 * 2;
  const auto element = [&](uint32_t r, uint32_t c) { return words[r * 4 + c / 2] >> (c % 2 * 16) & 0xFFFF; };
  return element(column, row) | element(column + 1, row) << 16;
}

float from_half(uint32_t bits) {
  return static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(bits)));
}
float from_bfloat(uint32_t bits) {
  return std::bit_cast<float>(bits << 16);
}
float from_tf32(uint32_t bits) {
  return std::bit_cast<float>(bits & ~0x1FFFu);
}

// Of an m16n8 instruction with `depth` columns on the left: each lane gives its registers and gets four sums.
void multiply(float* sums, const std::vector<uint32_t>& a, const std::vector<uint32_t>& b, uint32_t depth,
              bool is_packed, float (*number)(uint32_t)) {
  std::vector<Words> left, right;
  for (const uint32_t word : a) left.push_back(simdgroup->meet("mma", ~0u, word).seen);
  for (const uint32_t word : b) right.push_back(simdgroup->meet("mma", ~0u, word).seen);
  const auto left_element = [&](uint32_t row, uint32_t k) {
    if (is_packed) {
      const uint32_t word = left[k / 8 * 2 + row / 8][row % 8 * 4 + k % 8 / 2];
      return number(word >> (k % 2 * 16) & 0xFFFF);
    }
    return number(left[k / 4 * 2 + row / 8][row % 8 * 4 + k % 4]);
  };
  const auto right_element = [&](uint32_t k, uint32_t column) {
    if (is_packed) return number(right[k / 8][column * 4 + k % 8 / 2] >> (k % 2 * 16) & 0xFFFF);
    return number(right[k / 4][column * 4 + k % 4]);
  };
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t row = lane_id() / 4 + i / 2 * 8, column = lane_id() % 4 * 2 + i % 2;
    double sum = sums[i];
    for (uint32_t k = 0; k < depth; ++k) sum += double(left_element(row, k)) * right_element(k, column);
    sums[i] = static_cast<float>(sum);
  }
}
void multiply_tf32(float* sums, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1) {
  multiply(sums, {a0, a1, a2, a3}, {b0, b1}, 8, false, from_tf32);
}
void multiply_half(float* sums, uint32_t a0, uint32_t a1, uint32_t b0) {
  multiply(sums, {a0, a1}, {b0}, 8, true, from_half);
}
void multiply_bfloat(float* sums, uint32_t a0, uint32_t a1, uint32_t b0) {
  multiply(sums, {a0, a1}, {b0}, 8, true, from_bfloat);
}
void multiply_long_half(float* sums, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1) {
  multiply(sums, {a0, a1, a2, a3}, {b0, b1}, 16, true, from_half);
}
void multiply_long_bfloat(float* sums, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1) {
  multiply(sums, {a0, a1, a2, a3}, {b0, b1}, 16, true, from_bfloat);
}

// A call of an instruction becomes one of the function above it: conditions and pairs of halves as 32 bits, the sums of
// a product in memory.
void replace(llvm::CallInst* call, void* function) {
  llvm::IRBuilder<> builder(call);
  llvm::Type* const word = builder.getInt32Ty();
  const bool is_product = call->getType()->isStructTy();
  const auto plain = [&](llvm::Type* type) { return type->isIntegerTy(1) || type->isVectorTy() ? word : type; };
  llvm::Value* sums = nullptr;
  llvm::SmallVector<llvm::Value*> arguments(call->args());
  if (is_product) {
    llvm::IRBuilder<> at_entry(&*call->getFunction()->getEntryBlock().getFirstInsertionPt());
    sums = at_entry.CreateAlloca(at_entry.getFloatTy(), at_entry.getInt32(4));
    for (unsigned i = 0; i < 4; ++i)
      builder.CreateStore(arguments[arguments.size() - 4 + i],
                          builder.CreateConstGEP1_64(builder.getFloatTy(), sums, i));
    arguments.truncate(arguments.size() - 4);
  }
  llvm::SmallVector<llvm::Type*> types;
  for (llvm::Value*& argument : arguments) {
    llvm::Type* const type = plain(argument->getType());
    argument = argument->getType()->isIntegerTy(1) ? builder.CreateZExt(argument, type)
                                                   : builder.CreateBitCast(argument, type);
    types.push_back(type);
  }
  if (is_product) {
    arguments.insert(arguments.begin(), sums);
    types.insert(types.begin(), builder.getPtrTy());
  }
  // The float of a shuffle is a word here.
  const bool moves_float = call->getType()->isFloatTy();
  if (moves_float) {
    arguments[1] = builder.CreateBitCast(arguments[1], word);
    types[1] = word;
  }
  llvm::Type* const result = is_product ? builder.getVoidTy() : moves_float ? word : plain(call->getType());
  llvm::Value* const address =
      builder.CreateIntToPtr(builder.getInt64(reinterpret_cast<uint64_t>(function)), builder.getPtrTy());
  llvm::Value* value = builder.CreateCall(llvm::FunctionType::get(result, types, false), address, arguments);
  if (is_product) {
    value = llvm::PoisonValue::get(call->getType());
    for (unsigned i = 0; i < 4; ++i)
      value = builder.CreateInsertValue(
          value, builder.CreateLoad(builder.getFloatTy(), builder.CreateConstGEP1_64(builder.getFloatTy(), sums, i)),
          i);
  } else if (call->getType()->isIntegerTy(1)) {
    value = builder.CreateTrunc(value, call->getType());
  } else if (moves_float) {
    value = builder.CreateBitCast(value, call->getType());
  }
  call->replaceAllUsesWith(value);
  call->eraseFromParent();
}

}  // namespace

const Instructions& instructions_of_simdgroups() {
  const auto address = [](auto* function) { return reinterpret_cast<void*>(function); };
  static const Instructions all{
      {"llvm.nvvm.read.ptx.sreg.laneid", address(lane_id)},
      {"llvm.nvvm.activemask", address(active_mask)},
      {"llvm.nvvm.shfl.sync.idx.i32", address(shuffle_index)},
      {"llvm.nvvm.shfl.sync.idx.f32", address(shuffle_index)},
      {"llvm.nvvm.shfl.sync.bfly.i32", address(shuffle_xor)},
      {"llvm.nvvm.shfl.sync.up.i32", address(shuffle_up)},
      {"llvm.nvvm.shfl.sync.down.i32", address(shuffle_down)},
      {"llvm.nvvm.vote.ballot.sync", address(ballot)},
      {"llvm.nvvm.vote.all.sync", address(vote_all)},
      {"llvm.nvvm.vote.any.sync", address(vote_any)},
      {"llvm.nvvm.bar.warp.sync", address(wait)},
      {"llvm.nvvm.redux.sync.add", address(reduce_add)},
      {"llvm.nvvm.redux.sync.umin", address(reduce_umin)},
      {"llvm.nvvm.redux.sync.umax", address(reduce_umax)},
      {"llvm.nvvm.redux.sync.min", address(reduce_min)},
      {"llvm.nvvm.redux.sync.max", address(reduce_max)},
      {"llvm.nvvm.redux.sync.and", address(reduce_and)},
      {"llvm.nvvm.redux.sync.or", address(reduce_or)},
      {"llvm.nvvm.redux.sync.xor", address(reduce_xor)},
      {"llvm.nvvm.f2tf32.rna", address(to_tf32)},
      {"llvm.nvvm.mma.m16n8k8.row.col.tf32", address(multiply_tf32)},
      {"llvm.nvvm.mma.m16n8k8.row.col.f32.f32", address(multiply_half)},
      {"llvm.nvvm.mma.m16n8k8.row.col.bf16", address(multiply_bfloat)},
      {"llvm.nvvm.mma.m16n8k16.row.col.f32.f32", address(multiply_long_half)},
      {"llvm.nvvm.mma.m16n8k16.row.col.bf16", address(multiply_long_bfloat)},
      {"movmatrix", address(transpose)},
  };
  return all;
}

void use_emulated_instructions(llvm::Module& module, const Instructions& emulated) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (!call) continue;
      const std::string name = call->isInlineAsm()         ? "movmatrix"
                               : call->getCalledFunction() ? call->getCalledFunction()->getName().str()
                                                           : "";
      const auto found = emulated.find(name);
      if (found != emulated.end()) replace(call, found->second);
    }
}

}  // namespace emulation

EmulatedSimdgroup::EmulatedSimdgroup(LoweredKernel kernel) {
  auto [context, module] = kernel.take();
  for (llvm::Function& function : *module)
    if (function.getCallingConv() == llvm::CallingConv::PTX_Kernel) function.setCallingConv(llvm::CallingConv::C);
  emulation::use_emulated_instructions(*module, emulation::instructions_of_simdgroups());
  jit_.set_target(*module);
  jit_.add(std::move(module), std::move(context));
  kernel_ = jit_.find<Kernel>("kernel");
}

void EmulatedSimdgroup::run(uint32_t existing, uint32_t active, std::vector<void*> arguments) {
  using namespace emulation;
  static const auto stacks = std::make_unique<char[]>(lanes * stack_size);
  auto group = std::make_unique<Simdgroup>();
  arguments.resize(4);
  group->active = active;
  group->start(existing, [&] { kernel_(arguments[0], arguments[1], arguments[2], arguments[3]); }, stacks.get());
  while (existing & ~group->ended) {
    if (group->take_turn()) continue;
    ASSERT_FALSE(group->is_stuck);
    group->is_stuck = true;
    ADD_FAILURE() << "lanes wait for each other in vain";
  }
}

}  // namespace metalloid::nvidia

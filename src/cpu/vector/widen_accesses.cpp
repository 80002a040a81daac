// What loads and stores share. Where the address has a shape, lanes that are neighbours in memory are accessed
// together:
//
//     one address for all     one scalar access
//     runs of neighbours      a vector access for each run; or one scalar, where a run has one address
//     a small fixed stride    vector accesses over all of it, and shuffles; or over each row, where lanes lie in rows
//     a stride that is 1      as neighbours, if it turns out to be
//
// and else lane by lane, by the processor's gathers and scatters if it has them. No access touches memory that the
// lanes do not touch, except that bytes between two that are accessed, less than a page apart, are read with them.
// A shape may rest on guards (guards.cpp); code that checks them chooses between the two.
#include <llvm/Support/SaveAndRestore.h>

#include "cpu/vector/fetch_ahead.hpp"
#include "cpu/vector/group_loop.hpp"
#include "cpu/vector/widener.hpp"

namespace metalloid::cpu::vector {

// By the shape of an address if it is what it seems to be, and if all lanes take part where masks are not cheap.
Components Widener::by_shape_or_apart(const Shape& shape, bool masks_are_cheap,
                                      const std::function<Components()>& by_shape,
                                      const std::function<Components()>& apart, const Neighbours* neighbours,
                                      llvm::Value* condition) {
  const bool needs_all = mask_ && !has_mask_registers_ && !masks_are_cheap;
  const Shape::Guards guards = guards_of(shape, neighbours);
  const bool is_expected = !condition && are_expected(guards);
  const auto require = [&](llvm::Value* more) { condition = condition ? builder_.CreateAnd(condition, more) : more; };
  if (!guards.empty()) require(guards_hold(guards, neighbours));
  if (needs_all) require(all(mask_));
  if (!condition) return by_shape();
  return choose(
      condition,
      [&] {
        const llvm::SaveAndRestore lanes(mask_, needs_all ? nullptr : mask_);
        return by_shape();
      },
      [&] {
        const llvm::SaveAndRestore unlikely(is_unlikely_, is_unlikely_ || is_expected);
        return apart();
      });
}

// Whether lanes that are as far apart as a factor says are neighbours.
llvm::Value* Widener::are_side_by_side(const Shape& shape) {
  return builder_.CreateICmpEQ(factor_of(shape), builder_.getInt64(1));
}

llvm::Value* Widener::factor_of(const Shape& shape) {
  llvm::Value* factor = scalar(shape.factor);
  return shape.factor_is_signed ? builder_.CreateSExtOrTrunc(factor, builder_.getInt64Ty())
                                : builder_.CreateZExtOrTrunc(factor, builder_.getInt64Ty());
}

llvm::Value* Widener::lane_address(llvm::Value* first, const Shape& shape, unsigned lane) {
  llvm::Value* address = first;
  if (const int64_t steps = shape.factor_step(lane))
    address = builder_.CreatePtrAdd(
        address, builder_.CreateMul(factor_of(shape), builder_.getInt64(static_cast<uint64_t>(steps))));
  return behind(address, shape.step(lane));
}

llvm::Value* Widener::part_of(llvm::Value* vector, unsigned first, unsigned count) {
  return count == width_ ? vector : builder_.CreateShuffleVector(vector, every(count, 1, first));
}

// Lanes that are off access a place of our own.
llvm::Value* Widener::safe_pointers(llvm::Value* pointers) {
  if (!mask_) return pointers;
  llvm::Value* nowhere = builder_.CreateAddrSpaceCast(nowhere_, pointers->getType()->getScalarType());
  return builder_.CreateSelect(mask_, pointers, splat(nowhere));
}

// So many bytes behind the pointers, one by one: those of a shape are sums with constants.
llvm::SmallVector<llvm::Value*> Widener::addresses_of_lanes(llvm::Value* pointer, int64_t offset) {
  llvm::SmallVector<llvm::Value*> addresses;
  if (mask_) {
    llvm::Value* safe = safe_pointers(behind(vector(pointer), offset));
    for (unsigned l = 0; l < width_; ++l) addresses.push_back(builder_.CreateExtractElement(safe, l));
    return addresses;
  }
  if (const Shape shape = shapes_.shape(pointer); shape.is_known() && shape.guards.empty()) {
    llvm::Value* first = behind(scalar(pointer), offset);
    for (unsigned l = 0; l < width_; ++l) addresses.push_back(lane_address(first, shape, l));
    return addresses;
  }
  const auto [base, bytes] = distance_of(pointer, layout_);
  for (unsigned l = 0; l < width_; ++l)
    addresses.push_back(behind(builder_.CreateExtractElement(vector(base), l), bytes + offset));
  return addresses;
}

// Lanes are about to access these places, which are anywhere.
void Widener::mark_places_of(llvm::Value* pointer) {
  if (is_unlikely_ || !may_be_looped_over(variant_)) return;
  if (const auto argument = offset_of_argument(pointer, layout_)) mark_places(builder_, vector(pointer), *argument);
}

// Addresses that are computed from lanes by more than shapes can follow, as `2 * i - (i & (distance - 1))`, are often
// neighbours all the same. What comes from memory is not expected to be, unless all lanes read the same there.
bool Widener::may_be_consecutive(const llvm::Value* pointer) const {
  constexpr size_t longest = 24;
  llvm::SmallPtrSet<const llvm::Value*, 16> seen;
  llvm::SmallVector<const llvm::Value*> left{pointer};
  while (!left.empty()) {
    const llvm::Value* value = left.pop_back_val();
    if (shapes_.is_known(value) || !seen.insert(value).second) continue;
    const auto* instruction = llvm::cast<llvm::Instruction>(value);
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction); load && is_one_address(*load)) continue;
    if (!llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::GetElementPtrInst, llvm::SelectInst, llvm::CmpInst>(
            instruction) ||
        seen.size() > longest)
      return false;
    left.append(instruction->op_begin(), instruction->op_end());
  }
  return true;
}

// Where the guards hold.
bool Widener::is_one_address(const llvm::LoadInst& load) const {
  const Shape shape = shapes_.shape(load.getPointerOperand());
  return shape.is_known() && !shape.factor && llvm::all_equal(shape.offsets);
}

// Whether the addresses of lanes, of those that are on, follow one another. Those that differ by a constant need be
// asked about once, so it is asked of what they count from. That is frozen: lane 0 may be off.
Widener::Sequence Widener::sequence_of(llvm::Value* pointer, int64_t bytes) {
  const auto [base, offset] = distance_of(pointer, layout_);
  llvm::Value* pointers = builder_.CreateFreeze(vector(base));
  llvm::Value* first = builder_.CreateExtractElement(pointers, uint64_t{0});
  llvm::SmallVector<llvm::Constant*> steps;
  for (unsigned l = 0; l < width_; ++l) steps.push_back(builder_.getInt64(l * static_cast<uint64_t>(bytes)));
  llvm::Value* numbers = builder_.CreatePtrToInt(pointers, vector_of(builder_.getInt64Ty()));
  llvm::Value* expected = builder_.CreateAdd(splat(builder_.CreatePtrToInt(first, builder_.getInt64Ty())),
                                             llvm::ConstantVector::get(steps));
  llvm::Value* follow = builder_.CreateICmpEQ(numbers, expected);
  if (mask_)
    follow =
        has_mask_registers_ ? builder_.CreateOr(follow, builder_.CreateNot(mask_)) : builder_.CreateAnd(follow, mask_);
  return {all(follow), builder_.CreatePtrAdd(first, builder_.getInt64(static_cast<uint64_t>(offset)))};
}

// Some processors take a gather or a scatter apart themselves, and less well than loads and stores that stand there in
// full; these take up space, though.
bool Widener::loads_beat_gathers() {
  constexpr unsigned most = 16;
  return has_slow_gathers_ && !is_unlikely_ && gathers_in_full_++ < most;
}

// For such processors LLVM makes a branch and a store for each lane of a scatter, in a time that grows with the square of
// how many there are: long kernels have functions for most.
bool Widener::may_scatter_in_place() {
  constexpr unsigned most = 64;
  return !has_slow_gathers_ || scatters_in_place_++ < most;
}

}  // namespace metalloid::cpu::vector

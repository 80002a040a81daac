#include "cpu/vector/shape.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/MathExtras.h>

#include <algorithm>

namespace metalloid::cpu::vector {

namespace {

constexpr uint64_t largest_alignment = uint64_t{1} << 56;

bool all_equal(const Shape::Lanes& lanes) {
  return llvm::all_equal(lanes);
}

int64_t wrapping_product(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

int64_t wrapping_sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

uint64_t alignment_of(int64_t value) {
  return value == 0 ? Shape::zero_base : uint64_t{1} << llvm::countr_zero(static_cast<uint64_t>(value));
}

}  // namespace

Shape Shape::varying() {
  Shape shape;
  shape.kind_ = Kind::varying;
  return shape;
}

Shape Shape::uniform(unsigned width) {
  Shape shape;
  shape.kind_ = Kind::known;
  shape.offsets.assign(width, 0);
  shape.is_exact_unsigned = shape.is_exact_signed = true;
  return shape;
}

Shape Shape::constant(unsigned width, int64_t value) {
  return constants(Lanes(width, value));
}

Shape Shape::constants(Lanes values) {
  Shape shape;
  shape.kind_ = Kind::known;
  shape.offsets = std::move(values);
  shape.alignment = zero_base;
  shape.is_exact_unsigned = shape.is_exact_signed = true;
  return shape;
}

bool Shape::is_uniform() const {
  return is_known() && guards.empty() && !factor && all_equal(offsets);
}

// Lanes differ in low bits that the base leaves alone.
bool Shape::lanes_fit_below_base() const {
  if (factor) return false;
  return llvm::all_of(offsets,
                      [this](int64_t offset) { return offset >= 0 && static_cast<uint64_t>(offset) < alignment; });
}

void Shape::normalise() {
  if (factor && all_equal(coefficients)) {
    factor = nullptr;
    coefficients.clear();
    alignment = 1;
  }
  if (factor) alignment = 1;
  if (factor || alignment == zero_base) return;
  if (all_equal(offsets) && offsets[0] != 0) alignment = std::min(alignment, alignment_of(offsets[0]));
  // What all lanes have that is a multiple of the alignment is the base's.
  const int64_t shared = *llvm::min_element(offsets) & -static_cast<int64_t>(alignment);
  if (shared != 0)
    for (int64_t& offset : offsets) offset = difference(offset, shared);
}

Shape Shape::sum(const Shape& a, const Shape& b, int sign) {
  if (a.factor && b.factor && (a.factor != b.factor || a.factor_is_signed != b.factor_is_signed)) return varying();
  Shape result = a;
  result.is_exact_signed = result.is_exact_unsigned = false;
  if (b.factor) {
    if (!result.factor) {
      result.factor = b.factor;
      result.factor_is_signed = b.factor_is_signed;
      result.coefficients.assign(a.offsets.size(), 0);
    }
    for (size_t l = 0; l < b.coefficients.size(); ++l)
      result.coefficients[l] = wrapping_sum(result.coefficients[l], wrapping_product(sign, b.coefficients[l]));
  }
  for (size_t l = 0; l < b.offsets.size(); ++l)
    result.offsets[l] = wrapping_sum(result.offsets[l], wrapping_product(sign, b.offsets[l]));
  result.alignment = std::min(a.alignment, b.alignment);
  result.add_guards(b.guards);
  result.normalise();
  return result;
}

Shape Shape::times(int64_t constant) const {
  Shape result = *this;
  result.is_exact_signed = result.is_exact_unsigned = false;
  for (int64_t& offset : result.offsets) offset = wrapping_product(offset, constant);
  for (int64_t& coefficient : result.coefficients) coefficient = wrapping_product(coefficient, constant);
  if (constant == 0) result.alignment = zero_base;
  if (alignment != zero_base && constant != 0)
    result.alignment = std::min(largest_alignment, llvm::SaturatingMultiply(alignment, alignment_of(constant)));
  result.normalise();
  return result;
}

Shape Shape::times(llvm::Value* uniform) const {
  if (factor) return varying();
  Shape result = *this;
  result.is_exact_signed = result.is_exact_unsigned = false;
  result.factor = uniform;
  result.coefficients = offsets;
  result.offsets.assign(offsets.size(), 0);
  result.normalise();
  return result;
}

// To a multiple of a power of two that the base is a multiple of.
Shape Shape::rounded_down(uint64_t multiple) const {
  Shape result = *this;
  for (int64_t& offset : result.offsets) offset &= -static_cast<int64_t>(multiple);
  if (lanes_fit_below_base()) result.is_exact_signed = result.is_exact_unsigned = true;
  result.normalise();
  return result;
}

Shape Shape::and_with(uint64_t mask, unsigned bits) const {
  const uint64_t cleared = ~mask & llvm::maskTrailingOnes<uint64_t>(bits);
  if (!factor && llvm::isMask_64(cleared) && cleared < alignment) return rounded_down(cleared + 1);
  if (!lanes_fit_below_base()) return varying();
  Shape result = *this;
  for (int64_t& offset : result.offsets) offset = static_cast<int64_t>(static_cast<uint64_t>(offset) & mask);
  if (mask < alignment) result.alignment = zero_base;
  result.is_exact_signed = result.is_exact_unsigned = true;
  result.normalise();
  return result;
}

Shape Shape::or_with(uint64_t bits) const {
  if (!lanes_fit_below_base()) return varying();
  Shape result = *this;
  for (int64_t& offset : result.offsets)
    offset = static_cast<int64_t>(static_cast<uint64_t>(offset) | (bits & (alignment - 1)));
  result.is_exact_signed = result.is_exact_unsigned = true;
  result.normalise();
  return result;
}

Shape Shape::xor_with(uint64_t bits) const {
  if (!lanes_fit_below_base()) return varying();
  Shape result = *this;
  for (int64_t& offset : result.offsets)
    offset = static_cast<int64_t>(static_cast<uint64_t>(offset) ^ (bits & (alignment - 1)));
  result.is_exact_signed = result.is_exact_unsigned = true;
  result.normalise();
  return result;
}

Shape Shape::shifted_right(unsigned bits) const {
  Shape result = *this;
  if (!lanes_fit_below_base()) {
    // What is shifted out, the base has none of, and nothing wraps around.
    const bool is_apart = !factor && is_exact_unsigned && alignment != zero_base && alignment >> bits != 0;
    if (!is_apart) return varying();
    for (int64_t& offset : result.offsets) offset >>= bits;
    result.alignment = alignment >> bits;
    result.is_exact_signed = bits > 0;
    result.normalise();
    return result;
  }
  if (alignment == zero_base) {
    for (int64_t& offset : result.offsets) offset >>= bits;
  } else {
    const bool keeps_lanes = alignment >> bits != 0;
    for (int64_t& offset : result.offsets) offset = keeps_lanes ? offset >> bits : 0;
    result.alignment = std::max<uint64_t>(1, alignment >> bits);
  }
  result.is_exact_signed = result.is_exact_unsigned = true;
  result.normalise();
  return result;
}

Shape Shape::in_type(unsigned bits) const {
  if (!is_known()) return *this;
  Shape result = *this;
  const uint64_t mask = llvm::maskTrailingOnes<uint64_t>(bits);
  if (is_constant()) {
    const auto half = static_cast<int64_t>(mask / 2);
    for (int64_t& offset : result.offsets) offset = static_cast<int64_t>(static_cast<uint64_t>(offset) & mask);
    result.is_exact_unsigned = true;
    result.is_exact_signed =
        all_equal(result.offsets) || llvm::all_of(result.offsets, [&](int64_t o) { return o >= 0 && o <= half; });
    return result;
  }
  if (bits >= 64) return result;
  result.alignment = std::min(result.alignment, mask + 1);
  if (is_exact_unsigned || is_exact_signed) return result;
  for (int64_t& offset : result.offsets) offset = llvm::SignExtend64(static_cast<uint64_t>(offset), bits);
  for (int64_t& coefficient : result.coefficients)
    coefficient = llvm::SignExtend64(static_cast<uint64_t>(coefficient), bits);
  return result;
}

Shape Shape::exact_in_type(unsigned bits) const {
  if (!is_known() || factor || bits >= 64) return *this;
  Shape result = *this;
  for (unsigned l = 1; l < offsets.size(); ++l)
    result.offsets[l] = wrapping_sum(offsets[0], llvm::SignExtend64(static_cast<uint64_t>(step(l)), bits));
  result.is_exact_unsigned = result.is_exact_signed = true;
  return result;
}

bool Shape::keeps_steps_extended(bool is_signed, unsigned bits, int64_t lowest, int64_t highest) const {
  if (lowest == 0 && highest == 0 && (is_signed ? is_exact_signed : is_exact_unsigned)) return true;
  return !factor && alignment <= uint64_t{1} << (is_signed ? bits - 1 : bits) &&
         llvm::all_of(offsets, [&](int64_t offset) {
           return offset >= -lowest && offset < static_cast<int64_t>(alignment) - highest;
         });
}

bool Shape::has_steps_of(const Shape& other) const {
  if (factor != other.factor || factor_is_signed != other.factor_is_signed) return false;
  for (unsigned l = 1; l < offsets.size(); ++l)
    if (step(l) != other.step(l) || factor_step(l) != other.factor_step(l)) return false;
  return true;
}

Shape Shape::with_other_base() const {
  Shape result = *this;
  for (unsigned l = 0; l < offsets.size(); ++l) result.offsets[l] = step(l);
  for (unsigned l = 0; l < coefficients.size(); ++l) result.coefficients[l] = factor_step(l);
  result.alignment = 1;
  return result;
}

Shape Shape::joined(const Shape& other) const {
  if (is_unknown()) return other;
  if (other.is_unknown()) return *this;
  if (is_varying() || other.is_varying() || !has_steps_of(other)) return varying();
  const bool same_lanes = offsets == other.offsets && coefficients == other.coefficients;
  const bool same_base = alignment == other.alignment && alignment == zero_base;
  Shape result = same_lanes ? *this : with_other_base();
  if (same_lanes && !same_base) result.alignment = std::min({alignment, other.alignment, largest_alignment});
  result.is_exact_unsigned = is_exact_unsigned && other.is_exact_unsigned;
  result.is_exact_signed = is_exact_signed && other.is_exact_signed;
  result.add_guards(other.guards);
  result.normalise();
  return result;
}

void Shape::add_guards(const Guards& more) {
  for (const llvm::Instruction* guard : more)
    if (!llvm::is_contained(guards, guard)) guards.push_back(guard);
}

}  // namespace metalloid::cpu::vector

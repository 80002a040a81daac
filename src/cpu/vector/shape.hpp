// The shape of a value: how it differs from lane to lane, as far as that is known when the kernel is compiled.
//
//     value[l] = base + factor * coefficients[l] + offsets[l]
//
// base and factor are the same in all lanes and known at run time only; coefficients and offsets are constants. The
// arithmetic is that of the value's type: it wraps. Consecutive addresses, rows of a tile, one value for all lanes are
// all shapes, and a value that has one is computed once, for lane 0, and not in every lane.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Instructions.h>

#include <cstdint>

namespace metalloid::cpu::vector {

class Shape {
 public:
  using Lanes = llvm::SmallVector<int64_t, 0>;
  using Guards = llvm::SmallVector<const llvm::Instruction*, 2>;

  static Shape unknown() { return {}; }  // not yet seen
  static Shape varying();
  static Shape uniform(unsigned width);
  static Shape constant(unsigned width, int64_t value);
  static Shape constants(Lanes values);

  bool is_unknown() const { return kind_ == Kind::unknown; }
  bool is_varying() const { return kind_ == Kind::varying; }
  bool is_known() const { return kind_ == Kind::known; }
  bool is_uniform() const;
  // In every lane.
  bool is_constant() const { return is_known() && guards.empty() && !factor && alignment == zero_base; }

  // How much further than lane 0 a lane is, modulo 2^64 and apart from the factor.
  int64_t step(unsigned lane) const { return difference(offsets[lane], offsets[0]); }
  int64_t factor_step(unsigned lane) const { return factor ? difference(coefficients[lane], coefficients[0]) : 0; }

  static Shape sum(const Shape& a, const Shape& b, int sign);
  Shape times(int64_t constant) const;
  Shape times(llvm::Value* uniform) const;
  // Bitwise operations with a constant, where lanes differ in bits that the base does not touch; else varying.
  Shape and_with(uint64_t mask, unsigned bits) const;
  Shape or_with(uint64_t bits) const;
  Shape xor_with(uint64_t bits) const;
  Shape shifted_right(unsigned bits) const;

  // As a value of an integer type: offsets are reduced to what its bits can hold.
  Shape in_type(unsigned bits) const;

  // The same of a value whose highest bit is 0 in all lanes: then its steps are those of the numbers.
  Shape exact_in_type(unsigned bits) const;

  // Whether a value of an integer type has the same steps when it is extended, and so have those that are up to so much
  // lower or higher: because it is exact, or because all differ in bits that the base does not touch.
  bool keeps_steps_extended(bool is_signed, unsigned bits, int64_t lowest = 0, int64_t highest = 0) const;

  // The same steps from another base.
  bool has_steps_of(const Shape& other) const;
  Shape with_other_base() const;
  Shape joined(const Shape& other) const;  // what holds for both
  void add_guards(const Guards& more);

  bool operator==(const Shape&) const = default;

  static constexpr uint64_t zero_base = uint64_t{1} << 62;

  Lanes offsets;
  Lanes coefficients;  // empty without a factor
  llvm::Value* factor = nullptr;
  bool factor_is_signed = true;  // when it is extended to the value's type
  uint64_t alignment = 1;        // the base is a multiple of this power of two; zero_base: it is 0

  // value[l] = value[0] + steps holds for the numbers that the bits stand for, not only modulo 2^n.
  bool is_exact_unsigned = false, is_exact_signed = false;

  // Instructions whose result has these steps if, at run time, something holds in all lanes; where it does not, the
  // shape is wrong. Of an extension, that the operand does not wrap around; of a minimum or maximum, that it is the
  // operand that differs from lane to lane; of a quotient, that it is the same for all; of a remainder, that the
  // quotient is.
  Guards guards;

 private:
  enum class Kind : uint8_t { unknown, known, varying };

  static int64_t difference(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  }

  bool lanes_fit_below_base() const;
  Shape rounded_down(uint64_t multiple) const;
  void normalise();

  Kind kind_ = Kind::unknown;
};

}  // namespace metalloid::cpu::vector

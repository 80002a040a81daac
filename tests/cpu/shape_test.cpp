// What arithmetic makes of shapes, against the same arithmetic on the lanes' values: whatever has a shape has its
// steps.
#include "cpu/vector/shape.hpp"

#include <gtest/gtest.h>
#include <llvm/Support/MathExtras.h>

#include <functional>
#include <random>

namespace metalloid::cpu::vector {
namespace {

constexpr unsigned lanes = 8;

// A shape and values that have it.
struct Sample {
  Shape shape;
  std::vector<uint64_t> values;
  unsigned bits;
};

int64_t as_signed(uint64_t value, unsigned bits) {
  return llvm::SignExtend64(value, bits);
}

// The numbers that the bits of all lanes stand for are a base and the offsets.
bool is_exact(const Shape& shape, const std::vector<uint64_t>& values,
              const std::function<__int128(uint64_t)>& number) {
  for (unsigned l = 1; l < lanes; ++l)
    if (number(values[l]) - number(values[0]) != shape.step(l)) return false;
  return true;
}
bool is_exact_unsigned(const Shape& shape, const std::vector<uint64_t>& values) {
  return is_exact(shape, values, [](uint64_t value) { return value; });
}
bool is_exact_signed(const Shape& shape, const std::vector<uint64_t>& values, unsigned bits) {
  return is_exact(shape, values, [&](uint64_t value) { return as_signed(value, bits); });
}

Sample random_sample(std::mt19937_64& random) {
  const auto below = [&](uint64_t limit) { return random() % limit; };
  const unsigned bits = below(2) ? 32 : 64;
  const uint64_t alignment = uint64_t{1} << below(8);
  uint64_t base = random() & -alignment;
  if (below(3) == 0) base = below(4) * alignment;
  if (below(3) == 0) base = -(below(4) * alignment);
  Shape::Lanes offsets;
  const int64_t step = static_cast<int64_t>(below(5)) - 1, first = static_cast<int64_t>(below(32)) - 8;
  const bool in_rows = below(2) != 0, at_random = below(4) == 0;
  for (unsigned l = 0; l < lanes; ++l)
    offsets.push_back(at_random ? static_cast<int64_t>(below(48)) : first + step * (in_rows ? l % 4 : l));
  Sample sample{Shape::constants(std::move(offsets)), {}, bits};
  sample.shape.alignment = alignment;
  for (const int64_t offset : sample.shape.offsets)
    sample.values.push_back((base + static_cast<uint64_t>(offset)) & llvm::maskTrailingOnes<uint64_t>(bits));
  sample.shape.is_exact_unsigned = is_exact_unsigned(sample.shape, sample.values);
  sample.shape.is_exact_signed = is_exact_signed(sample.shape, sample.values, bits);
  return sample;
}

// Whether the shape is that of the values, which it was found for.
void expect_shape(const Shape& shape, std::vector<uint64_t> values, unsigned bits, const std::string& what) {
  const uint64_t all = llvm::maskTrailingOnes<uint64_t>(bits);
  for (uint64_t& value : values) value &= all;
  ASSERT_TRUE(shape.is_known());
  for (unsigned l = 1; l < lanes; ++l)
    ASSERT_EQ((values[l] - values[0]) & all, static_cast<uint64_t>(shape.step(l)) & all) << what << ", lane " << l;
  const uint64_t base = (values[0] - static_cast<uint64_t>(shape.offsets[0])) & all;
  if (shape.alignment == Shape::zero_base)
    ASSERT_EQ(base, 0u) << what;
  else
    ASSERT_EQ(base & (shape.alignment - 1), 0u) << what << ", a multiple of " << shape.alignment;
  ASSERT_TRUE(!shape.is_exact_unsigned || is_exact_unsigned(shape, values)) << what;
  ASSERT_TRUE(!shape.is_exact_signed || is_exact_signed(shape, values, bits)) << what;
}

// How many of many random samples have a shape behind an operation with a random constant.
unsigned count_known(const std::function<Shape(const Sample&, uint64_t)>& shape_of,
                     const std::function<uint64_t(uint64_t, uint64_t, unsigned)>& value_of,
                     const std::function<uint64_t(std::mt19937_64&)>& constant_of) {
  unsigned known = 0;
  for (unsigned seed = 0; seed < 20000 && !testing::Test::HasFatalFailure(); ++seed) {
    std::mt19937_64 random(seed);
    Sample sample = random_sample(random);
    const uint64_t constant = constant_of(random) & llvm::maskTrailingOnes<uint64_t>(sample.bits);
    const Shape shape = shape_of(sample, constant);
    if (shape.is_varying()) continue;
    for (uint64_t& value : sample.values) value = value_of(value, constant, sample.bits);
    expect_shape(shape, sample.values, sample.bits, "seed " + std::to_string(seed));
    ++known;
  }
  return known;
}

uint64_t mask_at_random(std::mt19937_64& random) {
  const uint64_t low = (uint64_t{1} << random() % 8) - 1;
  return random() % 4 == 0 ? random() : random() % 2 ? low : ~low;
}

TEST(Shape, OfBitsThatAreTakenAway) {
  EXPECT_GT(count_known([](const Sample& a, uint64_t mask) { return a.shape.and_with(mask, a.bits); },
                        [](uint64_t a, uint64_t mask, unsigned) { return a & mask; }, mask_at_random),
            5000u);
}

TEST(Shape, OfBitsThatAreSet) {
  EXPECT_GT(count_known([](const Sample& a, uint64_t bits) { return a.shape.or_with(bits).in_type(a.bits); },
                        [](uint64_t a, uint64_t bits, unsigned) { return a | bits; }, mask_at_random),
            2000u);
}

TEST(Shape, OfBitsThatAreTurnedRound) {
  EXPECT_GT(count_known([](const Sample& a, uint64_t bits) { return a.shape.xor_with(bits).in_type(a.bits); },
                        [](uint64_t a, uint64_t bits, unsigned) { return a ^ bits; }, mask_at_random),
            2000u);
}

TEST(Shape, OfShiftsToTheRight) {
  EXPECT_GT(
      count_known([](const Sample& a, uint64_t count) { return a.shape.shifted_right(static_cast<unsigned>(count)); },
                  [](uint64_t a, uint64_t count, unsigned) { return a >> count; },
                  [](std::mt19937_64& random) { return random() % 8; }),
      3000u);
}

TEST(Shape, OfProductsWithAConstant) {
  EXPECT_EQ(count_known([](const Sample& a,
                           uint64_t factor) { return a.shape.times(as_signed(factor, a.bits)).in_type(a.bits); },
                        [](uint64_t a, uint64_t factor, unsigned) { return a * factor; },
                        [](std::mt19937_64& random) { return random() % 2 ? random() : random() % 100 - 50; }),
            20000u);
}

TEST(Shape, RowsOfATileKeepTheirs) {
  Shape lanes_of_rows = Shape::constants({0, 1, 2, 3, 4, 5, 6, 7});  // of four, from a multiple of four on
  lanes_of_rows.alignment = 4;
  const Shape rows = lanes_of_rows.and_with(~uint64_t{3}, 64);
  ASSERT_TRUE(rows.is_known());
  EXPECT_EQ(rows.offsets, (Shape::Lanes{0, 0, 0, 0, 4, 4, 4, 4}));
}

}  // namespace
}  // namespace metalloid::cpu::vector

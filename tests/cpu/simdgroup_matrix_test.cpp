// Simdgroup matrices, called as the engine calls them, against products in double.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "cpu/reference/meeting.hpp"
#include "cpu/runtime_symbols.hpp"

namespace metalloid::cpu::reference {
namespace {

using half = _Float16;

// The upper half of a float.
struct bfloat {
  uint16_t bits;
  bfloat() = default;
  explicit bfloat(float value) {
    uint32_t wide;
    std::memcpy(&wide, &value, 4);
    bits = static_cast<uint16_t>(wide >> 16);
  }
  explicit operator double() const {
    const uint32_t wide = uint32_t{bits} << 16;
    float value;
    std::memcpy(&value, &wide, 4);
    return value;
  }
  bool operator==(const bfloat&) const = default;
};

template <class T>
constexpr const char* name_of = nullptr;
template <>
constexpr const char* name_of<half> = "f16";
template <>
constexpr const char* name_of<bfloat> = "bf16";
template <>
constexpr const char* name_of<float> = "f32";
template <class T>
constexpr double precision_of = 0;  // half a unit in the last place of 1
template <>
constexpr double precision_of<half> = 0x1p-11;
template <>
constexpr double precision_of<bfloat> = 0x1p-8;
template <>
constexpr double precision_of<float> = 0x1p-24;

template <class Test>
void for_each_type(Test test) {
  test(half()), test(bfloat()), test(float());
}

template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T element[2];
};

void combine(const std::string& name, const std::array<const void*, 32>& operands,
             const std::array<void*, 32>& results) {
  static const RuntimeSymbols symbols = [] {
    RuntimeSymbols all;
    add_group_functions(all);
    return all;
  }();
  const Combine body = reinterpret_cast<Combine>(symbols.find(name));
  ASSERT_NE(body, nullptr) << name;
  Meeting meeting;
  meeting.active = ~0u;
  std::copy(operands.begin(), operands.end(), meeting.operands);
  std::copy(results.begin(), results.end(), meeting.results);
  body(meeting);
}

template <class Operands, class Result>
std::array<Result, 32> call(const std::string& name, const std::array<Operands, 32>& operands) {
  std::array<Result, 32> results = {};
  std::array<const void*, 32> in;
  std::array<void*, 32> out;
  for (unsigned lane = 0; lane < 32; ++lane) in[lane] = &operands[lane], out[lane] = &results[lane];
  combine(name, in, out);
  return results;
}

// The layout as Apple's GPUs have it, found by dividing the matrix into 4×4 blocks of 8 lanes.
struct Place {
  unsigned row, column;
};
Place place_of(unsigned lane, unsigned i) {
  const unsigned block = lane / 8;
  return {block / 2 * 4 + lane % 8 / 2, block % 2 * 4 + lane % 2 * 2 + i};
}

template <class T>
using Matrix = std::array<std::array<T, 8>, 8>;

template <class T>
Matrix<T> random_matrix(std::mt19937& random) {
  Matrix<T> matrix;
  for (auto& row : matrix)
    for (T& element : row) element = static_cast<T>(std::uniform_real_distribution<float>(-2, 2)(random));
  return matrix;
}

template <class T>
Pair<T> elements_of(const Matrix<T>& matrix, unsigned lane) {
  Pair<T> pair;
  for (unsigned i = 0; i < 2; ++i) pair.element[i] = matrix[place_of(lane, i).row][place_of(lane, i).column];
  return pair;
}

template <class T>
struct LoadOperands {
  const T* source;
  uint64_t elements_per_row;
  bool transpose;
};
template <class T>
struct StoreOperands {
  Pair<T> elements;
  T* destination;
  uint64_t elements_per_row;
  bool transpose;
};
template <class A, class B, class C>
struct ProductOperands {
  Pair<A> a;
  Pair<B> b;
  Pair<C> c;
};

TEST(SimdgroupMatrix, LoadsAndStoresElementsWhereTheyBelong) {
  std::mt19937 random(1);
  for_each_type([&]<class T>(T) {
    for (const bool transpose : {false, true})
      for (const uint64_t per_row : {8u, 11u}) {
        std::vector<T> memory(per_row * 8 + 1), copy(per_row * 8 + 1, T(7));
        for (T& element : memory) element = T(std::uniform_real_distribution<float>(-2, 2)(random));
        std::array<LoadOperands<T>, 32> load;
        load.fill({memory.data() + 1, per_row, transpose});
        for (const char* space : {"device", "threadgroup", "constant"}) {
          const auto loaded =
              call<LoadOperands<T>, Pair<T>>(std::string("metal.simdgroup_load.") + space + "." + name_of<T>, load);
          for (unsigned lane = 0; lane < 32; ++lane)
            for (unsigned i = 0; i < 2; ++i) {
              const Place at = place_of(lane, i);
              const uint64_t index = transpose ? at.column * per_row + at.row : at.row * per_row + at.column;
              ASSERT_EQ(loaded[lane].element[i], memory[1 + index]);
            }
          if (std::string(space) == "constant") continue;
          std::fill(copy.begin(), copy.end(), T(7));
          std::array<StoreOperands<T>, 32> store;
          for (unsigned lane = 0; lane < 32; ++lane) store[lane] = {loaded[lane], copy.data() + 1, per_row, transpose};
          call<StoreOperands<T>, char>(std::string("metal.simdgroup_store.") + space + "." + name_of<T>, store);
          for (uint64_t i = 1; i < memory.size(); ++i)
            ASSERT_EQ(copy[i], (i - 1) % per_row < 8 ? memory[i] : T(7)) << i;
        }
      }
  });
}

TEST(SimdgroupMatrix, MultipliesAndAccumulatesForAllTypes) {
  std::mt19937 random(2);
  for_each_type([&]<class C>(C) {
    for_each_type([&]<class A>(A) {
      for_each_type([&]<class B>(B) {
        const auto a = random_matrix<A>(random);
        const auto b = random_matrix<B>(random);
        const auto c = random_matrix<C>(random);
        std::array<ProductOperands<A, B, C>, 32> operands;
        for (unsigned lane = 0; lane < 32; ++lane)
          operands[lane] = {elements_of(a, lane), elements_of(b, lane), elements_of(c, lane)};
        const std::string name =
            std::string("metal.simdgroup_multiply_accumulate.") + name_of<C> + "." + name_of<A> + "." + name_of<B>;
        const auto results = call<ProductOperands<A, B, C>, Pair<C>>(name, operands);
        for (unsigned lane = 0; lane < 32; ++lane)
          for (unsigned i = 0; i < 2; ++i) {
            const Place at = place_of(lane, i);
            double expected = static_cast<double>(c[at.row][at.column]), magnitude = std::abs(expected);
            for (unsigned k = 0; k < 8; ++k) {
              const double product = static_cast<double>(a[at.row][k]) * static_cast<double>(b[k][at.column]);
              expected += product, magnitude += std::abs(product);
            }
            // Eight additions in float, and one rounding to C.
            const double tolerance = magnitude * 8 * 0x1p-24 + std::abs(expected) * precision_of<C>;
            ASSERT_NEAR(static_cast<double>(results[lane].element[i]), expected, tolerance) << name;
          }
      });
    });
  });
}

TEST(SimdgroupMatrix, AHalfSumIsRoundedOnce) {
  Matrix<half> ones, c;
  for (auto& row : ones) row.fill(half(1));
  for (auto& row : c) row.fill(half(2048));
  std::array<ProductOperands<half, half, half>, 32> operands;
  for (unsigned lane = 0; lane < 32; ++lane)
    operands[lane] = {elements_of(ones, lane), elements_of(ones, lane), elements_of(c, lane)};
  const auto results =
      call<ProductOperands<half, half, half>, Pair<half>>("metal.simdgroup_multiply_accumulate.f16.f16.f16", operands);
  for (const auto& result : results) EXPECT_EQ(static_cast<float>(result.element[1]), 2056);
}

}  // namespace
}  // namespace metalloid::cpu::reference

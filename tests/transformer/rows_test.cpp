#include <algorithm>
#include <limits>

#include "backend_program.hpp"

namespace metalloid::transformer {
namespace {

constexpr size_t widths[] = {1, 31, 64, 1000};

using Rows = BackendTest;
INSTANTIATE_BACKEND_TEST(Rows);

TEST_P(Rows, AreNormalised) {
  for (const TensorType type : float_types)
    for (const TensorType weights_type : {TensorType::f32, type})
      for (const size_t columns : widths) {
        const Numbers x = random(type, {3, columns}, -4, 4), weights = random(weights_type, {columns}, 0.5, 2);
        const Tensor result = backend->tensor(type, {3, columns});
        backend->rmsnorm(x.tensor, weights.tensor, 1e-5f, result);
        std::vector<double> expected;
        for (size_t row = 0; row < 3; ++row) {
          double squares = 0;
          for (size_t i = 0; i < columns; ++i) squares += x.at(row, i) * x.at(row, i);
          for (size_t i = 0; i < columns; ++i)
            expected.push_back(x.at(row, i) / std::sqrt(squares / double(columns) + 1e-5) * weights.values[i]);
        }
        expect_near(result, expected, 1e-5, "rmsnorm");  // sums of a thousand floats, and numbers below 8
      }
}

TEST_P(Rows, HaveASoftmaxWhateverTheirSize) {
  for (const TensorType type : float_types)
    for (const size_t columns : widths)
      for (const double size : {1.0, 300.0}) {
        Numbers x = random(type, {5, columns}, -size, size);
        std::vector<double> expected;
        for (size_t row = 0; row < 5; ++row) {
          double largest = -INFINITY, sum = 0;
          for (size_t i = 0; i < columns; ++i) largest = std::max(largest, x.at(row, i));
          for (size_t i = 0; i < columns; ++i) sum += std::exp(x.at(row, i) - largest);
          for (size_t i = 0; i < columns; ++i) expected.push_back(std::exp(x.at(row, i) - largest) / sum);
        }
        backend->softmax(x.tensor, x.tensor);
        expect_near(x.tensor, expected, 1e-6, "softmax");  // some roundings of numbers up to 1
      }
}

TEST_P(Rows, HaveASoftmaxWithInfinities) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor x = of_floats({-infinity, 1, -infinity, 1, -infinity}, {5});
  backend->softmax(x, x);
  expect_near(x, {0, 0.5, 0, 0.5, 0}, 0, "softmax");
}

TEST_P(Rows, AreAddedAndGated) {
  for (const TensorType type : float_types)
    for (const size_t columns : widths) {
      const Numbers x = random(type, {3, columns}, -9, 9), y = random(type, {3, columns}, -9, 9);
      const Tensor sums = backend->tensor(type, {3, columns}), silus = backend->tensor(type, {3, columns}),
                   gated = backend->tensor(type, {3, columns});
      backend->add(x.tensor, y.tensor, sums);
      backend->silu(x.tensor, silus);
      backend->fused_silu_mul(x.tensor, y.tensor, gated);
      std::vector<double> of_sums, of_silus, of_gated;
      for (size_t i = 0; i < x.values.size(); ++i) {
        const double silu = x.values[i] / (1 + std::exp(-x.values[i]));
        of_sums.push_back(x.values[i] + y.values[i]);
        of_silus.push_back(silu);
        of_gated.push_back(silu * y.values[i]);
      }
      expect_near(sums, of_sums, 1e-6, "add");
      expect_near(silus, of_silus, 4e-6, "silu");
      expect_near(gated, of_gated, 4e-5, "fused_silu_mul");  // four roundings of numbers up to 81
    }
}

TEST_P(Rows, OfATableAreFoundByToken) {
  for (const TensorType type : float_types)
    for (const TensorType table_type : weight_types) {
      const Numbers table = random(table_type, {11, 64});
      const std::vector<int32_t> tokens = {3, 10, 0, 3, 99, -1};
      const Tensor result = backend->tensor(type, {6, 64});
      backend->embed(table.tensor, of_integers(tokens), result);
      std::vector<double> expected;
      for (const size_t row : {3, 10, 0, 3, 10, 10})
        for (size_t i = 0; i < 64; ++i) expected.push_back(table.at(row, i));
      expect_near(result, expected, 1e-6, "embed");
    }
}

TEST_P(Rows, AreConverted) {
  for (const TensorType type : float_types)
    for (const TensorType from : weight_types) {
      const Numbers x = random(from, {3, 96});
      const Tensor result = backend->tensor(type, {3, 96});
      backend->copy(x.tensor, result);
      expect_near(result, x.values, 1e-7, "copy");
    }
}

TEST_P(Rows, HaveALargestNumberTheFirstOfEquals) {
  for (const size_t columns : {1, 33, 4097}) {
    std::vector<float> numbers(3 * columns, -5);
    numbers[columns / 2] = 1;
    numbers[2 * columns - 1] = 7;
    const Tensor result = backend->tensor(TensorType::i32, {3});
    backend->argmax(of_floats(numbers, {3, columns}), result);
    EXPECT_EQ(values(result), (std::vector<double>{double(columns / 2), double(columns - 1), 0}));
  }
}

TEST_P(Rows, HaveNoLargestNumberWhereSomethingIsNone) {
  for (const size_t columns : {1, 33, 4097})
    for (const size_t place : {size_t{0}, columns / 2, columns - 1}) {
      std::vector<float> numbers(2 * columns, -INFINITY);
      numbers[place] = NAN;
      const Tensor result = backend->tensor(TensorType::i32, {2});
      backend->argmax(of_floats(numbers, {2, columns}), result);
      EXPECT_EQ(values(result), (std::vector<double>{-1, 0})) << columns << " columns, at " << place;
    }
}

TEST_P(Rows, AreTurned) {
  for (const TensorType type : float_types)
    for (const RopePairs pairs : {RopePairs::Neighbours, RopePairs::Halves})
      for (const size_t turned : {10, 6}) {
        const std::vector<float> frequencies = rope_frequencies(turned);
        const Numbers q = random(type, {3, 4, 10}), k = random(type, {3, 2, 10});
        backend->rope({q.tensor, k.tensor}, 7, of_floats(frequencies, {turned / 2}), pairs);
        for (const Numbers* x : {&q, &k}) {
          std::vector<double> expected = x->values;
          const size_t heads = x->tensor.shape()[1];
          for (size_t row = 0; row < x->tensor.rows(); ++row)
            for (size_t i = 0; i < turned / 2; ++i) {
              const double angle = double(7 + row / heads) * frequencies[i];
              const size_t a = row * 10 + (pairs == RopePairs::Neighbours ? 2 * i : i);
              const size_t b = row * 10 + (pairs == RopePairs::Neighbours ? 2 * i + 1 : i + turned / 2);
              expected[a] = x->values[a] * std::cos(angle) - x->values[b] * std::sin(angle);
              expected[b] = x->values[a] * std::sin(angle) + x->values[b] * std::cos(angle);
            }
          expect_near(x->tensor, expected, 4e-6, "rope");  // an angle of up to 9 has an error of 2^-21
        }
      }
}

}  // namespace
}  // namespace metalloid::transformer

#include <fmt/format.h>

#include <algorithm>

#include "backend_program.hpp"

namespace metalloid::transformer {
namespace {

double silu(double x) {
  return x / (1 + std::exp(-x));
}

// op(x) op(w), and how far sums of floats may be from it: a rounding of each partial sum.
struct Reference {
  std::vector<double> values, errors;
};

Reference product(const Numbers& x, const Numbers& w, const MatmulOptions& options = {}) {
  const size_t rows = options.transpose_left ? x.tensor.columns() : x.tensor.rows();
  const size_t inner = options.transpose_left ? x.tensor.rows() : x.tensor.columns();
  const size_t columns = options.transpose_right ? w.tensor.rows() : w.tensor.columns();
  Reference reference;
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < columns; ++column) {
      double sum = 0, sizes = 0;
      for (size_t i = 0; i < inner; ++i) {
        const double value = (options.transpose_left ? x.at(i, row) : x.at(row, i)) *
                             (options.transpose_right ? w.at(column, i) : w.at(i, column));
        sum += value;
        sizes += std::abs(value);
      }
      reference.values.push_back(options.scale * sum);
      reference.errors.push_back(std::abs(options.scale) * sizes * double(inner + 4) * 0x1p-24);
    }
  return reference;
}

Numbers normalised(Numbers x, const Numbers& weights, double epsilon) {
  const size_t columns = x.tensor.columns();
  for (size_t row = 0; row < x.tensor.rows(); ++row) {
    double squares = 0;
    for (size_t i = 0; i < columns; ++i) squares += x.at(row, i) * x.at(row, i);
    const double factor = 1 / std::sqrt(squares / double(columns) + epsilon);
    for (size_t i = 0; i < columns; ++i) x.values[row * columns + i] *= factor * weights.values[i];
  }
  return x;
}

// Heads in a row, the first token at `position`.
void turn(std::vector<double>& row, size_t head_size, const std::vector<float>& frequencies, size_t position,
          RopePairs pairs) {
  for (size_t head = 0; head < row.size(); head += head_size)
    for (size_t i = 0; i < frequencies.size(); ++i) {
      const bool halves = pairs == RopePairs::Halves;
      double& a = row[head + (halves ? i : 2 * i)];
      double& b = row[head + (halves ? i + frequencies.size() : 2 * i + 1)];
      const double angle = double(position) * frequencies[i], c = std::cos(angle), s = std::sin(angle), old = a;
      a = a * c - b * s;
      b = old * s + b * c;
    }
}

using Products = BackendTest;
INSTANTIATE_BACKEND_TEST(Products);

TEST_P(Products, OfAVectorHaveEveryTypeOfWeights) {
  for (const TensorType type : float_types)
    for (const TensorType weights_type : weight_types)
      for (const auto& [rows, columns] : {std::pair<size_t, size_t>{1, 32}, {67, 96}, {13, 2080}, {6, 4352}}) {
        const Numbers x = random(type, {columns}), w = random(weights_type, {rows, columns});
        const Tensor y = backend->tensor(type, {rows});
        backend->matmul_vec(w.tensor, x.tensor, y);
        const Reference reference = product(x, w);
        expect_near(y, reference.values, reference.errors,
                    fmt::format("{} x {} {}x{}", name_of(type), name_of(weights_type), rows, columns));
      }
}

TEST_P(Products, HaveScalesOfBlocksThatAreTooSmallForNormalHalves) {
  for (const size_t rows : {1, 5}) {
    const Numbers x = random(TensorType::f32, {rows, 64}), w = random(TensorType::q8_0, {7, 64}, -1e-3, 1e-3);
    const Tensor y = backend->tensor(TensorType::f32, {rows, 7});
    backend->matmul(x.tensor, w.tensor, y);
    const Reference reference = product(x, w);
    expect_near(y, reference.values, reference.errors, fmt::format("{} rows", rows));
  }
}

TEST_P(Products, OfAVectorHaveOddSizesAndViews) {
  for (const TensorType type : float_types)
    for (const auto& [rows, columns] : {std::pair<size_t, size_t>{1, 1}, {5, 31}, {34, 2051}, {9, 1000}}) {
      const Numbers x = random(type, {columns});
      Numbers w = random(type, {rows + 3, columns});
      w.tensor = w.tensor.slice(1, rows);
      w.values.erase(w.values.begin(), w.values.begin() + ptrdiff_t(columns));
      Numbers y = random(type, {1, rows});
      Reference reference = product(x, w);
      for (size_t i = 0; i < rows; ++i) reference.values[i] += y.values[i];
      backend->matmul(x.tensor.reshape({1, columns}), w.tensor, y.tensor, {.add = true});
      expect_near(y.tensor, reference.values, reference.errors, fmt::format("{} {}x{}", name_of(type), rows, columns));
    }
}

TEST_P(Products, OfOneVectorAreDoneTogetherWithItsNorm) {
  for (const TensorType type : float_types)
    for (const TensorType norm_type : {TensorType::f32, type})
      for (const size_t rows : {1, 3}) {
        const Numbers x = random(type, {rows, 160}), norm = random(norm_type, {160}, 0.5, 2);
        const Numbers normed = normalised(x, norm, 1e-5);
        std::vector<Numbers> weights;
        std::vector<Product> products;
        for (const size_t columns : {65, 8, 33, 7, 2}) {
          weights.push_back(random(columns == 33 ? TensorType::q8_0 : type, {columns, 160}));
          products.push_back({weights.back().tensor, backend->tensor(type, {rows, columns})});
        }
        backend->matmul_each(x.tensor, products, {norm.tensor, 1e-5f});
        for (size_t i = 0; i < products.size(); ++i) {
          Reference reference = product(normed, weights[i]);
          // The norm is a few more roundings of every product, and may be stored in x's type in between.
          for (double& error : reference.errors) error += error + 160 * 0.5 * rounding_of(type);
          expect_near(products[i].result, reference.values, reference.errors, fmt::format("{} {}", name_of(type), i));
        }
      }
}

TEST_P(Products, OfOneVectorAreTurnedOnTheWay) {
  constexpr size_t columns = 160, position = 7;
  for (const TensorType type : float_types)
    for (const RopePairs pairs : {RopePairs::Neighbours, RopePairs::Halves})
      for (const auto& [head_size, turned] : {std::pair<size_t, size_t>{10, 10}, {10, 6}, {64, 64}, {7, 4}})
        for (const size_t rows : {1, 3}) {
          const std::vector<float> frequencies = rope_frequencies(turned);
          const Numbers x = random(type, {rows, columns}), norm = random(type, {columns}, 0.5, 2);
          const Numbers normed = normalised(x, norm, 1e-5);
          std::vector<Numbers> weights;
          std::vector<Product> products;
          for (const size_t heads : {6, 2, 2}) {
            weights.push_back(random(type, {heads * head_size, columns}));
            // As in a cache, behind other tokens.
            products.push_back(
                {weights.back().tensor, backend->tensor(type, {rows + 5, heads * head_size}).slice(5, rows)});
          }
          backend->matmul_each(x.tensor, products, {norm.tensor, 1e-5f},
                               {of_floats(frequencies, {turned / 2}), position, pairs, head_size});
          for (size_t i = 0; i < products.size(); ++i) {
            Reference reference = product(normed, weights[i]);
            for (size_t row = 0; i < 2 && row < rows; ++row) {
              const auto begin = reference.values.begin() + ptrdiff_t(row * weights[i].tensor.rows());
              std::vector<double> numbers(begin, begin + ptrdiff_t(weights[i].tensor.rows()));
              turn(numbers, head_size, frequencies, position + row, pairs);
              std::ranges::copy(numbers, begin);
            }
            // As above, and of both numbers of a pair.
            const double most = *std::ranges::max_element(reference.errors);
            expect_near(products[i].result, reference.values, 4 * most + columns * rounding_of(type),
                        fmt::format("{} {} of {}, {} rows", name_of(type), i, head_size, rows));
          }
        }
}

TEST_P(Products, OfGateAndUpAreMultiplied) {
  for (const TensorType type : float_types)
    for (const TensorType weights_type : weight_types)
      for (const auto& [rows, up_type] :
           {std::pair<size_t, TensorType>{1, weights_type}, {1, TensorType::f16}, {5, weights_type}}) {
        const Numbers x = random(type, {rows, 96}), norm = random(TensorType::f32, {96}, 0.5, 2);
        const Numbers gate = random(weights_type, {37, 96}, -0.2, 0.2);
        const Numbers up = random(up_type, {37, 96}, -0.2, 0.2);
        const Numbers normed = normalised(x, norm, 1e-5);
        const Tensor result = backend->tensor(type, {rows, 37});
        backend->matmul_silu_mul(x.tensor, gate.tensor, up.tensor, result, {norm.tensor, 1e-5f});
        const Reference g = product(normed, gate), u = product(normed, up);
        std::vector<double> expected, errors;
        for (size_t i = 0; i < g.values.size(); ++i) {
          expected.push_back(silu(g.values[i]) * u.values[i]);
          // silu's slope is at most 1.1; what is between may be stored in x's type.
          const double between = 96 * 0.2 * rounding_of(type);
          const double of_gate = 2 * g.errors[i] + between, of_up = 2 * u.errors[i] + between;
          errors.push_back(1.1 * of_gate * std::abs(u.values[i]) + std::abs(silu(g.values[i])) * of_up + 1e-6);
        }
        expect_near(result, expected, errors, fmt::format("{} {} rows", name_of(weights_type), rows));
      }
}

TEST_P(Products, OfMatricesHaveEveryTypeAndTransposition) {
  for (const TensorType type : float_types)
    for (const TensorType weights_type : weight_types)
      for (const size_t rows : {2, 7, 70})
        for (const bool transpose_left : {false, true})
          for (const bool transpose_right : {true, false}) {
            if (weights_type == TensorType::q8_0 && !transpose_right) continue;
            const size_t inner = weights_type == TensorType::q8_0 ? 64 : 67, columns = 37;
            const MatmulOptions options{transpose_left, transpose_right, rows == 7, 0.5f};
            const Numbers x = transpose_left ? random(type, {inner, rows}) : random(type, {rows, inner});
            const Numbers w =
                transpose_right ? random(weights_type, {columns, inner}) : random(weights_type, {inner, columns});
            const Numbers y = random(type, {rows, columns});
            Reference reference = product(x, w, options);
            if (options.add)
              for (size_t i = 0; i < y.values.size(); ++i) reference.values[i] += y.values[i];
            // MPS may round weights of another type to x's, or x to theirs.
            if (type != weights_type)
              for (double& error : reference.errors) error += 0.5 * double(inner) * rounding_of(type);
            backend->matmul(x.tensor, w.tensor, y.tensor, options);
            expect_near(y.tensor, reference.values, reference.errors,
                        fmt::format("{} x {}, {} rows, transposed {} {}", name_of(type), name_of(weights_type), rows,
                                    transpose_left, transpose_right));
          }
}

TEST_P(Products, OfLowRankAreAdded) {
  for (const TensorType type : float_types)
    for (const size_t rows : {1, 9}) {
      const Numbers x = random(type, {rows, 65}), a = random(type, {8, 65}), b = random(type, {39, 8});
      const Numbers y = random(type, {rows, 39});
      backend->lora(x.tensor, a.tensor, b.tensor, 2, y.tensor);
      Numbers low{backend->tensor(TensorType::f32, {rows, 8}), product(x, a).values};
      Reference reference = product(low, b, {.scale = 2});
      for (size_t i = 0; i < y.values.size(); ++i) reference.values[i] += y.values[i];
      // What is between is stored in x's type: eight numbers of at most 65, though random ones stay below 20.
      for (double& error : reference.errors) error += 2 * 8 * 20 * rounding_of(type) + 1e-5;
      expect_near(y.tensor, reference.values, reference.errors, std::string(name_of(type)));
    }
}

}  // namespace
}  // namespace metalloid::transformer

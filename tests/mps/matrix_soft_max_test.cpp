#include <algorithm>

#include "matrix_program.hpp"

namespace metalloid::mps {
namespace {

using MatrixSoftMaxTest = MatrixTest;
INSTANTIATE_MPS_TEST(MatrixSoftMaxTest);

std::vector<double> row_of(const Numbers& source, size_t row, size_t first, size_t columns) {
  std::vector<double> result(columns);
  for (size_t i = 0; i < columns; ++i) result[i] = source.at(row, first + i);
  return result;
}

std::vector<double> soft_max(const std::vector<double>& row, bool logarithm) {
  std::vector<double> result;
  const double largest = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (const double x : row) sum += std::exp(x - largest);
  for (const double x : row) result.push_back(logarithm ? x - largest - std::log(sum) : std::exp(x - largest) / sum);
  return result;
}

TEST_P(MatrixSoftMaxTest, IsTheSoftMaxOfEachRowAtAnySizeTypeAndOrigin) {
  for (const bool logarithm : {false, true})
    for (const MPS::DataType type : {MPS::DataTypeFloat32, MPS::DataTypeFloat16, MPS::DataTypeBFloat16})
      for (const size_t columns : {1, 2, 31, 33, 100, 1027})
        for (const size_t origin : {0, 3}) {
          const size_t rows = 5;
          Numbers source = random_matrix({.rows = rows + origin, .columns = columns + origin, .type = type}, -5, 5);
          Numbers result = random_matrix({.rows = rows, .columns = columns + 2, .type = type}, 0, 0);
          const auto kernel = NS::TransferPtr(logarithm ? MPS::MatrixLogSoftMax::alloc()->init(device.get())
                                                        : MPS::MatrixSoftMax::alloc()->init(device.get()));
          kernel->setSourceMatrixOrigin(MTL::Origin(origin, origin, 0));
          kernel->setResultMatrixOrigin(MTL::Origin(0, 2, 0));
          ASSERT_EQ(
              run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, source.matrix(), result.matrix()); }),
              "");
          for (size_t row = 0; row < rows; ++row) {
            const std::vector<double> expected = soft_max(row_of(source, row + origin, origin, columns), logarithm);
            for (size_t i = 0; i < columns; ++i) {
              // Differences of up to 10 are rounded before exp, which makes ten roundings of one; sums add a few.
              const double tolerance =
                  (rounding_of(type) + 16 * 0x1p-24) * (std::abs(expected[i]) + (logarithm ? 8 : 1e-6)) +
                  smallest_step(type);
              ASSERT_NEAR(result.at(row, i + 2), expected[i], tolerance) << columns << " columns, type " << type;
            }
            ASSERT_EQ(result.at(row, 0), 0) << "outside of the result";
          }
        }
}

TEST_P(MatrixSoftMaxTest, GivesTheGradientOfItsInput) {
  const size_t rows = 4, columns = 45;
  for (const bool logarithm : {false, true})
    for (const MPS::DataType type : {MPS::DataTypeFloat32, MPS::DataTypeFloat16}) {
      Numbers source = random_matrix({.rows = rows, .columns = columns, .type = MPS::DataTypeFloat32}, -2, 2);
      Numbers gradient = random_matrix({.rows = rows, .columns = columns, .type = type}, -1, 1);
      Numbers output = random_matrix({.rows = rows, .columns = columns, .type = type}, 0, 0);
      Numbers result = random_matrix({.rows = rows, .columns = columns, .type = type}, 0, 0);
      for (size_t row = 0; row < rows; ++row) {
        const std::vector<double> forward = soft_max(row_of(source, row, 0, columns), logarithm);
        for (size_t i = 0; i < columns; ++i) output.set(row, i, forward[i]);
      }
      const auto kernel = NS::TransferPtr(logarithm ? MPS::MatrixLogSoftMaxGradient::alloc()->init(device.get())
                                                    : MPS::MatrixSoftMaxGradient::alloc()->init(device.get()));
      ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                  kernel->encode(commands, gradient.matrix(), output.matrix(), result.matrix());
                }),
                "");
      for (size_t row = 0; row < rows; ++row)
        for (size_t i = 0; i < columns; ++i) {
          // By the difference of neighbours in float64. What the kernel has of the forward pass is rounded to the type.
          constexpr double step = 1e-5;
          double expected = 0;
          for (const double direction : {-1.0, 1.0}) {
            std::vector<double> moved = row_of(source, row, 0, columns);
            moved[i] += direction * step;
            const std::vector<double> there = soft_max(moved, logarithm);
            for (size_t k = 0; k < columns; ++k) expected += gradient.at(row, k) * there[k] / (2 * direction * step);
          }
          ASSERT_NEAR(result.at(row, i), expected, 1e-5 + 8 * rounding_of(type));
        }
    }
}

TEST_P(MatrixSoftMaxTest, TakesMinusInfinityForNothing) {
  Numbers source = random_matrix({.rows = 1, .columns = 40}, 0, 0),
          result = random_matrix({.rows = 1, .columns = 40}, 0, 0);
  for (size_t i = 8; i < 40; ++i) source.set(0, i, -INFINITY);
  const auto kernel = NS::TransferPtr(MPS::MatrixSoftMax::alloc()->init(device.get()));
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, source.matrix(), result.matrix()); }), "");
  for (size_t i = 0; i < 40; ++i) EXPECT_EQ(result.at(0, i), i < 8 ? 0.125 : 0);
}

TEST_P(MatrixSoftMaxTest, IsRightInLongRowsInManyRowsAndInPlace) {
  struct Size {
    size_t rows, columns;
  };
  for (const bool logarithm : {false, true})
    for (const Size& size : {Size{2, 9001}, Size{150, 37}, Size{131, 64}}) {
      Numbers source = random_matrix({.rows = size.rows, .columns = size.columns}, -5, 5);
      std::vector<std::vector<double>> expected;
      for (size_t row = 0; row < size.rows; ++row)
        expected.push_back(soft_max(row_of(source, row, 0, size.columns), logarithm));
      const auto kernel = NS::TransferPtr(logarithm ? MPS::MatrixLogSoftMax::alloc()->init(device.get())
                                                    : MPS::MatrixSoftMax::alloc()->init(device.get()));
      ASSERT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, source.matrix(), source.matrix()); }),
                "");
      for (size_t row = 0; row < size.rows; ++row)
        for (size_t i = 0; i < size.columns; ++i)
          ASSERT_NEAR(source.at(row, i), expected[row][i],
                      24 * 0x1p-24 * (std::abs(expected[row][i]) + (logarithm ? 8 : 1e-6)))
              << size.columns << " columns, row " << row;
    }
}

TEST_P(MatrixSoftMaxTest, TakesNumbersFarFromZeroAndKeepsNaNs) {
  const size_t columns = 45;
  Numbers source = random_matrix({.rows = 3, .columns = columns}, -1e9, -1e9);
  Numbers result = random_matrix({.rows = 3, .columns = columns}, 0, 0);
  source.set(1, 7, 1e30);
  source.set(2, 40, NAN);
  const auto kernel = NS::TransferPtr(MPS::MatrixSoftMax::alloc()->init(device.get()));
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, source.matrix(), result.matrix()); }), "");
  for (size_t i = 0; i < columns; ++i) {
    EXPECT_NEAR(result.at(0, i), 1.0 / columns, 1e-8);
    EXPECT_EQ(result.at(1, i), i == 7 ? 1 : 0);
    EXPECT_TRUE(std::isnan(result.at(2, i)));
  }
}

// CPUs write what is larger than their caches past them, by other instructions.
TEST_P(MatrixSoftMaxTest, OfAMatrixLargerThanCachesIsThatOfItsRows) {
  const MatrixShape shape{.rows = 2100, .columns = 4003};
  Numbers source(device.get(), shape), result(device.get(), shape);
  for (size_t row = 0; row < shape.rows; ++row)
    for (size_t i = 0; i < shape.columns; ++i) source.set(row, i, double((row * 7 + i * 13) % 101) / 16);
  for (const bool logarithm : {false, true}) {
    const auto kernel = NS::TransferPtr(logarithm ? MPS::MatrixLogSoftMax::alloc()->init(device.get())
                                                  : MPS::MatrixSoftMax::alloc()->init(device.get()));
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, source.matrix(), result.matrix()); }),
              "");
    for (const size_t row : {size_t{0}, size_t{31}, size_t{1033}, shape.rows - 1}) {
      const std::vector<double> expected = soft_max(row_of(source, row, 0, shape.columns), logarithm);
      for (size_t i = 0; i < shape.columns; ++i)
        ASSERT_NEAR(result.at(row, i), expected[i], 24 * 0x1p-24 * (std::abs(expected[i]) + (logarithm ? 8 : 1e-6)))
            << "row " << row << ", column " << i;
    }
  }
}

TEST_P(MatrixSoftMaxTest, RefusesMatricesThatDoNotFitAndNamesTheArgument) {
  Numbers source = random_matrix({.rows = 2, .columns = 4}, 0, 0);
  Numbers half = random_matrix({.rows = 2, .columns = 4, .type = MPS::DataTypeFloat16}, 0, 0);
  const auto kernel = NS::TransferPtr(MPS::MatrixSoftMax::alloc()->init(device.get()));
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              kernel->encode(commands, source.matrix(), half.matrix());
            }).find("resultMatrix has the type Float16"),
            std::string::npos);
  kernel->setSourceMatrixOrigin(MTL::Origin(0, 4, 0));
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              kernel->encode(commands, source.matrix(), source.matrix());
            }).find("the origin of inputMatrix"),
            std::string::npos);
}

}  // namespace
}  // namespace metalloid::mps

#include <thread>

#include "matrix_program.hpp"

namespace metalloid::mps {
namespace {

class MatrixMultiplicationTest : public MatrixTest {
 protected:
  struct Case {
    size_t rows, columns, interior;
    bool transpose_left = false, transpose_right = false;
    double alpha = 1, beta = 0;
    MPS::DataType left = MPS::DataTypeFloat32, right = MPS::DataTypeFloat32, result = MPS::DataTypeFloat32;
    size_t left_row = 0, left_column = 0, right_row = 0, right_column = 0, result_row = 0, result_column = 0;
    size_t matrices = 1, batch_start = 0, batch_size = NS::UIntegerMax;
    size_t sampling = 1;  // of large results, every so many numbers each way
  };

  Numbers random_input(MPS::DataType type, size_t rows, size_t columns, size_t matrices) {
    const bool integer = type == MPS::DataTypeInt8 || type == MPS::DataTypeInt16 || type == MPS::DataTypeInt32;
    return random_matrix({.rows = rows, .columns = columns, .matrices = matrices, .type = type}, integer ? -127 : -1,
                         integer ? 127 : 1);
  }

  // Runs it, and compares every number of the result, those that must stay as they are as well.
  void check(const Case& c) {
    const auto stored = [](size_t rows, size_t columns, bool transposed) {
      return transposed ? std::pair(columns, rows) : std::pair(rows, columns);
    };
    const auto [left_rows, left_columns] = stored(c.rows, c.interior, c.transpose_left);
    const auto [right_rows, right_columns] = stored(c.interior, c.columns, c.transpose_right);
    const Numbers left = random_input(c.left, left_rows + c.left_row, left_columns + c.left_column, c.matrices);
    const Numbers right = random_input(c.right, right_rows + c.right_row, right_columns + c.right_column, c.matrices);
    Numbers result = random_input(c.result, c.rows + c.result_row + 1, c.columns + c.result_column + 1, c.matrices);
    const Numbers before = copy_of(result);

    const auto kernel = NS::TransferPtr(MPS::MatrixMultiplication::alloc()->init(
        device.get(), c.transpose_left, c.transpose_right, c.rows, c.columns, c.interior, c.alpha, c.beta));
    kernel->setLeftMatrixOrigin(MTL::Origin(c.left_row, c.left_column, 0));
    kernel->setRightMatrixOrigin(MTL::Origin(c.right_row, c.right_column, 0));
    kernel->setResultMatrixOrigin(MTL::Origin(c.result_row, c.result_column, 0));
    kernel->setBatchStart(c.batch_start);
    kernel->setBatchSize(c.batch_size);
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                kernel->encode(commands, left.matrix(), right.matrix(), result.matrix());
              }),
              "");

    const auto left_at = [&](size_t row, size_t column, size_t matrix) {
      return c.transpose_left ? left.at(column + c.left_row, row + c.left_column, matrix)
                              : left.at(row + c.left_row, column + c.left_column, matrix);
    };
    const auto right_at = [&](size_t row, size_t column, size_t matrix) {
      return c.transpose_right ? right.at(column + c.right_row, row + c.right_column, matrix)
                               : right.at(row + c.right_row, column + c.right_column, matrix);
    };
    const size_t batch_end =
        std::min(c.matrices, c.batch_size == NS::UIntegerMax ? c.matrices : c.batch_start + c.batch_size);
    for (size_t matrix = 0; matrix < c.matrices; ++matrix)
      for (size_t row = 0; row < result.shape().rows; ++row)
        for (size_t column = 0; column < result.shape().columns; ++column) {
          const double old = before.at(row, column, matrix), found = result.at(row, column, matrix);
          const bool inside = row >= c.result_row && row - c.result_row < c.rows && column >= c.result_column &&
                              column - c.result_column < c.columns && matrix >= c.batch_start && matrix < batch_end;
          if (!inside) {
            ASSERT_EQ(found, old) << "outside of the result: row " << row << ", column " << column;
            continue;
          }
          if (row % c.sampling || column % c.sampling) continue;
          double sum = 0, sizes = 0;
          for (size_t i = 0; i < c.interior; ++i) {
            const double product =
                left_at(row - c.result_row, i, matrix) * right_at(i, column - c.result_column, matrix);
            sum += product;
            sizes += std::abs(product);
          }
          const double expected = c.alpha * sum + c.beta * old;
          // Float sums in any order err by a rounding of the sum of sizes for each few terms; then the result is
          // rounded.
          const double tolerance = c.result == MPS::DataTypeInt32
                                       ? 0
                                       : rounding_of(c.result) * (std::abs(expected) + 1e-30) +
                                             0x1p-23 * (8 + std::sqrt(double(c.interior))) *
                                                 (std::abs(c.alpha) * sizes + std::abs(c.beta * old));
          ASSERT_NEAR(found, expected, tolerance)
              << c.rows << " x " << c.columns << " x " << c.interior << ", row " << row << ", column " << column
              << ", matrix " << matrix << (c.transpose_left ? ", left transposed" : "")
              << (c.transpose_right ? ", right transposed" : "");
        }
  }

  Numbers copy_of(const Numbers& numbers) {
    Numbers copy(device.get(), numbers.shape());
    for (size_t matrix = 0; matrix < numbers.shape().matrices; ++matrix)
      for (size_t row = 0; row < numbers.shape().rows; ++row)
        for (size_t column = 0; column < numbers.shape().columns; ++column)
          copy.set(row, column, numbers.at(row, column, matrix), matrix);
    return copy;
  }
};
INSTANTIATE_MPS_TEST(MatrixMultiplicationTest);

TEST_P(MatrixMultiplicationTest, IsTheProductAtAnySizeAndTransposition) {
  const size_t sizes[][3] = {{1, 1, 1},    {2, 3, 5},    {31, 33, 7},  {32, 32, 32}, {33, 65, 100},
                             {64, 64, 64}, {1, 130, 40}, {130, 1, 40}, {70, 90, 1},  {97, 80, 130},
                             {65, 70, 61}, {33, 90, 64}, {90, 33, 80}};
  for (const auto& [rows, columns, interior] : sizes)
    for (const bool transpose_left : {false, true})
      for (const bool transpose_right : {false, true})
        check({.rows = rows,
               .columns = columns,
               .interior = interior,
               .transpose_left = transpose_left,
               .transpose_right = transpose_right});
}

TEST_P(MatrixMultiplicationTest, ScalesTheProductAndAddsWhatWasThere) {
  for (const auto& [alpha, beta] : {std::pair{-0.5, 0.0}, {2.0, 1.0}, {0.0, 0.75}, {1.0, -2.0}})
    for (const size_t size : {20, 66, 100})
      check({.rows = size, .columns = size + 1, .interior = size + 2, .alpha = alpha, .beta = beta});
}

TEST_P(MatrixMultiplicationTest, DoesNotReadTheResultWhereBetaIsZero) {
  for (const size_t size : {5, 40, 100}) {
    const Numbers left = random_input(MPS::DataTypeFloat32, size, size, 1);
    Numbers result = random_matrix({.rows = size, .columns = size}, NAN, NAN);
    for (size_t row = 0; row < size; ++row)
      for (size_t column = 0; column < size; ++column) result.set(row, column, NAN);
    const auto kernel = NS::TransferPtr(MPS::MatrixMultiplication::alloc()->init(device.get(), size, size, size));
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                kernel->encode(commands, left.matrix(), left.matrix(), result.matrix());
              }),
              "");
    for (size_t row = 0; row < size; ++row)
      for (size_t column = 0; column < size; ++column) ASSERT_FALSE(std::isnan(result.at(row, column)));
  }
}

TEST_P(MatrixMultiplicationTest, WorksOnPartsOfMatricesAndBatches) {
  for (const bool transpose : {false, true})
    for (const size_t size : {9, 45})
      check({.rows = size,
             .columns = size + 3,
             .interior = size - 2,
             .transpose_left = transpose,
             .transpose_right = !transpose,
             .alpha = 0.5,
             .beta = 0.25,
             .left_row = 2,
             .left_column = 1,
             .right_row = 3,
             .right_column = 4,
             .result_row = 1,
             .result_column = 2,
             .matrices = 4});
  check({.rows = 20, .columns = 30, .interior = 10, .matrices = 5, .batch_start = 1, .batch_size = 3});
  check({.rows = 20, .columns = 30, .interior = 10, .matrices = 3, .batch_start = 2});
}

TEST_P(MatrixMultiplicationTest, TakesEveryTypeAndMixture) {
  const MPS::DataType inputs[] = {MPS::DataTypeFloat32, MPS::DataTypeFloat16, MPS::DataTypeBFloat16, MPS::DataTypeInt8,
                                  MPS::DataTypeInt16};
  for (const MPS::DataType left : inputs)
    for (const MPS::DataType right : inputs)
      for (const MPS::DataType result : {MPS::DataTypeFloat32, MPS::DataTypeFloat16, MPS::DataTypeBFloat16}) {
        const bool integer = left == MPS::DataTypeInt8 || left == MPS::DataTypeInt16 || right == MPS::DataTypeInt8 ||
                             right == MPS::DataTypeInt16;
        // Products of integers are scaled to what Float16 holds.
        const double alpha = integer ? 0x1p-14 : 0.5;
        check({.rows = 19,
               .columns = 35,
               .interior = 41,
               .transpose_right = true,
               .alpha = alpha,
               .beta = 0.5,
               .left = left,
               .right = right,
               .result = result,
               .left_row = 1,
               .right_column = 2,
               .matrices = 2});
        check({.rows = 5,
               .columns = 17,
               .interior = 9,
               .transpose_left = true,
               .alpha = alpha,
               .left = left,
               .right = right,
               .result = result});
      }
}

TEST_P(MatrixMultiplicationTest, SumsIntegersExactlyAsIntegers) {
  for (const MPS::DataType left : {MPS::DataTypeInt8, MPS::DataTypeInt16})
    for (const MPS::DataType right : {MPS::DataTypeInt8, MPS::DataTypeInt16})
      for (const bool transpose : {false, true})
        check({.rows = 9,
               .columns = 33,
               .interior = 300,
               .transpose_left = transpose,
               .transpose_right = !transpose,
               .left = left,
               .right = right,
               .result = MPS::DataTypeInt32});
  check({.rows = 4,
         .columns = 5,
         .interior = 6,
         .alpha = 3,
         .beta = -2,
         .left = MPS::DataTypeInt8,
         .right = MPS::DataTypeInt8,
         .result = MPS::DataTypeInt32});
  // Beyond what a float holds.
  Numbers left = random_matrix({.rows = 17, .columns = 3001, .type = MPS::DataTypeInt8}, 127, 127);
  Numbers right = random_matrix({.rows = 3001, .columns = 19, .type = MPS::DataTypeInt8}, 127, 127);
  Numbers result = random_matrix({.rows = 17, .columns = 19, .type = MPS::DataTypeInt32}, 0, 0);
  left.set(3, 5, 126);
  const auto kernel = NS::TransferPtr(MPS::MatrixMultiplication::alloc()->init(device.get(), 17, 19, 3001));
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              kernel->encode(commands, left.matrix(), right.matrix(), result.matrix());
            }),
            "");
  EXPECT_EQ(result.at(0, 0), 3001 * 127 * 127);
  EXPECT_EQ(result.at(3, 18), 3001 * 127 * 127 - 127);
  const auto halving =
      NS::TransferPtr(MPS::MatrixMultiplication::alloc()->init(device.get(), false, false, 17, 19, 3001, 0.5, 0));
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              halving->encode(commands, left.matrix(), right.matrix(), result.matrix());
            }).find("alpha is 0.5; it must be a whole number"),
            std::string::npos);
}

TEST_P(MatrixMultiplicationTest, IsRightForLargeMatricesWhichOthersAreTheFasterAt) {
  for (const MPS::DataType type : {MPS::DataTypeFloat32, MPS::DataTypeFloat16, MPS::DataTypeBFloat16})
    check({.rows = 400,
           .columns = 391,
           .interior = 384,
           .transpose_left = true,
           .beta = 0.5,
           .left = type,
           .right = type,
           .result = type,
           .sampling = 23});
  for (const bool transpose : {false, true})
    check({.rows = 771,
           .columns = 769,
           .interior = 770,
           .transpose_left = transpose,
           .transpose_right = transpose,
           .alpha = 2,
           .beta = transpose ? -0.5 : 0,
           .sampling = 67});
}

TEST_P(MatrixMultiplicationTest, OneKernelMayBeUsedBySeveralThreads) {
  for (const size_t size : {64, 130}) {
    const Numbers left = random_input(MPS::DataTypeFloat32, size, size, 1);
    const Numbers right = random_input(MPS::DataTypeFloat32, size, size, 1);
    const auto kernel = NS::TransferPtr(MPS::MatrixMultiplication::alloc()->init(device.get(), size, size, size));
    std::vector<Numbers> results;
    for (size_t i = 0; i < 4; ++i) results.push_back(random_matrix({.rows = size, .columns = size}, 0, 0));
    std::vector<std::string> errors(results.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < results.size(); ++i)
      threads.emplace_back([&, i] {
        const auto own_queue = NS::TransferPtr(device->newCommandQueue());
        for (size_t turn = 0; turn < 20; ++turn) {
          const auto own_pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
          MTL::CommandBuffer* commands = own_queue->commandBuffer();
          for (size_t k = 0; k < 3; ++k) kernel->encode(commands, left.matrix(), right.matrix(), results[i].matrix());
          commands->commit();
          commands->waitUntilCompleted();
          if (commands->error()) errors[i] = commands->error()->localizedDescription()->utf8String();
        }
      });
    for (std::thread& one : threads) one.join();
    for (size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(errors[i], "");
      for (size_t row = 0; row < size; row += 3)
        for (size_t column = 0; column < size; column += 7) {
          double sum = 0;
          for (size_t k = 0; k < size; ++k) sum += left.at(row, k) * right.at(k, column);
          // A float sum of this many numbers up to 1.
          ASSERT_NEAR(results[i].at(row, column), sum, 1e-4);
        }
    }
  }
}

TEST_P(MatrixMultiplicationTest, IsCopiedWithItsProperties) {
  const auto kernel = NS::TransferPtr(MPS::MatrixMultiplication::alloc()->init(device.get(), 2, 2, 2));
  kernel->setBatchStart(3);
  kernel->setLeftMatrixOrigin(MTL::Origin(1, 2, 0));
  const auto copy = NS::TransferPtr(kernel->copy());
  ASSERT_NE(copy.get(), kernel.get());
  EXPECT_EQ(copy->batchStart(), 3u);
  EXPECT_EQ(copy->leftMatrixOrigin().y, 2u);
  EXPECT_EQ(copy->device(), device.get());
}

TEST_P(MatrixMultiplicationTest, WritesBesideItsFactorsInTheSameMatrix) {
  const Numbers all = random_matrix({.rows = 6, .columns = 24}, -1, 1);
  Numbers before = random_matrix({.rows = 6, .columns = 24}, 0, 0);
  for (size_t row = 0; row < 6; ++row)
    for (size_t column = 0; column < 24; ++column) before.set(row, column, all.at(row, column));
  const auto kernel = NS::TransferPtr(MPS::MatrixMultiplication::alloc()->init(device.get(), 6, 8, 6));
  kernel->setRightMatrixOrigin(MTL::Origin(0, 7, 0));
  kernel->setResultMatrixOrigin(MTL::Origin(0, 15, 0));
  EXPECT_EQ(
      run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, all.matrix(), all.matrix(), all.matrix()); }),
      "");
  for (size_t row = 0; row < 6; ++row)
    for (size_t column = 0; column < 8; ++column) {
      double sum = 0;
      for (size_t i = 0; i < 6; ++i) sum += before.at(row, i) * before.at(i, 7 + column);
      EXPECT_NEAR(all.at(row, 15 + column), sum, 16 * 0x1p-24);  // six products, rounded once each
    }
}

TEST_P(MatrixMultiplicationTest, RefusesWhatDoesNotFitAndNamesTheArgument) {
  const Numbers small = random_input(MPS::DataTypeFloat32, 4, 4, 1),
                large = random_input(MPS::DataTypeFloat32, 8, 8, 1),
                other = random_input(MPS::DataTypeFloat32, 8, 8, 1);
  const Numbers wrong = random_matrix({.rows = 8, .columns = 8, .type = MPS::DataTypeUInt32}, 0, 0);
  EXPECT_EQ(MPS::MatrixMultiplication::alloc()->init(nullptr, 1, 1, 1), nullptr);
  EXPECT_EQ(MPS::MatrixMultiplication::alloc()->init(device.get(), 1, 0, 1), nullptr);
  const auto kernel = NS::TransferPtr(MPS::MatrixMultiplication::alloc()->init(device.get(), 8, 8, 8));
  const auto error = [&](const MPS::Matrix* left, const MPS::Matrix* right, const MPS::Matrix* result) {
    return run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, left, right, result); });
  };
  EXPECT_NE(error(small.matrix(), large.matrix(), large.matrix()).find("leftMatrix has 4 rows"), std::string::npos);
  EXPECT_NE(error(large.matrix(), small.matrix(), large.matrix()).find("rightMatrix has 4 rows"), std::string::npos);
  EXPECT_NE(error(large.matrix(), large.matrix(), small.matrix()).find("resultMatrix has 4 rows"), std::string::npos);
  EXPECT_NE(error(large.matrix(), nullptr, large.matrix()).find("rightMatrix is null"), std::string::npos);
  EXPECT_NE(error(wrong.matrix(), large.matrix(), large.matrix()).find("leftMatrix has the type UInt32"),
            std::string::npos);
  EXPECT_NE(error(large.matrix(), large.matrix(), wrong.matrix()).find("resultMatrix has the type UInt32"),
            std::string::npos);
  EXPECT_NE(error(large.matrix(), other.matrix(), large.matrix()).find("the result overlaps leftMatrix"),
            std::string::npos);
  EXPECT_NE(error(other.matrix(), large.matrix(), large.matrix()).find("the result overlaps rightMatrix"),
            std::string::npos);
  kernel->setRightMatrixOrigin(MTL::Origin(0, 8, 0));
  EXPECT_NE(error(large.matrix(), large.matrix(), large.matrix()).find("the origin of rightMatrix"), std::string::npos);
}

}  // namespace
}  // namespace metalloid::mps

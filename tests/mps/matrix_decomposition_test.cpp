#include "matrix_program.hpp"

namespace metalloid::mps {
namespace {

class MatrixDecompositionTest : public MatrixTest {
 protected:
  Numbers pivots_for(size_t count, size_t matrices) {
    return random_matrix({.rows = 1, .columns = count, .matrices = matrices, .type = MPS::DataTypeUInt32}, 0, 0);
  }
  NS::SharedPtr<MTL::Buffer> statuses_for(size_t count) {
    auto buffer = NS::TransferPtr(device->newBuffer(count * 4, MTL::ResourceStorageModeShared));
    std::fill_n(static_cast<int*>(buffer->contents()), count, 99);
    return buffer;
  }
  static int status_at(const NS::SharedPtr<MTL::Buffer>& statuses, size_t i) {
    return static_cast<const int*>(statuses->contents())[i];
  }

  // M M^T with something added to the diagonal.
  Numbers positive_definite(size_t order, size_t matrices, size_t origin) {
    Numbers source = random_matrix({.rows = order + origin, .columns = order + origin, .matrices = matrices}, -1, 1);
    const Numbers factor = random_matrix({.rows = order, .columns = order, .matrices = matrices}, -1, 1);
    for (size_t matrix = 0; matrix < matrices; ++matrix)
      for (size_t row = 0; row < order; ++row)
        for (size_t column = 0; column < order; ++column) {
          double sum = row == column ? 0.5 : 0;
          for (size_t i = 0; i < order; ++i) sum += factor.at(row, i, matrix) * factor.at(column, i, matrix);
          source.set(row + origin, column + origin, sum, matrix);
        }
    return source;
  }
};
INSTANTIATE_MPS_TEST(MatrixDecompositionTest);

TEST_P(MatrixDecompositionTest, LUIsAProductOfTrianglesWithRowsExchanged) {
  for (const auto& [rows, columns] :
       {std::pair<size_t, size_t>{1, 1}, {2, 2}, {7, 7}, {33, 33}, {70, 70}, {40, 25}, {25, 40}})
    for (const bool in_place : {false, true}) {
      const size_t matrices = 3, origin = 2, steps = std::min(rows, columns);
      Numbers source = random_matrix({.rows = rows + origin, .columns = columns + origin, .matrices = matrices}, -1, 1);
      Numbers other = random_matrix({.rows = rows + origin, .columns = columns + origin, .matrices = matrices}, 5, 5);
      const Numbers& result = in_place ? source : other;
      Numbers pivots = pivots_for(steps, matrices);
      std::vector<double> a;
      for (size_t matrix = 0; matrix < matrices; ++matrix)
        for (size_t row = 0; row < rows; ++row)
          for (size_t column = 0; column < columns; ++column)
            a.push_back(source.at(row + origin, column + origin, matrix));
      const auto statuses = statuses_for(matrices);
      const auto kernel = NS::TransferPtr(MPS::MatrixDecompositionLU::alloc()->init(device.get(), rows, columns));
      kernel->setSourceMatrixOrigin(MTL::Origin(origin, origin, 0));
      kernel->setResultMatrixOrigin(MTL::Origin(origin, origin, 0));
      ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                  kernel->encode(commands, source.matrix(), result.matrix(), pivots.matrix(), statuses.get());
                }),
                "");
      for (size_t matrix = 0; matrix < matrices; ++matrix) {
        EXPECT_EQ(status_at(statuses, matrix), MPS::MatrixDecompositionStatusSuccess);
        std::vector<size_t> order(rows);
        for (size_t i = 0; i < rows; ++i) order[i] = i;
        for (size_t i = 0; i < steps; ++i) {
          ASSERT_GE(pivots.at(0, i, matrix), i);
          ASSERT_LT(pivots.at(0, i, matrix), rows);
          std::swap(order[i], order[size_t(pivots.at(0, i, matrix))]);
        }
        const auto at = [&](size_t row, size_t column) { return result.at(row + origin, column + origin, matrix); };
        for (size_t row = 0; row < rows; ++row)
          for (size_t column = 0; column < columns; ++column) {
            if (row > column) {
              ASSERT_LE(std::abs(at(row, column)), 1.0) << "the pivot is the largest of its column";
            }
            double sum = 0;
            for (size_t i = 0; i <= std::min(row, column); ++i) sum += (i == row ? 1 : at(row, i)) * at(i, column);
            // Float elimination with pivots: a rounding of numbers that stay near 1 for each step.
            ASSERT_NEAR(sum, a[(matrix * rows + order[row]) * columns + column], 0x1p-22 * double(steps + 4))
                << rows << " x " << columns << ", row " << row << ", column " << column;
          }
      }
    }
}

TEST_P(MatrixDecompositionTest, LUSaysWhichMatricesAreSingular) {
  Numbers source = random_matrix({.rows = 4, .columns = 4, .matrices = 2}, -1, 1);
  for (size_t row = 0; row < 4; ++row) source.set(row, 2, 0, 1);
  Numbers pivots = pivots_for(4, 2);
  const auto statuses = statuses_for(3);
  const auto kernel = NS::TransferPtr(MPS::MatrixDecompositionLU::alloc()->init(device.get(), 4, 4));
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              kernel->encode(commands, source.matrix(), source.matrix(), pivots.matrix(), statuses.get());
            }),
            "");
  EXPECT_EQ(status_at(statuses, 0), MPS::MatrixDecompositionStatusSuccess);
  EXPECT_EQ(status_at(statuses, 1), MPS::MatrixDecompositionStatusSingular);
  EXPECT_EQ(status_at(statuses, 2), 99) << "beyond the batch";
}

TEST_P(MatrixDecompositionTest, CholeskyIsATriangleTimesItself) {
  for (const size_t order : {1, 2, 9, 33, 64})
    for (const bool lower : {false, true})
      for (const bool in_place : {false, true}) {
        const size_t matrices = 2, origin = 1;
        Numbers source = positive_definite(order, matrices, origin);
        Numbers other = random_matrix({.rows = order + origin, .columns = order + origin, .matrices = matrices}, 5, 5);
        const Numbers& result = in_place ? source : other;
        std::vector<double> a;
        for (size_t matrix = 0; matrix < matrices; ++matrix)
          for (size_t row = 0; row < order; ++row)
            for (size_t column = 0; column < order; ++column)
              a.push_back(source.at(row + origin, column + origin, matrix));
        const auto kernel =
            NS::TransferPtr(MPS::MatrixDecompositionCholesky::alloc()->init(device.get(), lower, order));
        kernel->setSourceMatrixOrigin(MTL::Origin(origin, origin, 0));
        kernel->setResultMatrixOrigin(MTL::Origin(origin, origin, 0));
        const auto statuses = statuses_for(matrices);
        ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                    kernel->encode(commands, source.matrix(), result.matrix(), statuses.get());
                  }),
                  "");
        for (size_t matrix = 0; matrix < matrices; ++matrix) {
          EXPECT_EQ(status_at(statuses, matrix), MPS::MatrixDecompositionStatusSuccess);
          const auto at = [&](size_t row, size_t column) {
            return lower ? result.at(row + origin, column + origin, matrix)
                         : result.at(column + origin, row + origin, matrix);
          };
          for (size_t row = 0; row < order; ++row)
            for (size_t column = 0; column <= row; ++column) {
              double sum = 0;
              for (size_t i = 0; i <= column; ++i) sum += at(row, i) * at(column, i);
              const double expected = a[(matrix * order + row) * order + column];
              // A rounding for each step, of numbers no larger than the diagonal's, which are about the order's third.
              ASSERT_NEAR(sum, expected, 0x1p-23 * double(order + 4) * (double(order) / 3 + 1)) << order;
              if (row != column) {
                ASSERT_EQ(at(column, row),
                          in_place ? a[(matrix * order + (lower ? column : row)) * order + (lower ? row : column)] : 5)
                    << "the other triangle is left alone";
              }
            }
        }
      }
}

TEST_P(MatrixDecompositionTest, CholeskySaysWhatIsNotPositiveDefinite) {
  Numbers source = positive_definite(6, 2, 0);
  source.set(3, 3, -1, 0);
  const auto statuses = statuses_for(2);
  for (const bool lower : {false, true}) {
    Numbers result = random_matrix({.rows = 6, .columns = 6, .matrices = 2}, 0, 0);
    const auto kernel = NS::TransferPtr(MPS::MatrixDecompositionCholesky::alloc()->init(device.get(), lower, 6));
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                kernel->encode(commands, source.matrix(), result.matrix(), statuses.get());
                kernel->encode(commands, source.matrix(), result.matrix(), nullptr);
              }),
              "");
    EXPECT_EQ(status_at(statuses, 0), MPS::MatrixDecompositionStatusNonPositiveDefinite);
    EXPECT_EQ(status_at(statuses, 1), MPS::MatrixDecompositionStatusSuccess);
  }
}

TEST_P(MatrixDecompositionTest, RefusesWhatDoesNotFitAndNamesTheArgument) {
  EXPECT_EQ(MPS::MatrixDecompositionLU::alloc()->init(device.get(), 0, 4), nullptr);
  EXPECT_EQ(MPS::MatrixDecompositionCholesky::alloc()->init(nullptr, true, 4), nullptr);
  const Numbers matrix = random_matrix({.rows = 4, .columns = 4}, -1, 1);
  const Numbers half = random_matrix({.rows = 4, .columns = 4, .type = MPS::DataTypeFloat16}, -1, 1);
  const Numbers few = pivots_for(3, 1);
  const auto kernel = NS::TransferPtr(MPS::MatrixDecompositionLU::alloc()->init(device.get(), 4, 4));
  const auto error = [&](const Numbers& source, const Numbers& pivots) {
    return run([&](MTL::CommandBuffer* commands) {
      kernel->encode(commands, source.matrix(), matrix.matrix(), pivots.matrix(), nullptr);
    });
  };
  EXPECT_NE(error(half, pivots_for(4, 1)).find("sourceMatrix has the type Float16"), std::string::npos);
  EXPECT_NE(error(matrix, few).find("pivotIndices has 1 rows and 3 columns"), std::string::npos);
  EXPECT_NE(error(matrix, matrix).find("pivotIndices must have the type UInt32"), std::string::npos);
}

}  // namespace
}  // namespace metalloid::mps

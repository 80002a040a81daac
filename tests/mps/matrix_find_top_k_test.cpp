#include <algorithm>
#include <numeric>

#include "matrix_program.hpp"

namespace metalloid::mps {
namespace {

using MatrixFindTopKTest = MatrixTest;
INSTANTIATE_MPS_TEST(MatrixFindTopKTest);

TEST_P(MatrixFindTopKTest, FindsTheLargestOfEachRowTheLeftmostFirst) {
  for (const MPS::DataType type : {MPS::DataTypeFloat32, MPS::DataTypeFloat16, MPS::DataTypeBFloat16})
    for (const size_t columns : {16, 33, 500})
      for (const size_t count : {1, 3, 16}) {
        const size_t rows = 5;
        Numbers source = random_matrix({.rows = rows, .columns = columns + 2, .type = type}, -9, 9);
        for (size_t row = 0; row < rows; ++row)
          for (size_t i = 0; i < columns + 2; ++i) source.set(row, i, std::round(source.at(row, i)));  // many are equal
        Numbers indices = random_matrix({.rows = rows, .columns = count, .type = MPS::DataTypeUInt32}, 0, 0);
        Numbers values = random_matrix({.rows = rows, .columns = count, .type = type}, 0, 0);
        const auto kernel = NS::TransferPtr(MPS::MatrixFindTopK::alloc()->init(device.get(), count));
        kernel->setSourceMatrixOrigin(MTL::Origin(0, 2, 0));
        kernel->setIndexOffset(7);
        ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                    kernel->encode(commands, source.matrix(), indices.matrix(), values.matrix());
                  }),
                  "");
        for (size_t row = 0; row < rows; ++row) {
          std::vector<size_t> order(columns);
          std::iota(order.begin(), order.end(), 0);
          std::stable_sort(order.begin(), order.end(),
                           [&](size_t x, size_t y) { return source.at(row, x + 2) > source.at(row, y + 2); });
          for (size_t k = 0; k < count; ++k) {
            ASSERT_EQ(indices.at(row, k), order[k] + 7) << columns << " columns, value " << k;
            ASSERT_EQ(values.at(row, k), source.at(row, order[k] + 2));
          }
        }
      }
}

TEST_P(MatrixFindTopKTest, FindsInfinities) {
  Numbers source = random_matrix({.rows = 1, .columns = 40}, 0, 0);
  for (size_t i = 0; i < 40; ++i) source.set(0, i, -INFINITY);
  source.set(0, 35, INFINITY);
  Numbers indices = random_matrix({.rows = 1, .columns = 3, .type = MPS::DataTypeUInt32}, 0, 0);
  Numbers values = random_matrix({.rows = 1, .columns = 3}, 0, 0);
  const auto kernel = NS::TransferPtr(MPS::MatrixFindTopK::alloc()->init(device.get(), 3));
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              kernel->encode(commands, source.matrix(), indices.matrix(), values.matrix());
            }),
            "");
  EXPECT_EQ(indices.at(0, 0), 35);
  EXPECT_EQ(indices.at(0, 1), 0);
  EXPECT_EQ(indices.at(0, 2), 1);
}

TEST_P(MatrixFindTopKTest, RefusesMoreThanSixteenAndWrongIndices) {
  Numbers source = random_matrix({.rows = 1, .columns = 40}, 0, 0);
  Numbers indices = random_matrix({.rows = 1, .columns = 40, .type = MPS::DataTypeUInt32}, 0, 0);
  const auto kernel = NS::TransferPtr(MPS::MatrixFindTopK::alloc()->init(device.get(), 17));
  const auto error = [&](const Numbers& index) {
    return run([&](MTL::CommandBuffer* commands) {
      kernel->encode(commands, source.matrix(), index.matrix(), source.matrix());
    });
  };
  EXPECT_NE(error(indices).find("numberOfTopKValues is 17"), std::string::npos);
  kernel->setNumberOfTopKValues(2);
  EXPECT_NE(error(source).find("resultIndexMatrix has the type Float32"), std::string::npos);
}

}  // namespace
}  // namespace metalloid::mps

#include "matrix_program.hpp"

namespace metalloid::mps {
namespace {

using MatrixCopyTest = MatrixTest;
INSTANTIATE_MPS_TEST(MatrixCopyTest);

double stored(const Numbers& numbers, size_t row, size_t column, bool transposed) {
  return transposed ? numbers.at(column, row) : numbers.at(row, column);
}

TEST_P(MatrixCopyTest, CopiesAPartWithTransposesAndConversions) {
  const MPS::DataType types[] = {MPS::DataTypeFloat32, MPS::DataTypeFloat16, MPS::DataTypeBFloat16};
  for (const MPS::DataType from : types)
    for (const MPS::DataType to : types)
      for (const bool source_transposed : {false, true})
        for (const bool destination_transposed : {false, true}) {
          Numbers source = random_matrix({.rows = 40, .columns = 41, .type = from}, -100, 100);
          Numbers destination = random_matrix({.rows = 38, .columns = 39, .type = to}, 0, 0);
          const auto kernel = NS::TransferPtr(
              MPS::MatrixCopy::alloc()->init(device.get(), 33, 7, source_transposed, destination_transposed));
          ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                      kernel->encode(commands, MPS::MatrixCopyDescriptor::descriptor(
                                                   source.matrix(), destination.matrix(), {2, 3, 4, 5}));
                    }),
                    "");
          for (size_t row = 0; row < 33; ++row)
            for (size_t column = 0; column < 7; ++column) {
              const double x = stored(source, row + 2, column + 3, source_transposed);
              ASSERT_NEAR(stored(destination, row + 4, column + 5, destination_transposed), x,
                          std::abs(x) * rounding_of(to));
            }
          ASSERT_EQ(destination.at(3, 3), 0) << "outside of the copy";
        }
}

TEST_P(MatrixCopyTest, TakesOffsetsAndPermutationsFromVectors) {
  Numbers first = random_matrix({.rows = 6, .columns = 8, .type = MPS::DataTypeInt32}, -99, 99);
  Numbers second = random_matrix({.rows = 6, .columns = 8, .type = MPS::DataTypeInt32}, -99, 99);
  Numbers result = random_matrix({.rows = 12, .columns = 8, .type = MPS::DataTypeInt32}, 0, 0);
  Numbers offsets = random_matrix({.rows = 1, .columns = 12, .type = MPS::DataTypeUInt32, .offset = 0}, 0, 0);
  offsets.set(0, 4 + 2, 6);  // from byte 16 on: the first copy goes to row 6, and the second comes from row 1
  offsets.set(0, 8 + 0, 1);
  Numbers rows = random_matrix({.rows = 1, .columns = 6, .type = MPS::DataTypeUInt32}, 0, 0);
  for (size_t i = 0; i < 5; ++i) rows.set(0, i + 1, double(4 - i));
  Numbers columns = random_matrix({.rows = 1, .columns = 8, .type = MPS::DataTypeUInt32}, 0, 0);
  for (size_t i = 0; i < 8; ++i) columns.set(0, i, double(i ^ 1));
  const auto offset_vector = vector_of(offsets), row_vector = vector_of(rows), column_vector = vector_of(columns);
  const NS::Object* sources[] = {first.matrix(), second.matrix()};
  const NS::Object* results[] = {result.matrix(), result.matrix()};
  const auto copies = NS::TransferPtr(MPS::MatrixCopyDescriptor::alloc()->init(
      NS::Array::array(sources, 2), NS::Array::array(results, 2), offset_vector.get(), 16));
  ASSERT_TRUE(copies);
  const auto kernel = NS::TransferPtr(MPS::MatrixCopy::alloc()->init(device.get(), 5, 8, false, false));
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              kernel->encode(commands, copies.get(), row_vector.get(), 1, column_vector.get(), 0);
            }),
            "");
  for (size_t row = 0; row < 5; ++row)
    for (size_t column = 0; column < 8; ++column) {
      EXPECT_EQ(result.at(row + 6, column), first.at(4 - row, column ^ 1));
      EXPECT_EQ(result.at(row, column), second.at(5 - row, column ^ 1));
    }
}

TEST_P(MatrixCopyTest, LeavesOutWhatIsOutside) {
  Numbers source = random_matrix({.rows = 4, .columns = 4}, 1, 1),
          destination = random_matrix({.rows = 4, .columns = 4}, 0, 0);
  const auto kernel = NS::TransferPtr(MPS::MatrixCopy::alloc()->init(device.get(), 100, 100, false, false));
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              kernel->encode(commands, MPS::MatrixCopyDescriptor::descriptor(source.matrix(), destination.matrix(),
                                                                             {0, 0, 2, 0xFFFFFFFF}));
              kernel->encode(
                  commands, MPS::MatrixCopyDescriptor::descriptor(source.matrix(), destination.matrix(), {0, 0, 3, 3}));
            }),
            "");
  for (size_t i = 0; i < 16; ++i) EXPECT_EQ(destination.at(i / 4, i % 4), i == 15);
}

}  // namespace
}  // namespace metalloid::mps

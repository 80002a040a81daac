#include "matrix_program.hpp"
#include "neuron_reference.hpp"

namespace metalloid::mps {
namespace {

using MatrixSumTest = MatrixTest;
INSTANTIATE_MPS_TEST(MatrixSumTest);

TEST_P(MatrixSumTest, AddsScaledMatricesAndABiasAndAppliesTheNeuron) {
  const size_t count = 3, rows = 6, columns = 35;
  for (const MPS::DataType type : {MPS::DataTypeFloat32, MPS::DataTypeFloat16})
    for (const bool transpose : {false, true})
      for (const bool vectors : {false, true}) {
        std::vector<Numbers> sources;
        std::vector<const NS::Object*> matrices;
        for (size_t i = 0; i < count; ++i)
          sources.push_back(random_matrix(
              {.rows = (transpose ? columns : rows) + 4, .columns = (transpose ? rows : columns) + 4, .type = type}, -2,
              2));
        for (const Numbers& source : sources) matrices.push_back(source.matrix());
        Numbers scales = random_matrix({.rows = 1, .columns = count + 1}, -1, 1);
        Numbers offsets = random_matrix({.rows = 1, .columns = 2 * count + 2, .type = MPS::DataTypeUInt32}, 0, 3);
        Numbers bias = random_matrix({.rows = 1, .columns = columns, .type = type}, -1, 1);
        Numbers result = random_matrix({.rows = rows, .columns = columns, .type = type}, 0, 0);
        const auto scale_vector = vector_of(scales), offset_vector = vector_of(offsets), bias_vector = vector_of(bias);
        const auto kernel =
            NS::TransferPtr(MPS::MatrixSum::alloc()->init(device.get(), count, rows, columns, transpose));
        kernel->setNeuronType(MPS::CNNNeuronTypeTanH, 1, 1, 0);
        ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                    kernel->encode(commands, NS::Array::array(matrices.data(), count), result.matrix(),
                                   vectors ? scale_vector.get() : nullptr, vectors ? offset_vector.get() : nullptr,
                                   vectors ? bias_vector.get() : nullptr, 1);
                  }),
                  "");
        for (size_t row = 0; row < rows; ++row)
          for (size_t column = 0; column < columns; ++column) {
            double sum = vectors ? bias.at(0, column) : 0;
            for (size_t i = 0; i < count; ++i) {
              const size_t row_offset = vectors ? size_t(offsets.at(0, 2 * (i + 1))) : 0;
              const size_t column_offset = vectors ? size_t(offsets.at(0, 2 * (i + 1) + 1)) : 0;
              sum += (vectors ? scales.at(0, i + 1) : 1) *
                     sources[i].at((transpose ? column : row) + row_offset, (transpose ? row : column) + column_offset);
            }
            ASSERT_NEAR(result.at(row, column), std::tanh(sum), rounding_of(type) + 8 * 0x1p-24);
          }
      }
}

TEST_P(MatrixSumTest, RefusesTooFewMatricesAndWhatIsNone) {
  Numbers only = random_matrix({.rows = 2, .columns = 2}, 0, 0);
  const auto kernel = NS::TransferPtr(MPS::MatrixSum::alloc()->init(device.get(), 2, 2, 2, false));
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              kernel->encode(commands, NS::Array::array(only.matrix()), only.matrix(), nullptr, nullptr, nullptr, 0);
            }).find("sourceMatrices must have 2 matrices"),
            std::string::npos);
  const NS::Object* objects[] = {only.matrix(), queue.get()};
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              kernel->encode(commands, NS::Array::array(objects, 2), only.matrix(), nullptr, nullptr, nullptr, 0);
            }).find("a matrix of sourceMatrices is null"),
            std::string::npos);
}

}  // namespace
}  // namespace metalloid::mps

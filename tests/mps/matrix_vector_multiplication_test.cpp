#include "matrix_program.hpp"

namespace metalloid::mps {
namespace {

class MatrixVectorMultiplicationTest : public MatrixTest {
 protected:
  // A vector is a matrix whose rows are the vectors.
  NS::SharedPtr<MPS::Vector> vectors_of(const Numbers& numbers) {
    const MPS::Matrix* matrix = numbers.matrix();
    return NS::TransferPtr(
        MPS::Vector::alloc()->init(matrix->data(), matrix->offset(),
                                   MPS::VectorDescriptor::vectorDescriptor(matrix->columns(), matrix->rows(),
                                                                           matrix->rowBytes(), matrix->dataType())));
  }

  void check(size_t rows, size_t columns, bool transpose, MPS::DataType type, MPS::DataType result_type, double alpha,
             double beta) {
    const size_t vectors = 3, x_origin = 2, y_origin = 1, row_origin = 1, column_origin = 3;
    const bool integer = type == MPS::DataTypeInt8 || type == MPS::DataTypeInt16;
    const double most = integer ? 127 : 1;
    const Numbers matrix = random_matrix({.rows = (transpose ? columns : rows) + row_origin,
                                          .columns = (transpose ? rows : columns) + column_origin,
                                          .matrices = vectors,
                                          .type = type},
                                         -most, most);
    const Numbers x = random_matrix({.rows = vectors, .columns = columns + x_origin, .type = type}, -most, most);
    Numbers y = random_matrix({.rows = vectors, .columns = rows + y_origin + 1, .type = result_type}, -1, 1);
    std::vector<double> before;
    for (size_t vector = 0; vector < vectors; ++vector)
      for (size_t i = 0; i < rows + y_origin + 1; ++i) {
        if (beta == 0 && i >= y_origin && i < rows + y_origin) y.set(vector, i, NAN);
        before.push_back(y.at(vector, i));
      }
    const auto kernel = NS::TransferPtr(
        MPS::MatrixVectorMultiplication::alloc()->init(device.get(), transpose, rows, columns, alpha, beta));
    kernel->setPrimarySourceMatrixOrigin(MTL::Origin(row_origin, column_origin, 0));
    kernel->setSecondarySourceMatrixOrigin(MTL::Origin(x_origin, 0, 0));
    kernel->setResultMatrixOrigin(MTL::Origin(y_origin, 0, 0));
    kernel->setBatchStart(1);
    const auto x_vectors = vectors_of(x), y_vectors = vectors_of(y);
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                kernel->encode(commands, matrix.matrix(), x_vectors.get(), y_vectors.get());
              }),
              "");
    for (size_t vector = 1; vector < vectors; ++vector)
      for (size_t row = 0; row < rows; ++row) {
        double sum = 0, sizes = 0;
        for (size_t i = 0; i < columns; ++i) {
          const double a = transpose ? matrix.at(i + row_origin, row + column_origin, vector)
                                     : matrix.at(row + row_origin, i + column_origin, vector);
          sum += a * x.at(vector, i + x_origin);
          sizes += std::abs(a * x.at(vector, i + x_origin));
        }
        const double old = before[vector * (rows + y_origin + 1) + row + y_origin];
        const double expected = alpha * sum + (beta == 0 ? 0 : beta * old);
        // As for a product of matrices: roundings of float sums, and that of the result.
        const double tolerance = rounding_of(result_type) * std::abs(expected) +
                                 0x1p-23 * (8 + std::sqrt(double(columns))) * (std::abs(alpha) * sizes + 1);
        ASSERT_NEAR(y.at(vector, row + y_origin), expected, tolerance)
            << rows << " x " << columns << (transpose ? " transposed" : "") << ", row " << row;
      }
    ASSERT_EQ(y.at(1, 0), before[rows + y_origin + 1]) << "outside of the result";
    ASSERT_EQ(y.at(2, rows + y_origin), before.back()) << "outside of the result";
  }
};
INSTANTIATE_MPS_TEST(MatrixVectorMultiplicationTest);

TEST_P(MatrixVectorMultiplicationTest, IsTheProductAtAnySizeTypeAndOrigin) {
  constexpr auto f32 = MPS::DataTypeFloat32, f16 = MPS::DataTypeFloat16, bf16 = MPS::DataTypeBFloat16,
                 i8 = MPS::DataTypeInt8, i16 = MPS::DataTypeInt16;
  const std::pair<MPS::DataType, MPS::DataType> types[] = {{f32, f32},  {f16, f16}, {f16, f32}, {bf16, bf16},
                                                           {bf16, f32}, {i8, f32},  {i16, f32}};
  for (const auto& [type, result_type] : types)
    for (const bool transpose : {false, true})
      for (const auto& [rows, columns] :
           {std::pair<size_t, size_t>{1, 1}, {3, 33}, {65, 31}, {129, 257}, {300, 1}, {1, 300}}) {
        check(rows, columns, transpose, type, result_type, 1, 0);
        check(rows, columns, transpose, type, result_type, -0.5, 2);
      }
}

TEST_P(MatrixVectorMultiplicationTest, RefusesWhatDoesNotFitAndNamesTheArgument) {
  const Numbers matrix = random_matrix({.rows = 4, .columns = 5}, -1, 1);
  const Numbers x = random_matrix({.rows = 1, .columns = 5}, -1, 1), y = random_matrix({.rows = 1, .columns = 4}, 0, 0);
  const Numbers half = random_matrix({.rows = 1, .columns = 5, .type = MPS::DataTypeFloat16}, -1, 1);
  const auto of_x = vectors_of(x), of_y = vectors_of(y), of_half = vectors_of(half);
  EXPECT_EQ(MPS::MatrixVectorMultiplication::alloc()->init(device.get(), 0, 5), nullptr);
  const auto kernel = NS::TransferPtr(MPS::MatrixVectorMultiplication::alloc()->init(device.get(), 4, 5));
  const auto error = [&](const MPS::Vector* input, const MPS::Vector* result) {
    return run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, matrix.matrix(), input, result); });
  };
  EXPECT_EQ(error(of_x.get(), of_y.get()), "");
  EXPECT_NE(error(of_y.get(), of_y.get()).find("inputVector has 4 numbers"), std::string::npos);
  EXPECT_NE(error(of_half.get(), of_y.get()).find("inputVector has the type Float16"), std::string::npos);
  EXPECT_NE(error(of_x.get(), nullptr).find("resultVector is null"), std::string::npos);
  kernel->setResultMatrixOrigin(MTL::Origin(1, 0, 0));
  EXPECT_NE(error(of_x.get(), of_y.get()).find("resultVector has 4 numbers, and 4 from 1 on"), std::string::npos);
}

}  // namespace
}  // namespace metalloid::mps

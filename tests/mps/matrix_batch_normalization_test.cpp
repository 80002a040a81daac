#include "matrix_program.hpp"
#include "neuron_reference.hpp"

namespace metalloid::mps {
namespace {

using MatrixBatchNormalizationTest = MatrixTest;
INSTANTIATE_MPS_TEST(MatrixBatchNormalizationTest);

constexpr double epsilon = 0x1p-10;

// One column, in float64.
struct Column {
  std::vector<double> x;
  double gamma = 1, beta = 0;

  double mean() const {
    double sum = 0;
    for (const double value : x) sum += value;
    return sum / double(x.size());
  }
  double variance() const {
    double sum = 0;
    for (const double value : x) sum += (value - mean()) * (value - mean());
    return sum / double(x.size());
  }
  double result(size_t row) const {
    const double n = (x[row] - mean()) / std::sqrt(variance() + epsilon);
    return neuron_reference(MPS::CNNNeuronTypeTanH, gamma * n + beta, 1, 1, 0);
  }
  // Of the sum of gradient times result.
  double loss(const std::vector<double>& gradient) const {
    double sum = 0;
    for (size_t row = 0; row < x.size(); ++row) sum += gradient[row] * result(row);
    return sum;
  }
  double slope(const std::vector<double>& gradient, double Column::* member) const {
    Column above = *this, below = *this;
    above.*member += 1e-5;
    below.*member -= 1e-5;
    return (above.loss(gradient) - below.loss(gradient)) / 2e-5;
  }
  double slope(const std::vector<double>& gradient, size_t row) const {
    Column above = *this, below = *this;
    above.x[row] += 1e-5;
    below.x[row] -= 1e-5;
    return (above.loss(gradient) - below.loss(gradient)) / 2e-5;
  }
};

Column column_of(const Numbers& x, size_t column, const Numbers* gamma, const Numbers* beta) {
  Column result;
  for (size_t row = 0; row < x.shape().rows; ++row) result.x.push_back(x.at(row, column));
  if (gamma) result.gamma = gamma->at(0, column);
  if (beta) result.beta = beta->at(0, column);
  return result;
}

TEST_P(MatrixBatchNormalizationTest, NormalisesByTheStatisticsOfTheRowsOrByGivenOnes) {
  const size_t rows = 17, columns = 35;
  for (const MPS::DataType type : {MPS::DataTypeFloat32, MPS::DataTypeFloat16})
    for (const bool compute : {true, false})
      for (const bool scaled : {false, true}) {
        Numbers x = random_matrix({.rows = rows, .columns = columns, .type = type}, -2, 3);
        Numbers mean = random_matrix({.rows = 1, .columns = columns, .type = type}, 0, 0);
        Numbers variance = random_matrix({.rows = 1, .columns = columns, .type = type}, 0, 0);
        Numbers gamma = random_matrix({.rows = 1, .columns = columns, .type = type}, 0.5, 2);
        Numbers beta = random_matrix({.rows = 1, .columns = columns, .type = type}, -1, 1);
        Numbers y = random_matrix({.rows = rows, .columns = columns, .type = type}, 0, 0);
        if (!compute)
          for (size_t i = 0; i < columns; ++i) {
            mean.set(0, i, column_of(x, i, nullptr, nullptr).mean());
            variance.set(0, i, column_of(x, i, nullptr, nullptr).variance());
          }
        const auto means = vector_of(mean), variances = vector_of(variance), gammas = vector_of(gamma),
                   betas = vector_of(beta);
        const auto kernel = NS::TransferPtr(MPS::MatrixBatchNormalization::alloc()->init(device.get()));
        kernel->setEpsilon(float(epsilon));
        kernel->setComputeStatistics(compute);
        kernel->setNeuronType(MPS::CNNNeuronTypeTanH, 1, 1, 0);
        ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                    kernel->encode(commands, x.matrix(), means.get(), variances.get(), scaled ? gammas.get() : nullptr,
                                   scaled ? betas.get() : nullptr, y.matrix());
                  }),
                  "");
        for (size_t i = 0; i < columns; ++i) {
          const Column expected = column_of(x, i, scaled ? &gamma : nullptr, scaled ? &beta : nullptr);
          ASSERT_NEAR(mean.at(0, i), expected.mean(), 4 * rounding_of(type));
          ASSERT_NEAR(variance.at(0, i), expected.variance(), 8 * rounding_of(type) * (1 + expected.variance()));
          // Statistics are rounded to the type, which numbers two deviations away feel twice.
          for (size_t row = 0; row < rows; ++row)
            ASSERT_NEAR(y.at(row, i), expected.result(row), 16 * rounding_of(type) + 1e-6);
        }
      }
}

// Columns of several blocks and of more than one span, whose first rows lie far from all others, and all far from 0.
TEST_P(MatrixBatchNormalizationTest, KeepsThePrecisionOfStatisticsWhereRowsDrift) {
  const MatrixShape shape{.rows = 203, .columns = 2085}, of_columns{.rows = 1, .columns = shape.columns};
  Numbers x(device.get(), shape), y(device.get(), shape), mean(device.get(), of_columns),
      variance(device.get(), of_columns);
  for (size_t row = 0; row < shape.rows; ++row)
    for (size_t i = 0; i < shape.columns; ++i) {
      const double noise = double((row * 31 + i * 17) % 101) / 101;
      x.set(row, i, row == 0 && i % 3 == 0 ? -1e4 : 100 + noise + double(row) * double(i % 2) / 10);
    }
  const auto means = vector_of(mean), variances = vector_of(variance);
  const auto kernel = NS::TransferPtr(MPS::MatrixBatchNormalization::alloc()->init(device.get()));
  kernel->setEpsilon(float(epsilon));
  kernel->setComputeStatistics(true);
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              kernel->encode(commands, x.matrix(), means.get(), variances.get(), nullptr, nullptr, y.matrix());
            }),
            "");
  for (size_t i = 0; i < shape.columns; i += 7) {
    const Column expected = column_of(x, i, nullptr, nullptr);
    const double deviation = std::sqrt(expected.variance() + epsilon);
    ASSERT_NEAR(mean.at(0, i), expected.mean(), 1e-6 * (100 + deviation)) << "column " << i;
    ASSERT_NEAR(variance.at(0, i), expected.variance(), 1e-5 * expected.variance()) << "column " << i;
    // The mean is a float near 100, and deviations are as small as a third.
    for (size_t row = 0; row < shape.rows; ++row)
      ASSERT_NEAR(y.at(row, i), (x.at(row, i) - expected.mean()) / deviation, 1e-4) << row << ", " << i;
  }
}

TEST_P(MatrixBatchNormalizationTest, GivesTheGradientsOfDataGammaAndBeta) {
  const size_t rows = 12, columns = 33;
  Numbers g = random_matrix({.rows = rows, .columns = columns}, -1, 1);
  Numbers x = random_matrix({.rows = rows, .columns = columns}, -2, 3);
  Numbers mean = random_matrix({.rows = 1, .columns = columns}, 0, 0);
  Numbers variance = random_matrix({.rows = 1, .columns = columns}, 0, 0);
  Numbers gamma = random_matrix({.rows = 1, .columns = columns}, 0.5, 2);
  Numbers beta = random_matrix({.rows = 1, .columns = columns}, -1, 1);
  Numbers data = random_matrix({.rows = rows, .columns = columns}, 0, 0);
  Numbers for_gamma = random_matrix({.rows = 1, .columns = columns}, 0, 0);
  Numbers for_beta = random_matrix({.rows = 1, .columns = columns}, 0, 0);
  for (size_t i = 0; i < columns; ++i) {
    mean.set(0, i, column_of(x, i, nullptr, nullptr).mean());
    variance.set(0, i, column_of(x, i, nullptr, nullptr).variance());
  }
  const auto means = vector_of(mean), variances = vector_of(variance), gammas = vector_of(gamma),
             betas = vector_of(beta), gamma_result = vector_of(for_gamma), beta_result = vector_of(for_beta);
  const auto kernel = NS::TransferPtr(MPS::MatrixBatchNormalizationGradient::alloc()->init(device.get()));
  kernel->setEpsilon(float(epsilon));
  kernel->setNeuronType(MPS::CNNNeuronTypeTanH, 1, 1, 0);
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              kernel->encode(commands, g.matrix(), x.matrix(), means.get(), variances.get(), gammas.get(), betas.get(),
                             data.matrix(), gamma_result.get(), beta_result.get());
            }),
            "");
  for (size_t i = 0; i < columns; ++i) {
    const Column column = column_of(x, i, &gamma, &beta);
    std::vector<double> gradient;
    for (size_t row = 0; row < rows; ++row) gradient.push_back(g.at(row, i));
    // Sums of a dozen terms in float, against differences good to 1e-8.
    ASSERT_NEAR(for_gamma.at(0, i), column.slope(gradient, &Column::gamma), 5e-6);
    ASSERT_NEAR(for_beta.at(0, i), column.slope(gradient, &Column::beta), 5e-6);
    for (size_t row = 0; row < rows; ++row) ASSERT_NEAR(data.at(row, i), column.slope(gradient, row), 5e-6);
  }
}

}  // namespace
}  // namespace metalloid::mps

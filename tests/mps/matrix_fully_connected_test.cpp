#include "matrix_program.hpp"
#include "neuron_reference.hpp"

namespace metalloid::mps {
namespace {

using MatrixFullyConnectedTest = MatrixTest;
INSTANTIATE_MPS_TEST(MatrixFullyConnectedTest);

constexpr MPS::DataType types[] = {MPS::DataTypeFloat32, MPS::DataTypeFloat16};

// Sums of n products of numbers up to 1 in magnitude, each rounded.
double sum_tolerance(MPS::DataType type, size_t n) {
  return double(n) * 2 * 0x1p-24 + rounding_of(type) * (1 + std::sqrt(double(n)));
}

TEST_P(MatrixFullyConnectedTest, IsTheNeuronOfTheProductAndTheBias) {
  for (const MPS::DataType type : types)
    for (const size_t vectors : {1, 7, 33})
      for (const bool biased : {false, true}) {
        const size_t inputs = 45, outputs = 19;
        Numbers x = random_matrix({.rows = vectors + 1, .columns = inputs + 1, .type = type}, -1, 1);
        Numbers w = random_matrix({.rows = inputs, .columns = outputs, .type = type}, -1, 1);
        Numbers b = random_matrix({.rows = 1, .columns = outputs, .type = type}, -1, 1);
        Numbers y = random_matrix({.rows = vectors, .columns = outputs + 2, .type = type}, 0, 0);
        const auto bias = vector_of(b);
        const auto kernel = NS::TransferPtr(MPS::MatrixFullyConnected::alloc()->init(device.get()));
        kernel->setPrimarySourceMatrixOrigin(MTL::Origin(1, 1, 0));
        kernel->setResultMatrixOrigin(MTL::Origin(0, 2, 0));
        kernel->setAlpha(0.5);
        kernel->setNeuronType(MPS::CNNNeuronTypeSigmoid, 0, 0, 0);
        ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                    kernel->encode(commands, x.matrix(), w.matrix(), biased ? bias.get() : nullptr, y.matrix());
                  }),
                  "");
        for (size_t row = 0; row < vectors; ++row) {
          for (size_t column = 0; column < outputs; ++column) {
            double sum = biased ? b.at(0, column) : 0;
            for (size_t k = 0; k < inputs; ++k) sum += 0.5 * x.at(row + 1, k + 1) * w.at(k, column);
            ASSERT_NEAR(y.at(row, column + 2), neuron_reference(MPS::CNNNeuronTypeSigmoid, sum, 0, 0, 0),
                        sum_tolerance(type, inputs))
                << vectors << " vectors, type " << type;
          }
          ASSERT_EQ(y.at(row, 1), 0) << "outside of the result";
        }
      }
}

TEST_P(MatrixFullyConnectedTest, GivesTheGradientsOfDataWeightsAndBias) {
  const size_t vectors = 9, inputs = 21, outputs = 34;
  for (const MPS::DataType type : types) {
    Numbers g = random_matrix({.rows = vectors, .columns = outputs, .type = type}, -1, 1);
    Numbers x = random_matrix({.rows = vectors, .columns = inputs, .type = type}, -1, 1);
    Numbers w = random_matrix({.rows = inputs, .columns = outputs, .type = type}, -1, 1);
    Numbers data = random_matrix({.rows = vectors, .columns = inputs, .type = type}, 0, 0);
    Numbers weights = random_matrix({.rows = inputs, .columns = outputs, .type = type}, 0, 0);
    Numbers bias = random_matrix({.rows = 1, .columns = outputs, .type = type}, 0, 0);
    const auto bias_vector = vector_of(bias);
    const auto kernel = NS::TransferPtr(MPS::MatrixFullyConnectedGradient::alloc()->init(device.get()));
    kernel->setAlpha(0.5);
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                kernel->encodeGradientForData(commands, g.matrix(), w.matrix(), data.matrix());
                kernel->encodeGradientForWeightsAndBias(commands, g.matrix(), x.matrix(), weights.matrix(),
                                                        bias_vector.get());
              }),
              "");
    for (size_t row = 0; row < vectors; ++row)
      for (size_t k = 0; k < inputs; ++k) {
        double sum = 0;
        for (size_t column = 0; column < outputs; ++column) sum += 0.5 * g.at(row, column) * w.at(k, column);
        ASSERT_NEAR(data.at(row, k), sum, sum_tolerance(type, outputs));
      }
    for (size_t column = 0; column < outputs; ++column) {
      double bias_sum = 0;
      for (size_t row = 0; row < vectors; ++row) bias_sum += g.at(row, column);
      ASSERT_NEAR(bias.at(0, column), bias_sum, sum_tolerance(type, vectors));
      for (size_t k = 0; k < inputs; ++k) {
        double sum = 0;
        for (size_t row = 0; row < vectors; ++row) sum += 0.5 * x.at(row, k) * g.at(row, column);
        ASSERT_NEAR(weights.at(k, column), sum, sum_tolerance(type, vectors));
      }
    }
  }
}

}  // namespace
}  // namespace metalloid::mps

#include "matrix_program.hpp"
#include "neuron_reference.hpp"

namespace metalloid::mps {
namespace {

using MatrixNeuronTest = MatrixTest;
INSTANTIATE_MPS_TEST(MatrixNeuronTest);

// Parameters with which every type is smooth but for its kinks, and its argument positive where it must be.
constexpr float a = 0.75f, b = 4.5f, c = 1.5f;

std::vector<MPS::CNNNeuronType> all_types() {
  std::vector<MPS::CNNNeuronType> types;
  for (int32_t type = MPS::CNNNeuronTypeNone; type < MPS::CNNNeuronTypeCount; ++type)
    types.push_back(MPS::CNNNeuronType(type));
  return types;
}

NS::SharedPtr<NS::Data> floats(const std::vector<float>& values) {
  return NS::TransferPtr(NS::Data::alloc()->init(values.data(), values.size() * sizeof(float)));
}

template <class Kernel>
void set_neuron(Kernel* kernel, MPS::CNNNeuronType type, const std::vector<float>& channel_a) {
  if (type == MPS::CNNNeuronTypePReLU)
    kernel->setNeuronToPReLU(floats(channel_a).get());
  else
    kernel->setNeuronType(type, a, b, c);
}

TEST_P(MatrixNeuronTest, SaturatesFarFromZeroAndKeepsNaNs) {
  struct Case {
    MPS::CNNNeuronType type;
    double low, high;  // of -200 and 200, with parameters of 1
  };
  for (const Case& c : {Case{MPS::CNNNeuronTypeSigmoid, 0, 1}, Case{MPS::CNNNeuronTypeTanH, -1, 1},
                        Case{MPS::CNNNeuronTypeELU, -1, 200}, Case{MPS::CNNNeuronTypeSoftPlus, 0, 200},
                        Case{MPS::CNNNeuronTypeGeLU, 0, 200}}) {
    Numbers input = random_matrix({.rows = 1, .columns = 41}, -200, -200);
    Numbers result = random_matrix({.rows = 1, .columns = 41}, 0, 0);
    for (size_t i = 20; i < 40; ++i) input.set(0, i, 200);
    input.set(0, 3, -INFINITY);
    input.set(0, 40, NAN);
    const auto kernel = NS::TransferPtr(MPS::MatrixNeuron::alloc()->init(device.get()));
    kernel->setNeuronType(c.type, 1, 1, 1);
    ASSERT_EQ(
        run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, input.matrix(), nullptr, result.matrix()); }),
        "");
    for (size_t i = 0; i < 40; ++i) {
      if (i == 3 && c.type == MPS::CNNNeuronTypeGeLU) continue;  // infinity times nothing
      EXPECT_EQ(result.at(0, i), i < 20 ? c.low : c.high) << "neuron " << c.type << ", number " << i;
    }
    EXPECT_TRUE(std::isnan(result.at(0, 40))) << "neuron " << c.type;
  }
}

// They are polynomials, of which each has its own way to be wrong: near 0, where terms cancel, and where it ends.
TEST_P(MatrixNeuronTest, IsExactToAFewUnitsInTheLastPlace) {
  constexpr double unit = 0x1p-23;
  struct Case {
    MPS::CNNNeuronType type;
    double (*truth)(double x);
    double (*size)(double x);  // what the error is relative to
    double units;
  };
  const Case cases[] = {
      // Of an exponential, which is 0 or infinite where the next float could not be told from that.
      {MPS::CNNNeuronTypeSigmoid, [](double x) { return 1 / (1 + std::exp(-x)); },
       [](double x) { return (1 + std::abs(x) / 4) / (1 + std::exp(-x)) + 0x1p-100; }, 3},
      {MPS::CNNNeuronTypeTanH, [](double x) { return std::tanh(x); }, [](double x) { return std::tanh(x); }, 4},
      {MPS::CNNNeuronTypeELU, [](double x) { return x >= 0 ? x : std::expm1(x); },
       [](double x) { return std::expm1(-std::abs(x)); }, 3},
      // Of a normal distribution and its slope.
      {MPS::CNNNeuronTypeGeLU, [](double x) { return x / 2 * std::erfc(-x * std::sqrt(0.5)); },
       [](double x) { return x; }, 3}};
  const MatrixShape shape{.rows = 3, .columns = 4001};
  Numbers input(device.get(), shape), result(device.get(), shape);
  for (size_t i = 0; i < shape.columns; ++i) {
    input.set(0, i, double(i) / 200 - 10);
    input.set(1, i, (i % 2 ? 1 : -1) * std::exp2(double(i) / 100 - 30));
    input.set(2, i, double(i) / 4000 - 0.5);
  }
  // What normalises has the neurons of processors that are slow to look numbers up.
  const auto normalization = NS::TransferPtr(MPS::MatrixBatchNormalization::alloc()->init(device.get()));
  normalization->setEpsilon(0);
  Numbers means = random_matrix({.rows = 1, .columns = shape.columns}, 0, 0);
  Numbers variances = random_matrix({.rows = 1, .columns = shape.columns}, 1, 1);
  const auto mean = vector_of(means), variance = vector_of(variances);
  for (const Case& c : cases) {
    const auto kernel = NS::TransferPtr(MPS::MatrixNeuron::alloc()->init(device.get()));
    kernel->setNeuronType(c.type, 1, 1, 1);
    normalization->setNeuronType(c.type, 1, 1, 1);
    for (const bool normalizes : {false, true}) {
      ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                  if (normalizes)
                    normalization->encode(commands, input.matrix(), mean.get(), variance.get(), nullptr, nullptr,
                                          result.matrix());
                  else
                    kernel->encode(commands, input.matrix(), nullptr, result.matrix());
                }),
                "");
      for (size_t row = 0; row < shape.rows; ++row)
        for (size_t i = 0; i < shape.columns; ++i) {
          const double x = input.at(row, i), size = std::abs(c.size(x));
          ASSERT_NEAR(result.at(row, i), c.truth(x), c.units * unit * size)
              << "neuron " << c.type << " of " << x << (normalizes ? ", normalized" : "");
        }
    }
  }
}

TEST_P(MatrixNeuronTest, TanHHasAnyFactors) {
  const MatrixShape shape{.rows = 1, .columns = 401};
  Numbers input(device.get(), shape), result(device.get(), shape);
  for (size_t i = 0; i < shape.columns; ++i) input.set(0, i, double(i) / 20 - 10);
  for (const float outside : {1.0f, -2.5f, 0.0f})
    for (const float inside : {1.0f, -0.25f, 1e-20f, 1e20f, 0.0f}) {
      const auto kernel = NS::TransferPtr(MPS::MatrixNeuron::alloc()->init(device.get()));
      kernel->setNeuronType(MPS::CNNNeuronTypeTanH, outside, inside, 1);
      ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                  kernel->encode(commands, input.matrix(), nullptr, result.matrix());
                }),
                "");
      for (size_t i = 0; i < shape.columns; ++i) {
        const double expected = outside * std::tanh(double(inside) * input.at(0, i));
        ASSERT_NEAR(result.at(0, i), expected, std::abs(expected) * 1e-6)
            << outside << " * tanh(" << inside << " * " << input.at(0, i) << ")";
      }
    }
}

// CPUs write what is larger than their caches past them, by other instructions.
TEST_P(MatrixNeuronTest, OfAMatrixLargerThanCachesIsThatOfItsNumbers) {
  const MatrixShape shape{.rows = 2100, .columns = 4003};
  Numbers input(device.get(), shape), result(device.get(), shape);
  const auto at = [](size_t row, size_t i) { return double((row * 7 + i * 13) % 101) / 16 - 3; };
  for (size_t row = 0; row < shape.rows; ++row)
    for (size_t i = 0; i < shape.columns; ++i) input.set(row, i, at(row, i));
  const auto kernel = NS::TransferPtr(MPS::MatrixNeuron::alloc()->init(device.get()));
  kernel->setNeuronType(MPS::CNNNeuronTypeReLU, 0.5f, 0, 0);
  ASSERT_EQ(
      run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, input.matrix(), nullptr, result.matrix()); }),
      "");
  for (size_t row = 0; row < shape.rows; ++row)
    for (size_t i = 0; i < shape.columns; ++i) {
      const double x = at(row, i);
      ASSERT_EQ(result.at(row, i), x >= 0 ? x : x / 2) << "row " << row << ", column " << i;
    }
}

TEST_P(MatrixNeuronTest, AppliesEveryNeuronToEveryTypeWithScaleAndBias) {
  const size_t rows = 7, columns = 37;
  std::vector<float> channel_a(columns);
  for (float& value : channel_a) value = std::uniform_real_distribution<float>(-1, 1)(random);
  for (const MPS::CNNNeuronType neuron : all_types())
    for (const MPS::DataType type : {MPS::DataTypeFloat32, MPS::DataTypeFloat16, MPS::DataTypeBFloat16})
      for (const bool biased : {false, true}) {
        Numbers input = random_matrix({.rows = rows + 1, .columns = columns + 2, .type = type}, -2, 2);
        Numbers bias = random_matrix({.rows = 1, .columns = columns, .type = type}, -1, 1);
        Numbers result = random_matrix({.rows = rows, .columns = columns, .type = type}, 0, 0);
        const auto kernel = NS::TransferPtr(MPS::MatrixNeuron::alloc()->init(device.get()));
        set_neuron(kernel.get(), neuron, channel_a);
        kernel->setAlpha(1.25);
        kernel->setSourceMatrixOrigin(MTL::Origin(1, 2, 0));
        const auto bias_vector = vector_of(bias);
        ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                    kernel->encode(commands, input.matrix(), biased ? bias_vector.get() : nullptr, result.matrix());
                  }),
                  "");
        for (size_t row = 0; row < rows; ++row)
          for (size_t column = 0; column < columns; ++column) {
            const double x = 1.25 * input.at(row + 1, column + 2) + (biased ? bias.at(0, column) : 0);
            const double channel = neuron == MPS::CNNNeuronTypePReLU ? channel_a[column] : a;
            const double expected = neuron_reference(neuron, x, channel, b, c);
            // The argument is rounded twice, and functions are good to a few roundings.
            ASSERT_NEAR(result.at(row, column), expected, (rounding_of(type) + 16 * 0x1p-24) * (1 + std::abs(expected)))
                << "neuron " << neuron << ", type " << type << ", x " << x;
          }
      }
}

TEST_P(MatrixNeuronTest, GivesTheGradientsOfInputAndBias) {
  const size_t rows = 9, columns = 37;
  std::vector<float> channel_a(columns, -0.5f);
  for (const MPS::CNNNeuronType neuron : all_types())
    for (const MPS::DataType type : {MPS::DataTypeFloat32, MPS::DataTypeFloat16}) {
      Numbers gradient = random_matrix({.rows = rows, .columns = columns, .type = type}, -1, 1);
      Numbers input = random_matrix({.rows = rows, .columns = columns, .type = type}, -2, 2);
      Numbers bias = random_matrix({.rows = 1, .columns = columns, .type = type}, -1, 1);
      Numbers result = random_matrix({.rows = rows, .columns = columns, .type = type}, 0, 0);
      Numbers bias_result = random_matrix({.rows = 1, .columns = columns, .type = type}, 0, 0);
      const auto kernel = NS::TransferPtr(MPS::MatrixNeuronGradient::alloc()->init(device.get()));
      set_neuron(kernel.get(), neuron, channel_a);
      kernel->setAlpha(0.75);
      const auto bias_vector = vector_of(bias), bias_result_vector = vector_of(bias_result);
      ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                  kernel->encode(commands, gradient.matrix(), input.matrix(), bias_vector.get(), result.matrix(),
                                 bias_result_vector.get());
                }),
                "");
      for (size_t column = 0; column < columns; ++column) {
        double bias_sum = 0;
        for (size_t row = 0; row < rows; ++row) {
          const double x = 0.75 * input.at(row, column) + bias.at(0, column);
          const double channel = neuron == MPS::CNNNeuronTypePReLU ? channel_a[column] : a;
          const double before = gradient.at(row, column) * neuron_slope_reference(neuron, x, channel, b, c);
          bias_sum += before;
          ASSERT_NEAR(result.at(row, column), 0.75 * before,
                      (rounding_of(type) + 64 * 0x1p-24) * (2 + std::abs(before)))
              << "neuron " << neuron << ", type " << type << ", x " << x;
        }
        ASSERT_NEAR(bias_result.at(0, column), bias_sum,
                    (rounding_of(type) + 64 * 0x1p-24) * (rows + std::abs(bias_sum)))
            << "neuron " << neuron << ", type " << type;
      }
    }
}

TEST_P(MatrixNeuronTest, RefusesWhatDoesNotFit) {
  Numbers input = random_matrix({.rows = 2, .columns = 4}, 0, 0),
          small = random_matrix({.rows = 2, .columns = 3}, 0, 0);
  Numbers integers = random_matrix({.rows = 2, .columns = 4, .type = MPS::DataTypeInt32}, 0, 0);
  const auto kernel = NS::TransferPtr(MPS::MatrixNeuron::alloc()->init(device.get()));
  const auto short_bias = vector_of(small);
  const auto error = [&](MPS::Matrix* source, MPS::Vector* bias, MPS::Matrix* result) {
    return run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, source, bias, result); });
  };
  EXPECT_NE(error(input.matrix(), nullptr, small.matrix()).find("resultMatrix has 2 rows and 3 columns"),
            std::string::npos);
  EXPECT_NE(error(input.matrix(), short_bias.get(), input.matrix()).find("biasVector has 3 numbers"),
            std::string::npos);
  EXPECT_NE(error(integers.matrix(), nullptr, integers.matrix()).find("inputMatrix has the type Int32"),
            std::string::npos);
  EXPECT_NE(error(nullptr, nullptr, input.matrix()).find("inputMatrix is null"), std::string::npos);
  kernel->setNeuronToPReLU(floats({1, 2, 3}).get());
  EXPECT_NE(error(input.matrix(), nullptr, input.matrix()).find("parameters for 3 channels"), std::string::npos);
}

TEST_P(MatrixNeuronTest, ACopyHasTheNeuronOfTheOriginal) {
  const auto kernel = NS::TransferPtr(MPS::MatrixNeuron::alloc()->init(device.get()));
  kernel->setNeuronType(MPS::CNNNeuronTypeTanH, 1, 2, 3);
  const auto copy = NS::TransferPtr(kernel->copy());
  kernel->setNeuronType(MPS::CNNNeuronTypeReLU, 0, 0, 0);
  EXPECT_EQ(copy->neuronType(), MPS::CNNNeuronTypeTanH);
  EXPECT_EQ(copy->neuronParameterB(), 2);
  EXPECT_EQ(copy->device(), device.get());
}

}  // namespace
}  // namespace metalloid::mps

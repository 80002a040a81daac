#include "convolution_program.hpp"
#include "matrix_program.hpp"

namespace metalloid::mps {
namespace {

class OptimizerTest : public MatrixTest {
 protected:
  static MPS::NNOptimizerDescriptor* descriptor(bool clips, MPS::NNRegularizationType regularization) {
    return MPS::NNOptimizerDescriptor::optimizerDescriptor(0.125f, 0.75f, clips, 0.5f, -0.25f, regularization, 0.375f);
  }
};
INSTANTIATE_MPS_TEST(OptimizerTest);

enum class Rule { plain, momentum, nesterov, rms_prop, adam, ams_grad };

// What one number remembers, and its next value.
struct Reference {
  Rule rule;
  bool clips = false;
  MPS::NNRegularizationType regularization = MPS::NNRegularizationTypeNone;
  double rate = 0.125, rescale = 0.75, scale = 0.375, keep = 0.9, keep_squares = 0.99, epsilon = 1e-3;

  double next(double gradient, double value, std::array<double, 3>& remembered, int t) const {
    double g = clips ? std::clamp(gradient, -0.25, 0.5) : gradient;
    g *= rescale;
    if (regularization == MPS::NNRegularizationTypeL1) g += scale * (value > 0 ? 1 : value < 0 ? -1 : 0);
    if (regularization == MPS::NNRegularizationTypeL2) g += scale * value;
    auto& [first, second, third] = remembered;
    switch (rule) {
      case Rule::plain:
        return value - rate * g;
      case Rule::momentum:
        first = keep * first + rate * g;
        return value - first;
      case Rule::nesterov:
        first = keep * first + g;
        return value - rate * (g + first * keep);
      case Rule::rms_prop:
        first = keep * first + (1 - keep) * g * g;
        return value - rate * g / (std::sqrt(first) + epsilon);
      default: {
        first = keep * first + (1 - keep) * g;
        second = keep_squares * second + (1 - keep_squares) * g * g;
        third = std::max(third, second);
        const double step = rate * std::sqrt(1 - std::pow(keep_squares, t)) / (1 - std::pow(keep, t));
        return value - step * first / (std::sqrt(rule == Rule::adam ? second : third) + epsilon);
      }
    }
  }
};

// An optimizer of any rule on matrices, or on their first rows as vectors.
class AnyOptimizer {
 public:
  AnyOptimizer(MTL::Device* device, Rule rule, MPS::NNOptimizerDescriptor* descriptor) : rule_(rule) {
    if (rule <= Rule::nesterov)
      descent_ = NS::TransferPtr(MPS::NNOptimizerStochasticGradientDescent::alloc()->init(
          device, rule == Rule::plain ? 0 : 0.9f, rule == Rule::nesterov, descriptor));
    else if (rule == Rule::rms_prop)
      rms_prop_ = NS::TransferPtr(MPS::NNOptimizerRMSProp::alloc()->init(device, 0.9, 1e-3f, descriptor));
    else
      adam_ = NS::TransferPtr(MPS::NNOptimizerAdam::alloc()->init(device, 0.9, 0.99, 1e-3f, 0, descriptor));
  }

  template <class Numbers>
  void encode(MTL::CommandBuffer* commands, const Numbers* gradient, const Numbers* values,
              const std::array<Numbers*, 3>& remembered, const Numbers* result) {
    if (rule_ == Rule::plain) descent_->encode(commands, gradient, values, static_cast<Numbers*>(nullptr), result);
    if (rule_ == Rule::momentum || rule_ == Rule::nesterov)
      descent_->encode(commands, gradient, values, remembered[0], result);
    if (rule_ == Rule::rms_prop) rms_prop_->encode(commands, gradient, values, remembered[0], result);
    if (rule_ == Rule::adam) adam_->encode(commands, gradient, values, remembered[0], remembered[1], result);
    if (rule_ == Rule::ams_grad)
      adam_->encode(commands, gradient, values, remembered[0], remembered[1], remembered[2], result);
  }

 private:
  Rule rule_;
  NS::SharedPtr<MPS::NNOptimizerStochasticGradientDescent> descent_;
  NS::SharedPtr<MPS::NNOptimizerRMSProp> rms_prop_;
  NS::SharedPtr<MPS::NNOptimizerAdam> adam_;
};

constexpr Rule all_rules[] = {Rule::plain, Rule::momentum, Rule::nesterov, Rule::rms_prop, Rule::adam, Rule::ams_grad};

TEST_P(OptimizerTest, UpdatesMatricesAndVectorsByEveryRuleAndTreatmentOfGradients) {
  for (const Rule rule : all_rules)
    for (const MPS::DataType type : {MPS::DataTypeFloat32, MPS::DataTypeFloat16})
      for (const auto regularization :
           {MPS::NNRegularizationTypeNone, MPS::NNRegularizationTypeL1, MPS::NNRegularizationTypeL2})
        for (const bool as_vectors : {false, true}) {
          const bool clips = as_vectors;
          const MatrixShape shape{.rows = as_vectors ? 1u : 3u, .columns = 37, .type = type};
          Numbers values = random_matrix(shape, -1, 1), result = random_matrix(shape, 0, 0);
          std::array<Numbers, 3> memory = {random_matrix(shape, 0, 0), random_matrix(shape, 0, 0),
                                           random_matrix(shape, 0, 0)};
          AnyOptimizer optimizer(device.get(), rule, descriptor(clips, regularization));
          const Reference reference{.rule = rule, .clips = clips, .regularization = regularization};
          for (int t = 1; t <= 3; ++t) {
            Numbers gradient = random_matrix(shape, -2, 2);
            std::vector<std::array<double, 3>> before(shape.rows * shape.columns);
            std::vector<double> values_before(shape.rows * shape.columns);
            for (size_t row = 0; row < shape.rows; ++row)
              for (size_t i = 0; i < shape.columns; ++i) {
                values_before[row * shape.columns + i] = values.at(row, i);
                for (size_t k = 0; k < 3; ++k) before[row * shape.columns + i][k] = memory[k].at(row, i);
              }
            ASSERT_EQ(
                run([&](MTL::CommandBuffer* commands) {
                  if (!as_vectors)
                    return optimizer.encode<MPS::Matrix>(commands, gradient.matrix(), values.matrix(),
                                                         {memory[0].matrix(), memory[1].matrix(), memory[2].matrix()},
                                                         result.matrix());
                  const auto first = vector_of(memory[0]), second = vector_of(memory[1]), third = vector_of(memory[2]);
                  optimizer.encode<MPS::Vector>(commands, vector_of(gradient).get(), vector_of(values).get(),
                                                {first.get(), second.get(), third.get()}, vector_of(result).get());
                }),
                "");
            for (size_t row = 0; row < shape.rows; ++row)
              for (size_t i = 0; i < shape.columns; ++i) {
                auto& remembered = before[row * shape.columns + i];
                const double expected =
                    reference.next(gradient.at(row, i), values_before[row * shape.columns + i], remembered, t);
                // A dozen roundings in float, and one of a number below 4 to the type.
                const double tolerance = 4 * rounding_of(type) + 64 * 0x1p-24;
                ASSERT_NEAR(result.at(row, i), expected, tolerance) << "rule " << int(rule) << ", step " << t;
                const size_t used = rule == Rule::plain ? 0 : rule < Rule::adam ? 1 : rule == Rule::adam ? 2 : 3;
                for (size_t k = 0; k < used; ++k) ASSERT_NEAR(memory[k].at(row, i), remembered[k], tolerance);
              }
            values = result;  // the same memory: the next step is in place
          }
        }
}

TEST_P(OptimizerTest, AdamCountsItsStepsAndItsCopyGoesOnFromThere) {
  Numbers numbers = random_matrix({.columns = 4}, 0, 0), other = random_matrix({.columns = 4}, 0, 0);
  const auto adam = NS::TransferPtr(MPS::NNOptimizerAdam::alloc()->init(device.get(), 0.5f));
  EXPECT_EQ(adam->timeStep(), 0u);
  EXPECT_EQ(adam->beta1(), 0.9);
  EXPECT_EQ(adam->beta2(), 0.999);
  EXPECT_EQ(adam->learningRate(), 0.5f);
  EXPECT_EQ(adam->gradientRescale(), 1.0f);
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              for (int i = 0; i < 2; ++i)
                adam->encode(commands, numbers.matrix(), numbers.matrix(), other.matrix(), other.matrix(),
                             numbers.matrix());
            }),
            "");
  EXPECT_EQ(adam->timeStep(), 2u);
  const auto copy = NS::TransferPtr(adam->copy());
  EXPECT_EQ(copy->timeStep(), 2u);
  adam->setTimeStep(7);
  adam->setLearningRate(0.25f);
  EXPECT_EQ(adam->timeStep(), 7u);
  EXPECT_EQ(copy->timeStep(), 2u);
  EXPECT_EQ(copy->learningRate(), 0.5f);
}

TEST_P(OptimizerTest, RefusesWhatDoesNotFitAndNamesTheArgument) {
  Numbers long_one = random_matrix({.columns = 5}, 0, 0), short_one = random_matrix({.columns = 4}, 0, 0);
  Numbers half = random_matrix({.columns = 5, .type = MPS::DataTypeFloat16}, 0, 0);
  const auto kernel = NS::TransferPtr(MPS::NNOptimizerRMSProp::alloc()->init(device.get(), 0.5f));
  const auto error = [&](const MPS::Matrix* values, const MPS::Matrix* squares, const MPS::Matrix* result) {
    return run(
        [&](MTL::CommandBuffer* commands) { kernel->encode(commands, long_one.matrix(), values, squares, result); });
  };
  EXPECT_NE(error(short_one.matrix(), long_one.matrix(), long_one.matrix()).find("inputValuesMatrix is smaller"),
            std::string::npos);
  EXPECT_NE(error(long_one.matrix(), nullptr, long_one.matrix()).find("inputSumOfSquaresMatrix is null"),
            std::string::npos);
  EXPECT_NE(error(long_one.matrix(), long_one.matrix(), half.matrix()).find("resultValuesMatrix has the type Float16"),
            std::string::npos);
  const auto descent = NS::TransferPtr(MPS::NNOptimizerStochasticGradientDescent::alloc()->init(
      device.get(), 0.5f, false, descriptor(false, MPS::NNRegularizationTypeNone)));
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              descent->encode(commands, long_one.matrix(), long_one.matrix(), static_cast<MPS::Matrix*>(nullptr),
                              long_one.matrix());
            }).find("inputMomentumMatrix is null, and momentumScale is 0.5"),
            std::string::npos);
  EXPECT_EQ(MPS::NNOptimizerAdam::alloc()->init(nullptr, 0.5f), nullptr);
  EXPECT_EQ(MPS::NNOptimizerAdam::alloc()->init(device.get(), 0.9, 0.99, 0, 0, nullptr), nullptr);
}

TEST_P(OptimizerTest, UpdatesTheWeightsAndBiasesOfConvolutions) {
  RandomWeights weights({.kernel_width = 3, .kernel_height = 1, .inputs = 3, .outputs = 5}, random);
  const auto states = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());  // they go before the data source does
  const auto convolution = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), &weights));
  const auto image = NS::TransferPtr(MPS::Image::alloc()->init(
      device.get(), MPS::ImageDescriptor::imageDescriptor(MPS::ImageFeatureChannelFormatFloat32, 4, 4, 3)));
  const auto target = NS::TransferPtr(MPS::Image::alloc()->init(
      device.get(), MPS::ImageDescriptor::imageDescriptor(MPS::ImageFeatureChannelFormatFloat32, 4, 4, 5)));
  auto* gradient =
      static_cast<MPS::CNNConvolutionGradientState*>(convolution->resultState(image.get(), nullptr, target.get()));
  const auto state = [&] {
    return NS::TransferPtr(MPS::CNNConvolutionWeightsAndBiasesState::alloc()->init(device.get(), weights.descriptor()));
  };
  const auto source = state(), result = state();
  const size_t counts[] = {45, 5};
  const auto floats = [](MTL::Buffer* buffer) { return static_cast<float*>(buffer->contents()); };
  float* gradients[] = {floats(gradient->gradientForWeights()), floats(gradient->gradientForBiases())};
  float* sources[] = {floats(source->weights()), floats(source->biases())};
  float* results[] = {floats(result->weights()), floats(result->biases())};
  std::uniform_real_distribution<float> distribution(-1, 1);
  for (size_t part = 0; part < 2; ++part)
    for (size_t i = 0; i < counts[part]; ++i) {
      gradients[part][i] = distribution(random);
      sources[part][i] = distribution(random);
      results[part][i] = 0;
    }

  Numbers of_weights = random_matrix({.columns = 45}, 0, 0), of_biases = random_matrix({.columns = 5}, 0, 0);
  const auto first = vector_of(of_weights), second = vector_of(of_biases);
  const NS::Object* vectors[] = {first.get(), second.get()};
  const auto check = [&](bool with_biases) {
    for (size_t part = 0; part < 2; ++part)
      for (size_t i = 0; i < counts[part]; ++i)
        ASSERT_NEAR(results[part][i], part == 0 || with_biases ? sources[part][i] - 0.25 * gradients[part][i] : 0,
                    0x1p-22);
  };
  const auto descent = NS::TransferPtr(MPS::NNOptimizerStochasticGradientDescent::alloc()->init(
      device.get(), 0.5f, false,
      MPS::NNOptimizerDescriptor::optimizerDescriptor(0.25f, 1, MPS::NNRegularizationTypeNone, 0)));
  const auto encode = [&](size_t count) {
    return run([&](MTL::CommandBuffer* commands) {
      descent->encode(commands, gradient, source.get(), NS::Array::array(vectors, count), result.get());
    });
  };
  ASSERT_EQ(encode(1), "");
  check(false);
  for (size_t i = 0; i < 45; ++i) of_weights.set(0, i, 0);
  ASSERT_EQ(encode(2), "");
  check(true);
}

// Gamma and beta of a batch normalization.
class TwoChannels final : public MPS::CNNBatchNormalizationDataSource {
 public:
  NS::UInteger numberOfFeatureChannels() override { return 2; }
  float* gamma() override { return gammas; }
  float* beta() override { return betas; }
  float* mean() override { return nullptr; }
  float* variance() override { return nullptr; }
  bool load() override { return true; }
  void purge() override {}

  float gammas[2] = {1.5f, -0.5f}, betas[2] = {0.25f, 0.75f};
};

TEST_P(OptimizerTest, EveryRuleUpdatesStates) {
  RandomWeights weights({.kernel_width = 1, .kernel_height = 1, .inputs = 1, .outputs = 2}, random);
  const auto convolution = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), &weights));
  TwoChannels channels;
  const auto states = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());  // they go before the data source does
  const auto normalization = NS::TransferPtr(MPS::CNNBatchNormalization::alloc()->init(device.get(), &channels));
  const auto image = [&](size_t count) {
    return NS::TransferPtr(MPS::Image::alloc()->init(
        device.get(), MPS::ImageDescriptor::imageDescriptor(MPS::ImageFeatureChannelFormatFloat32, 1, 1, count)));
  };
  const auto one = image(1), two = image(2);
  auto* of_weights =
      static_cast<MPS::CNNConvolutionGradientState*>(convolution->resultState(one.get(), nullptr, two.get()));
  auto* of_channels = normalization->resultState(two.get(), nullptr, two.get());
  const auto floats = [](MTL::Buffer* buffer) { return static_cast<float*>(buffer->contents()); };
  const auto two_floats = [&] {
    return NS::TransferPtr(device->newBuffer(2 * sizeof(float), MTL::ResourceStorageModeShared));
  };
  const auto first = two_floats(), second = two_floats();
  const auto weights_state =
      NS::TransferPtr(MPS::CNNConvolutionWeightsAndBiasesState::alloc()->init(device.get(), weights.descriptor()));
  const auto weights_result =
      NS::TransferPtr(MPS::CNNConvolutionWeightsAndBiasesState::alloc()->init(device.get(), weights.descriptor()));
  const auto channels_result =
      NS::TransferPtr(MPS::CNNNormalizationGammaAndBetaState::alloc()->init(first.get(), second.get()));
  for (size_t i = 0; i < 2; ++i) {
    floats(of_weights->gradientForWeights())[i] = floats(of_channels->gradientForGamma())[i] = 0.5f - float(i);
    floats(of_weights->gradientForBiases())[i] = floats(of_channels->gradientForBeta())[i] = 0.75f + float(i);
    floats(weights_state->weights())[i] = channels.gammas[i];
    floats(weights_state->biases())[i] = channels.betas[i];
  }

  for (const Rule rule : all_rules)
    for (const bool is_convolution : {true, false}) {
      if (!is_convolution && rule == Rule::ams_grad) continue;
      std::vector<Numbers> memory;
      std::vector<NS::SharedPtr<MPS::Vector>> vectors;
      for (size_t i = 0; i < 6; ++i) {
        memory.push_back(random_matrix({.columns = 2}, 0, 0));
        vectors.push_back(vector_of(memory.back()));
      }
      const auto pair = [&](size_t index) {
        const NS::Object* objects[] = {vectors[2 * index].get(), vectors[2 * index + 1].get()};
        return NS::Array::array(objects, 2);
      };
      auto* described = descriptor(false, MPS::NNRegularizationTypeL2);
      const auto descent = NS::TransferPtr(MPS::NNOptimizerStochasticGradientDescent::alloc()->init(
          device.get(), rule == Rule::plain ? 0 : 0.9f, rule == Rule::nesterov, described));
      const auto rms_prop =
          NS::TransferPtr(MPS::NNOptimizerRMSProp::alloc()->init(device.get(), 0.9, 1e-3f, described));
      const auto adam =
          NS::TransferPtr(MPS::NNOptimizerAdam::alloc()->init(device.get(), 0.9, 0.99, 1e-3f, 0, described));
      ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                  NS::Array* momentum = rule == Rule::plain ? nullptr : pair(0);
                  if (is_convolution) {
                    MPS::CNNConvolutionWeightsAndBiasesState *source = weights_state.get(),
                                                             *result = weights_result.get();
                    if (rule <= Rule::nesterov) descent->encode(commands, of_weights, source, momentum, result);
                    if (rule == Rule::rms_prop) rms_prop->encode(commands, of_weights, source, momentum, result);
                    if (rule == Rule::adam) adam->encode(commands, of_weights, source, momentum, pair(1), result);
                    if (rule == Rule::ams_grad)
                      adam->encode(commands, of_weights, source, momentum, pair(1), pair(2), result);
                  } else {
                    if (rule <= Rule::nesterov) descent->encode(commands, of_channels, momentum, channels_result.get());
                    if (rule == Rule::rms_prop)
                      rms_prop->encode(commands, of_channels, momentum, channels_result.get());
                    if (rule == Rule::adam)
                      adam->encode(commands, of_channels, of_channels, momentum, pair(1), channels_result.get());
                  }
                }),
                "");
      EXPECT_EQ(adam->timeStep(), rule >= Rule::adam ? 1u : 0u) << "weights and biases are one step";
      const Reference reference{.rule = rule, .regularization = MPS::NNRegularizationTypeL2};
      for (size_t i = 0; i < 2; ++i) {
        std::array<double, 3> nothing = {}, nothing_yet = {};
        MTL::Buffer* of_first = is_convolution ? weights_result->weights() : first.get();
        MTL::Buffer* of_second = is_convolution ? weights_result->biases() : second.get();
        EXPECT_NEAR(floats(of_first)[i], reference.next(0.5 - double(i), channels.gammas[i], nothing, 1), 64 * 0x1p-24);
        EXPECT_NEAR(floats(of_second)[i], reference.next(0.75 + double(i), channels.betas[i], nothing_yet, 1),
                    64 * 0x1p-24);
      }
    }
}

}  // namespace
}  // namespace metalloid::mps

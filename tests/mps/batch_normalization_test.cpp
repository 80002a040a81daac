#include "image_program.hpp"
#include "neuron_reference.hpp"

namespace metalloid::mps {
namespace {

constexpr auto float32 = MPS::ImageFeatureChannelFormatFloat32, float16 = MPS::ImageFeatureChannelFormatFloat16;

struct ChannelNumbers {
  std::vector<float> gammas, betas, means, variances;
};

class RandomChannels final : public MPS::CNNBatchNormalizationDataSource, public ChannelNumbers {
 public:
  RandomChannels(size_t channels, std::mt19937& random) {
    for (auto* numbers : {&gammas, &betas, &means, &variances}) numbers->resize(channels);
    std::uniform_real_distribution<float> distribution(-1, 1);
    for (size_t i = 0; i < channels; ++i) {
      gammas[i] = 1 + distribution(random) / 2;
      betas[i] = distribution(random);
      means[i] = distribution(random);
      variances[i] = 1 + distribution(random) / 2;
    }
  }

  NS::UInteger numberOfFeatureChannels() override { return gammas.size(); }
  float* gamma() override { return has_gamma_and_beta ? gammas.data() : nullptr; }
  float* beta() override { return has_gamma_and_beta ? betas.data() : nullptr; }
  float* mean() override { return means.data(); }
  float* variance() override { return variances.data(); }
  bool load() override { return ++loads, can_load; }
  void purge() override { --loads; }
  float epsilon() override { return 0.125f; }

  bool can_load = true, has_gamma_and_beta = true;
  int loads = 0;
};

struct Activation {
  MPS::CNNNeuronType type = MPS::CNNNeuronTypeNone;
  double a = 0, b = 0;
};

// Statistics of a batch in float64, and what normalization makes of it.
struct Statistics {
  std::vector<double> mean, variance;
};

Statistics statistics_of(const Tensor& source) {
  const size_t channels = source.shape.channels;
  const double count = double(source.numbers.size() / channels);
  Statistics found{std::vector<double>(channels), std::vector<double>(channels)};
  for (size_t i = 0; i < source.numbers.size(); ++i) found.mean[i % channels] += source.numbers[i] / count;
  for (size_t i = 0; i < source.numbers.size(); ++i)
    found.variance[i % channels] += std::pow(source.numbers[i] - found.mean[i % channels], 2) / count;
  return found;
}

Tensor normalized(const Tensor& source, const ChannelNumbers& channels, const Statistics& statistics,
                  const Activation& activation) {
  Tensor result(source.shape);
  for (size_t i = 0; i < source.numbers.size(); ++i) {
    const size_t channel = i % source.shape.channels;
    const double y = channels.gammas[channel] * (source.numbers[i] - statistics.mean[channel]) /
                         std::sqrt(statistics.variance[channel] + 0.125) +
                     channels.betas[channel];
    result.numbers[i] = neuron_reference(activation.type, y, activation.a, activation.b, 1);
  }
  return result;
}

class BatchNormalizationTest : public ImageTest {
 protected:
  static std::vector<double> floats(MTL::Buffer* buffer, size_t count) {
    const auto* first = static_cast<const float*>(buffer->contents());
    return {first, first + count};
  }
  static void expect_floats(MTL::Buffer* found, const std::vector<double>& expected, double tolerance,
                            const std::string& what) {
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(static_cast<const float*>(found->contents())[i], expected[i], tolerance) << what << " " << i;
  }
};
INSTANTIATE_MPS_TEST(BatchNormalizationTest);

TEST_P(BatchNormalizationTest, UsesTheDataSourcesStatisticsForInference) {
  for (const PictureShape& shape : {PictureShape{5, 3, 1, 2, float32}, PictureShape{3, 4, 3, 2, float16},
                                    PictureShape{4, 3, 5, 1, float32}, PictureShape{2, 2, 64, 1, float16}}) {
    RandomChannels channels(shape.channels, random);
    const auto kernel = NS::TransferPtr(MPS::CNNBatchNormalization::alloc()->init(
        device.get(), &channels, MPS::NNNeuronDescriptor::cnnNeuronDescriptor(MPS::CNNNeuronTypeReLU, 0.25f)));
    ASSERT_TRUE(kernel);
    EXPECT_EQ(channels.loads, 0);
    Tensor source = random_tensor(shape, -2, 2), empty(shape);
    const Images sources = images_with(source), results = images_with(empty);
    ASSERT_EQ(
        run([&](MTL::CommandBuffer* commands) { kernel->encodeBatch(commands, batch_of(sources), batch_of(results)); }),
        "");
    const Statistics statistics{{channels.means.begin(), channels.means.end()},
                                {channels.variances.begin(), channels.variances.end()}};
    expect_near(numbers_of(results), normalized(source, channels, statistics, {MPS::CNNNeuronTypeReLU, 0.25}),
                8 * rounding_of(type_of(shape.format)) + 32 * 0x1p-22, "inference");
  }
}

TEST_P(BatchNormalizationTest, TrainsWithStatisticsOfTheBatch) {
  for (const Activation& activation : {Activation{}, Activation{MPS::CNNNeuronTypeTanH, 1, 0.5}})
    for (const PictureShape& shape :
         {PictureShape{5, 3, 1, 2, float32}, PictureShape{3, 4, 3, 2, float16}, PictureShape{4, 37, 5, 1, float32},
          PictureShape{3, 1, 10, 3, float16}, PictureShape{2, 2, 64, 5, float32}}) {
      RandomChannels channels(shape.channels, random);
      auto* neuron =
          activation.type == MPS::CNNNeuronTypeNone
              ? nullptr
              : MPS::NNNeuronDescriptor::cnnNeuronDescriptor(activation.type, float(activation.a), float(activation.b));
      const auto kernel = NS::TransferPtr(MPS::CNNBatchNormalization::alloc()->init(device.get(), &channels, neuron));
      const auto statistics = NS::TransferPtr(MPS::CNNBatchNormalizationStatistics::alloc()->init(device.get()));
      const auto sums =
          NS::TransferPtr(MPS::CNNBatchNormalizationStatisticsGradient::alloc()->init(device.get(), neuron));
      const auto back = NS::TransferPtr(MPS::CNNBatchNormalizationGradient::alloc()->init(device.get(), neuron));
      Tensor source = random_tensor(shape, 8, 12), of_result = random_tensor(shape), empty(shape);
      const Images sources = images_with(source), results = images_with(empty), of_results = images_with(of_result),
                   of_sources = images_with(empty);
      NS::SharedPtr<MPS::CNNBatchNormalizationState> state;
      ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                  state = NS::RetainPtr(kernel->resultState(sources[0].get(), nullptr, results[0].get()));
                  statistics->encodeBatch(commands, batch_of(sources), state.get());
                  kernel->encodeBatch(commands, batch_of(sources), state.get(), batch_of(results));
                  sums->encodeBatch(commands, batch_of(of_results), batch_of(sources), state.get());
                  back->encodeBatch(commands, batch_of(of_results), batch_of(sources), state.get(),
                                    batch_of(of_sources));
                }),
                "");
      EXPECT_EQ(state->batchNormalization(), kernel.get());
      back->setDestinationImageAllocator(MPS::Image::defaultAllocator());
      Images made;
      ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                  MPS::ImageBatch* batch =
                      back->encodeBatch(commands, batch_of(of_results), batch_of(sources), state.get());
                  for (size_t i = 0; i < shape.images; ++i) made.push_back(NS::RetainPtr(batch->object<MPS::Image>(i)));
                }),
                "");
      EXPECT_EQ(numbers_of(made).numbers, numbers_of(of_sources).numbers);
      if (shape.images == 1) {
        ASSERT_EQ(
            run([&](MTL::CommandBuffer* commands) {
              back->encode(commands, of_results[0].get(), sources[0].get(), state.get(), made[0].get());
              made.push_back(NS::RetainPtr(back->encode(commands, of_results[0].get(), sources[0].get(), state.get())));
            }),
            "");
        for (const auto& image : made) EXPECT_EQ(numbers_of(image.get()).numbers, numbers_of(of_sources).numbers);
      }
      const Statistics expected = statistics_of(source);
      // Numbers near 10, whose differences from the mean are below 2: a few roundings of 16.
      expect_floats(state->mean(), expected.mean, 16 * 0x1p-22, "mean");
      expect_floats(state->variance(), expected.variance, 64 * 0x1p-22, "variance");
      const double rounding = rounding_of(type_of(shape.format));
      expect_near(numbers_of(results), normalized(source, channels, expected, activation), 4 * rounding + 256 * 0x1p-22,
                  "training");

      // Against differences of float64, of all three.
      const auto loss = [&](const Tensor& moved, const ChannelNumbers& with) {
        const Tensor result = normalized(moved, with, statistics_of(moved), activation);
        double sum = 0;
        for (size_t i = 0; i < result.numbers.size(); ++i) sum += result.numbers[i] * of_result.numbers[i];
        return sum;
      };
      const double step = 0x1p-10;
      std::uniform_int_distribution<size_t> any(0, source.numbers.size() - 1);
      const Tensor found = numbers_of(of_sources);
      for (int trial = 0; trial < 8; ++trial) {
        const size_t i = any(random), channel = i % shape.channels;
        Tensor up = source, down = source;
        up.numbers[i] += step;
        down.numbers[i] -= step;
        ASSERT_NEAR(found.numbers[i], (loss(up, channels) - loss(down, channels)) / (2 * step), 2 * rounding + 2e-5);
        ChannelNumbers more = channels, less = channels;
        more.gammas[channel] += float(step);
        less.gammas[channel] -= float(step);
        ASSERT_NEAR(floats(state->gradientForGamma(), shape.channels)[channel],
                    (loss(source, more) - loss(source, less)) / (double(more.gammas[channel]) - less.gammas[channel]),
                    1e-3);
        more.gammas = less.gammas = channels.gammas;
        more.betas[channel] += float(step);
        less.betas[channel] -= float(step);
        ASSERT_NEAR(floats(state->gradientForBeta(), shape.channels)[channel],
                    (loss(source, more) - loss(source, less)) / (double(more.betas[channel]) - less.betas[channel]),
                    1e-3);
      }
    }
}

TEST_P(BatchNormalizationTest, TakesGammaAndBetaFromOptimizers) {
  const PictureShape shape{3, 3, 5, 2};
  RandomChannels channels(5, random);
  const auto states = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());  // they go before the data source does
  const auto kernel = NS::TransferPtr(MPS::CNNBatchNormalization::alloc()->init(device.get(), &channels));
  Tensor source = random_tensor(shape), empty(shape);
  const Images sources = images_with(source), results = images_with(empty);
  auto* state = kernel->resultState(sources[0].get(), nullptr, results[0].get());
  for (size_t i = 0; i < 5; ++i) {
    static_cast<float*>(state->gradientForGamma()->contents())[i] = float(i);
    static_cast<float*>(state->gradientForBeta()->contents())[i] = -float(i);
  }
  const auto descent = NS::TransferPtr(MPS::NNOptimizerStochasticGradientDescent::alloc()->init(device.get(), 0.125f));
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              auto* updated = MPS::CNNNormalizationGammaAndBetaState::temporaryState(commands, 5);
              descent->encode(commands, state, nullptr, updated);
              kernel->reloadGammaAndBeta(commands, updated);
              kernel->encodeBatch(commands, batch_of(sources), batch_of(results));
            }),
            "");
  ChannelNumbers expected = channels;
  for (size_t i = 0; i < 5; ++i) {
    expected.gammas[i] -= 0.125f * float(i);
    expected.betas[i] += 0.125f * float(i);
  }
  const Statistics statistics{{channels.means.begin(), channels.means.end()},
                              {channels.variances.begin(), channels.variances.end()}};
  expect_near(numbers_of(results), normalized(source, expected, statistics, {}), 32 * 0x1p-22, "updated");

  channels.gammas = expected.betas;
  kernel->reloadGammaAndBetaFromDataSource();
  channels.means.assign(5, 0.5f);
  kernel->reloadMeanAndVarianceFromDataSource();
  ASSERT_EQ(
      run([&](MTL::CommandBuffer* commands) { kernel->encodeBatch(commands, batch_of(sources), batch_of(results)); }),
      "");
  const Statistics moved{{channels.means.begin(), channels.means.end()}, statistics.variance};
  expect_near(numbers_of(results), normalized(source, channels, moved, {}), 32 * 0x1p-22, "reloaded");
}

TEST_P(BatchNormalizationTest, RefusesWhatDoesNotFit) {
  RandomChannels channels(3, random);
  EXPECT_EQ(MPS::CNNBatchNormalization::alloc()->init(nullptr, &channels), nullptr);
  EXPECT_EQ(MPS::CNNBatchNormalization::alloc()->init(device.get(), nullptr), nullptr);
  channels.can_load = false;
  EXPECT_EQ(MPS::CNNBatchNormalization::alloc()->init(device.get(), &channels), nullptr);
  channels.can_load = true;
  channels.has_gamma_and_beta = false;
  const auto kernel = NS::TransferPtr(MPS::CNNBatchNormalization::alloc()->init(device.get(), &channels));
  EXPECT_EQ(kernel->numberOfFeatureChannels(), 3u);
  EXPECT_EQ(kernel->epsilon(), 0.125f);
  Tensor source = random_tensor({2, 2, 4});
  const Images sources = images_with(source);
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              kernel->encode(commands, sources[0].get());
            }).find("sourceImage has 4 channels, and the data source 3"),
            std::string::npos);
  const auto statistics = NS::TransferPtr(MPS::CNNBatchNormalizationStatistics::alloc()->init(device.get()));
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              statistics->encodeBatch(commands, batch_of(sources), nullptr);
            }).find("batchNormalizationState is null"),
            std::string::npos);
}

TEST_P(BatchNormalizationTest, WorksOnOneImageWithATemporaryStateAndANeuronForEachChannel) {
  RandomChannels channels(3, random);
  const float slopes[] = {0.5f, -0.25f, 2};
  const auto data = NS::TransferPtr(NS::Data::alloc()->init(slopes, sizeof(slopes)));
  const auto kernel = NS::TransferPtr(MPS::CNNBatchNormalization::alloc()->init(
      device.get(), &channels, MPS::NNNeuronDescriptor::cnnNeuronPReLUDescriptor(data.get(), false)));
  const auto statistics = NS::TransferPtr(MPS::CNNBatchNormalizationStatistics::alloc()->init(device.get()));
  Tensor source = random_tensor({4, 3, 3}), empty({4, 3, 3});
  const Images sources = images_with(source), results = images_with(empty), given = images_with(empty);
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              auto* state = kernel->temporaryResultState(commands, sources[0].get(), nullptr, results[0].get());
              statistics->encodeBatch(commands, batch_of(sources), state);
              kernel->encode(commands, sources[0].get(), state, results[0].get());
              state->reset();
              kernel->encode(commands, sources[0].get(), state, given[0].get());
            }),
            "");
  const auto expected = [&](const Statistics& with) {
    Tensor result = normalized(source, channels, with, {});
    for (size_t i = 0; i < result.numbers.size(); ++i)
      if (result.numbers[i] < 0) result.numbers[i] *= slopes[i % 3];
    return result;
  };
  expect_near(numbers_of(results), expected(statistics_of(source)), 64 * 0x1p-22, "of the batch");
  const Statistics known{{channels.means.begin(), channels.means.end()},
                         {channels.variances.begin(), channels.variances.end()}};
  expect_near(numbers_of(given), expected(known), 64 * 0x1p-22, "after reset");

  const auto mean = NS::TransferPtr(device->newBuffer(3 * sizeof(float), MTL::ResourceStorageModeShared));
  const auto variance = NS::TransferPtr(device->newBuffer(3 * sizeof(float), MTL::ResourceStorageModeShared));
  for (size_t i = 0; i < 3; ++i) {
    static_cast<float*>(mean->contents())[i] = 0.125f;
    static_cast<float*>(variance->contents())[i] = 2;
  }
  const auto pair =
      NS::TransferPtr(MPS::CNNNormalizationMeanAndVarianceState::alloc()->init(mean.get(), variance.get()));
  EXPECT_EQ(pair->mean(), mean.get());
  EXPECT_EQ(pair->variance(), variance.get());
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              kernel->reloadMeanAndVariance(commands, pair.get());
              kernel->encode(commands, sources[0].get(), results[0].get());
            }),
            "");
  expect_near(numbers_of(results), expected({{0.125, 0.125, 0.125}, {2, 2, 2}}), 64 * 0x1p-22, "reloaded");
}

}  // namespace
}  // namespace metalloid::mps

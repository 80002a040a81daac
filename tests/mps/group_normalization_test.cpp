#include "image_program.hpp"

namespace metalloid::mps {
namespace {

constexpr auto float32 = MPS::ImageFeatureChannelFormatFloat32, float16 = MPS::ImageFeatureChannelFormatFloat16;

struct ChannelNumbers {
  std::vector<float> gammas, betas;

  ChannelNumbers(size_t channels, std::mt19937& random) : gammas(channels), betas(channels) {
    std::uniform_real_distribution<float> distribution(-1, 1);
    for (float& gamma : gammas) gamma = 1 + distribution(random) / 2;
    for (float& beta : betas) beta = distribution(random);
  }
};

struct InstanceSource final : MPS::CNNInstanceNormalizationDataSource, ChannelNumbers {
  using ChannelNumbers::ChannelNumbers;
  NS::UInteger numberOfFeatureChannels() override { return gammas.size(); }
  float* gamma() override { return gammas.data(); }
  float* beta() override { return betas.data(); }
  float epsilon() override { return 0.125f; }
};

struct GroupSource final : MPS::CNNGroupNormalizationDataSource, ChannelNumbers {
  GroupSource(size_t channels, size_t groups, std::mt19937& random)
      : ChannelNumbers(channels, random), groups(groups) {}
  NS::UInteger numberOfFeatureChannels() override { return gammas.size(); }
  NS::UInteger numberOfGroups() override { return groups; }
  float* gamma() override { return has_numbers ? gammas.data() : nullptr; }
  float* beta() override { return has_numbers ? betas.data() : nullptr; }
  float epsilon() override { return 0.125f; }

  size_t groups;
  bool has_numbers = true;
};

Tensor normalized(const Tensor& source, const ChannelNumbers& numbers, size_t groups, double epsilon = 0.125) {
  const PictureShape& shape = source.shape;
  const size_t group = shape.channels / groups;
  Tensor result(shape);
  for (size_t image = 0; image < shape.images; ++image)
    for (size_t first = 0; first < shape.channels; first += group) {
      const auto visit = [&](const auto& f) {
        for (size_t y = 0; y < shape.height; ++y)
          for (size_t x = 0; x < shape.width; ++x)
            for (size_t channel = first; channel < first + group; ++channel) f(x, y, channel);
      };
      const double count = double(shape.width * shape.height * group);
      double mean = 0, variance = 0;
      visit([&](size_t x, size_t y, size_t c) { mean += source.at(image, x, y, c) / count; });
      visit([&](size_t x, size_t y, size_t c) { variance += std::pow(source.at(image, x, y, c) - mean, 2) / count; });
      visit([&](size_t x, size_t y, size_t c) {
        result.at(image, x, y, c) =
            numbers.gammas[c] * (source.at(image, x, y, c) - mean) / std::sqrt(variance + epsilon) + numbers.betas[c];
      });
    }
  return result;
}

// Of those pixels of a tensor, with one image of it or all.
double weighted_sum(const Tensor& result, const Tensor& weights, long only_image = -1) {
  const size_t count = result.numbers.size() / result.shape.images;
  double sum = 0;
  for (size_t i = 0; i < result.numbers.size(); ++i)
    if (only_image < 0 || size_t(only_image) == i / count) sum += result.numbers[i] * weights.numbers[i];
  return sum;
}

class GroupNormalizationTest : public ImageTest {
 protected:
  static double number(MTL::Buffer* buffer, size_t i) { return static_cast<const float*>(buffer->contents())[i]; }

  // Forward and back with a state for each image; gradients against differences of the float64 reference.
  template <class State, class Kernel, class Gradient>
  void check(Kernel* kernel, Gradient* back, const ChannelNumbers& channels, size_t groups, const PictureShape& shape) {
    Tensor source = random_tensor(shape, 8, 12), of_result = random_tensor(shape), empty(shape);
    const Images sources = images_with(source), of_results = images_with(of_result), of_sources = images_with(empty);
    kernel->setDestinationImageAllocator(MPS::Image::defaultAllocator());
    Images results;
    NS::SharedPtr<MPS::StateBatch> states;
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                MPS::StateBatch* made = nullptr;
                MPS::ImageBatch* batch = kernel->encodeBatch(commands, batch_of(sources), &made, false);
                for (size_t i = 0; i < shape.images; ++i)
                  results.push_back(NS::RetainPtr(batch->object<MPS::Image>(i)));
                states = NS::RetainPtr(made);
                back->encodeBatch(commands, batch_of(of_results), batch_of(sources), made, batch_of(of_sources));
              }),
              "");
    const double rounding = rounding_of(type_of(shape.format));
    // Numbers near 10, whose differences from the mean are below 2: a few roundings of 16.
    expect_near(numbers_of(results), normalized(source, channels, groups), 4 * rounding + 256 * 0x1p-22, "forward");

    const double step = 0x1p-10;
    const Tensor found = numbers_of(of_sources);
    std::uniform_int_distribution<size_t> any(0, source.numbers.size() - 1);
    for (int trial = 0; trial < 8; ++trial) {
      const size_t i = any(random), channel = i % shape.channels;
      const size_t image = i / (source.numbers.size() / shape.images);
      Tensor up = source, down = source;
      up.numbers[i] += step;
      down.numbers[i] -= step;
      ASSERT_NEAR(found.numbers[i],
                  (weighted_sum(normalized(up, channels, groups), of_result) -
                   weighted_sum(normalized(down, channels, groups), of_result)) /
                      (2 * step),
                  2 * rounding + 2e-5)
          << "source " << i;
      // Results are linear in gamma and beta.
      ChannelNumbers with = channels, without = channels;
      auto* state = states->object<State>(image);
      with.gammas[channel] = 1;
      without.gammas[channel] = 0;
      ASSERT_NEAR(number(state->gradientForGamma(), channel),
                  weighted_sum(normalized(source, with, groups), of_result, long(image)) -
                      weighted_sum(normalized(source, without, groups), of_result, long(image)),
                  1e-3);
      with.gammas = without.gammas = channels.gammas;
      with.betas[channel] = 1;
      without.betas[channel] = 0;
      ASSERT_NEAR(number(state->gradientForBeta(), channel),
                  weighted_sum(normalized(source, with, groups), of_result, long(image)) -
                      weighted_sum(normalized(source, without, groups), of_result, long(image)),
                  1e-3);
    }
  }
};
INSTANTIATE_MPS_TEST(GroupNormalizationTest);

struct Case {
  PictureShape shape;
  size_t groups;
};

TEST_P(GroupNormalizationTest, NormalizesEachChannelOfEachImageByItself) {
  for (const PictureShape& shape :
       {PictureShape{5, 3, 1, 2, float32}, PictureShape{3, 4, 3, 2, float16}, PictureShape{4, 37, 5, 1, float32},
        PictureShape{3, 5, 10, 3, float16}, PictureShape{4, 2, 64, 3, float32}, PictureShape{17, 9, 36, 2, float32}}) {
    InstanceSource channels(shape.channels, random);
    const auto states = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());  // they go before the data source does
    const auto kernel = NS::TransferPtr(MPS::CNNInstanceNormalization::alloc()->init(device.get(), &channels));
    const auto back = NS::TransferPtr(MPS::CNNInstanceNormalizationGradient::alloc()->init(device.get()));
    check<MPS::CNNInstanceNormalizationGradientState>(kernel.get(), back.get(), channels, shape.channels, shape);
  }
}

TEST_P(GroupNormalizationTest, NormalizesGroupsOfChannelsTogether) {
  for (const Case& c :
       {Case{{5, 3, 1, 2, float32}, 1}, Case{{3, 4, 6, 2, float16}, 2}, Case{{4, 37, 5, 1, float32}, 1},
        Case{{3, 5, 10, 3, float16}, 5}, Case{{4, 2, 64, 3, float32}, 4}, Case{{2, 2, 7, 2, float32}, 7},
        Case{{9, 11, 96, 2, float32}, 1}, Case{{1, 1, 150, 3, float16}, 3}, Case{{13, 9, 40, 5, float32}, 8},
        Case{{11, 9, 70, 1, float16}, 2}}) {
    GroupSource channels(c.shape.channels, c.groups, random);
    const auto states = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    const auto kernel = NS::TransferPtr(MPS::CNNGroupNormalization::alloc()->init(device.get(), &channels));
    const auto back = NS::TransferPtr(MPS::CNNGroupNormalizationGradient::alloc()->init(device.get()));
    check<MPS::CNNGroupNormalizationGradientState>(kernel.get(), back.get(), channels, c.groups, c.shape);
  }
}

// CPUs have a SIMD-group make the statistics of an image while it gives the results of the one before.
TEST_P(GroupNormalizationTest, NormalizesManyImagesAsItDoesOne) {
  for (const Case& c :
       {Case{{13, 9, 40, 41, float32}, 8}, Case{{9, 7, 33, 23, float32}, 33}, Case{{16, 8, 12, 17, float16}, 3},
        Case{{9, 11, 96, 19, float32}, 1}, Case{{1, 1, 150, 37, float16}, 3}, Case{{1, 1, 4099, 29, float32}, 1},
        Case{{9, 15, 105, 23, float32}, 21}, Case{{5, 3, 200, 7, float16}, 100}, Case{{13, 9, 64, 21, float32}, 8},
        Case{{9, 15, 32, 11, float16}, 32}, Case{{11, 7, 64, 9, float16}, 2}, Case{{10, 7, 128, 9, float32}, 64}}) {
    GroupSource channels(c.shape.channels, c.groups, random);
    const auto kernel = NS::TransferPtr(MPS::CNNGroupNormalization::alloc()->init(device.get(), &channels));
    Tensor source = random_tensor(c.shape, 8, 12), empty(c.shape);
    const Images sources = images_with(source), results = images_with(empty);
    ASSERT_EQ(
        run([&](MTL::CommandBuffer* commands) { kernel->encodeBatch(commands, batch_of(sources), batch_of(results)); }),
        "");
    expect_near(numbers_of(results), normalized(source, channels, c.groups),
                4 * rounding_of(type_of(c.shape.format)) + 256 * 0x1p-22, "many images");
  }
}

// Sums of squares must not cancel where the numbers that come first lie far from all others, nor where all lie far from
// 0.
TEST_P(GroupNormalizationTest, KeepsItsPrecisionWhereNumbersDrift) {
  for (const Case& c :
       {Case{{16, 20, 8, 9, float32}, 8}, Case{{1, 1, 4096, 9, float32}, 1}, Case{{8, 20, 64, 9, float32}, 1},
        Case{{16, 20, 64, 9, float32}, 8}, Case{{16, 20, 32, 9, float32}, 32}, Case{{16, 20, 96, 9, float32}, 96}})
    for (const double first : {-1e4, 0.0, 100.0}) {
      GroupSource channels(c.shape.channels, c.groups, random);
      const auto kernel = NS::TransferPtr(MPS::CNNGroupNormalization::alloc()->init(device.get(), &channels));
      Tensor source = random_tensor(c.shape, 100, 101), empty(c.shape);
      for (size_t image = 0; image < c.shape.images; ++image)
        for (size_t y = 0; y < c.shape.height; ++y)
          for (size_t x = 0; x < c.shape.width; ++x)
            for (size_t channel = 0; channel < c.shape.channels; ++channel) {
              double& number = source.at(image, x, y, channel);
              number = float(x == 0 && y == 0 && channel < 8 ? first : number + double(y) * double(image));
            }
      const Images sources = images_with(source), results = images_with(empty);
      ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                  kernel->encodeBatch(commands, batch_of(sources), batch_of(results));
                }),
                "");
      // Results are as large as the deviation of one of so many numbers, 1e-5 of which is lost; and inputs near 200
      // have differences from the mean that lose eight bits.
      const double largest = std::sqrt(double(c.shape.width * c.shape.height * c.shape.channels) / double(c.groups));
      expect_near(numbers_of(results), normalized(source, channels, c.groups), 1e-4 + 2e-5 * largest, "drift");
    }
}

TEST_P(GroupNormalizationTest, IsLayerNormalizationOfPixelsWithOneGroup) {
  const PictureShape shape{1, 1, 45, 6};
  GroupSource channels(shape.channels, 1, random);
  const auto kernel = NS::TransferPtr(MPS::CNNGroupNormalization::alloc()->init(device.get(), &channels));
  Tensor source = random_tensor(shape), empty(shape), expected(shape);
  const Images sources = images_with(source), results = images_with(empty);
  ASSERT_EQ(
      run([&](MTL::CommandBuffer* commands) { kernel->encodeBatch(commands, batch_of(sources), batch_of(results)); }),
      "");
  for (size_t row = 0; row < shape.images; ++row) {
    const double* x = &source.numbers[row * shape.channels];
    double sum = 0, squares = 0;
    for (size_t i = 0; i < shape.channels; ++i) sum += x[i], squares += x[i] * x[i];
    const double mean = sum / double(shape.channels), variance = squares / double(shape.channels) - mean * mean;
    for (size_t i = 0; i < shape.channels; ++i)
      expected.numbers[row * shape.channels + i] =
          channels.gammas[i] * (x[i] - mean) / std::sqrt(variance + 0.125) + channels.betas[i];
  }
  expect_near(numbers_of(results), expected, 32 * 0x1p-24, "layer normalization");
}

TEST_P(GroupNormalizationTest, KeepsClipRectanglesAndSumsGradientsOfASharedState) {
  const PictureShape shape{6, 5, 4, 2};
  GroupSource channels(4, 2, random);
  const auto states = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  const auto kernel = NS::TransferPtr(MPS::CNNGroupNormalization::alloc()->init(device.get(), &channels));
  const auto back = NS::TransferPtr(MPS::CNNGroupNormalizationGradient::alloc()->init(device.get()));
  kernel->setOffset({2, 1, 0});
  kernel->setClipRect(MTL::Region(1, 0, 0, 3, 4, 1));
  Tensor source = random_tensor(shape), of_result = random_tensor(shape), empty(shape);
  const Images sources = images_with(source), of_results = images_with(of_result), results = images_with(empty),
               of_sources = images_with(empty), part = images_with(empty);
  NS::SharedPtr<MPS::CNNGroupNormalizationGradientState> state;
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              state = NS::RetainPtr(kernel->resultState(sources[0].get(), nullptr, results[0].get()));
              const NS::Object* twice[] = {state.get(), state.get()};
              NS::Array* both = NS::Array::array(twice, 2);
              kernel->encodeBatch(commands, batch_of(sources), both, batch_of(results));
              back->encodeBatch(commands, batch_of(of_results), batch_of(sources), both, batch_of(of_sources));
              back->setClipRect(MTL::Region(1, 2, 0, 2, 2, 1));
              back->encodeBatch(commands, batch_of(of_results), batch_of(sources), both, batch_of(part));
            }),
            "");
  EXPECT_EQ(state->groupNormalization(), kernel.get());
  const auto placed = [&](const Tensor& whole) {
    Tensor result(shape);
    for (size_t image = 0; image < 2; ++image)
      for (size_t y = 0; y < 4; ++y)
        for (size_t x = 0; x < 3; ++x)
          for (size_t c = 0; c < 4; ++c) result.at(image, x + 1, y, c) = whole.at(image, x + 2, y + 1, c);
    return result;
  };
  expect_near(numbers_of(results), placed(normalized(source, channels, 2)), 32 * 0x1p-24, "clipped");
  const Tensor found = numbers_of(of_sources), found_part = numbers_of(part);
  const auto loss = [&](const Tensor& moved, const ChannelNumbers& with) {
    return weighted_sum(placed(normalized(moved, with, 2)), of_result);
  };
  for (size_t image = 0; image < 2; ++image)
    for (size_t y = 0; y < shape.height; ++y)
      for (size_t x = 0; x < shape.width; ++x) {
        const size_t c = (x + y) % 4;
        Tensor up = source, down = source;
        up.at(image, x, y, c) += 0x1p-10;
        down.at(image, x, y, c) -= 0x1p-10;
        const double expected = (loss(up, channels) - loss(down, channels)) / 0x1p-9;
        ASSERT_NEAR(found.at(image, x, y, c), expected, 2e-5);
        const bool is_in_part = x >= 1 && x < 3 && y >= 2 && y < 4;
        ASSERT_NEAR(found_part.at(image, x, y, c), is_in_part ? found.at(image, x, y, c) : 0, 0x1p-22);
      }
  for (size_t c = 0; c < 4; ++c) {
    ChannelNumbers with = channels, without = channels;
    with.betas[c] = 1;
    without.betas[c] = 0;
    EXPECT_NEAR(number(state->gradientForBeta(), c), loss(source, with) - loss(source, without), 1e-4);
  }
}

TEST_P(GroupNormalizationTest, TakesNewGammaAndBeta) {
  const PictureShape shape{3, 3, 4};
  GroupSource channels(4, 2, random);
  channels.has_numbers = false;
  const auto states = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  const auto kernel = NS::TransferPtr(MPS::CNNGroupNormalization::alloc()->init(device.get(), &channels));
  EXPECT_EQ(kernel->dataSource(), &channels);
  Tensor source = random_tensor(shape), empty(shape);
  const Images sources = images_with(source), results = images_with(empty);
  const auto expect = [&](const ChannelNumbers& with, double epsilon, const char* what) {
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, sources[0].get(), results[0].get()); }),
              "");
    expect_near(numbers_of(results), normalized(source, with, 2, epsilon), 32 * 0x1p-24, what);
  };
  ChannelNumbers plain = channels;
  plain.gammas.assign(4, 1);
  plain.betas.assign(4, 0);
  expect(plain, 0.125, "without numbers");
  channels.has_numbers = true;
  kernel->reloadGammaAndBetaFromDataSource();
  expect(channels, 0.125, "reloaded");
  const auto twos = NS::TransferPtr(device->newBuffer(4 * sizeof(float), MTL::ResourceStorageModeShared));
  std::fill_n(static_cast<float*>(twos->contents()), 4, 2.0f);
  const auto pair = NS::TransferPtr(MPS::CNNNormalizationGammaAndBetaState::alloc()->init(twos.get(), twos.get()));
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->reloadGammaAndBeta(commands, pair.get()); }), "");
  plain.gammas.assign(4, 2);
  plain.betas.assign(4, 2);
  kernel->setEpsilon(0.5f);
  expect(plain, 0.5, "from a state");
  const auto copy = NS::TransferPtr(static_cast<MPS::CNNGroupNormalization*>(kernel->copy()));
  EXPECT_EQ(copy->epsilon(), 0.5f);
}

TEST_P(GroupNormalizationTest, RefusesWhatDoesNotFit) {
  GroupSource channels(6, 4, random);
  EXPECT_EQ(MPS::CNNGroupNormalization::alloc()->init(device.get(), &channels), nullptr);
  channels.groups = 0;
  EXPECT_EQ(MPS::CNNGroupNormalization::alloc()->init(device.get(), &channels), nullptr);
  EXPECT_EQ(MPS::CNNGroupNormalization::alloc()->init(device.get(), nullptr), nullptr);
  channels.groups = 3;
  EXPECT_EQ(MPS::CNNGroupNormalization::alloc()->init(nullptr, &channels), nullptr);
  EXPECT_EQ(MPS::CNNInstanceNormalizationGradient::alloc()->init(nullptr), nullptr);
  const auto kernel = NS::TransferPtr(MPS::CNNGroupNormalization::alloc()->init(device.get(), &channels));
  const auto back = NS::TransferPtr(MPS::CNNGroupNormalizationGradient::alloc()->init(device.get()));
  Tensor source = random_tensor({2, 2, 4});
  const Images sources = images_with(source);
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              kernel->encode(commands, sources[0].get());
            }).find("CNNGroupNormalization::encode: sourceImage has 4 channels, and the data source 6"),
            std::string::npos);
  const auto other = NS::TransferPtr(MPS::CNNPoolingMax::alloc()->init(device.get(), 1, 1, 1, 1));
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              MPS::State* state = nullptr;
              other->encode(commands, sources[0].get(), &state, false);
              back->encode(commands, sources[0].get(), sources[0].get(), state);
            }).find("no state of an instance or group normalization"),
            std::string::npos);
}

}  // namespace
}  // namespace metalloid::mps

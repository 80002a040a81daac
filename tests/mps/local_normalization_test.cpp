#include "image_program.hpp"

namespace metalloid::mps {
namespace {

constexpr auto float32 = MPS::ImageFeatureChannelFormatFloat32, float16 = MPS::ImageFeatureChannelFormatFloat16;

struct Way {
  bool takes_contrast = false;
  size_t width = 1, height = 1, channels = 1;
  double alpha = 1, beta = 0.75, delta = 1, p0 = 0, pm = 0, ps = 1;
};

// What a window around a number says, which reaches outside of the image.
Tensor normalized(const Tensor& source, const Way& way, MPS::ImageEdgeMode edge = MPS::ImageEdgeModeZero) {
  const PictureShape& shape = source.shape;
  Tensor result(shape);
  const double count = double(way.width * way.height * way.channels);
  for (size_t image = 0; image < shape.images; ++image)
    for (size_t y = 0; y < shape.height; ++y)
      for (size_t x = 0; x < shape.width; ++x)
        for (size_t channel = 0; channel < shape.channels; ++channel) {
          std::vector<double> window;
          for (size_t j = 0; j < way.height; ++j)
            for (size_t i = 0; i < way.width; ++i)
              for (size_t k = 0; k < way.channels; ++k) {
                const long c = long(channel + k) - long(way.channels / 2);
                const bool is_channel = c >= 0 && c < long(shape.channels);
                window.push_back(is_channel ? source.beyond(image, long(x + i) - long(way.width / 2),
                                                            long(y + j) - long(way.height / 2), size_t(c), edge)
                                            : 0);
              }
          double mean = 0, squares = 0;
          if (way.takes_contrast)
            for (const double number : window) mean += number / count;
          for (const double number : window) squares += (number - mean) * (number - mean) / count;
          result.at(image, x, y, channel) = way.pm + way.ps * (source.at(image, x, y, channel) - way.p0 * mean) /
                                                         std::pow(way.delta + way.alpha * squares, way.beta);
        }
  return result;
}

class LocalNormalizationTest : public ImageTest {
 protected:
  template <class Kernel>
  static void set(Kernel* kernel, const Way& way) {
    kernel->setAlpha(float(way.alpha));
    kernel->setBeta(float(way.beta));
    kernel->setDelta(float(way.delta));
    if constexpr (requires { kernel->setP0(0.0f); }) {
      kernel->setP0(float(way.p0));
      kernel->setPm(float(way.pm));
      kernel->setPs(float(way.ps));
    }
  }

  // Forward, and back against differences of the float64 reference.
  template <class Kernel, class Gradient>
  void check(Kernel* made, Gradient* made_gradient, const Way& way) {
    const auto kernel = NS::TransferPtr(made);
    const auto back = NS::TransferPtr(made_gradient);
    set(made, way);
    set(made_gradient, way);
    for (const PictureShape& shape :
         {PictureShape{5, 3, 1, 2, float32}, PictureShape{3, 4, 3, 2, float16}, PictureShape{4, 7, 10, 1, float32}}) {
      kernel->setDestinationImageAllocator(MPS::Image::defaultAllocator());
      back->setDestinationImageAllocator(MPS::Image::defaultAllocator());
      Tensor source = random_tensor(shape), of_result = random_tensor(shape);
      const Images sources = images_with(source), of_results = images_with(of_result);
      Images results, of_sources;
      ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                  MPS::StateBatch* states = nullptr;
                  auto* forward = kernel->encodeBatch(commands, batch_of(sources), &states, false);
                  auto* gradients = back->encodeBatch(commands, batch_of(of_results), batch_of(sources), states);
                  for (size_t i = 0; i < shape.images; ++i) {
                    results.push_back(NS::RetainPtr(forward->template object<MPS::Image>(i)));
                    of_sources.push_back(NS::RetainPtr(gradients->template object<MPS::Image>(i)));
                  }
                }),
                "");
      // Results are below 8, powers within some roundings.
      const double rounding = 4 * rounding_of(type_of(shape.format)) + 256 * 0x1p-24;
      expect_near(numbers_of(results), normalized(source, way), rounding, "forward");
      const Tensor found = numbers_of(of_sources);
      const auto loss = [&](const Tensor& moved) {
        const Tensor result = normalized(moved, way);
        double sum = 0;
        for (size_t i = 0; i < result.numbers.size(); ++i) sum += result.numbers[i] * of_result.numbers[i];
        return sum;
      };
      std::uniform_int_distribution<size_t> any(0, source.numbers.size() - 1);
      for (int trial = 0; trial < 10; ++trial) {
        const size_t i = any(random);
        Tensor up = source, down = source;
        up.numbers[i] += 0x1p-12;
        down.numbers[i] -= 0x1p-12;
        ASSERT_NEAR(found.numbers[i], (loss(up) - loss(down)) / 0x1p-11, 2 * rounding + 2e-5) << "number " << i;
      }
    }
  }
};
INSTANTIATE_MPS_TEST(LocalNormalizationTest);

TEST_P(LocalNormalizationTest, DividesByTheEnergyOfPixels) {
  for (const auto& [width, height] : {std::pair<size_t, size_t>{3, 3}, {5, 3}, {2, 4}, {1, 1}})
    check(MPS::CNNSpatialNormalization::alloc()->init(device.get(), width, height),
          MPS::CNNSpatialNormalizationGradient::alloc()->init(device.get(), width, height),
          {.width = width, .height = height, .alpha = 0.5, .delta = 0.75});
}

TEST_P(LocalNormalizationTest, DividesByTheEnergyOfChannels) {
  for (const size_t size : {1, 2, 5, 32})
    check(MPS::CNNCrossChannelNormalization::alloc()->init(device.get(), size),
          MPS::CNNCrossChannelNormalizationGradient::alloc()->init(device.get(), size),
          {.channels = size, .alpha = 2, .beta = 0.5, .delta = 0.5});
}

TEST_P(LocalNormalizationTest, SubtractsTheMeanAndDividesByTheContrastOfPixels) {
  for (const auto& [width, height] : {std::pair<size_t, size_t>{3, 3}, {5, 3}, {2, 4}})
    check(MPS::CNNLocalContrastNormalization::alloc()->init(device.get(), width, height),
          MPS::CNNLocalContrastNormalizationGradient::alloc()->init(device.get(), width, height),
          {.takes_contrast = true,
           .width = width,
           .height = height,
           .beta = 0.5,
           .delta = 0.25,
           .p0 = 0.75,
           .pm = 0.125,
           .ps = 1.5});
}

TEST_P(LocalNormalizationTest, HasApplesDefaultsAndReadsByTheEdgeMode) {
  const auto spatial = NS::TransferPtr(MPS::CNNSpatialNormalization::alloc()->init(device.get(), 3, 5));
  EXPECT_EQ(spatial->kernelWidth(), 3u);
  EXPECT_EQ(spatial->kernelHeight(), 5u);
  EXPECT_EQ(spatial->alpha(), 1.0f);
  EXPECT_EQ(spatial->beta(), 5.0f);
  EXPECT_EQ(spatial->delta(), 1.0f);
  const auto contrast = NS::TransferPtr(MPS::CNNLocalContrastNormalization::alloc()->init(device.get(), 3, 3));
  EXPECT_EQ(contrast->alpha(), 0.0f);
  EXPECT_EQ(contrast->beta(), 0.5f);
  EXPECT_EQ(contrast->delta(), 1.0f / 1024);
  EXPECT_EQ(contrast->p0(), 1.0f);
  EXPECT_EQ(NS::TransferPtr(MPS::CNNCrossChannelNormalization::alloc()->init(device.get(), 7))->kernelSize(), 7u);

  spatial->setEdgeMode(MPS::ImageEdgeModeClamp);
  spatial->setBeta(0.75f);
  Tensor source = random_tensor({5, 4, 3}), empty({5, 4, 3});
  const Images sources = images_with(source), results = images_with(empty);
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) { spatial->encode(commands, sources[0].get(), results[0].get()); }),
            "");
  expect_near(numbers_of(results), normalized(source, {.width = 3, .height = 5}, MPS::ImageEdgeModeClamp),
              256 * 0x1p-24, "clamped");
  const auto back = NS::TransferPtr(MPS::CNNSpatialNormalizationGradient::alloc()->init(device.get(), 3, 5));
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              MPS::State* state = nullptr;
              spatial->encode(commands, sources[0].get(), &state, false);
              back->encode(commands, sources[0].get(), sources[0].get(), state);
            }).find("CNNSpatialNormalizationGradient::encode: the forward pass read outside"),
            std::string::npos);
  EXPECT_EQ(MPS::CNNSpatialNormalization::alloc()->init(device.get(), 0, 3), nullptr);
  EXPECT_EQ(MPS::CNNCrossChannelNormalization::alloc()->init(device.get(), 0), nullptr);
  EXPECT_EQ(MPS::CNNLocalContrastNormalization::alloc()->init(nullptr, 3, 3), nullptr);
}

}  // namespace
}  // namespace metalloid::mps

#include "image_program.hpp"

namespace metalloid::mps {
namespace {

constexpr auto float32 = MPS::ImageFeatureChannelFormatFloat32, float16 = MPS::ImageFeatureChannelFormatFloat16;

enum class Kind { max, average, l2_norm };

struct PoolingCase {
  size_t kernel_width = 2, kernel_height = 2, stride_x = 2, stride_y = 2, dilation_x = 1, dilation_y = 1;
  long offset_x = 0, offset_y = 0;
  MPS::ImageEdgeMode edge = MPS::ImageEdgeModeZero;
  size_t zeros = 0;
};

// The windows of one image's channel: what each makes of the source.
double pooled(Kind kind, const PoolingCase& c, const Tensor& source, size_t image, size_t x, size_t y, size_t channel) {
  const long left = c.offset_x + long(x * c.stride_x) - long(((c.kernel_width - 1) * c.dilation_x + 1) / 2);
  const long top = c.offset_y + long(y * c.stride_y) - long(((c.kernel_height - 1) * c.dilation_y + 1) / 2);
  double largest = -INFINITY, sum = 0, squares = 0;
  size_t count = 0;
  const long width = long(source.shape.width), height = long(source.shape.height), zeros = long(c.zeros);
  const bool shrinks = kind == Kind::average && c.edge == MPS::ImageEdgeModeClamp;
  for (size_t ky = 0; ky < c.kernel_height; ++ky)
    for (size_t kx = 0; kx < c.kernel_width; ++kx) {
      const long from_x = left + long(kx * c.dilation_x), from_y = top + long(ky * c.dilation_y);
      if (shrinks && (from_x < -zeros || from_y < -zeros || from_x >= width + zeros || from_y >= height + zeros))
        continue;
      const double value = source.beyond(image, from_x, from_y, channel, shrinks ? MPS::ImageEdgeModeZero : c.edge);
      largest = std::max(largest, value);
      sum += value;
      squares += value * value;
      ++count;
    }
  return kind == Kind::max ? largest : kind == Kind::average ? (count ? sum / double(count) : 0) : std::sqrt(squares);
}

class PoolingTest : public ImageTest {
 protected:
  NS::SharedPtr<MPS::CNNPooling> pooling(Kind kind, const PoolingCase& c) {
    MPS::CNNPooling* made = nullptr;
    if (kind == Kind::max && (c.dilation_x > 1 || c.dilation_y > 1)) {
      made = MPS::CNNDilatedPoolingMax::alloc()->init(device.get(), c.kernel_width, c.kernel_height, c.dilation_x,
                                                      c.dilation_y, c.stride_x, c.stride_y);
    } else if (kind == Kind::max) {
      made = MPS::CNNPoolingMax::alloc()->init(device.get(), c.kernel_width, c.kernel_height, c.stride_x, c.stride_y);
    } else if (kind == Kind::average) {
      auto* average =
          MPS::CNNPoolingAverage::alloc()->init(device.get(), c.kernel_width, c.kernel_height, c.stride_x, c.stride_y);
      average->setZeroPadSizeX(c.zeros);
      average->setZeroPadSizeY(c.zeros);
      made = average;
    } else {
      made =
          MPS::CNNPoolingL2Norm::alloc()->init(device.get(), c.kernel_width, c.kernel_height, c.stride_x, c.stride_y);
    }
    made->setOffset({c.offset_x, c.offset_y, 0});
    made->setEdgeMode(c.edge);
    return NS::TransferPtr(made);
  }

  NS::SharedPtr<MPS::CNNPoolingGradient> gradient(Kind kind, const PoolingCase& c) {
    MPS::CNNPoolingGradient* made = nullptr;
    if (kind == Kind::max && (c.dilation_x > 1 || c.dilation_y > 1))
      made = MPS::CNNDilatedPoolingMaxGradient::alloc()->init(device.get(), c.kernel_width, c.kernel_height,
                                                              c.dilation_x, c.dilation_y, c.stride_x, c.stride_y);
    else if (kind == Kind::max)
      made = MPS::CNNPoolingMaxGradient::alloc()->init(device.get(), c.kernel_width, c.kernel_height, c.stride_x,
                                                       c.stride_y);
    else if (kind == Kind::average)
      made = MPS::CNNPoolingAverageGradient::alloc()->init(device.get(), c.kernel_width, c.kernel_height, c.stride_x,
                                                           c.stride_y);
    else
      made = MPS::CNNPoolingL2NormGradient::alloc()->init(device.get(), c.kernel_width, c.kernel_height, c.stride_x,
                                                          c.stride_y);
    return NS::TransferPtr(made);
  }

  void check(Kind kind, const PoolingCase& c, const PictureShape& source_shape, const PictureShape& result_shape) {
    const auto kernel = pooling(kind, c);
    ASSERT_TRUE(kernel);
    Tensor source = random_tensor(source_shape), expected(result_shape), empty(result_shape);
    const Images sources = images_with(source), results = images_with(empty);
    NS::SharedPtr<NS::Array> states;
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                states = NS::RetainPtr(kernel->resultStateBatch(batch_of(sources), nullptr, batch_of(results)));
                kernel->encodeBatch(commands, batch_of(sources), states.get(), batch_of(results));
              }),
              "");
    for (size_t image = 0; image < result_shape.images; ++image)
      for (size_t y = 0; y < result_shape.height; ++y)
        for (size_t x = 0; x < result_shape.width; ++x)
          for (size_t channel = 0; channel < result_shape.channels; ++channel)
            expected.at(image, x, y, channel) = pooled(kind, c, source, image, x, y, channel);
    // A few roundings, of results below 5.
    const double rounding = rounding_of(type_of(source_shape.format));
    const std::string what = "kind " + testing::PrintToString(int(kind)) + ", " +
                             testing::PrintToString(c.kernel_width) + " x " + testing::PrintToString(c.kernel_height) +
                             ", edge " + testing::PrintToString(int(c.edge));
    expect_near(numbers_of(results), expected, 5 * rounding + 16 * 0x1p-24, what);

    const auto slope = gradient(kind, c);
    Tensor of_result = random_tensor(result_shape), nothing(source_shape);
    const Images gradients = images_with(of_result), of_source = images_with(nothing);
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                slope->encodeBatch(commands, batch_of(gradients), batch_of(sources), states.get(), batch_of(of_source));
              }),
              "");
    const Tensor found = numbers_of(of_source);
    // Against differences: of float64, whose error the step's square is.
    const double step = 1e-5;
    std::uniform_int_distribution<size_t> any(0, source.numbers.size() - 1);
    for (int trial = 0; trial < 40; ++trial) {
      const size_t i = any(random);
      const size_t image = i / (source.numbers.size() / source_shape.images), channel = i % source_shape.channels;
      const auto loss = [&](double change) {
        Tensor moved = source;
        moved.numbers[i] += change;
        double sum = 0;
        for (size_t y = 0; y < result_shape.height; ++y)
          for (size_t x = 0; x < result_shape.width; ++x)
            sum += of_result.at(image, x, y, channel) * pooled(kind, c, moved, image, x, y, channel);
        return sum;
      };
      const double expected_slope = (loss(step) - loss(-step)) / (2 * step);
      ASSERT_NEAR(found.numbers[i], expected_slope, 8 * rounding + 1e-4) << what << ", gradient of number " << i;
    }
  }
};
INSTANTIATE_MPS_TEST(PoolingTest);

TEST_P(PoolingTest, IsRightForAllKindsSizesAndEdges) {
  for (const Kind kind : {Kind::max, Kind::average, Kind::l2_norm}) {
    for (const auto format : {float32, float16}) {
      check(kind, {.offset_x = 1, .offset_y = 1}, {8, 6, 5, 2, format}, {4, 3, 5, 2, format});
      check(kind, {.kernel_width = 3, .kernel_height = 3}, {9, 7, 36, 1, format}, {5, 4, 36, 1, format});
    }
    for (const auto edge : {MPS::ImageEdgeModeZero, MPS::ImageEdgeModeClamp})
      check(kind, {.kernel_width = 3, .kernel_height = 4, .stride_x = 1, .stride_y = 2, .edge = edge}, {7, 6, 4},
            {7, 3, 4});
    // Of many images, each may be done by itself.
    for (const auto edge : {MPS::ImageEdgeModeZero, MPS::ImageEdgeModeClamp}) {
      check(kind, {.kernel_width = 3, .kernel_height = 3, .edge = edge}, {9, 7, 36, 4}, {5, 4, 36, 4});
      check(kind, {.kernel_width = 2, .kernel_height = 3, .stride_x = 1, .stride_y = 2, .edge = edge}, {7, 6, 3, 9},
            {7, 3, 3, 9});
    }
  }
  check(Kind::average, {.kernel_width = 3, .kernel_height = 3, .edge = MPS::ImageEdgeModeClamp, .zeros = 1}, {6, 6, 4},
        {4, 4, 4});
  check(Kind::max,
        {.kernel_width = 3, .kernel_height = 2, .stride_x = 1, .stride_y = 1, .dilation_x = 2, .dilation_y = 3},
        {9, 8, 4, 2}, {9, 8, 4, 2});
}

TEST_P(PoolingTest, SizesItsResultByThePaddingPolicy) {
  const auto kernel = pooling(Kind::average, {.kernel_width = 3, .kernel_height = 3});
  kernel->setPadding(MPS::NNDefaultPadding::paddingForTensorflowAveragePooling());
  kernel->setDestinationImageAllocator(MPS::Image::defaultAllocator());
  Tensor source = random_tensor({6, 5, 4});
  const Images sources = images_with(source);
  Images results;
  ASSERT_EQ(
      run([&](MTL::CommandBuffer* commands) { results = {NS::RetainPtr(kernel->encode(commands, sources[0].get()))}; }),
      "");
  EXPECT_EQ(kernel->edgeMode(), MPS::ImageEdgeModeClamp);
  ASSERT_EQ(results[0]->width(), 3u);
  const PoolingCase c{
      .kernel_width = 3, .kernel_height = 3, .offset_x = 1, .offset_y = 0, .edge = MPS::ImageEdgeModeClamp};
  const Tensor found = numbers_of(results);
  for (size_t y = 0; y < 3; ++y)
    for (size_t x = 0; x < 3; ++x)
      EXPECT_NEAR(found.at(0, x, y, 1), pooled(Kind::average, c, source, 0, x, y, 1), 1e-6) << x << ", " << y;
}

TEST_P(PoolingTest, RefusesKernelsWithoutSize) {
  EXPECT_EQ(MPS::CNNPoolingMax::alloc()->init(device.get(), 0, 2, 1, 1), nullptr);
  EXPECT_EQ(MPS::CNNPoolingMax::alloc()->init(nullptr, 2, 2, 1, 1), nullptr);
}

}  // namespace
}  // namespace metalloid::mps

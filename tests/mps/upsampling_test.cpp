#include "image_program.hpp"

namespace metalloid::mps {
namespace {

constexpr auto float32 = MPS::ImageFeatureChannelFormatFloat32, float16 = MPS::ImageFeatureChannelFormatFloat16;

struct Way {
  bool is_nearest = false, aligns_corners = false;
};

// What place i of a result with `size` pixels gets of the source's pixel, in one direction.
double share_of(const Way& way, size_t pixel, size_t i, size_t source_size, size_t size, long offset = 0) {
  const double step = !way.aligns_corners ? double(source_size) / double(size)
                      : size > 1          ? double(source_size - 1) / double(size - 1)
                                          : 0;
  double place = std::clamp(double(offset) + double(i) * step, 0.0, double(source_size - 1));
  if (way.is_nearest) place = std::floor(place + 1e-9);
  return std::max(0.0, 1 - std::abs(place - double(pixel)));
}

Tensor resampled(const Tensor& source, const Way& way, size_t width, size_t height, long offset_x = 0,
                 long offset_y = 0) {
  const PictureShape& from = source.shape;
  Tensor result({width, height, from.channels, from.images, from.format});
  for (size_t y = 0; y < height; ++y)
    for (size_t x = 0; x < width; ++x)
      for (size_t source_y = 0; source_y < from.height; ++source_y)
        for (size_t source_x = 0; source_x < from.width; ++source_x) {
          const double share = share_of(way, source_x, x, from.width, width, offset_x) *
                               share_of(way, source_y, y, from.height, height, offset_y);
          if (share == 0) continue;
          for (size_t image = 0; image < from.images; ++image)
            for (size_t c = 0; c < from.channels; ++c)
              result.at(image, x, y, c) += share * source.at(image, source_x, source_y, c);
        }
  return result;
}

// The gradient is linear in that of the result, with the same shares.
Tensor gradient_of(const Tensor& of_result, const PictureShape& source, const Way& way) {
  const PictureShape& to = of_result.shape;
  Tensor result(source);
  for (size_t y = 0; y < to.height; ++y)
    for (size_t x = 0; x < to.width; ++x)
      for (size_t source_y = 0; source_y < source.height; ++source_y)
        for (size_t source_x = 0; source_x < source.width; ++source_x) {
          const double share =
              share_of(way, source_x, x, source.width, to.width) * share_of(way, source_y, y, source.height, to.height);
          if (share == 0) continue;
          for (size_t image = 0; image < source.images; ++image)
            for (size_t c = 0; c < source.channels; ++c)
              result.at(image, source_x, source_y, c) += share * of_result.at(image, x, y, c);
        }
  return result;
}

class UpsamplingTest : public ImageTest {
 protected:
  NS::SharedPtr<MPS::CNNUpsampling> upsampling(const Way& way, size_t scale_x, size_t scale_y) {
    if (way.is_nearest)
      return NS::TransferPtr<MPS::CNNUpsampling>(
          MPS::CNNUpsamplingNearest::alloc()->init(device.get(), scale_x, scale_y));
    return NS::TransferPtr<MPS::CNNUpsampling>(
        MPS::CNNUpsamplingBilinear::alloc()->init(device.get(), scale_x, scale_y, way.aligns_corners));
  }
  NS::SharedPtr<MPS::CNNUpsamplingGradient> gradient(const Way& way, size_t scale_x, size_t scale_y) {
    if (way.is_nearest)
      return NS::TransferPtr<MPS::CNNUpsamplingGradient>(
          MPS::CNNUpsamplingNearestGradient::alloc()->init(device.get(), scale_x, scale_y));
    return NS::TransferPtr<MPS::CNNUpsamplingGradient>(
        MPS::CNNUpsamplingBilinearGradient::alloc()->init(device.get(), scale_x, scale_y));
  }
};
INSTANTIATE_MPS_TEST(UpsamplingTest);

TEST_P(UpsamplingTest, EnlargesImagesAndGathersGradients) {
  for (const Way& way : {Way{true, false}, Way{false, false}, Way{false, true}})
    for (const auto& [scale_x, scale_y] : {std::pair<size_t, size_t>{2, 2}, {1, 3}, {4, 1}})
      for (const PictureShape& shape :
           {PictureShape{5, 3, 1, 2, float32}, PictureShape{3, 4, 3, 2, float16}, PictureShape{1, 7, 5, 1, float32},
            PictureShape{3, 2, 10, 3, float16}, PictureShape{2, 1, 64, 1, float32}}) {
        const auto kernel = upsampling(way, scale_x, scale_y);
        const auto back = gradient(way, scale_x, scale_y);
        EXPECT_EQ(kernel->scaleFactorX(), double(scale_x));
        EXPECT_EQ(back->scaleFactorY(), double(scale_y));
        EXPECT_EQ(kernel->alignCorners(), way.aligns_corners);
        kernel->setDestinationImageAllocator(MPS::Image::defaultAllocator());
        const PictureShape large{shape.width * scale_x, shape.height * scale_y, shape.channels, shape.images,
                                 shape.format};
        Tensor source = random_tensor(shape), of_result = random_tensor(large), empty(shape);
        const Images sources = images_with(source), of_results = images_with(of_result),
                     of_sources = images_with(empty);
        Images results;
        ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                    MPS::StateBatch* states = nullptr;
                    MPS::ImageBatch* made = kernel->encodeBatch(commands, batch_of(sources), &states, true);
                    for (size_t i = 0; i < shape.images; ++i)
                      results.push_back(NS::RetainPtr(made->object<MPS::Image>(i)));
                    back->encodeBatch(commands, batch_of(of_results), batch_of(sources), states, batch_of(of_sources));
                  }),
                  "");
        const double rounding = rounding_of(type_of(shape.format));
        expect_near(numbers_of(results), resampled(source, way, large.width, large.height), rounding + 4 * 0x1p-24,
                    "enlarged");
        // Sums of up to 16 numbers, whose shares add up to the factors' product.
        expect_near(numbers_of(of_sources), gradient_of(of_result, shape, way), 4 * rounding + 32 * 0x1p-24,
                    "gradient");
      }
}

TEST_P(UpsamplingTest, ResizesToAnySize) {
  for (const bool aligns_corners : {false, true})
    for (const auto& [width, height] : {std::pair<size_t, size_t>{7, 5}, {3, 9}, {1, 1}, {13, 2}})
      for (const PictureShape& shape :
           {PictureShape{5, 3, 1, 2, float32}, PictureShape{3, 4, 3, 2, float16}, PictureShape{1, 7, 5, 1, float32}}) {
        const auto kernel =
            NS::TransferPtr(MPS::NNResizeBilinear::alloc()->init(device.get(), width, height, aligns_corners));
        EXPECT_EQ(kernel->resizeWidth(), width);
        EXPECT_EQ(kernel->resizeHeight(), height);
        EXPECT_EQ(kernel->alignCorners(), aligns_corners);
        Tensor source = random_tensor(shape), empty({width, height, shape.channels, shape.images, shape.format});
        const Images sources = images_with(source), results = images_with(empty);
        ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                    kernel->encodeBatch(commands, batch_of(sources), batch_of(results));
                  }),
                  "");
        expect_near(numbers_of(results), resampled(source, {false, aligns_corners}, width, height),
                    rounding_of(type_of(shape.format)) + 4 * 0x1p-24, "resized");
      }
}

TEST_P(UpsamplingTest, ReadsFromOffsetsOnAndWritesClipRectanglesAndChannelsFromAnOffsetOn) {
  const auto kernel = upsampling({false, false}, 2, 2);
  kernel->setOffset({-1, 2, 0});
  kernel->setClipRect(MTL::Region(1, 1, 0, 5, 4, 1));
  kernel->setDestinationFeatureChannelOffset(2);
  Tensor source = random_tensor({4, 5, 3}), result = random_tensor({8, 10, 6});
  const Images sources = images_with(source), results = images_with(result);
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, sources[0].get(), results[0].get()); }),
            "");
  const Tensor whole = resampled(source, {}, 8, 10, -1, 2);
  for (size_t y = 0; y < 4; ++y)
    for (size_t x = 0; x < 5; ++x)
      for (size_t c = 0; c < 3; ++c) result.at(0, x + 1, y + 1, c + 2) = whole.at(0, x, y, c);
  expect_near(numbers_of(results), result, 4 * 0x1p-24, "clipped");
}

TEST_P(UpsamplingTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(MPS::CNNUpsamplingNearest::alloc()->init(device.get(), 0, 1), nullptr);
  EXPECT_EQ(MPS::CNNUpsamplingBilinear::alloc()->init(nullptr, 1, 1), nullptr);
  EXPECT_EQ(MPS::NNResizeBilinear::alloc()->init(device.get(), 3, 0, false), nullptr);
  const auto kernel = upsampling({true, false}, 2, 2);
  const auto back = gradient({false, false}, 2, 2);
  Tensor source = random_tensor({2, 2, 3}), of_result = random_tensor({4, 4, 3});
  const Images sources = images_with(source), of_results = images_with(of_result);
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              MPS::State* state = nullptr;
              kernel->encode(commands, sources[0].get(), &state, false);
              back->encode(commands, of_results[0].get(), sources[0].get(), state);
            }).find("CNNUpsamplingBilinearGradient::encode: gradientState is of an upsampling of another kind"),
            std::string::npos);
}

}  // namespace
}  // namespace metalloid::mps

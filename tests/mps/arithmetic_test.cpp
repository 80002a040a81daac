#include "image_program.hpp"

namespace metalloid::mps {
namespace {

constexpr auto float32 = MPS::ImageFeatureChannelFormatFloat32, float16 = MPS::ImageFeatureChannelFormatFloat16;

class ArithmeticTest : public ImageTest {
 protected:
  NS::SharedPtr<MPS::CNNArithmetic> arithmetic(char operation) {
    MPS::CNNArithmetic* made = nullptr;
    if (operation == '+') made = MPS::CNNAdd::alloc()->init(device.get());
    if (operation == '-') made = MPS::CNNSubtract::alloc()->init(device.get());
    if (operation == '*') made = MPS::CNNMultiply::alloc()->init(device.get());
    if (operation == '/') made = MPS::CNNDivide::alloc()->init(device.get());
    return NS::TransferPtr(made);
  }
  static double reference(char operation, double x, double y) {
    return operation == '+' ? x + y : operation == '-' ? x - y : operation == '*' ? x * y : x / y;
  }
};
INSTANTIATE_MPS_TEST(ArithmeticTest);

TEST_P(ArithmeticTest, CombinesImagesNumberByNumberWithScalesBiasAndLimits) {
  for (const char operation : {'+', '-', '*', '/'})
    for (const PictureShape& shape :
         {PictureShape{5, 3, 1, 2, float32}, PictureShape{3, 4, 3, 2, float16}, PictureShape{4, 3, 5, 1, float32},
          PictureShape{3, 1, 10, 3, float16}, PictureShape{2, 2, 64, 1, float32}}) {
      const auto kernel = arithmetic(operation);
      kernel->setPrimaryScale(0.5f);
      kernel->setSecondaryScale(2);
      kernel->setBias(0.25f);
      kernel->setMinimumValue(-1);
      kernel->setMaximumValue(2.5f);
      Tensor x = random_tensor(shape, -2, 2), y = random_tensor(shape, 0.5, 2), expected(shape), empty(shape);
      const Images first = images_with(x), second = images_with(y), results = images_with(empty);
      ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                  kernel->encodeBatch(commands, batch_of(first), batch_of(second), batch_of(results));
                }),
                "");
      for (size_t i = 0; i < x.numbers.size(); ++i)
        expected.numbers[i] = std::clamp(reference(operation, x.numbers[i] / 2, y.numbers[i] * 2) + 0.25, -1.0, 2.5);
      // Some roundings of numbers below 8.
      expect_near(numbers_of(results), expected, 4 * rounding_of(type_of(shape.format)) + 16 * 0x1p-24,
                  std::string(1, operation));
    }
}

TEST_P(ArithmeticTest, RepeatsNumbersAlongDirectionsWithoutStride) {
  const PictureShape all{6, 4, 5, 2};
  for (const bool primary_is_small : {false, true})
    for (const size_t kept : {0, 1, 2, 4, 6}) {  // bits: x, y, channels
      const bool keeps_x = kept & 1, keeps_y = kept & 2, keeps_channels = kept & 4;
      const PictureShape small{keeps_x ? all.width : 1, keeps_y ? all.height : 1, keeps_channels ? all.channels : 1,
                               all.images};
      const auto kernel = arithmetic('-');
      if (primary_is_small) {
        kernel->setPrimaryStrideInPixelsX(keeps_x);
        kernel->setPrimaryStrideInPixelsY(keeps_y);
        kernel->setPrimaryStrideInFeatureChannels(keeps_channels);
      } else {
        kernel->setSecondaryStrideInPixelsX(keeps_x);
        kernel->setSecondaryStrideInPixelsY(keeps_y);
        kernel->setSecondaryStrideInFeatureChannels(keeps_channels);
      }
      kernel->setDestinationImageAllocator(MPS::Image::defaultAllocator());
      Tensor large = random_tensor(all), one = random_tensor(small), expected(all);
      const Images of_large = images_with(large), of_one = images_with(one);
      NS::SharedPtr<MPS::ImageBatch> made;
      ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                  made = NS::RetainPtr(kernel->encodeBatch(commands, batch_of(primary_is_small ? of_one : of_large),
                                                           batch_of(primary_is_small ? of_large : of_one)));
                }),
                "");
      Images results;
      for (size_t i = 0; i < made->count(); ++i) results.push_back(NS::RetainPtr(made->object<MPS::Image>(i)));
      for (size_t image = 0; image < all.images; ++image)
        for (size_t y = 0; y < all.height; ++y)
          for (size_t x = 0; x < all.width; ++x)
            for (size_t channel = 0; channel < all.channels; ++channel) {
              const double difference = large.at(image, x, y, channel) -
                                        one.at(image, keeps_x ? x : 0, keeps_y ? y : 0, keeps_channels ? channel : 0);
              expected.at(image, x, y, channel) = primary_is_small ? -difference : difference;
            }
      expect_near(numbers_of(results), expected, 2 * 0x1p-24, "strides " + std::to_string(kept));
    }
}

TEST_P(ArithmeticTest, ReadsFromOffsetsOnAndRefusesWhatDoesNotFit) {
  const auto kernel = arithmetic('+');
  kernel->setSecondaryOffset({1, 2, 0});
  kernel->setClipRect(MTL::Region(0, 0, 0, 2, 2, 1));
  Tensor x = random_tensor({3, 4, 4}), y = random_tensor({3, 4, 4}), empty({3, 4, 4}), few = random_tensor({3, 4, 3});
  const Images first = images_with(x), second = images_with(y), results = images_with(empty), other = images_with(few);
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              kernel->encode(commands, first[0].get(), second[0].get(), results[0].get());
            }),
            "");
  const Tensor found = numbers_of(results);
  for (size_t row = 0; row < 4; ++row)
    for (size_t column = 0; column < 3; ++column)
      for (size_t channel = 0; channel < 4; ++channel)
        EXPECT_NEAR(found.at(0, column, row, channel),
                    column < 2 && row < 2 ? x.at(0, column, row, channel) + y.at(0, column + 1, row + 2, channel) : 0,
                    2 * 0x1p-24);
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              kernel->encode(commands, first[0].get(), other[0].get(), results[0].get());
            }).find("secondaryImage has 3 channels, and 4 are written"),
            std::string::npos);
  kernel->setPrimaryStrideInPixelsX(2);
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              kernel->encode(commands, first[0].get(), second[0].get(), results[0].get());
            }).find("strides of primaryImage must be 0 or 1"),
            std::string::npos);
  EXPECT_EQ(MPS::CNNAdd::alloc()->init(nullptr), nullptr);
}

}  // namespace
}  // namespace metalloid::mps

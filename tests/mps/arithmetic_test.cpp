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

TEST_P(ArithmeticTest, ComparesNumbers) {
  for (const auto format : {float32, float16})
    for (size_t type = 0; type < 6; ++type)
      for (const float threshold : {0.0f, 0.25f}) {
        const PictureShape shape{5, 3, 6, 2, format};
        Tensor x = random_tensor(shape), y = random_tensor(shape), expected(shape), empty(shape);
        for (size_t i = 0; i < y.numbers.size(); i += 3) y.numbers[i] = x.numbers[i] + (i % 2 ? 0.25 : 0);
        const Images first = images_with(x), second = images_with(y), results = images_with(empty);
        const auto kernel = NS::TransferPtr(MPS::NNCompare::alloc()->init(device.get()));
        EXPECT_EQ(kernel->comparisonType(), MPS::NNComparisonTypeEqual);
        kernel->setComparisonType(MPS::NNComparisonType(type));
        kernel->setThreshold(threshold);
        ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                    kernel->encodeBatch(commands, batch_of(first), batch_of(second), batch_of(results));
                  }),
                  "");
        for (size_t i = 0; i < x.numbers.size(); ++i) {
          const float difference = float(x.numbers[i]) - float(y.numbers[i]);
          const bool is_equal = std::abs(difference) <= threshold;
          const bool holds[] = {is_equal,
                                !is_equal,
                                !is_equal && difference < 0,
                                is_equal || difference < 0,
                                !is_equal && difference > 0,
                                is_equal || difference > 0};
          expected.numbers[i] = holds[type];
        }
        expect_near(numbers_of(results), expected, 0, "comparison " + std::to_string(type));
      }
}

// The forward pass in float64, of images that may have one number along a direction.
Tensor combined(char operation, const Tensor& x, const Tensor& y, const PictureShape& shape) {
  Tensor result(shape);
  const auto number = [](const Tensor& tensor, size_t image, size_t column, size_t row, size_t channel) {
    const PictureShape& of = tensor.shape;
    return tensor.at(image, std::min(column, of.width - 1), std::min(row, of.height - 1),
                     std::min(channel, of.channels - 1));
  };
  for (size_t image = 0; image < shape.images; ++image)
    for (size_t row = 0; row < shape.height; ++row)
      for (size_t column = 0; column < shape.width; ++column)
        for (size_t channel = 0; channel < shape.channels; ++channel) {
          const double a = number(x, image, column, row, channel), b = number(y, image, column, row, channel);
          result.at(image, column, row, channel) = operation == '+' ? a + b : operation == '-' ? a - b : a * b;
        }
  return result;
}

TEST_P(ArithmeticTest, SumsGradientsWhereImagesWereRepeated) {
  const auto gradient = [&](char operation, bool is_of_secondary) {
    MPS::CNNArithmeticGradient* made = nullptr;
    if (operation == '+') made = MPS::CNNAddGradient::alloc()->init(device.get(), is_of_secondary);
    if (operation == '-') made = MPS::CNNSubtractGradient::alloc()->init(device.get(), is_of_secondary);
    if (operation == '*') made = MPS::CNNMultiplyGradient::alloc()->init(device.get(), is_of_secondary);
    made->setDestinationImageAllocator(MPS::Image::defaultAllocator());
    return NS::TransferPtr(made);
  };
  for (const char operation : {'+', '-', '*'})
    for (const auto format : {float32, float16})
      for (const size_t kept : {0, 1, 2, 3, 4, 6, 7})  // bits: x, y, channels of the small image
        for (const bool primary_is_small : {false, true}) {
          const PictureShape all{5, 37, 3, 2, format};
          const bool keeps_x = kept & 1, keeps_y = kept & 2, keeps_channels = kept & 4;
          const PictureShape small{keeps_x ? all.width : 1, keeps_y ? all.height : 1, keeps_channels ? all.channels : 1,
                                   all.images, format};
          const auto kernel = arithmetic(operation);
          if (primary_is_small) {
            kernel->setPrimaryStrideInPixelsX(keeps_x);
            kernel->setPrimaryStrideInPixelsY(keeps_y);
            kernel->setPrimaryStrideInFeatureChannels(keeps_channels);
          } else {
            kernel->setSecondaryStrideInPixelsX(keeps_x);
            kernel->setSecondaryStrideInPixelsY(keeps_y);
            kernel->setSecondaryStrideInFeatureChannels(keeps_channels);
          }
          Tensor x = random_tensor(primary_is_small ? small : all), y = random_tensor(primary_is_small ? all : small),
                 of_result = random_tensor(all), empty(all);
          const Images first = images_with(x), second = images_with(y), of_results = images_with(of_result),
                       results = images_with(empty);
          const auto of_x = gradient(operation, false), of_y = gradient(operation, true);
          EXPECT_TRUE(of_y->isSecondarySourceFilter());
          NS::SharedPtr<MPS::ImageBatch> made[2];
          ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                      auto* states =
                          kernel->resultStateBatch(batch_of(first), batch_of(second), nullptr, batch_of(results));
                      kernel->encodeBatch(commands, batch_of(first), batch_of(second), states, batch_of(results));
                      const bool multiplies = operation == '*';
                      made[0] = NS::RetainPtr(of_x->encodeBatch(commands, batch_of(of_results),
                                                                batch_of(multiplies ? second : first), states));
                      made[1] = NS::RetainPtr(of_y->encodeBatch(commands, batch_of(of_results),
                                                                batch_of(multiplies ? first : second), states));
                    }),
                    "");
          const double rounding = rounding_of(type_of(format));
          expect_near(numbers_of(results), combined(operation, x, y, all), 2 * rounding, "forward");
          // Against the float64 pass, which is linear in each image: its value with one number at 1, the others at 0.
          for (size_t which = 0; which < 2; ++which) {
            const Tensor& image = which ? y : x;
            Images images;
            for (size_t i = 0; i < made[which]->count(); ++i)
              images.push_back(NS::RetainPtr(made[which]->object<MPS::Image>(i)));
            const Tensor found = numbers_of(images);
            ASSERT_EQ(found.numbers.size(), image.numbers.size());
            std::uniform_int_distribution<size_t> any(0, image.numbers.size() - 1);
            for (int trial = 0; trial < 6; ++trial) {
              const size_t i = any(random);
              Tensor up = image, down = image;
              up.numbers[i] += 1;
              down.numbers[i] -= 1;
              const Tensor more = which ? combined(operation, x, up, all) : combined(operation, up, y, all);
              const Tensor less = which ? combined(operation, x, down, all) : combined(operation, down, y, all);
              double expected = 0;
              for (size_t j = 0; j < more.numbers.size(); ++j)
                expected += (more.numbers[j] - less.numbers[j]) / 2 * of_result.numbers[j];
              // Sums of up to 555 numbers below 1, which make less than 64.
              ASSERT_NEAR(found.numbers[i], expected, 32 * rounding + 1024 * 0x1p-24)
                  << operation << " image " << which << " strides " << kept;
            }
          }
        }
}

TEST_P(ArithmeticTest, ScalesGradientsAndFollowsOffsets) {
  const auto kernel = arithmetic('*');
  kernel->setPrimaryOffset({1, 0, 0});
  kernel->setClipRect(MTL::Region(0, 0, 0, 3, 2, 1));
  const auto back = NS::TransferPtr(MPS::CNNMultiplyGradient::alloc()->init(device.get(), false));
  back->setPrimaryScale(2);
  back->setSecondaryScale(0.5f);
  EXPECT_EQ(back->secondaryScale(), 0.5f);
  Tensor x = random_tensor({4, 3, 5}), y = random_tensor({4, 3, 5}), g = random_tensor({3, 2, 5}), empty({4, 3, 5});
  const Images first = images_with(x), second = images_with(y), of_results = images_with(g),
               results = images_with(empty), of_first = images_with(empty);
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              auto* state = static_cast<MPS::CNNArithmeticGradientState*>(
                  kernel->temporaryResultState(commands, first[0].get(), second[0].get(), nullptr, results[0].get()));
              kernel->encode(commands, first[0].get(), second[0].get(), state, results[0].get());
              back->encode(commands, of_results[0].get(), second[0].get(), state, of_first[0].get());
            }),
            "");
  const Tensor found = numbers_of(of_first);
  for (size_t row = 0; row < 3; ++row)
    for (size_t column = 0; column < 4; ++column)
      for (size_t c = 0; c < 5; ++c)
        EXPECT_NEAR(found.at(0, column, row, c),
                    column >= 1 && row < 2 ? g.at(0, column - 1, row, c) * y.at(0, column - 1, row, c) : 0,
                    2 * 0x1p-24);
  kernel->setMaximumValue(1);
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              MPS::State* state = nullptr;
              kernel->encode(commands, first[0].get(), second[0].get(), &state, false);
              back->encode(commands, of_results[0].get(), second[0].get(), state);
            }).find("CNNMultiplyGradient::encode: the forward pass had a minimumValue or maximumValue"),
            std::string::npos);
}

TEST_P(ArithmeticTest, ChoosesChannelsAndImagesAndMakesDestinations) {
  const auto kernel = arithmetic('-');
  kernel->setPrimarySourceFeatureChannelOffset(2);
  kernel->setPrimarySourceFeatureChannelMaxCount(3);
  kernel->setSecondarySourceFeatureChannelOffset(1);
  kernel->setSecondarySourceFeatureChannelMaxCount(3);
  kernel->setDestinationFeatureChannelOffset(1);
  kernel->setPrimaryOffset({0, 0, 1});
  EXPECT_EQ(kernel->primaryOffset().z, 1);
  const PictureShape shape{3, 2, 6}, other{3, 2, 4};
  Tensor x = random_tensor({3, 2, 6, 3}), y = random_tensor({3, 2, 4, 2}), result = random_tensor({3, 2, 5, 2});
  const auto first = new_image(shape, 3), second = new_image(other, 2), third = new_image({3, 2, 5}, 2);
  for (size_t i = 0; i < 3; ++i) write(first.get(), x, i, i);
  for (size_t i = 0; i < 2; ++i) write(second.get(), y, i, i);
  for (size_t i = 0; i < 2; ++i) write(third.get(), result, i, i);
  const std::string error =
      run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, first.get(), second.get(), third.get()); });
  ASSERT_EQ(error, "");
  for (size_t i = 0; i < 2; ++i) {
    const Tensor found = numbers_of(third.get(), i);
    for (size_t row = 0; row < 2; ++row)
      for (size_t column = 0; column < 3; ++column)
        for (size_t c = 0; c < 5; ++c)
          EXPECT_NEAR(found.at(0, column, row, c),
                      c >= 1 && c < 4 ? x.at(i + 1, column, row, c + 1) - y.at(i, column, row, c)
                                      : result.at(i, column, row, c),
                      2 * 0x1p-24);
  }

  const auto plain = arithmetic('+');
  plain->setDestinationImageAllocator(MPS::Image::defaultAllocator());
  Tensor a = random_tensor({4, 3, 5, 2}), b = random_tensor({4, 3, 5, 2}), sum({4, 3, 5, 2});
  for (size_t i = 0; i < sum.numbers.size(); ++i) sum.numbers[i] = a.numbers[i] + b.numbers[i];
  const Images of_a = images_with(a), of_b = images_with(b);
  Images made, singles;
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              MPS::StateBatch* states = nullptr;
              MPS::State* state = nullptr;
              auto* batch = plain->encodeBatch(commands, batch_of(of_a), batch_of(of_b), &states, true);
              for (size_t i = 0; i < 2; ++i) made.push_back(NS::RetainPtr(batch->object<MPS::Image>(i)));
              ASSERT_EQ(states->count(), 2u);
              EXPECT_TRUE(states->object<MPS::State>(1)->isTemporary());
              singles.push_back(NS::RetainPtr(plain->encode(commands, of_a[0].get(), of_b[0].get())));
              singles.push_back(NS::RetainPtr(plain->encode(commands, of_a[1].get(), of_b[1].get(), &state, false)));
              EXPECT_FALSE(state->isTemporary());
            }),
            "");
  expect_near(numbers_of(made), sum, 2 * 0x1p-24, "a batch");
  expect_near(numbers_of(singles), sum, 2 * 0x1p-24, "single images");
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              kernel->setPrimaryOffset({0, 0, 3});
              kernel->encode(commands, first.get(), second.get(), third.get());
            }).find("the offset's z (3) is not among the images of primaryImage"),
            std::string::npos);
}

}  // namespace
}  // namespace metalloid::mps

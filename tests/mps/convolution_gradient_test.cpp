#include "convolution_program.hpp"

namespace metalloid::mps {
namespace {

constexpr auto float32 = MPS::ImageFeatureChannelFormatFloat32, float16 = MPS::ImageFeatureChannelFormatFloat16;

struct Gradients {
  Tensor source;
  std::vector<double> weights, biases;
};

// Of sum(gradient * convolved(source)), by the definition of the convolution.
Gradients gradients_of(const Tensor& source, const Tensor& gradient, const RandomWeights& weights,
                       const Placement& place) {
  const ConvolutionCase& c = weights.convolution;
  Gradients result{Tensor(source.shape), std::vector<double>(weights.numbers.size()), std::vector<double>(c.outputs)};
  for (size_t image = 0; image < source.shape.images; ++image)
    for (size_t o = 0; o < c.outputs; ++o) {
      const size_t first_input = o / c.group_outputs() * c.group_inputs();
      for (size_t y = 0; y < gradient.shape.height; ++y)
        for (size_t x = 0; x < gradient.shape.width; ++x) result.biases[o] += gradient.at(image, x, y, o);
      for_each_tap(
          c, place, gradient.shape.width, gradient.shape.height,
          [&](long from_x, long from_y, size_t kx, size_t ky, size_t x, size_t y) {
            if (from_x < 0 || from_y < 0 || from_x >= long(source.shape.width) || from_y >= long(source.shape.height))
              return;
            for (size_t i = 0; i < c.group_inputs(); ++i) {
              const double e = gradient.at(image, x, y, o);
              result.source.at(image, size_t(from_x), size_t(from_y), first_input + i) += e * weights.at(o, kx, ky, i);
              result.weights[weights.index(o, kx, ky, i)] +=
                  e * source.at(image, size_t(from_x), size_t(from_y), first_input + i);
            }
          });
    }
  return result;
}

class ConvolutionGradientTest : public ImageTest {
 protected:
  NS::SharedPtr<RandomWeights> weights_of(const ConvolutionCase& c) {
    return NS::TransferPtr(new RandomWeights(c, random));
  }

  void check(const ConvolutionCase& c, const PictureShape& shape, NS::UInteger method) {
    const auto weights = weights_of(c);
    const auto forward = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), weights.get()));
    const auto kernel = NS::TransferPtr(MPS::CNNConvolutionGradient::alloc()->init(device.get(), weights.get()));
    ASSERT_TRUE(forward && kernel);
    forward->setPadding(MPS::NNDefaultPadding::padding(static_cast<MPS::NNPaddingMethod>(method)));
    kernel->setDestinationImageAllocator(MPS::Image::defaultAllocator());
    Tensor source = random_tensor(shape);
    const Images sources = images_with(source);
    MPS::ImageDescriptor* made = forward->destinationImageDescriptor(batch_of(sources), nullptr);
    Tensor gradient = random_tensor({made->width(), made->height(), c.outputs, shape.images, shape.format});
    const Images gradients = images_with(gradient);
    Images results;
    NS::SharedPtr<MPS::CNNConvolutionGradientState> state;
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                MPS::StateBatch* states = nullptr;
                forward->encodeBatch(commands, batch_of(sources), &states, false);
                ASSERT_EQ(states->count(), shape.images);
                state = NS::RetainPtr(states->object<MPS::CNNConvolutionGradientState>(0));
                NS::Array* batch = kernel->encodeBatch(commands, batch_of(gradients), batch_of(sources), states);
                for (size_t i = 0; i < shape.images; ++i)
                  results.push_back(NS::RetainPtr(batch->object<MPS::Image>(i)));
              }),
              "");
    const Gradients expected =
        gradients_of(source, gradient, *weights.get(), {forward->offset().x, forward->offset().y});
    // Sums of n products in float, and rounding of results that grow with the root of n.
    const double n = double(c.kernel_width * c.kernel_height * c.group_outputs());
    expect_near(numbers_of(results), expected.source,
                3 * std::sqrt(n) * rounding_of(type_of(shape.format)) + 4 * n * 0x1p-24, "gradient of the source");
    const double m = double(gradient.shape.width * gradient.shape.height * shape.images);
    const auto* for_weights = static_cast<const float*>(state->gradientForWeights()->contents());
    for (size_t i = 0; i < expected.weights.size(); ++i)
      ASSERT_NEAR(for_weights[i], expected.weights[i], 4 * m * 0x1p-24) << "weight " << i;
    const auto* for_biases = static_cast<const float*>(state->gradientForBiases()->contents());
    for (size_t i = 0; i < c.outputs; ++i) ASSERT_NEAR(for_biases[i], expected.biases[i], 4 * m * 0x1p-24);
    EXPECT_EQ(state->convolution(), forward.get());
    EXPECT_EQ(state->sourceWidth(), shape.width);
  }
};
INSTANTIATE_MPS_TEST(ConvolutionGradientTest);

// The reference itself: by differences of the convolution.
TEST_P(ConvolutionGradientTest, ReferenceIsTheSlopeOfTheConvolution) {
  const ConvolutionCase c{.inputs = 4, .outputs = 6, .stride_x = 2, .groups = 2};
  const auto weights = weights_of(c);
  Tensor source = random_tensor({5, 4, 4});
  const Tensor gradient = random_tensor({3, 4, 6});
  const Gradients expected = gradients_of(source, gradient, *weights.get(), {});
  const auto loss = [&] {
    const Tensor result = convolved(source, *weights.get(), {}, gradient.shape);
    double sum = 0;
    for (size_t i = 0; i < result.numbers.size(); ++i) sum += result.numbers[i] * gradient.numbers[i];
    return sum;
  };
  const double step = 0.25;  // the loss is linear in each number, and weights are floats
  for (size_t i = 0; i < source.numbers.size(); i += 7) {
    const double before = loss();
    source.numbers[i] += step;
    EXPECT_NEAR((loss() - before) / step, expected.source.numbers[i], 1e-9);
    source.numbers[i] -= step;
  }
  for (size_t i = 0; i < weights->numbers.size(); i += 11) {
    const double before = loss(), old = weights->numbers[i];
    weights->numbers[i] += float(step);
    EXPECT_NEAR((loss() - before) / (weights->numbers[i] - old), expected.weights[i], 1e-9);
    weights->numbers[i] = float(old);
  }
}

TEST_P(ConvolutionGradientTest, IsRightAtAnySizeStrideDilationAndType) {
  const NS::UInteger same = MPS::NNPaddingMethodSizeSame, valid = MPS::NNPaddingMethodSizeValidOnly;
  for (const auto format : {float32, float16}) {
    check({.inputs = 3, .outputs = 5}, {9, 7, 3, 1, format}, same);
    check({.inputs = 8, .outputs = 12}, {6, 7, 8, 3, format}, valid);
    check({.inputs = 3, .outputs = 32}, {9, 7, 3, 2, format}, same);
    check({.inputs = 6, .outputs = 35}, {6, 7, 6, 3, format}, same);
    check({.kernel_width = 5, .kernel_height = 5, .inputs = 1, .outputs = 40}, {17, 13, 1, 5, format}, same);
    check({.kernel_height = 2, .inputs = 2, .outputs = 5, .stride_x = 2, .dilation_x = 2}, {15, 9, 2, 4, format}, same);
    check({.kernel_width = 4, .kernel_height = 2, .inputs = 4, .outputs = 33, .stride_x = 2, .stride_y = 3},
          {13, 11, 4, 2, format}, same);
    check({.inputs = 4, .outputs = 4, .dilation_x = 2, .dilation_y = 2}, {9, 8, 4, 2, format}, same);
    check({.kernel_width = 1, .kernel_height = 1, .inputs = 33, .outputs = 10}, {5, 5, 33, 1, format}, same);
  }
}

TEST_P(ConvolutionGradientTest, IsRightForGroupsAndDepthwiseFilters) {
  for (const auto format : {float32, float16}) {
    check({.inputs = 8, .outputs = 12, .groups = 4}, {6, 7, 8, 2, format}, MPS::NNPaddingMethodSizeSame);
    check({.inputs = 12, .outputs = 12, .stride_x = 2, .stride_y = 2, .is_depthwise = true}, {9, 7, 12, 2, format},
          MPS::NNPaddingMethodSizeSame);
    check({.inputs = 5, .outputs = 10, .is_depthwise = true}, {6, 5, 5, 1, format}, MPS::NNPaddingMethodSizeSame);
  }
}

TEST_P(ConvolutionGradientTest, OfAFullyConnectedLayer) {
  const ConvolutionCase c{.kernel_width = 4, .kernel_height = 3, .inputs = 5, .outputs = 10};
  const auto weights = weights_of(c);
  const auto forward = NS::TransferPtr(MPS::CNNFullyConnected::alloc()->init(device.get(), weights.get()));
  const auto kernel = NS::TransferPtr(MPS::CNNFullyConnectedGradient::alloc()->init(device.get(), weights.get()));
  kernel->setDestinationImageAllocator(MPS::Image::defaultAllocator());
  Tensor source = random_tensor({4, 3, 5, 2}), gradient = random_tensor({1, 1, 10, 2});
  const Images sources = images_with(source), gradients = images_with(gradient);
  Images results;
  NS::SharedPtr<MPS::CNNConvolutionGradientState> state;
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              MPS::StateBatch* states = nullptr;
              forward->encodeBatch(commands, batch_of(sources), &states, false);
              state = NS::RetainPtr(states->object<MPS::CNNConvolutionGradientState>(0));
              NS::Array* batch = kernel->encodeBatch(commands, batch_of(gradients), batch_of(sources), states);
              for (size_t i = 0; i < 2; ++i) results.push_back(NS::RetainPtr(batch->object<MPS::Image>(i)));
            }),
            "");
  const Gradients expected = gradients_of(source, gradient, *weights.get(), {2, 1});
  expect_near(numbers_of(results), expected.source, 1e-5, "gradient of the source");
  const auto* for_weights = static_cast<const float*>(state->gradientForWeights()->contents());
  for (size_t i = 0; i < expected.weights.size(); ++i) ASSERT_NEAR(for_weights[i], expected.weights[i], 1e-5);
}

TEST_P(ConvolutionGradientTest, MakesOnlyWhatItIsAskedFor) {
  const ConvolutionCase c{.inputs = 4, .outputs = 4};
  const auto weights = weights_of(c);
  const auto forward = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), weights.get()));
  const auto kernel = NS::TransferPtr(MPS::CNNConvolutionGradient::alloc()->init(device.get(), weights.get()));
  kernel->setGradientOption(MPS::CNNConvolutionGradientOptionGradientWithWeightsAndBias);
  Tensor source = random_tensor({5, 5, 4}), gradient = random_tensor({5, 5, 4}), untouched({5, 5, 4});
  for (double& number : untouched.numbers) number = 3;
  const Images sources = images_with(source), gradients = images_with(gradient), results = images_with(untouched);
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              MPS::State* state = forward->resultState(sources[0].get(), nullptr, results[0].get());
              kernel->encode(commands, gradients[0].get(), sources[0].get(), state, results[0].get());
            }),
            "");
  expect_near(numbers_of(results), untouched, 0, "the data gradient is not asked for");
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              kernel->encode(commands, gradients[0].get(), sources[0].get(), nullptr, results[0].get());
            }).find("gradientState is null"),
            std::string::npos);
}

// A data source that makes weights smaller by their gradients, with a kernel of the program.
TEST_P(ConvolutionGradientTest, TrainsWeightsThroughTheDataSource) {
  const ConvolutionCase c{.inputs = 4, .outputs = 4};
  const auto weights = weights_of(c);
  const auto forward = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), weights.get()));
  const auto kernel = NS::TransferPtr(MPS::CNNConvolutionGradient::alloc()->init(device.get(), weights.get()));
  Tensor source = random_tensor({5, 5, 4, 2}), gradient = random_tensor({5, 5, 4, 2}), empty({5, 5, 4, 2});
  const Images sources = images_with(source), gradients = images_with(gradient), results = images_with(empty);
  NS::SharedPtr<MPS::CNNConvolutionWeightsAndBiasesState> exported;
  NS::SharedPtr<MPS::CNNConvolutionGradientState> state;
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              MPS::StateBatch* states = nullptr;
              forward->encodeBatch(commands, batch_of(sources), &states, false);
              kernel->encodeBatch(commands, batch_of(gradients), batch_of(sources), states);
              state = NS::RetainPtr(states->object<MPS::CNNConvolutionGradientState>(0));
              exported = NS::RetainPtr(forward->exportWeightsAndBiases(commands, false));
            }),
            "");
  auto* numbers = static_cast<float*>(exported->weights()->contents());
  const auto* slopes = static_cast<const float*>(state->gradientForWeights()->contents());
  for (size_t i = 0; i < weights->numbers.size(); ++i) weights->numbers[i] = numbers[i] -= 0.1f * slopes[i];
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              forward->reloadWeightsAndBiases(commands, exported.get());
              kernel->reloadWeightsAndBiases(commands, exported.get());
              forward->encodeBatch(commands, batch_of(sources), batch_of(results));
            }),
            "");
  expect_near(numbers_of(results), convolved(source, *weights.get(), {}, empty.shape), 1e-4, "with the new weights");
}

TEST_P(ConvolutionGradientTest, TransposeConvolvesTheSourceMovedApart) {
  for (const auto format : {float32, float16})
    for (const size_t stride : {1, 2, 3}) {
      const ConvolutionCase c{
          .kernel_width = 3, .kernel_height = 4, .inputs = 4, .outputs = 5, .stride_x = stride, .stride_y = stride};
      const auto weights = weights_of(c);
      const auto kernel = NS::TransferPtr(MPS::CNNConvolutionTranspose::alloc()->init(device.get(), weights.get()));
      EXPECT_TRUE(kernel->isBackwards());
      kernel->setPadding(MPS::NNDefaultPadding::padding(MPS::NNPaddingMethodSizeFull));
      kernel->setDestinationImageAllocator(MPS::Image::defaultAllocator());
      Tensor source = random_tensor({4, 3, 4, 1, format});
      const Images sources = images_with(source);
      Images results;
      ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                  results = {NS::RetainPtr(kernel->encode(commands, sources[0].get()))};
                }),
                "");
      const PictureShape shape{3 * stride + 3, 2 * stride + 4, 5, 1, format};
      ASSERT_EQ(results[0]->width(), shape.width);
      ASSERT_EQ(results[0]->height(), shape.height);
      Tensor apart({3 * stride + 1, 2 * stride + 1, 4});
      for (size_t y = 0; y < 3; ++y)
        for (size_t x = 0; x < 4; ++x)
          for (size_t i = 0; i < 4; ++i) apart.at(0, x * stride, y * stride, i) = source.at(0, x, y, i);
      const auto unit = weights_of({.kernel_width = 3, .kernel_height = 4, .inputs = 4, .outputs = 5});
      unit->numbers = weights->numbers;
      unit->biases = weights->biases;
      expect_near(numbers_of(results), convolved(apart, *unit.get(), {1 - 2, 2 - 3}, shape),
                  convolution_tolerance(c, format), "transpose");
    }
}

TEST_P(ConvolutionGradientTest, OfATransposeIsThatOfItsEnlargedConvolution) {
  struct Case {
    ConvolutionCase convolution;
    PictureShape source, result;
    long offset_x, offset_y, kernel_offset_x, kernel_offset_y;
  };
  for (const Case& c :
       {Case{{.inputs = 4, .outputs = 5, .stride_x = 2, .stride_y = 2}, {4, 3, 4, 2, float32}, {8, 6, 5}, 0, 0, 0, 0},
        Case{{.kernel_width = 4, .kernel_height = 2, .inputs = 3, .outputs = 9, .stride_x = 3, .stride_y = 1},
             {3, 5, 3, 1, float16},
             {9, 7, 9},
             0,
             1,
             -1,
             0},
        Case{{.inputs = 6, .outputs = 4, .stride_x = 2, .stride_y = 3, .dilation_x = 2, .groups = 2},
             {5, 3, 6, 2, float32},
             {11, 8, 4},
             -1,
             0,
             1,
             2},
        Case{{.inputs = 7, .outputs = 7, .stride_x = 2, .stride_y = 2, .is_depthwise = true},
             {4, 4, 7, 3, float16},
             {7, 7, 7},
             0,
             0,
             1,
             1}}) {
    ConvolutionCase plain = c.convolution;
    const size_t stride_x = plain.stride_x, stride_y = plain.stride_y;
    plain.stride_x = plain.stride_y = 1;
    const auto weights = weights_of(c.convolution), unit = weights_of(plain);
    unit->numbers = weights->numbers;
    unit->biases = weights->biases;
    const auto kernel = NS::TransferPtr(MPS::CNNConvolutionTranspose::alloc()->init(device.get(), weights.get()));
    const auto back = NS::TransferPtr(MPS::CNNConvolutionTransposeGradient::alloc()->init(device.get(), weights.get()));
    ASSERT_TRUE(kernel && back);
    EXPECT_EQ(back->sourceGradientFeatureChannels(), plain.outputs);
    EXPECT_EQ(back->sourceImageFeatureChannels(), plain.inputs);
    kernel->setOffset({c.offset_x, c.offset_y, 0});
    kernel->setKernelOffsetX(c.kernel_offset_x);
    kernel->setKernelOffsetY(c.kernel_offset_y);
    PictureShape large = c.result;
    large.images = c.source.images;
    large.format = c.source.format;
    Tensor source = random_tensor(c.source), gradient = random_tensor(large), empty(large), of_source(c.source);
    const Images sources = images_with(source), gradients = images_with(gradient), results = images_with(empty),
                 of_sources = images_with(of_source);
    NS::SharedPtr<MPS::CNNConvolutionTransposeGradientState> state;
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                NS::Array* states = kernel->resultStateBatch(batch_of(sources), nullptr, batch_of(results));
                state = NS::RetainPtr(states->object<MPS::CNNConvolutionTransposeGradientState>(0));
                kernel->encodeBatch(commands, batch_of(sources), states, batch_of(results));
                back->encodeBatch(commands, batch_of(gradients), batch_of(sources), states, batch_of(of_sources));
              }),
              "");
    EXPECT_EQ(state->convolutionTranspose(), kernel.get());
    PictureShape apart_shape = c.source;
    apart_shape.width = (c.source.width - 1) * stride_x + 1;
    apart_shape.height = (c.source.height - 1) * stride_y + 1;
    Tensor apart(apart_shape);
    const auto for_each = [&](const auto& visit) {
      for (size_t image = 0; image < c.source.images; ++image)
        for (size_t y = 0; y < c.source.height; ++y)
          for (size_t x = 0; x < c.source.width; ++x)
            for (size_t i = 0; i < c.source.channels; ++i) visit(image, x, y, i);
    };
    for_each([&](size_t image, size_t x, size_t y, size_t i) {
      apart.at(image, x * stride_x, y * stride_y, i) = source.at(image, x, y, i);
    });
    const Placement place{c.offset_x * long(stride_x) + c.kernel_offset_x,
                          c.offset_y * long(stride_y) + c.kernel_offset_y};
    expect_near(numbers_of(results), convolved(apart, *unit.get(), place, large),
                convolution_tolerance(plain, large.format), "transpose");
    const Gradients expected = gradients_of(apart, gradient, *unit.get(), place);
    for_each([&](size_t image, size_t x, size_t y, size_t i) {
      of_source.at(image, x, y, i) = expected.source.at(image, x * stride_x, y * stride_y, i);
    });
    const double n = double(plain.kernel_width * plain.kernel_height * plain.group_outputs());
    expect_near(numbers_of(of_sources), of_source,
                3 * std::sqrt(n) * rounding_of(type_of(large.format)) + 4 * n * 0x1p-24, "gradient of the source");
    const double m = double(large.width * large.height * large.images);
    const auto* for_weights = static_cast<const float*>(state->gradientForWeights()->contents());
    for (size_t i = 0; i < expected.weights.size(); ++i)
      ASSERT_NEAR(for_weights[i], expected.weights[i], 4 * m * 0x1p-24) << "weight " << i;
    const auto* for_biases = static_cast<const float*>(state->gradientForBiases()->contents());
    for (size_t i = 0; i < plain.outputs; ++i) ASSERT_NEAR(for_biases[i], expected.biases[i], 4 * m * 0x1p-24);
  }
}

TEST_P(ConvolutionGradientTest, ATransposeMakesItsResultAndStateByTheConvolutionItUndoes) {
  const ConvolutionCase c{.inputs = 3, .outputs = 4, .stride_x = 2, .stride_y = 2};
  const ConvolutionCase turned{.inputs = 4, .outputs = 3, .stride_x = 2, .stride_y = 2};
  const auto weights = weights_of(c), others = weights_of(turned);
  const auto forward = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), weights.get()));
  const auto kernel = NS::TransferPtr(MPS::CNNConvolutionTranspose::alloc()->init(device.get(), others.get()));
  const auto back = NS::TransferPtr(MPS::CNNConvolutionTransposeGradient::alloc()->init(device.get(), others.get()));
  kernel->setDestinationImageAllocator(MPS::Image::defaultAllocator());
  Tensor source = random_tensor({7, 5, 3});
  const Images sources = images_with(source);
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              MPS::State* of_convolution = nullptr;
              MPS::CNNConvolutionTransposeGradientState* state = nullptr;
              MPS::Image* small = forward->encode(commands, sources[0].get(), &of_convolution, false);
              static_cast<MPS::TemporaryImage*>(small)->setReadCount(3);
              MPS::Image* large = kernel->encode(
                  commands, small, static_cast<MPS::CNNConvolutionGradientState*>(of_convolution), &state, true);
              ASSERT_TRUE(large && state);
              EXPECT_EQ(large->width(), 7u);
              EXPECT_EQ(large->height(), 5u);
              MPS::Image* result = back->encode(commands, large, small, state);
              EXPECT_EQ(result->width(), small->width());
              EXPECT_EQ(result->featureChannels(), 4u);
              MPS::Image* alone = kernel->encode(commands, small, nullptr, nullptr, false);
              EXPECT_EQ(alone->width(), 2 * small->width() - 1) << "the pixels moved apart";
            }),
            "");
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              MPS::State* state = nullptr;
              MPS::Image* small = forward->encode(commands, sources[0].get(), &state, false);
              back->encode(commands, sources[0].get(), small, state);
            }).find("gradientState is no state of a transposed convolution"),
            std::string::npos);
}

}  // namespace
}  // namespace metalloid::mps

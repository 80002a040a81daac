#include "convolution_program.hpp"

namespace metalloid::mps {
namespace {

class ConvolutionTest : public ImageTest {
 protected:
  NS::SharedPtr<RandomWeights> weights_of(const ConvolutionCase& c) {
    return NS::TransferPtr(new RandomWeights(c, random));
  }

  void check(const ConvolutionCase& c, const PictureShape& source_shape, const PictureShape& result_shape,
             const Placement& place) {
    const auto weights = weights_of(c);
    const auto kernel = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), weights.get()));
    ASSERT_TRUE(kernel);
    EXPECT_EQ(weights->loads, 0) << "each load is followed by a purge";
    kernel->setOffset({place.offset_x, place.offset_y, 0});
    kernel->setEdgeMode(place.edge);
    Tensor source = random_tensor(source_shape), empty(result_shape);
    const Images sources = images_with(source), results = images_with(empty);
    ASSERT_EQ(
        run([&](MTL::CommandBuffer* commands) { kernel->encodeBatch(commands, batch_of(sources), batch_of(results)); }),
        "");
    expect_near(numbers_of(results), convolved(source, *weights.get(), place, result_shape),
                convolution_tolerance(c, result_shape.format),
                testing::PrintToString(c.kernel_width) + " wide, " + testing::PrintToString(c.inputs) + " to " +
                    testing::PrintToString(c.outputs) + ", groups " + testing::PrintToString(c.all_groups()));
  }
};
INSTANTIATE_MPS_TEST(ConvolutionTest);

constexpr auto float32 = MPS::ImageFeatureChannelFormatFloat32, float16 = MPS::ImageFeatureChannelFormatFloat16;

TEST_P(ConvolutionTest, IsTheSumOfProductsAtAnySizeStrideDilationAndType) {
  for (const auto format : {float32, float16}) {
    check({.inputs = 3, .outputs = 5}, {9, 7, 3, 1, format}, {9, 7, 5, 1, format}, {});
    check({.inputs = 8, .outputs = 16}, {9, 7, 8, 3, format}, {9, 7, 16, 3, format}, {});
    check({.inputs = 3, .outputs = 32}, {9, 7, 3, 2, format}, {9, 7, 32, 2, format}, {});
    check({.inputs = 6, .outputs = 35}, {9, 7, 6, 2, format}, {9, 7, 35, 2, format}, {});
    check({.kernel_width = 5, .kernel_height = 2, .inputs = 4, .outputs = 33, .stride_x = 2, .stride_y = 3},
          {21, 11, 4, 2, format}, {11, 4, 33, 2, format}, {});
    check({.inputs = 4, .outputs = 4, .dilation_x = 2, .dilation_y = 3}, {13, 12, 4, 1, format}, {13, 12, 4, 1, format},
          {});
    check({.kernel_width = 1, .kernel_height = 1, .inputs = 17, .outputs = 40}, {5, 5, 17, 2, format},
          {5, 5, 40, 2, format}, {});
    check({.kernel_width = 4, .kernel_height = 4, .inputs = 2, .outputs = 2, .has_biases = false}, {8, 8, 2, 1, format},
          {5, 5, 2, 1, format}, {2, 2});
  }
}

TEST_P(ConvolutionTest, HasGroupsAndDepthwiseFilters) {
  for (const auto format : {float32, float16}) {
    check({.inputs = 8, .outputs = 12, .groups = 4}, {9, 7, 8, 2, format}, {9, 7, 12, 2, format}, {});
    check({.inputs = 64, .outputs = 64, .groups = 2}, {9, 7, 64, 1, format}, {9, 7, 64, 1, format}, {});
    check({.inputs = 12, .outputs = 12, .is_depthwise = true}, {9, 7, 12, 2, format}, {9, 7, 12, 2, format}, {});
    check({.inputs = 5, .outputs = 15, .stride_x = 2, .is_depthwise = true}, {9, 7, 5, 1, format},
          {5, 7, 15, 1, format}, {});
  }
}

TEST_P(ConvolutionTest, ReadsByTheEdgeModeOutside) {
  for (const auto edge :
       {MPS::ImageEdgeModeZero, MPS::ImageEdgeModeClamp, MPS::ImageEdgeModeMirror, MPS::ImageEdgeModeMirrorWithEdge})
    check({.kernel_width = 5, .kernel_height = 5, .inputs = 4, .outputs = 6}, {6, 5, 4}, {9, 8, 6}, {-1, 3, edge});
}

TEST_P(ConvolutionTest, WritesTheClipRectangleAndTheChannelsItIsTold) {
  const ConvolutionCase c{.inputs = 4, .outputs = 4};
  const auto weights = weights_of(c);
  const auto kernel = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), weights.get()));
  Tensor source = random_tensor({8, 8, 8}), result({10, 9, 12});
  for (double& number : result.numbers) number = 7;
  const Images sources = images_with(source), results = images_with(result);
  kernel->setClipRect(MTL::Region(2, 3, 5, 4));
  kernel->setDestinationFeatureChannelOffset(4);
  kernel->setSourceFeatureChannelOffset(4);
  kernel->setOffset({1, 2, 0});
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, sources[0].get(), results[0].get()); }),
            "");
  Tensor read({8, 8, 4});
  for (size_t y = 0; y < 8; ++y)
    for (size_t x = 0; x < 8; ++x)
      for (size_t i = 0; i < 4; ++i) read.at(0, x, y, i) = source.at(0, x, y, i + 4);
  const Tensor part = convolved(read, *weights.get(), {1, 2}, {5, 4, 4});
  for (size_t y = 0; y < 4; ++y)
    for (size_t x = 0; x < 5; ++x)
      for (size_t o = 0; o < 4; ++o) result.at(0, x + 2, y + 3, o + 4) = part.at(0, x, y, o);
  expect_near(numbers_of(results), result, convolution_tolerance(c, float32), "the rest is left alone");
}

TEST_P(ConvolutionTest, TakesImagesOfSeveralImagesAndBatchesThatLieAnywhere) {
  const ConvolutionCase c{.inputs = 4, .outputs = 8};
  const auto weights = weights_of(c);
  const auto kernel = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), weights.get()));
  Tensor source = random_tensor({6, 5, 4, 3}), empty({6, 5, 8, 3});
  const Tensor expected = convolved(source, *weights.get(), {}, empty.shape);
  const auto many = new_image(source.shape, 3), result = new_image(empty.shape, 3);
  for (size_t i = 0; i < 3; ++i) write(many.get(), source, i, i);
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, many.get(), result.get()); }), "");
  Images views;
  for (size_t i = 0; i < 3; ++i) views.push_back(NS::RetainPtr(result->batchRepresentation()->object<MPS::Image>(i)));
  expect_near(numbers_of(views), expected, convolution_tolerance(c, float32), "images of one Image");

  Images sources = images_with(source), results = images_with(empty);
  Images moved_sources = {sources[1], sources[0], sources[2]}, moved_results = {results[1], results[0], results[2]};
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              kernel->encodeBatch(commands, batch_of(moved_sources), batch_of(moved_results));
            }),
            "");
  expect_near(numbers_of(results), expected, convolution_tolerance(c, float32), "images in another order");
}

TEST_P(ConvolutionTest, SizesItsResultByThePaddingPolicy) {
  const ConvolutionCase c{.inputs = 4, .outputs = 4, .stride_x = 2, .stride_y = 2};
  const auto weights = weights_of(c);
  const auto kernel = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), weights.get()));
  kernel->setDestinationImageAllocator(MPS::Image::defaultAllocator());
  Tensor source = random_tensor({9, 8, 4, 2});
  const Images sources = images_with(source);
  const struct {
    NS::UInteger method;
    size_t width, height;
    Placement place;
  } policies[] = {
      {MPS::NNPaddingMethodSizeSame, 5, 4, {0, 0}},
      {MPS::NNPaddingMethodSizeSame | MPS::NNPaddingMethodAddRemainderToBottomRight, 5, 4, {0, 1}},
      {MPS::NNPaddingMethodSizeValidOnly, 4, 3, {1, 1}},
      {MPS::NNPaddingMethodSizeFull, 6, 5, {-1, -1}},
  };
  for (const auto& policy : policies) {
    kernel->setPadding(MPS::NNDefaultPadding::padding(static_cast<MPS::NNPaddingMethod>(policy.method)));
    Images results;
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                NS::Array* batch = kernel->encodeBatch(commands, batch_of(sources));
                for (size_t i = 0; i < 2; ++i) results.push_back(NS::RetainPtr(batch->object<MPS::Image>(i)));
              }),
              "");
    EXPECT_EQ(results[0]->width(), policy.width);
    EXPECT_EQ(results[0]->height(), policy.height);
    EXPECT_EQ(kernel->offset().x, policy.place.offset_x);
    EXPECT_EQ(kernel->offset().y, policy.place.offset_y);
    expect_near(numbers_of(results),
                convolved(source, *weights.get(), policy.place, {policy.width, policy.height, 4, 2}),
                convolution_tolerance(c, float32), "policy");
  }
}

TEST_P(ConvolutionTest, GivesTemporaryImagesToTheNextLayer) {
  const ConvolutionCase c{.inputs = 4, .outputs = 4};
  const auto first = weights_of(c), second = weights_of(c);
  const auto one = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), first.get()));
  const auto two = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), second.get()));
  Tensor source = random_tensor({6, 5, 4, 3}), empty({6, 5, 4, 3});
  const Images sources = images_with(source), results = images_with(empty);
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              NS::Array* between = one->encodeBatch(commands, batch_of(sources));
              EXPECT_EQ(between->object<MPS::TemporaryImage>(0)->readCount(), 1u);
              two->encodeBatch(commands, between, batch_of(results));
              EXPECT_EQ(between->object<MPS::TemporaryImage>(2)->readCount(), 0u) << "its memory is free again";
            }),
            "");
  const Tensor expected = convolved(convolved(source, *first.get(), {}, empty.shape), *second.get(), {}, empty.shape);
  expect_near(numbers_of(results), expected, 36 * convolution_tolerance(c, float32), "two layers");
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              MPS::Image* between = one->encode(commands, sources[0].get());
              two->encode(commands, between, results[0].get());
              two->encode(commands, between, results[1].get());
            }).find("has been read as often as its readCount allowed"),
            std::string::npos);
  MTL::CommandBuffer* forgotten = queue->commandBuffer();
  MPS::Image* elsewhere = one->encode(forgotten, sources[0].get());
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              two->encode(commands, elsewhere, results[0].get());
            }).find("sourceImage: it is temporary, and of another command buffer"),
            std::string::npos);
}

TEST_P(ConvolutionTest, MayBeWrittenOverItsSource) {
  const ConvolutionCase c{.inputs = 4, .outputs = 4};
  const auto weights = weights_of(c);
  const auto kernel = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), weights.get()));
  for (const size_t images : {1, 3}) {
    Tensor source = random_tensor({20, 9, 4, images});
    const Images pictures = images_with(source);
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                kernel->encodeBatch(commands, batch_of(pictures), batch_of(pictures));
              }),
              "");
    expect_near(numbers_of(pictures), convolved(source, *weights.get(), {}, source.shape),
                convolution_tolerance(c, float32), "in place");
  }
}

TEST_P(ConvolutionTest, AppliesItsNeuronAndBatchNormalisation) {
  const ConvolutionCase c{.inputs = 4, .outputs = 6};
  const struct {
    MPS::CNNNeuronType type;
    float a, b;
    double (*function)(double);
  } neurons[] = {
      {MPS::CNNNeuronTypeReLU, 0.25f, 0, [](double x) { return x >= 0 ? x : 0.25 * x; }},
      {MPS::CNNNeuronTypeSigmoid, 0, 0, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {MPS::CNNNeuronTypeTanH, 1, 1, [](double x) { return std::tanh(x); }},
      {MPS::CNNNeuronTypeHardSigmoid, 0.2f, 0.5f, [](double x) { return std::clamp(0.2 * x + 0.5, 0.0, 1.0); }},
      {MPS::CNNNeuronTypeReLUN, 0, 1, [](double x) { return std::clamp(x, 0.0, 1.0); }},
      {MPS::CNNNeuronTypeELU, 1, 0, [](double x) { return x >= 0 ? x : std::expm1(x); }},
  };
  for (const auto& [type, a, b, function] : neurons) {
    const auto weights = weights_of(c);
    weights->made->setFusedNeuronDescriptor(MPS::NNNeuronDescriptor::cnnNeuronDescriptor(type, a, b));
    const std::vector<float> mean = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f}, variance = {1, 2, 3, 4, 5, 6},
                             gamma = {1, 0.5f, 2, 1, 1, -1}, beta = {0, 1, 0, -1, 0.5f, 0};
    weights->made->setBatchNormalizationParametersForInference(mean.data(), variance.data(), gamma.data(), beta.data(),
                                                               1e-3f);
    const auto kernel = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), weights.get()));
    Tensor source = random_tensor({6, 5, 4}), empty({6, 5, 6});
    const Images sources = images_with(source), results = images_with(empty);
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, sources[0].get(), results[0].get()); }),
              "");
    Tensor expected = convolved(source, *weights.get(), {}, empty.shape);
    for (size_t i = 0; i < expected.numbers.size(); ++i) {
      const size_t o = i % 6;
      expected.numbers[i] =
          function(gamma[o] * (expected.numbers[i] - mean[o]) / std::sqrt(variance[o] + 1e-3) + beta[o]);
    }
    expect_near(numbers_of(results), expected, 2 * convolution_tolerance(c, float32), "neuron");
  }
}

TEST_P(ConvolutionTest, WithAPReLUHasASlopeForEachChannel) {
  const ConvolutionCase c{.inputs = 2, .outputs = 3};
  const auto weights = weights_of(c);
  const float slopes[] = {0.5f, -1, 2};
  weights->made->setFusedNeuronDescriptor(
      MPS::NNNeuronDescriptor::cnnNeuronPReLUDescriptor(NS::Data::data(slopes, sizeof slopes), false));
  const auto kernel = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), weights.get()));
  Tensor source = random_tensor({6, 5, 2}), empty({6, 5, 3});
  const Images sources = images_with(source), results = images_with(empty);
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, sources[0].get(), results[0].get()); }),
            "");
  Tensor expected = convolved(source, *weights.get(), {}, empty.shape);
  for (size_t i = 0; i < expected.numbers.size(); ++i)
    if (expected.numbers[i] < 0) expected.numbers[i] *= slopes[i % 3];
  expect_near(numbers_of(results), expected, 2 * convolution_tolerance(c, float32), "PReLU");
}

TEST_P(ConvolutionTest, ExportsAndReloadsItsWeights) {
  const ConvolutionCase c{.inputs = 4, .outputs = 5};
  const auto weights = weights_of(c);
  const auto kernel = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), weights.get()));
  Tensor source = random_tensor({6, 5, 4}), empty({6, 5, 5});
  const Images sources = images_with(source), before = images_with(empty), after = images_with(empty),
               last = images_with(empty);
  const auto others = weights_of(c);
  const auto state =
      NS::TransferPtr(MPS::CNNConvolutionWeightsAndBiasesState::alloc()->init(device.get(), weights->made.get()));
  std::copy(others->numbers.begin(), others->numbers.end(), static_cast<float*>(state->weights()->contents()));
  std::copy(others->biases.begin(), others->biases.end(), static_cast<float*>(state->biases()->contents()));
  NS::SharedPtr<MPS::CNNConvolutionWeightsAndBiasesState> exported;
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              kernel->encode(commands, sources[0].get(), before[0].get());
              exported = NS::RetainPtr(kernel->exportWeightsAndBiases(commands, false));
              kernel->reloadWeightsAndBiases(commands, state.get());
              kernel->encode(commands, sources[0].get(), after[0].get());
            }),
            "");
  const double tolerance = convolution_tolerance(c, float32);
  expect_near(numbers_of(before), convolved(source, *weights.get(), {}, empty.shape), tolerance, "before");
  expect_near(numbers_of(after), convolved(source, *others.get(), {}, empty.shape), tolerance, "after");
  const auto* back = static_cast<const float*>(exported->weights()->contents());
  EXPECT_EQ(std::vector<float>(back, back + weights->numbers.size()), weights->numbers);

  weights->numbers = others->numbers;
  weights->numbers[0] += 1;
  kernel->reloadWeightsAndBiasesFromDataSource();
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, sources[0].get(), last[0].get()); }), "");
  expect_near(numbers_of(last), convolved(source, *weights.get(), {}, empty.shape), tolerance, "from the data source");
}

TEST_P(ConvolutionTest, TakesHalfAndByteWeights) {
  const ConvolutionCase c{.inputs = 3, .outputs = 2, .has_biases = false};
  class Bytes final : public MPS::CNNConvolutionDataSource {
   public:
    NS::SharedPtr<RandomWeights> model;
    std::vector<uint8_t> bytes;
    const float ranges[4] = {-1, 1, 0, 2};
    MPS::DataType dataType() override { return MPS::DataTypeUInt8; }
    MPS::CNNConvolutionDescriptor* descriptor() override { return model->descriptor(); }
    void* weights() override { return bytes.data(); }
    float* biasTerms() override { return nullptr; }
    bool load() override { return true; }
    void purge() override {}
    MPS::CNNWeightsQuantizationType weightsQuantizationType() override { return MPS::CNNWeightsQuantizationTypeLinear; }
    const float* rangesForUInt8Kernel() override { return ranges; }
  };
  const auto weights = NS::TransferPtr(new Bytes);
  weights->model = weights_of(c);
  for (size_t i = 0; i < weights->model->numbers.size(); ++i) {
    weights->bytes.push_back(uint8_t(i * 37));
    const bool second = i >= weights->model->numbers.size() / 2;
    weights->model->numbers[i] = float(uint8_t(i * 37)) / 255 * 2 + (second ? 0 : -1);
  }
  const auto kernel = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), weights.get()));
  ASSERT_TRUE(kernel);
  Tensor source = random_tensor({6, 5, 3}), empty({6, 5, 2});
  const Images sources = images_with(source), results = images_with(empty);
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, sources[0].get(), results[0].get()); }),
            "");
  expect_near(numbers_of(results), convolved(source, *weights->model.get(), {}, empty.shape),
              2 * convolution_tolerance(c, float32), "bytes");
}

TEST_P(ConvolutionTest, FullyConnectedMakesOnePixelOfAll) {
  for (const auto format : {float32, float16}) {
    const ConvolutionCase c{.kernel_width = 4, .kernel_height = 3, .inputs = 5, .outputs = 10};
    const auto weights = weights_of(c);
    const auto kernel = NS::TransferPtr(MPS::CNNFullyConnected::alloc()->init(device.get(), weights.get()));
    kernel->setDestinationImageAllocator(MPS::Image::defaultAllocator());
    Tensor source = random_tensor({4, 3, 5, 3, format});
    const Images sources = images_with(source);
    Images results;
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                NS::Array* batch = kernel->encodeBatch(commands, batch_of(sources));
                for (size_t i = 0; i < 3; ++i) results.push_back(NS::RetainPtr(batch->object<MPS::Image>(i)));
              }),
              "");
    expect_near(numbers_of(results), convolved(source, *weights.get(), {2, 1}, {1, 1, 10, 3, format}),
                convolution_tolerance(c, format), "fully connected");
  }
}

TEST_P(ConvolutionTest, ConvertsTypesThatDiffer) {
  const ConvolutionCase c{.inputs = 4, .outputs = 4};
  const auto weights = weights_of(c);
  const auto kernel = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), weights.get()));
  Tensor source = random_tensor({6, 5, 4, 2, float16}), empty({6, 5, 4, 2, float32});
  const Images sources = images_with(source), results = images_with(empty);
  ASSERT_EQ(
      run([&](MTL::CommandBuffer* commands) { kernel->encodeBatch(commands, batch_of(sources), batch_of(results)); }),
      "");
  expect_near(numbers_of(results), convolved(source, *weights.get(), {}, empty.shape),
              convolution_tolerance(c, float32), "half to float");
}

TEST_P(ConvolutionTest, TakesAndMakesNormalisedNumbers) {
  const ConvolutionCase c{.inputs = 3, .outputs = 4};
  const auto weights = weights_of(c);
  const auto kernel = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), weights.get()));
  const auto bytes_image = new_image({6, 5, 3, 1, MPS::ImageFeatureChannelFormatUnorm8});
  const auto shorts_image = new_image({6, 5, 4, 1, MPS::ImageFeatureChannelFormatUnorm16});
  std::vector<uint8_t> bytes(6 * 5 * 3);
  Tensor source({6, 5, 3});
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = uint8_t(i * 89);
    source.numbers[i] = bytes[i] / 255.0;
  }
  bytes_image->writeBytes(bytes.data(), MPS::DataLayoutHeightxWidthxFeatureChannels, 0);
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, bytes_image.get(), shorts_image.get()); }),
            "");
  std::vector<uint16_t> shorts(6 * 5 * 4);
  shorts_image->readBytes(shorts.data(), MPS::DataLayoutHeightxWidthxFeatureChannels, 0);
  const Tensor expected = convolved(source, *weights.get(), {}, {6, 5, 4});
  // Half a step of the result, and the error of the sums.
  for (size_t i = 0; i < shorts.size(); ++i)
    ASSERT_NEAR(shorts[i] / 65535.0, std::clamp(expected.numbers[i], 0.0, 1.0),
                0.5 / 65535 + convolution_tolerance(c, float32));
}

TEST_P(ConvolutionTest, WorksOnTexturesOfPrograms) {
  const ConvolutionCase c{.inputs = 8, .outputs = 8};
  const auto weights = weights_of(c);
  const auto kernel = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), weights.get()));
  const auto new_texture = [&] {
    MTL::TextureDescriptor* descriptor = MTL::TextureDescriptor::alloc()->init()->autorelease();
    descriptor->setTextureType(MTL::TextureType2DArray);
    descriptor->setPixelFormat(MTL::PixelFormatRGBA32Float);
    descriptor->setWidth(6);
    descriptor->setHeight(5);
    descriptor->setArrayLength(2);
    descriptor->setUsage(MTL::TextureUsageShaderRead | MTL::TextureUsageShaderWrite);
    return NS::TransferPtr(device->newTexture(descriptor));
  };
  const auto from = new_texture(), to = new_texture();
  const auto source_image = NS::TransferPtr(MPS::Image::alloc()->init(from.get(), 8)),
             result_image = NS::TransferPtr(MPS::Image::alloc()->init(to.get(), 8));
  ASSERT_TRUE(source_image && result_image);
  Tensor source = random_tensor({6, 5, 8});
  write(source_image.get(), source, 0, 0);
  ASSERT_EQ(
      run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, source_image.get(), result_image.get()); }), "");
  expect_near(numbers_of(result_image.get()), convolved(source, *weights.get(), {}, {6, 5, 8}),
              convolution_tolerance(c, float32), "texture");
}

TEST_P(ConvolutionTest, RefusesWhatDoesNotFitAndNamesTheArgument) {
  const auto weights = weights_of({.inputs = 4, .outputs = 4});
  const auto kernel = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), weights.get()));
  const auto error = [&](const MPS::Image* source, const MPS::Image* result) {
    return run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, source, result); });
  };
  const auto good = new_image({4, 4, 4}), narrow = new_image({4, 4, 2});
  EXPECT_NE(error(nullptr, good.get()).find("sourceImage is null"), std::string::npos);
  EXPECT_NE(error(narrow.get(), good.get()).find("sourceImage has 2 channels"), std::string::npos);
  EXPECT_NE(error(good.get(), narrow.get()).find("destinationImage has 2 channels"), std::string::npos);
  weights->made->setGroups(3);
  EXPECT_EQ(MPS::CNNConvolution::alloc()->init(device.get(), weights.get()), nullptr);
  weights->made->setGroups(1);
  weights->can_load = false;
  EXPECT_EQ(MPS::CNNConvolution::alloc()->init(device.get(), weights.get()), nullptr);
}

}  // namespace
}  // namespace metalloid::mps

// What data sources of convolutions may give: weights in other types, blocks of sub-pixels, updates by optimizers.
#include "convolution_program.hpp"

namespace metalloid::mps {
namespace {

constexpr auto float32 = MPS::ImageFeatureChannelFormatFloat32, float16 = MPS::ImageFeatureChannelFormatFloat16;

class ConvolutionWeightsTest : public ImageTest {
 protected:
  // The convolution of random numbers, against that of the weights' float values.
  void check(MPS::CNNConvolutionDataSource* source_of_weights, const RandomWeights& expected) {
    const ConvolutionCase& c = expected.convolution;
    const auto kernel = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), source_of_weights));
    ASSERT_TRUE(kernel);
    Tensor source = random_tensor({6, 5, c.inputs}), empty({6, 5, c.outputs});
    const Images sources = images_with(source), results = images_with(empty);
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, sources[0].get(), results[0].get()); }),
              "");
    expect_near(numbers_of(results), convolved(source, expected, {}, empty.shape), convolution_tolerance(c, float32),
                "weights");
  }
};
INSTANTIATE_MPS_TEST(ConvolutionWeightsTest);

// Weights whose bytes are another type than float.
class StoredWeights final : public MPS::CNNConvolutionDataSource {
 public:
  StoredWeights(NS::SharedPtr<RandomWeights> model, MPS::DataType type) : model(std::move(model)), type(type) {}

  MPS::DataType dataType() override { return type; }
  MPS::CNNConvolutionDescriptor* descriptor() override { return model->descriptor(); }
  void* weights() override { return bytes.data(); }
  float* biasTerms() override { return model->biasTerms(); }
  bool load() override { return true; }
  void purge() override {}
  MPS::CNNWeightsQuantizationType weightsQuantizationType() override {
    return type == MPS::DataTypeUInt8 ? MPS::CNNWeightsQuantizationTypeLookupTable
                                      : MPS::CNNWeightsQuantizationTypeNone;
  }
  const float* lookupTableForUInt8Kernel() override { return table.empty() ? nullptr : table.data(); }

  NS::SharedPtr<RandomWeights> model;
  MPS::DataType type;
  std::vector<uint8_t> bytes;
  std::vector<float> table;
};

TEST_P(ConvolutionWeightsTest, AreTakenInHalfPrecision) {
  const auto model = NS::TransferPtr(new RandomWeights({.inputs = 3, .outputs = 5}, random));
  const auto stored = NS::TransferPtr(new StoredWeights(model, MPS::DataTypeFloat16));
  stored->bytes.resize(2 * model->numbers.size());
  for (size_t i = 0; i < model->numbers.size(); ++i) {
    set_number(stored->bytes.data(), i, MPS::DataTypeFloat16, model->numbers[i]);
    model->numbers[i] = float(number_at(stored->bytes.data(), i, MPS::DataTypeFloat16));
  }
  check(stored.get(), *model.get());
}

TEST_P(ConvolutionWeightsTest, AreLookedUpInATable) {
  const auto model = NS::TransferPtr(new RandomWeights({.inputs = 4, .outputs = 3}, random));
  const auto stored = NS::TransferPtr(new StoredWeights(model, MPS::DataTypeUInt8));
  for (size_t i = 0; i < model->numbers.size(); ++i) stored->bytes.push_back(uint8_t(i * 41 + 7));
  EXPECT_EQ(MPS::CNNConvolution::alloc()->init(device.get(), stored.get()), nullptr) << "there is no table";
  std::uniform_real_distribution<float> distribution(-1, 1);
  for (size_t i = 0; i < 256; ++i) stored->table.push_back(distribution(random));
  for (size_t i = 0; i < model->numbers.size(); ++i) model->numbers[i] = stored->table[stored->bytes[i]];
  check(stored.get(), *model.get());
}

TEST_P(ConvolutionWeightsTest, ForSubPixelsMakeBlocksOfPixels) {
  for (const auto format : {float32, float16})
    for (const size_t factor : {2, 3}) {
      const ConvolutionCase c{.inputs = 3, .outputs = 5 * factor * factor};
      const auto weights = NS::TransferPtr(new RandomWeights(c, random));
      auto* descriptor = MPS::CNNSubPixelConvolutionDescriptor::cnnConvolutionDescriptor(3, 3, c.inputs, c.outputs);
      EXPECT_EQ(descriptor->subPixelScaleFactor(), 1u);
      descriptor->setSubPixelScaleFactor(factor);
      weights->made = NS::RetainPtr<MPS::CNNConvolutionDescriptor>(descriptor);
      const auto kernel = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), weights.get()));
      ASSERT_TRUE(kernel);
      EXPECT_EQ(kernel->subPixelScaleFactor(), factor);
      kernel->setDestinationImageAllocator(MPS::Image::defaultAllocator());
      const PictureShape shape{5, 4, 3, 2, format};
      Tensor source = random_tensor(shape);
      const Images sources = images_with(source);
      Images results;
      ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                  auto* made = kernel->encodeBatch(commands, batch_of(sources));
                  for (size_t i = 0; i < 2; ++i) results.push_back(NS::RetainPtr(made->object<MPS::Image>(i)));
                }),
                "");
      const Tensor plain = convolved(source, *weights.get(), {}, {5, 4, c.outputs, 2});
      Tensor expected({5 * factor, 4 * factor, 5, 2, format});
      for (size_t image = 0; image < 2; ++image)
        for (size_t y = 0; y < 4 * factor; ++y)
          for (size_t x = 0; x < 5 * factor; ++x)
            for (size_t i = 0; i < 5; ++i)
              expected.at(image, x, y, i) =
                  plain.at(image, x / factor, y / factor, (factor * (y % factor) + x % factor) * 5 + i);
      ASSERT_EQ(results[0]->width(), expected.shape.width);
      ASSERT_EQ(results[0]->height(), expected.shape.height);
      expect_near(numbers_of(results), expected, convolution_tolerance(c, format), "sub-pixels");
      EXPECT_EQ(MPS::CNNConvolutionGradient::alloc()->init(device.get(), weights.get()), nullptr);
      EXPECT_EQ(MPS::CNNConvolutionTranspose::alloc()->init(device.get(), weights.get()), nullptr);
      descriptor->setSubPixelScaleFactor(4);
      EXPECT_EQ(MPS::CNNConvolution::alloc()->init(device.get(), weights.get()), nullptr) << "no blocks of 4 x 4";
    }
}

// A data source that trains its weights: update() encodes a step of an optimizer.
class TrainedWeights final : public MPS::CNNConvolutionDataSource {
 public:
  explicit TrainedWeights(MTL::Device* device, NS::SharedPtr<RandomWeights> model)
      : model(std::move(model)),
        optimizer(NS::TransferPtr(MPS::NNOptimizerStochasticGradientDescent::alloc()->init(device, 0.125f))) {}

  MPS::DataType dataType() override { return MPS::DataTypeFloat32; }
  MPS::CNNConvolutionDescriptor* descriptor() override { return model->descriptor(); }
  void* weights() override { return model->weights(); }
  float* biasTerms() override { return model->biasTerms(); }
  bool load() override { return true; }
  void purge() override {}
  MPS::CNNConvolutionWeightsAndBiasesState* update(MTL::CommandBuffer* commandBuffer,
                                                   MPS::CNNConvolutionGradientState* gradientState,
                                                   MPS::CNNConvolutionWeightsAndBiasesState* sourceState) override {
    auto* updated = MPS::CNNConvolutionWeightsAndBiasesState::temporaryCNNConvolutionWeightsAndBiasesState(
        commandBuffer, descriptor());
    optimizer->encode(commandBuffer, gradientState, sourceState, nullptr, updated);
    return updated;
  }

  NS::SharedPtr<RandomWeights> model;
  NS::SharedPtr<MPS::NNOptimizerStochasticGradientDescent> optimizer;
};

TEST_P(ConvolutionWeightsTest, AreUpdatedByTheirDataSourceInOneCommandBuffer) {
  const ConvolutionCase c{.inputs = 3, .outputs = 4};
  const auto model = NS::TransferPtr(new RandomWeights(c, random));
  const auto weights = NS::TransferPtr(new TrainedWeights(device.get(), model));
  const auto forward = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), weights.get()));
  const auto back = NS::TransferPtr(MPS::CNNConvolutionGradient::alloc()->init(device.get(), weights.get()));
  Tensor source = random_tensor({6, 5, 3, 2}), gradient = random_tensor({6, 5, 4, 2}), empty({6, 5, 4, 2});
  const Images sources = images_with(source), gradients = images_with(gradient), results = images_with(empty);
  NS::SharedPtr<MPS::CNNConvolutionGradientState> state;
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              MPS::StateBatch* states = nullptr;
              forward->encodeBatch(commands, batch_of(sources), &states, false);
              back->encodeBatch(commands, batch_of(gradients), batch_of(sources), states);
              state = NS::RetainPtr(states->object<MPS::CNNConvolutionGradientState>(0));
              auto* old = forward->exportWeightsAndBiases(commands, true);
              auto* updated = forward->dataSource()->update(commands, state.get(), old);
              ASSERT_NE(updated, nullptr);
              updated->setReadCount(2);
              forward->reloadWeightsAndBiases(commands, updated);
              back->reloadWeightsAndBiases(commands, updated);
              forward->encodeBatch(commands, batch_of(sources), batch_of(results));
            }),
            "");
  const auto* of_weights = static_cast<const float*>(state->gradientForWeights()->contents());
  const auto* of_biases = static_cast<const float*>(state->gradientForBiases()->contents());
  for (size_t i = 0; i < model->numbers.size(); ++i) model->numbers[i] -= 0.125f * of_weights[i];
  for (size_t i = 0; i < model->biases.size(); ++i) model->biases[i] -= 0.125f * of_biases[i];
  // Weights have grown to about 2.
  expect_near(numbers_of(results), convolved(source, *model.get(), {}, empty.shape),
              4 * convolution_tolerance(c, float32), "updated");
  EXPECT_EQ(model->update(nullptr, state.get(), nullptr), nullptr) << "a source that does not train";
  EXPECT_FALSE(model->update(state.get(), nullptr));
}

}  // namespace
}  // namespace metalloid::mps

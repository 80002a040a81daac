// Layers that take each pixel by itself: neurons, softmax, dropout.
#include "image_program.hpp"
#include "neuron_reference.hpp"

namespace metalloid::mps {
namespace {

constexpr auto float32 = MPS::ImageFeatureChannelFormatFloat32, float16 = MPS::ImageFeatureChannelFormatFloat16;

class PixelLayersTest : public ImageTest {
 protected:
  struct Passes {
    Tensor result, gradient;
    NS::SharedPtr<NS::Array> states;
  };

  // Forward, and back with a random gradient, which `of_result` gets. The gradient kernel is given the source, or what
  // the forward pass made.
  Passes run_both(MPS::CNNKernel* forward, MPS::CNNGradientKernel* backward, Tensor& source, Tensor& of_result,
                  bool from_result) {
    Tensor empty(source.shape);
    const Images sources = images_with(source), results = images_with(empty);
    const Images of_results = images_with(of_result), of_sources = images_with(empty);
    Passes passes{empty, empty, {}};
    EXPECT_EQ(run([&](MTL::CommandBuffer* commands) {
                passes.states = NS::RetainPtr(forward->resultStateBatch(batch_of(sources), nullptr, batch_of(results)));
                forward->encodeBatch(commands, batch_of(sources), passes.states.get(), batch_of(results));
                backward->encodeBatch(commands, batch_of(of_results), batch_of(from_result ? results : sources),
                                      passes.states.get(), batch_of(of_sources));
              }),
              "");
    passes.result = numbers_of(results);
    passes.gradient = numbers_of(of_sources);
    return passes;
  }
};
INSTANTIATE_MPS_TEST(PixelLayersTest);

TEST_P(PixelLayersTest, NeuronsOfAllTypesAndTheirGradients) {
  const PictureShape shapes[] = {{5, 3, 1, 2, float32},
                                 {3, 4, 3, 2, float16},
                                 {4, 3, 5, 1, float32},
                                 {3, 1, 10, 3, float16},
                                 {2, 2, 64, 1, float32}};
  for (int32_t type = 0; type < MPS::CNNNeuronTypeCount; ++type)
    for (const PictureShape& shape : shapes) {
      if (shape.channels != 5 && type % 5 != int(shape.channels % 5)) continue;
      const auto kind = MPS::CNNNeuronType(type);
      const bool is_positive = kind == MPS::CNNNeuronTypePower || kind == MPS::CNNNeuronTypeLogarithm;
      const double a = 0.75, b = kind == MPS::CNNNeuronTypeReLUN ? 0.5 : is_positive ? 2.5 : 0.25, c = 1.5;
      std::vector<float> slopes(shape.channels);
      for (size_t i = 0; i < slopes.size(); ++i) slopes[i] = float(i) * 0.125f - 0.25f;
      const auto data = NS::TransferPtr(NS::Data::alloc()->init(slopes.data(), slopes.size() * sizeof(float)));
      auto* descriptor = kind == MPS::CNNNeuronTypePReLU
                             ? MPS::NNNeuronDescriptor::cnnNeuronPReLUDescriptor(data.get(), false)
                             : MPS::NNNeuronDescriptor::cnnNeuronDescriptor(kind, float(a), float(b), float(c));
      const auto forward = NS::TransferPtr(MPS::CNNNeuron::alloc()->init(device.get(), descriptor));
      const auto backward = NS::TransferPtr(MPS::CNNNeuronGradient::alloc()->init(device.get(), descriptor));
      Tensor source = random_tensor(shape, -2, 2), of_result = random_tensor(shape);
      const Passes found = run_both(forward.get(), backward.get(), source, of_result, false);
      const double rounding = rounding_of(type_of(shape.format));
      for (size_t i = 0; i < source.numbers.size(); ++i) {
        const double slope = kind == MPS::CNNNeuronTypePReLU ? slopes[i % shape.channels] : a;
        const double x = source.numbers[i], step = 1e-6;
        const double expected = neuron_reference(kind, x, slope, b, c);
        // Results are below 10, and a few functions of float are off by some units in the last place.
        ASSERT_NEAR(found.result.numbers[i], expected, 10 * rounding + 32 * 0x1p-22) << "type " << type;
        const double expected_slope =
            of_result.numbers[i] *
            (neuron_reference(kind, x + step, slope, b, c) - neuron_reference(kind, x - step, slope, b, c)) /
            (2 * step);
        ASSERT_NEAR(found.gradient.numbers[i], expected_slope, 4 * rounding + 2e-5) << "type " << type << ", x " << x;
      }
    }
}

TEST_P(PixelLayersTest, NeuronsWorkWithinClipRectanglesAndOffsets) {
  const auto kernel = NS::TransferPtr(MPS::CNNNeuronReLU::alloc()->init(device.get(), 0.5f));
  EXPECT_EQ(kernel->neuronType(), MPS::CNNNeuronTypeReLU);
  EXPECT_EQ(kernel->a(), 0.5f);
  kernel->setClipRect(MTL::Region(1, 2, 0, 3, 2, 1));
  kernel->setOffset({2, 1, 0});
  const auto back = NS::TransferPtr(MPS::CNNNeuronGradient::alloc()->init(
      device.get(), MPS::NNNeuronDescriptor::cnnNeuronDescriptor(MPS::CNNNeuronTypeReLU, 0.5f)));
  for (const size_t channels : {4, 5}) {
    const PictureShape shape{6, 5, channels, 2};
    Tensor source = random_tensor(shape), of_result = random_tensor(shape);
    const Passes found = run_both(kernel.get(), back.get(), source, of_result, false);
    for (size_t image = 0; image < 2; ++image)
      for (size_t y = 0; y < 5; ++y)
        for (size_t x = 0; x < 6; ++x)
          for (size_t channel = 0; channel < channels; ++channel) {
            const bool is_written = x >= 1 && x < 4 && y >= 2 && y < 4;
            const auto relu = [](double value) { return value >= 0 ? value : value / 2; };
            EXPECT_NEAR(found.result.at(image, x, y, channel),
                        is_written ? relu(source.at(image, x - 1 + 2, y - 2 + 1, channel)) : 0, 1e-6);
            const bool was_read = x >= 2 && x < 5 && y >= 1 && y < 3;
            EXPECT_NEAR(found.gradient.at(image, x, y, channel),
                        was_read ? of_result.at(image, x - 2 + 1, y - 1 + 2, channel) *
                                       (source.at(image, x, y, channel) >= 0 ? 1 : 0.5)
                                 : 0,
                        1e-6);
          }
  }
}

TEST_P(PixelLayersTest, EveryNeuronHasAClassOfItsOwn) {
  const auto check = [](MPS::CNNNeuron* made, MPS::CNNNeuronType type, float a, float b, float c) {
    const auto neuron = NS::TransferPtr(made);
    EXPECT_EQ(neuron->neuronType(), type);
    EXPECT_EQ(neuron->a(), a);
    EXPECT_EQ(neuron->b(), b);
    EXPECT_EQ(neuron->c(), c);
  };
  MTL::Device* on = device.get();
  check(MPS::CNNNeuronLinear::alloc()->init(on, 1, 2), MPS::CNNNeuronTypeLinear, 1, 2, 0);
  check(MPS::CNNNeuronReLU::alloc()->init(on, 1), MPS::CNNNeuronTypeReLU, 1, 0, 0);
  check(MPS::CNNNeuronSigmoid::alloc()->init(on), MPS::CNNNeuronTypeSigmoid, 0, 0, 0);
  check(MPS::CNNNeuronHardSigmoid::alloc()->init(on, 1, 2), MPS::CNNNeuronTypeHardSigmoid, 1, 2, 0);
  check(MPS::CNNNeuronTanH::alloc()->init(on, 1, 2), MPS::CNNNeuronTypeTanH, 1, 2, 0);
  check(MPS::CNNNeuronAbsolute::alloc()->init(on), MPS::CNNNeuronTypeAbsolute, 0, 0, 0);
  check(MPS::CNNNeuronSoftPlus::alloc()->init(on, 1, 2), MPS::CNNNeuronTypeSoftPlus, 1, 2, 0);
  check(MPS::CNNNeuronSoftSign::alloc()->init(on), MPS::CNNNeuronTypeSoftSign, 0, 0, 0);
  check(MPS::CNNNeuronELU::alloc()->init(on, 1), MPS::CNNNeuronTypeELU, 1, 0, 0);
  check(MPS::CNNNeuronReLUN::alloc()->init(on, 1, 2), MPS::CNNNeuronTypeReLUN, 1, 2, 0);
  check(MPS::CNNNeuronPower::alloc()->init(on, 1, 2, 3), MPS::CNNNeuronTypePower, 1, 2, 3);
  check(MPS::CNNNeuronExponential::alloc()->init(on, 1, 2, 3), MPS::CNNNeuronTypeExponential, 1, 2, 3);
  check(MPS::CNNNeuronLogarithm::alloc()->init(on, 1, 2, 3), MPS::CNNNeuronTypeLogarithm, 1, 2, 3);
  const float slopes[] = {1, 2};
  const auto prelu = NS::TransferPtr(MPS::CNNNeuronPReLU::alloc()->init(on, slopes, 2));
  EXPECT_EQ(prelu->neuronType(), MPS::CNNNeuronTypePReLU);
  EXPECT_EQ(prelu->data()->length(), sizeof(slopes));
}

TEST_P(PixelLayersTest, NeuronsThatCannotBeAreRefused) {
  EXPECT_EQ(
      MPS::CNNNeuron::alloc()->init(nullptr, MPS::NNNeuronDescriptor::cnnNeuronDescriptor(MPS::CNNNeuronTypeReLU)),
      nullptr);
  EXPECT_EQ(MPS::CNNNeuron::alloc()->init(device.get(), nullptr), nullptr);
  EXPECT_EQ(MPS::CNNNeuronPReLU::alloc()->init(device.get(), nullptr, 3), nullptr);
  const float slopes[] = {1, 2};
  const auto kernel = NS::TransferPtr(MPS::CNNNeuronPReLU::alloc()->init(device.get(), slopes, 2));
  Tensor source = random_tensor({2, 2, 3});
  const Images sources = images_with(source);
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              kernel->encode(commands, sources[0].get());
            }).find("parameters for 2 channels"),
            std::string::npos);
}

std::vector<double> soft_max(const double* x, size_t count, bool logarithm) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += std::exp(x[i]);
  std::vector<double> result(count);
  for (size_t i = 0; i < count; ++i) result[i] = logarithm ? x[i] - std::log(sum) : std::exp(x[i]) / sum;
  return result;
}

TEST_P(PixelLayersTest, SoftMaxOfChannelsAndItsGradient) {
  for (const bool logarithm : {false, true})
    for (const PictureShape& shape :
         {PictureShape{5, 3, 1, 2, float32}, PictureShape{3, 4, 3, 2, float16}, PictureShape{4, 3, 5, 1, float32},
          PictureShape{3, 1, 10, 3, float16}, PictureShape{2, 2, 64, 1, float32}}) {
      NS::SharedPtr<MPS::CNNKernel> forward;
      NS::SharedPtr<MPS::CNNGradientKernel> backward;
      if (logarithm) {
        forward = NS::TransferPtr<MPS::CNNKernel>(MPS::CNNLogSoftMax::alloc()->init(device.get()));
        backward = NS::TransferPtr<MPS::CNNGradientKernel>(MPS::CNNLogSoftMaxGradient::alloc()->init(device.get()));
      } else {
        forward = NS::TransferPtr<MPS::CNNKernel>(MPS::CNNSoftMax::alloc()->init(device.get()));
        backward = NS::TransferPtr<MPS::CNNGradientKernel>(MPS::CNNSoftMaxGradient::alloc()->init(device.get()));
      }
      Tensor source = random_tensor(shape, -3, 3), of_result = random_tensor(shape);
      const Passes found = run_both(forward.get(), backward.get(), source, of_result, true);
      const double rounding = rounding_of(type_of(shape.format));
      for (size_t first = 0; first < source.numbers.size(); first += shape.channels) {
        const std::vector<double> expected = soft_max(&source.numbers[first], shape.channels, logarithm);
        for (size_t i = 0; i < shape.channels; ++i) {
          ASSERT_NEAR(found.result.numbers[first + i], expected[i], 8 * rounding + 64 * 0x1p-24);
          std::vector<double> moved(&source.numbers[first], &source.numbers[first] + shape.channels);
          double slope = 0;
          for (const double step : {1e-5, -1e-5}) {
            moved[i] = source.numbers[first + i] + step;
            const std::vector<double> there = soft_max(moved.data(), shape.channels, logarithm);
            for (size_t k = 0; k < shape.channels; ++k) slope += of_result.numbers[first + k] * there[k] / (2 * step);
          }
          // The gradient is of the result as it was rounded: with it, a sum of all channels' gradients is.
          ASSERT_NEAR(found.gradient.numbers[first + i], slope, 32 * rounding + 1e-5);
        }
      }
    }
}

TEST_P(PixelLayersTest, DropoutKeepsTheShareThatItShouldAndItsGradientTheSameNumbers) {
  for (const PictureShape& shape : {PictureShape{31, 17, 5, 2, float32}, PictureShape{9, 13, 64, 1, float16},
                                    PictureShape{40, 20, 3, 2, float16}, PictureShape{33, 40, 1, 1, float32}}) {
    const auto forward = NS::TransferPtr(MPS::CNNDropout::alloc()->init(device.get(), 0.75f, 7, MTL::Size(1, 1, 1)));
    const auto backward =
        NS::TransferPtr(MPS::CNNDropoutGradient::alloc()->init(device.get(), 0.75f, 7, MTL::Size(1, 1, 1)));
    Tensor source = random_tensor(shape, 1, 2), of_result = random_tensor(shape, 1, 2);
    const Passes found = run_both(forward.get(), backward.get(), source, of_result, false);
    const double rounding = 4 * rounding_of(type_of(shape.format)) + 4 * 0x1p-24;
    double kept = 0;
    const size_t count = source.numbers.size(), one = count / shape.images;
    for (size_t i = 0; i < count; ++i) {
      const bool keeps = found.result.numbers[i] != 0;
      kept += keeps;
      EXPECT_NEAR(found.result.numbers[i], keeps ? source.numbers[i] / 0.75 : 0, rounding);
      EXPECT_NEAR(found.gradient.numbers[i], keeps ? of_result.numbers[i] / 0.75 : 0, rounding);
    }
    // Five standard deviations.
    EXPECT_NEAR(kept / double(count), 0.75, 5 * std::sqrt(0.75 * 0.25 / double(count)));
    for (size_t image = 0; image < shape.images; ++image) {
      const NS::Data* mask = found.states->object<MPS::CNNDropoutGradientState>(image)->maskData();
      ASSERT_EQ(mask->length(), one);
      for (size_t i = 0; i < one; ++i)
        ASSERT_EQ(static_cast<const uint8_t*>(mask->bytes())[i], found.result.numbers[image * one + i] != 0);
    }
    if (shape.images == 2) {
      size_t equal = 0;
      for (size_t i = 0; i < one; ++i) equal += (found.result.numbers[i] != 0) == (found.result.numbers[one + i] != 0);
      EXPECT_LT(double(equal) / double(one), 0.75) << "images of a batch have masks of their own";
    }
  }
}

TEST_P(PixelLayersTest, DropoutSharesItsMaskAlongDirectionsWithoutStride) {
  const PictureShape shape{6, 5, 10, 1};
  const MTL::Size strides[] = {MTL::Size(0, 0, 1), MTL::Size(1, 0, 1), MTL::Size(1, 1, 0)};
  for (const MTL::Size& stride : strides) {
    const auto forward = NS::TransferPtr(MPS::CNNDropout::alloc()->init(device.get(), 0.5f, 3, stride));
    const auto backward = NS::TransferPtr(MPS::CNNDropoutGradient::alloc()->init(device.get(), 0.5f, 3, stride));
    Tensor source = random_tensor(shape, 1, 2), of_result = random_tensor(shape, 1, 2);
    const Passes found = run_both(forward.get(), backward.get(), source, of_result, false);
    size_t kept = 0;
    for (size_t y = 0; y < shape.height; ++y)
      for (size_t x = 0; x < shape.width; ++x)
        for (size_t channel = 0; channel < shape.channels; ++channel) {
          const bool keeps = found.result.at(0, x, y, channel) != 0;
          kept += keeps;
          EXPECT_EQ(keeps, found.result.at(0, x * stride.width, y * stride.height, channel * stride.depth) != 0);
          EXPECT_EQ(keeps, found.gradient.at(0, x, y, channel) != 0);
        }
    EXPECT_GT(kept, 0u);
    EXPECT_LT(kept, source.numbers.size());
  }
}

TEST_P(PixelLayersTest, DropoutIsTheSameForASeedAndAnotherEachTime) {
  Tensor source = random_tensor({16, 16, 4}, 1, 2), empty({16, 16, 4});
  const Images sources = images_with(source), first = images_with(empty), second = images_with(empty),
               again = images_with(empty);
  const auto one = NS::TransferPtr(MPS::CNNDropout::alloc()->init(device.get(), 0.5f, 11, MTL::Size(1, 1, 1)));
  const auto same = NS::TransferPtr(one->copy());
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              one->encode(commands, sources[0].get(), first[0].get());
              one->encode(commands, sources[0].get(), second[0].get());
              same->encode(commands, sources[0].get(), again[0].get());
            }),
            "");
  EXPECT_EQ(numbers_of(first).numbers, numbers_of(again).numbers);
  EXPECT_NE(numbers_of(first).numbers, numbers_of(second).numbers);
  EXPECT_EQ(MPS::CNNDropout::alloc()->init(device.get(), 0, 1, MTL::Size(1, 1, 1)), nullptr);
  EXPECT_EQ(MPS::CNNDropout::alloc()->init(device.get(), 0.5f, 1, MTL::Size(2, 1, 1)), nullptr);
  EXPECT_EQ(one->keepProbability(), 0.5f);
  EXPECT_EQ(one->seed(), 11u);
}

}  // namespace
}  // namespace metalloid::mps

#include "image_program.hpp"

namespace metalloid::mps {
namespace {

constexpr auto float32 = MPS::ImageFeatureChannelFormatFloat32, float16 = MPS::ImageFeatureChannelFormatFloat16;

class ReshapeTest : public ImageTest {
 protected:
  static Images images_in(const MPS::ImageBatch* batch) {
    Images images;
    for (size_t i = 0; i < batch->count(); ++i) images.push_back(NS::RetainPtr(batch->object<MPS::Image>(i)));
    return images;
  }
};
INSTANTIATE_MPS_TEST(ReshapeTest);

TEST_P(ReshapeTest, SlicesPixelsAndChannels) {
  for (const auto format : {float32, float16}) {
    Tensor source = random_tensor({5, 6, 11, 2, format}), result = random_tensor({4, 4, 5, 2, format});
    const Images sources = images_with(source), results = images_with(result);
    const auto kernel = NS::TransferPtr(MPS::NNSlice::alloc()->init(device.get()));
    kernel->setOffset({2, 1, 0});
    kernel->setSourceFeatureChannelOffset(3);
    kernel->setSourceFeatureChannelMaxCount(5);
    kernel->setClipRect(MTL::Region(1, 0, 0, 3, 4, 1));
    ASSERT_EQ(
        run([&](MTL::CommandBuffer* commands) { kernel->encodeBatch(commands, batch_of(sources), batch_of(results)); }),
        "");
    for (size_t image = 0; image < 2; ++image)
      for (size_t y = 0; y < 4; ++y)
        for (size_t x = 0; x < 3; ++x)
          for (size_t c = 0; c < 5; ++c) result.at(image, x + 1, y, c) = source.at(image, x + 2, y + 1, c + 3);
    expect_near(numbers_of(results), result, 0, "slice");
  }
}

TEST_P(ReshapeTest, ConcatenatesTheResultsOfKernelsInOneImage) {
  for (const auto format : {float32, float16}) {
    const PictureShape shape{4, 3, 3, 2, format}, other{4, 3, 5, 2, format};
    Tensor a = random_tensor(shape), b = random_tensor(shape), c = random_tensor(other),
           whole = random_tensor({4, 3, 17, 2, format});
    const Images first = images_with(a), second = images_with(b), third = images_with(c), results = images_with(whole);
    const auto copy = NS::TransferPtr(MPS::NNSlice::alloc()->init(device.get()));
    const auto neuron = NS::TransferPtr(MPS::CNNNeuron::alloc()->init(
        device.get(), MPS::NNNeuronDescriptor::cnnNeuronDescriptor(MPS::CNNNeuronTypeReLU, 0.0f)));
    const auto pool = NS::TransferPtr(MPS::CNNPoolingMax::alloc()->init(device.get(), 1, 1, 1, 1));
    const auto sum = NS::TransferPtr(MPS::CNNAdd::alloc()->init(device.get()));
    copy->setDestinationFeatureChannelOffset(1);
    neuron->setDestinationFeatureChannelOffset(4);
    pool->setDestinationFeatureChannelOffset(7);
    sum->setDestinationFeatureChannelOffset(12);
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                copy->encodeBatch(commands, batch_of(first), batch_of(results));
                neuron->encodeBatch(commands, batch_of(second), batch_of(results));
                pool->encodeBatch(commands, batch_of(third), batch_of(results));
                sum->encodeBatch(commands, batch_of(first), batch_of(second), batch_of(results));
              }),
              "");
    for (size_t image = 0; image < 2; ++image)
      for (size_t y = 0; y < 3; ++y)
        for (size_t x = 0; x < 4; ++x) {
          for (size_t i = 0; i < 3; ++i) {
            whole.at(image, x, y, 1 + i) = a.at(image, x, y, i);
            whole.at(image, x, y, 4 + i) = std::max(b.at(image, x, y, i), 0.0);
            whole.at(image, x, y, 12 + i) = a.at(image, x, y, i) + b.at(image, x, y, i);
          }
          for (size_t i = 0; i < 5; ++i) whole.at(image, x, y, 7 + i) = c.at(image, x, y, i);
        }
    // One sum of numbers below 1.
    expect_near(numbers_of(results), whole, 2 * rounding_of(type_of(format)), "concatenation");
  }
}

TEST_P(ReshapeTest, KeepsTheOrderOfNumbersInOtherShapesAndBack) {
  struct Case {
    PictureShape from, to;
  };
  for (const Case& c :
       {Case{{4, 3, 5, 2, float32}, {1, 1, 60, 2, float32}}, Case{{1, 1, 36, 1, float16}, {3, 4, 3, 1, float16}},
        Case{{7, 2, 1, 3, float32}, {2, 7, 1, 3, float32}}, Case{{2, 3, 8, 2, float16}, {16, 1, 3, 2, float16}}}) {
    const auto kernel = NS::TransferPtr(MPS::NNReshape::alloc()->init(device.get()));
    const auto back = NS::TransferPtr(MPS::NNReshapeGradient::alloc()->init(device.get()));
    kernel->setDestinationImageAllocator(MPS::Image::defaultAllocator());
    back->setDestinationImageAllocator(MPS::Image::defaultAllocator());
    Tensor source = random_tensor(c.from), empty(c.to), of_result = random_tensor(c.to);
    const Images sources = images_with(source), results = images_with(empty), of_results = images_with(of_result);
    Images made, of_sources, single;
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                kernel->encodeBatch(commands, batch_of(sources), batch_of(results));
                MPS::StateBatch* states = nullptr;
                made = images_in(kernel->encodeBatch(commands, batch_of(sources), &states, true, c.to.width,
                                                     c.to.height, c.to.channels));
                of_sources = images_in(back->encodeBatch(commands, batch_of(of_results), batch_of(sources), states));
                MPS::State* state = nullptr;
                single.push_back(
                    NS::RetainPtr(kernel->encode(commands, sources[0].get(), c.to.width, c.to.height, c.to.channels)));
                single.push_back(NS::RetainPtr(
                    kernel->encode(commands, sources[0].get(), &state, false, c.to.width, c.to.height, c.to.channels)));
                single.push_back(NS::RetainPtr(back->encode(commands, of_results[0].get(), sources[0].get(), state)));
              }),
              "");
    EXPECT_EQ(numbers_of(results).numbers, source.numbers);
    EXPECT_EQ(numbers_of(made).numbers, source.numbers);
    EXPECT_EQ(made[0]->width(), c.to.width);
    EXPECT_EQ(numbers_of(of_sources).numbers, of_result.numbers);
    EXPECT_EQ(of_sources[0]->featureChannels(), c.from.channels);
    const size_t count = c.from.width * c.from.height * c.from.channels;
    EXPECT_EQ(numbers_of(single[1].get()).numbers, numbers_of(single[0].get()).numbers);
    EXPECT_EQ(numbers_of(single[0].get()).numbers,
              std::vector<double>(source.numbers.begin(), source.numbers.begin() + long(count)));
    EXPECT_EQ(numbers_of(single[2].get()).numbers,
              std::vector<double>(of_result.numbers.begin(), of_result.numbers.begin() + long(count)));
  }
}

TEST_P(ReshapeTest, RefusesShapesOfOtherSizes) {
  const auto kernel = NS::TransferPtr(MPS::NNReshape::alloc()->init(device.get()));
  Tensor source = random_tensor({2, 3, 4});
  const Images sources = images_with(source);
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              kernel->encode(commands, sources[0].get(), 5, 5, 1);
            }).find("sourceImage has 2 x 3 x 4 numbers, and destinationImage of 5 x 5 x 1 are written"),
            std::string::npos);
  EXPECT_EQ(MPS::NNReshape::alloc()->init(nullptr), nullptr);
  EXPECT_EQ(MPS::NNSlice::alloc()->init(nullptr), nullptr);
  EXPECT_EQ(MPS::NNPad::alloc()->init(nullptr), nullptr);
}

// Where a place that may be outside of 0 ..< size is read; -1: nowhere.
long read_at(long i, long size, MPS::ImageEdgeMode mode) {
  while (i < 0 || i >= size) {
    if (mode == MPS::ImageEdgeModeZero || mode == MPS::ImageEdgeModeConstant) return -1;
    if (mode == MPS::ImageEdgeModeClamp) return i < 0 ? 0 : size - 1;
    if (mode == MPS::ImageEdgeModeMirror) i = size == 1 ? 0 : i < 0 ? -i : 2 * size - 2 - i;
    if (mode == MPS::ImageEdgeModeMirrorWithEdge) i = i < 0 ? -1 - i : 2 * size - 1 - i;
  }
  return i;
}

TEST_P(ReshapeTest, PadsImagesByEveryEdgeModeAndGathersGradients) {
  struct Case {
    PictureShape shape;
    MPS::ImageCoordinate before, after;
  };
  for (const MPS::ImageEdgeMode mode : {MPS::ImageEdgeModeZero, MPS::ImageEdgeModeClamp, MPS::ImageEdgeModeMirror,
                                        MPS::ImageEdgeModeMirrorWithEdge, MPS::ImageEdgeModeConstant})
    for (const bool has_values : {false, true})
      for (const Case& c :
           {Case{{5, 3, 1, 2, float32}, {2, 1, 0}, {1, 3, 0}}, Case{{3, 4, 3, 2, float16}, {4, 0, 2}, {5, 6, 3}},
            Case{{1, 7, 5, 1, float32}, {3, 2, 1}, {2, 2, 0}}, Case{{4, 3, 10, 3, float16}, {0, 0, 3}, {0, 0, 7}}}) {
        const PictureShape &from = c.shape,
                           to{c.before.x + from.width + c.after.x, c.before.y + from.height + c.after.y,
                              c.before.channel + from.channels + c.after.channel, from.images, from.format};
        std::vector<float> values(to.channels);
        for (size_t i = 0; i < values.size(); ++i) values[i] = float(i) / 8;
        const auto data = NS::TransferPtr(NS::Data::alloc()->init(values.data(), values.size() * sizeof(float)));
        const auto kernel = NS::TransferPtr(
            MPS::NNPad::alloc()->init(device.get(), c.before, c.after, has_values ? data.get() : nullptr));
        const auto back = NS::TransferPtr(MPS::NNPadGradient::alloc()->init(device.get()));
        kernel->setEdgeMode(mode);
        kernel->setFillValue(0.75f);
        kernel->setDestinationImageAllocator(MPS::Image::defaultAllocator());
        back->setDestinationImageAllocator(MPS::Image::defaultAllocator());
        Tensor source = random_tensor(from), of_result = random_tensor(to);
        const Images sources = images_with(source), of_results = images_with(of_result);
        Images results, of_sources;
        ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                    MPS::StateBatch* states = nullptr;
                    results = images_in(kernel->encodeBatch(commands, batch_of(sources), &states, false));
                    of_sources =
                        images_in(back->encodeBatch(commands, batch_of(of_results), batch_of(sources), states));
                  }),
                  "");
        Tensor expected(to), gradient(from);
        for (size_t image = 0; image < to.images; ++image)
          for (size_t y = 0; y < to.height; ++y)
            for (size_t x = 0; x < to.width; ++x)
              for (size_t channel = 0; channel < to.channels; ++channel) {
                const long from_x = read_at(long(x) - long(c.before.x), long(from.width), mode);
                const long from_y = read_at(long(y) - long(c.before.y), long(from.height), mode);
                const long from_c = read_at(long(channel) - long(c.before.channel), long(from.channels), mode);
                const double fill = mode != MPS::ImageEdgeModeConstant ? 0 : has_values ? values[channel] : 0.75;
                const bool is_inside = from_x >= 0 && from_y >= 0 && from_c >= 0;
                expected.at(image, x, y, channel) =
                    is_inside ? source.at(image, size_t(from_x), size_t(from_y), size_t(from_c)) : fill;
                if (is_inside)
                  gradient.at(image, size_t(from_x), size_t(from_y), size_t(from_c)) +=
                      of_result.at(image, x, y, channel);
              }
        const std::string what = "mode " + std::to_string(mode);
        expect_near(numbers_of(results), expected, 0, what);
        // Sums of up to 150 numbers, which make less than 32.
        expect_near(numbers_of(of_sources), gradient, 16 * rounding_of(type_of(from.format)) + 256 * 0x1p-24, what);
      }
}

TEST_P(ReshapeTest, PadsByOffsetAndClipRectangleAndTakesChannelsApart) {
  const auto kernel = NS::TransferPtr(MPS::NNPad::alloc()->init(device.get(), {0, 0, 2}, {0, 0, 3}));
  kernel->setOffset({-1, 1, 0});
  kernel->setClipRect(MTL::Region(0, 1, 0, 4, 2, 1));
  kernel->setSourceFeatureChannelOffset(1);
  kernel->setSourceFeatureChannelMaxCount(3);
  kernel->setDestinationFeatureChannelOffset(4);
  kernel->setEdgeMode(MPS::ImageEdgeModeMirrorWithEdge);
  EXPECT_EQ(kernel->paddingSizeBefore().channel, 2u);
  EXPECT_EQ(kernel->paddingSizeAfter().channel, 3u);
  Tensor source = random_tensor({3, 3, 6}), result = random_tensor({5, 4, 13});
  const Images sources = images_with(source), results = images_with(result);
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, sources[0].get(), results[0].get()); }),
            "");
  const size_t channels[] = {2, 1, 1, 2, 3, 3, 2, 1};
  for (size_t y = 0; y < 2; ++y)
    for (size_t x = 0; x < 4; ++x)
      for (size_t c = 0; c < 8; ++c)
        result.at(0, x, y + 1, c + 4) = source.at(0, x == 0 ? 0 : x - 1, y + 1, channels[c]);
  expect_near(numbers_of(results), result, 0, "padded channels");

  const float two[] = {1, 2};
  const auto data = NS::TransferPtr(NS::Data::alloc()->init(two, sizeof(two)));
  const auto few = NS::TransferPtr(MPS::NNPad::alloc()->init(device.get(), {0, 0, 0}, {0, 0, 0}, data.get()));
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              few->encode(commands, sources[0].get());
            }).find("fillValueArray has 2 numbers, and 6 channels are written"),
            std::string::npos);
}

}  // namespace
}  // namespace metalloid::mps

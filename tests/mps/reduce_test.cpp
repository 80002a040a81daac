#include "image_program.hpp"

namespace metalloid::mps {
namespace {

constexpr auto float32 = MPS::ImageFeatureChannelFormatFloat32, float16 = MPS::ImageFeatureChannelFormatFloat16;

class ReduceTest : public ImageTest {
 protected:
  enum class Direction { row, column, channels };
  enum class Kind { min, max, sum, mean, argument_min, argument_max };

  static double reduced(const std::vector<double>& numbers, Kind kind) {
    const auto least = std::min_element(numbers.begin(), numbers.end());
    const auto greatest = std::max_element(numbers.begin(), numbers.end());
    double sum = 0;
    for (const double number : numbers) sum += number;
    switch (kind) {
      case Kind::min:
        return *least;
      case Kind::max:
        return *greatest;
      case Kind::sum:
        return sum;
      case Kind::mean:
        return sum / double(numbers.size());
      case Kind::argument_min:
        return double(least - numbers.begin());
      default:
        return double(greatest - numbers.begin());
    }
  }

  // Whole images, and a part of them.
  void check(MPS::NNReduceUnary* made, Direction direction, Kind kind) {
    const auto kernel = NS::TransferPtr(made);
    kernel->setDestinationImageAllocator(MPS::Image::defaultAllocator());
    for (const bool clips : {false, true})
      for (const PictureShape& shape : {PictureShape{5, 3, 1, 2, float32}, PictureShape{3, 4, 3, 2, float16},
                                        PictureShape{4, 7, 5, 1, float32}, PictureShape{3, 2, 10, 3, float16},
                                        PictureShape{2, 2, 64, 1, float32}, PictureShape{3, 2, 37, 2, float16}}) {
        const size_t left = clips ? 1 : 0, width = shape.width - left, height = clips ? 2 : shape.height;
        if (clips) kernel->setClipRectSource(MTL::Region(1, 0, 0, width, height, 1));
        Tensor source = random_tensor(shape);
        const Images sources = images_with(source);
        NS::SharedPtr<MPS::ImageBatch> batch;
        ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                    batch = NS::RetainPtr(kernel->encodeBatch(commands, batch_of(sources)));
                  }),
                  "");
        Images results;
        for (size_t i = 0; i < batch->count(); ++i) results.push_back(NS::RetainPtr(batch->object<MPS::Image>(i)));
        Tensor expected({direction == Direction::row ? 1 : width, direction == Direction::column ? 1 : height,
                         direction == Direction::channels ? 1 : shape.channels, shape.images, shape.format});
        for (size_t image = 0; image < shape.images; ++image)
          for (size_t y = 0; y < expected.shape.height; ++y)
            for (size_t x = 0; x < expected.shape.width; ++x)
              for (size_t channel = 0; channel < expected.shape.channels; ++channel) {
                std::vector<double> numbers;
                if (direction == Direction::row)
                  for (size_t i = 0; i < width; ++i) numbers.push_back(source.at(image, left + i, y, channel));
                if (direction == Direction::column)
                  for (size_t i = 0; i < height; ++i) numbers.push_back(source.at(image, left + x, i, channel));
                if (direction == Direction::channels)
                  for (size_t i = 0; i < shape.channels; ++i) numbers.push_back(source.at(image, left + x, y, i));
                expected.at(image, x, y, channel) = reduced(numbers, kind);
              }
        // Sums of up to 64 numbers below 1, which make less than 32.
        expect_near(numbers_of(results), expected, 16 * rounding_of(type_of(shape.format)) + 64 * 0x1p-24,
                    "direction " + std::to_string(int(direction)) + ", kind " + std::to_string(int(kind)));
      }
  }
};
INSTANTIATE_MPS_TEST(ReduceTest);

TEST_P(ReduceTest, ReducesRowsColumnsAndChannels) {
  check(MPS::NNReduceRowMin::alloc()->init(device.get()), Direction::row, Kind::min);
  check(MPS::NNReduceColumnMin::alloc()->init(device.get()), Direction::column, Kind::min);
  check(MPS::NNReduceFeatureChannelsMin::alloc()->init(device.get()), Direction::channels, Kind::min);
  check(MPS::NNReduceFeatureChannelsArgumentMin::alloc()->init(device.get()), Direction::channels, Kind::argument_min);
  check(MPS::NNReduceRowMax::alloc()->init(device.get()), Direction::row, Kind::max);
  check(MPS::NNReduceColumnMax::alloc()->init(device.get()), Direction::column, Kind::max);
  check(MPS::NNReduceFeatureChannelsMax::alloc()->init(device.get()), Direction::channels, Kind::max);
  check(MPS::NNReduceFeatureChannelsArgumentMax::alloc()->init(device.get()), Direction::channels, Kind::argument_max);
  check(MPS::NNReduceRowMean::alloc()->init(device.get()), Direction::row, Kind::mean);
  check(MPS::NNReduceColumnMean::alloc()->init(device.get()), Direction::column, Kind::mean);
  check(MPS::NNReduceFeatureChannelsMean::alloc()->init(device.get()), Direction::channels, Kind::mean);
  check(MPS::NNReduceRowSum::alloc()->init(device.get()), Direction::row, Kind::sum);
  check(MPS::NNReduceColumnSum::alloc()->init(device.get()), Direction::column, Kind::sum);
  check(MPS::NNReduceFeatureChannelsSum::alloc()->init(device.get()), Direction::channels, Kind::sum);
}

TEST_P(ReduceTest, WeighsSumsOfChannelsAndRefusesResultsThatAreTooLarge) {
  const auto kernel = NS::TransferPtr(MPS::NNReduceFeatureChannelsSum::alloc()->init(device.get()));
  EXPECT_EQ(kernel->weight(), 1.0f);
  kernel->setWeight(0.5f);
  Tensor source = random_tensor({2, 1, 3}), result({2, 1, 1}), large({3, 1, 1});
  const Images sources = images_with(source), results = images_with(result), others = images_with(large);
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) { kernel->encode(commands, sources[0].get(), results[0].get()); }),
            "");
  const Tensor found = numbers_of(results);
  for (size_t x = 0; x < 2; ++x)
    EXPECT_NEAR(found.at(0, x, 0, 0), (source.at(0, x, 0, 0) + source.at(0, x, 0, 1) + source.at(0, x, 0, 2)) / 2,
                4 * 0x1p-24);
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              kernel->encode(commands, sources[0].get(), others[0].get());
            }).find("the reduction has 2 x 1"),
            std::string::npos);
  EXPECT_EQ(MPS::NNReduceRowSum::alloc()->init(nullptr), nullptr);
}

TEST_P(ReduceTest, WeighsChannelsByAnotherImage) {
  enum { sum, mean, by_non_zero };
  for (const int kind : {sum, mean, by_non_zero})
    for (const PictureShape& shape : {PictureShape{5, 3, 1, 2, float32}, PictureShape{3, 4, 3, 2, float16},
                                      PictureShape{4, 7, 5, 1, float32}, PictureShape{2, 2, 64, 1, float16}}) {
      MPS::NNReduceBinary* made = nullptr;
      if (kind == mean) made = MPS::NNReduceFeatureChannelsAndWeightsMean::alloc()->init(device.get());
      if (kind != mean)
        made = MPS::NNReduceFeatureChannelsAndWeightsSum::alloc()->init(device.get(), kind == by_non_zero);
      const auto kernel = NS::TransferPtr(made);
      kernel->setDestinationImageAllocator(MPS::Image::defaultAllocator());
      kernel->setPrimarySourceClipRect(MTL::Region(1, 0, 0, shape.width - 1, 2, 1));
      kernel->setSecondarySourceClipRect(MTL::Region(0, 1, 0, shape.width - 1, 2, 1));
      PictureShape higher = shape;
      higher.height = 3;
      Tensor source = random_tensor(shape), weights = random_tensor(higher),
             expected({shape.width - 1, 2, 1, shape.images, shape.format});
      for (size_t i = 0; i < weights.numbers.size(); i += 3) weights.numbers[i] = 0;
      const Images sources = images_with(source), of_weights = images_with(weights);
      Images results;
      ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                  auto* batch = kernel->encodeBatch(commands, batch_of(sources), batch_of(of_weights));
                  for (size_t i = 0; i < shape.images; ++i)
                    results.push_back(NS::RetainPtr(batch->object<MPS::Image>(i)));
                }),
                "");
      for (size_t image = 0; image < shape.images; ++image)
        for (size_t y = 0; y < 2; ++y)
          for (size_t x = 0; x + 1 < shape.width; ++x) {
            double all = 0, used = 0;
            for (size_t c = 0; c < shape.channels; ++c) {
              const double weight = weights.at(image, x, y + 1, c);
              all += source.at(image, x + 1, y, c) * weight;
              used += weight != 0;
            }
            if (kind == mean) all /= double(shape.channels);
            if (kind == by_non_zero) all = used > 0 ? all / used : 0;
            expected.at(image, x, y, 0) = all;
          }
      expect_near(numbers_of(results), expected, 8 * rounding_of(type_of(shape.format)) + 64 * 0x1p-24,
                  "kind " + std::to_string(kind));
    }
  const auto kernel = NS::TransferPtr(MPS::NNReduceFeatureChannelsAndWeightsSum::alloc()->init(device.get()));
  EXPECT_FALSE(kernel->doWeightedSumByNonZeroWeights());
  Tensor source = random_tensor({2, 2, 3}), weights = random_tensor({2, 2, 2});
  const Images sources = images_with(source), others = images_with(weights);
  EXPECT_NE(run([&](MTL::CommandBuffer* commands) {
              kernel->encode(commands, sources[0].get(), others[0].get());
            }).find("2 x 2 x 3 numbers of primaryImage are reduced, and secondaryImage has 2 x 2 x 2 weights"),
            std::string::npos);
}

}  // namespace
}  // namespace metalloid::mps

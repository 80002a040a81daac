#include "image_program.hpp"

namespace metalloid::mps {
namespace {

constexpr auto float32 = MPS::ImageFeatureChannelFormatFloat32, float16 = MPS::ImageFeatureChannelFormatFloat16;

struct LossCase {
  MPS::CNNLossType type;
  double weight = 1, smoothing = 0, classes = 1, epsilon = 0.125, delta = 0.5;

  double smoothed(double t) const {
    if (type == MPS::CNNLossTypeSoftMaxCrossEntropy) return t * (1 - smoothing) + smoothing / classes;
    if (type == MPS::CNNLossTypeSigmoidCrossEntropy) return t * (1 - smoothing) + smoothing / 2;
    return t;
  }
};

// The losses of all numbers in float64.
Tensor losses_of(const LossCase& c, const Tensor& source, const Tensor& labels, const Tensor& weights) {
  Tensor losses(source.shape);
  const size_t channels = source.shape.channels;
  for (size_t i = 0; i < losses.numbers.size(); ++i) {
    const double y = source.numbers[i], t = c.smoothed(labels.numbers[i]);
    double loss = 0, sum = 0;
    switch (c.type) {
      case MPS::CNNLossTypeMeanAbsoluteError:
        loss = std::abs(y - t);
        break;
      case MPS::CNNLossTypeMeanSquaredError:
        loss = (y - t) * (y - t);
        break;
      case MPS::CNNLossTypeSoftMaxCrossEntropy:
        for (size_t k = 0; k < channels; ++k) sum += std::exp(source.numbers[i / channels * channels + k]);
        loss = -t * (y - std::log(sum));
        break;
      case MPS::CNNLossTypeSigmoidCrossEntropy:
        loss = -t * std::log(1 / (1 + std::exp(-y))) - (1 - t) * std::log(1 - 1 / (1 + std::exp(-y)));
        break;
      case MPS::CNNLossTypeCategoricalCrossEntropy:
        loss = t == 0 ? 0 : -t * std::log(y);
        break;
      case MPS::CNNLossTypeHinge:
        loss = std::max(0.0, 1 - (2 * t - 1) * y);
        break;
      case MPS::CNNLossTypeHuber:
        loss = std::abs(y - t) <= c.delta ? (y - t) * (y - t) / 2
                                          : c.delta * c.delta / 2 + c.delta * (std::abs(y - t) - c.delta);
        break;
      case MPS::CNNLossTypeCosineDistance:
        loss = -y * t;
        break;
      case MPS::CNNLossTypeLog:
        loss = -t * std::log(y + c.epsilon) - (1 - t) * std::log(1 - y + c.epsilon);
        break;
      default:
        loss = t == 0 ? 0 : t * (std::log(t) - y);
    }
    losses.numbers[i] = c.weight * weights.numbers[i] * loss;
  }
  return losses;
}

bool needs_probabilities(MPS::CNNLossType type) {
  return type == MPS::CNNLossTypeCategoricalCrossEntropy || type == MPS::CNNLossTypeLog;
}

class LossTest : public ImageTest {
 protected:
  using LabelsBatch = std::vector<NS::SharedPtr<MPS::CNNLossLabels>>;

  static NS::SharedPtr<MPS::CNNLoss> loss(MTL::Device* device, const LossCase& c, MPS::CNNReductionType reduction,
                                          bool across_batch = false) {
    auto* descriptor = MPS::CNNLossDescriptor::cnnLossDescriptor(c.type, reduction);
    descriptor->setWeight(float(c.weight));
    descriptor->setLabelSmoothing(float(c.smoothing));
    descriptor->setNumberOfClasses(size_t(c.classes));
    descriptor->setEpsilon(float(c.epsilon));
    descriptor->setDelta(float(c.delta));
    descriptor->setReduceAcrossBatch(across_batch);
    return NS::TransferPtr(MPS::CNNLoss::alloc()->init(device, descriptor));
  }

  // One for each image; by channel, every second of them.
  static MPS::CNNLossDataDescriptor* data_of(const Tensor& tensor, size_t image) {
    const PictureShape& shape = tensor.shape;
    const bool by_channel = image % 2;
    std::vector<float> numbers;
    if (by_channel) {
      for (size_t channel = 0; channel < shape.channels; ++channel)
        for (size_t y = 0; y < shape.height; ++y)
          for (size_t x = 0; x < shape.width; ++x) numbers.push_back(float(tensor.at(image, x, y, channel)));
    } else {
      const size_t count = shape.width * shape.height * shape.channels;
      numbers.assign(tensor.numbers.begin() + long(image * count), tensor.numbers.begin() + long((image + 1) * count));
    }
    const auto data = NS::TransferPtr(NS::Data::alloc()->init(numbers.data(), numbers.size() * sizeof(float)));
    return MPS::CNNLossDataDescriptor::cnnLossDataDescriptor(
        data.get(),
        by_channel ? MPS::DataLayoutFeatureChannelsxHeightxWidth : MPS::DataLayoutHeightxWidthxFeatureChannels,
        MTL::Size(shape.width, shape.height, shape.channels));
  }

  LabelsBatch labels_with(const Tensor& labels, const Tensor* weights, bool reduces) {
    LabelsBatch batch;
    const MTL::Size size =
        reduces ? MTL::Size(1, 1, 1) : MTL::Size(labels.shape.width, labels.shape.height, labels.shape.channels);
    for (size_t i = 0; i < labels.shape.images; ++i)
      batch.push_back(NS::TransferPtr(MPS::CNNLossLabels::alloc()->init(device.get(), size, data_of(labels, i),
                                                                        weights ? data_of(*weights, i) : nullptr)));
    return batch;
  }

  static NS::Array* batch_of(const LabelsBatch& labels) {
    std::vector<const NS::Object*> objects;
    for (const auto& one : labels) objects.push_back(one.get());
    return NS::Array::array(objects.data(), objects.size());
  }
  using ImageTest::batch_of;

  // Labels of pixels sum to 1; some are 0.
  Tensor random_labels(const PictureShape& shape, MPS::CNNLossType type) {
    Tensor labels = random_tensor({shape.width, shape.height, shape.channels, shape.images}, 0, 1);
    for (size_t i = 0; i < labels.numbers.size(); ++i) {
      if (type == MPS::CNNLossTypeHinge) labels.numbers[i] = labels.numbers[i] < 0.5 ? 0 : 1;
      if (i % 5 == 1 && shape.channels > 1) labels.numbers[i] = 0;
    }
    if (type == MPS::CNNLossTypeSoftMaxCrossEntropy)
      for (size_t first = 0; first < labels.numbers.size(); first += shape.channels) {
        double sum = 0;
        for (size_t k = 0; k < shape.channels; ++k) sum += labels.numbers[first + k];
        for (size_t k = 0; k < shape.channels; ++k) labels.numbers[first + k] /= sum;
      }
    for (double& label : labels.numbers) label = float(label);
    return labels;
  }

  void check(const LossCase& c, const PictureShape& shape, MPS::CNNReductionType reduction, bool with_weights) {
    const std::string what = "type " + std::to_string(c.type) + ", reduction " + std::to_string(reduction) + ", " +
                             std::to_string(shape.channels) + " channels";
    const bool reduces = reduction != MPS::CNNReductionTypeNone;
    Tensor source = needs_probabilities(c.type) ? random_tensor(shape, 0.1, 0.9) : random_tensor(shape, -2, 2);
    Tensor labels = random_labels(shape, c.type), weights(shape), gradient(shape);
    std::uniform_int_distribution<int> any(0, 2);
    for (double& weight : weights.numbers) weight = with_weights ? any(random) * 0.5 : 1;
    const Images sources = images_with(source), gradients = images_with(gradient);
    const LabelsBatch batch = labels_with(labels, with_weights ? &weights : nullptr, reduces);
    const auto kernel = loss(device.get(), c, reduction);
    ASSERT_TRUE(kernel) << what;
    ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
                kernel->encodeBatch(commands, batch_of(sources), batch_of(batch), batch_of(gradients));
              }),
              "")
        << what;

    const Tensor expected = losses_of(c, source, labels, weights);
    const size_t count = shape.width * shape.height * shape.channels;
    for (size_t image = 0; image < shape.images; ++image) {
      const Tensor found = numbers_of(batch[image]->lossImage());
      double sum = 0, used = 0;
      for (size_t i = image * count; i < (image + 1) * count; ++i) {
        sum += expected.numbers[i];
        used += weights.numbers[i] != 0;
        // Losses are below 8, of a few operations in float.
        if (!reduces) {
          ASSERT_NEAR(found.numbers[i - image * count], expected.numbers[i], 32 * 0x1p-21) << what;
        }
      }
      if (!reduces) continue;
      if (c.type == MPS::CNNLossTypeCosineDistance) sum += c.weight;
      if (reduction == MPS::CNNReductionTypeMean)
        sum /= double(c.type == MPS::CNNLossTypeSoftMaxCrossEntropy ? count / shape.channels : count);
      if (reduction == MPS::CNNReductionTypeSumByNonZeroWeights) sum /= used;
      ASSERT_NEAR(found.numbers[0], sum, double(count) * 0x1p-21) << what;
    }

    // Against differences of float64. The gradient of a softmax is that with equal weights in a pixel.
    if (c.type == MPS::CNNLossTypeSoftMaxCrossEntropy && with_weights) return;
    const Tensor slopes = numbers_of(gradients);
    const double step = 1e-5, rounding = rounding_of(type_of(shape.format));
    std::uniform_int_distribution<size_t> some(0, source.numbers.size() - 1);
    for (int trial = 0; trial < 5; ++trial) {
      const size_t i = some(random), pixel = i / shape.channels * shape.channels;
      const auto near_by = [&](double change) {
        Tensor moved = source;
        moved.numbers[i] += change;
        const Tensor there = losses_of(c, moved, labels, weights);
        double sum = 0;
        for (size_t k = 0; k < shape.channels; ++k) sum += there.numbers[pixel + k];
        return sum;
      };
      ASSERT_NEAR(slopes.numbers[i], (near_by(step) - near_by(-step)) / (2 * step), 16 * rounding + 1e-4)
          << what << ", gradient of number " << i;
    }
  }
};
INSTANTIATE_MPS_TEST(LossTest);

TEST_P(LossTest, GivesEveryLossAndItsGradientForEveryReductionTypeAndSize) {
  for (uint32_t type = 0; type < MPS::CNNLossTypeCount; ++type)
    for (int32_t reduction = 0; reduction < MPS::CNNReductionTypeCount; ++reduction) {
      if (type == MPS::CNNLossTypeCosineDistance && reduction != MPS::CNNReductionTypeSum) continue;
      const LossCase c{.type = MPS::CNNLossType(type), .weight = 0.75};
      check(c, {3, 5, 10, 2, float32}, MPS::CNNReductionType(reduction), false);
      check(c, {3, 5, 5, 3, float16}, MPS::CNNReductionType(reduction), true);
      if (reduction == MPS::CNNReductionTypeMean || type == MPS::CNNLossTypeCosineDistance)
        for (const size_t channels : {1, 3, 64})
          check(c, {1, 2, channels, 1, channels == 3 ? float16 : float32}, MPS::CNNReductionType(reduction), true);
    }
}

TEST_P(LossTest, SmoothsLabelsOfCrossEntropies) {
  for (const auto type : {MPS::CNNLossTypeSoftMaxCrossEntropy, MPS::CNNLossTypeSigmoidCrossEntropy})
    check({.type = type, .smoothing = 0.25, .classes = 10}, {2, 3, 10, 2, float32}, MPS::CNNReductionTypeSum, false);
}

TEST_P(LossTest, SumsOverTheBatchWhereItIsAskedTo) {
  const LossCase c{.type = MPS::CNNLossTypeMeanSquaredError};
  const PictureShape shape{2, 3, 5, 3};
  Tensor source = random_tensor(shape), labels = random_tensor(shape), weights(shape);
  for (double& weight : weights.numbers) weight = 1;
  const Images sources = images_with(source);
  const LabelsBatch batch = labels_with(labels, nullptr, true);
  const auto kernel = loss(device.get(), c, MPS::CNNReductionTypeMean, true);
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              MPS::ImageBatch* gradients = kernel->encodeBatch(commands, batch_of(sources), batch_of(batch));
              EXPECT_EQ(gradients->count(), 3u);
            }),
            "");
  double sum = 0;
  for (const double one : losses_of(c, source, labels, weights).numbers) sum += one;
  EXPECT_NEAR(numbers_of(batch[0]->lossImage()).numbers[0], sum / 90, 1e-6);
  EXPECT_EQ(numbers_of(batch[1]->lossImage()).numbers[0], 0);
  EXPECT_EQ(numbers_of(batch[2]->lossImage()).numbers[0], 0);
}

TEST_P(LossTest, TakesLabelsAsImagesAndMakesTheGradientsImage) {
  Tensor source = random_tensor({3, 2, 5, 1, float16}), labels = random_tensor({3, 2, 5, 1, float16});
  Tensor weights = random_tensor({3, 2, 5}, 0.5, 1);
  const Images sources = images_with(source), of_labels = images_with(labels), of_weights = images_with(weights);
  const auto batch = NS::TransferPtr(
      MPS::CNNLossLabels::alloc()->init(device.get(), MTL::Size(1, 1, 1), of_labels[0].get(), of_weights[0].get()));
  EXPECT_EQ(batch->labelsImage(), of_labels[0].get());
  EXPECT_EQ(batch->weightsImage(), of_weights[0].get());
  const LossCase c{.type = MPS::CNNLossTypeMeanAbsoluteError};
  const auto kernel = loss(device.get(), c, MPS::CNNReductionTypeSum);
  kernel->setDestinationImageAllocator(MPS::Image::defaultAllocator());
  NS::SharedPtr<MPS::Image> gradient;
  ASSERT_EQ(run([&](MTL::CommandBuffer* commands) {
              gradient = NS::RetainPtr(kernel->encode(commands, sources[0].get(), batch.get()));
            }),
            "");
  double sum = 0;
  for (const double one : losses_of(c, source, labels, weights).numbers) sum += one;
  EXPECT_NEAR(numbers_of(batch->lossImage()).numbers[0], sum, 32 * 0x1p-21);
  const Tensor found = numbers_of(gradient.get());
  for (size_t i = 0; i < found.numbers.size(); ++i)
    EXPECT_NEAR(found.numbers[i], source.numbers[i] > labels.numbers[i] ? weights.numbers[i] : -weights.numbers[i],
                0x1p-11);
}

TEST_P(LossTest, RefusesLabelsAndLossImagesThatDoNotFit) {
  Tensor source = random_tensor({2, 2, 4}), small = random_tensor({2, 2, 3});
  const Images sources = images_with(source), results = images_with(source);
  const auto kernel = loss(device.get(), {.type = MPS::CNNLossTypeHuber}, MPS::CNNReductionTypeSum);
  const auto error = [&](const LabelsBatch& labels) {
    return run([&](MTL::CommandBuffer* commands) {
      kernel->encode(commands, sources[0].get(), labels[0].get(), results[0].get());
    });
  };
  EXPECT_NE(error(labels_with(small, nullptr, true)).find("labelsImage has 2 x 2 x 3"), std::string::npos);
  EXPECT_NE(error(labels_with(source, nullptr, false)).find("lossImage of labels"), std::string::npos);
  EXPECT_NE(error({NS::SharedPtr<MPS::CNNLossLabels>()}).find("there are 1 images and 0 labels"), std::string::npos);
  EXPECT_FALSE(loss(device.get(), {.type = MPS::CNNLossTypeCosineDistance}, MPS::CNNReductionTypeMean));
  EXPECT_EQ(MPS::CNNLoss::alloc()->init(device.get(), nullptr), nullptr);
  EXPECT_EQ(MPS::CNNLossLabels::alloc()->init(device.get(), nullptr), nullptr);
  EXPECT_EQ(kernel->lossType(), MPS::CNNLossTypeHuber);
}

}  // namespace
}  // namespace metalloid::mps

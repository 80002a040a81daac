#include "network.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "training/failure.hpp"

namespace metalloid::train_cnn {

namespace {

constexpr size_t first_channels = 32, second_channels = 64, hidden_channels = 1024;
constexpr size_t first_size = image_size / 2, second_size = image_size / 4;
constexpr float keep_probability = 0.5f;

// A batch whose images lie side by side, so that kernels take them as one.
NS::SharedPtr<NS::Array> new_images(MTL::Device* device, MPS::ImageDescriptor* descriptor) {
  const auto all = NS::TransferPtr(MPS::Image::alloc()->init(device, descriptor));
  if (!all)
    throw training::Failure(training::exit_failed,
                            "the device has no memory left for the images: try a smaller --batch");
  return NS::RetainPtr(all->batchRepresentation());
}

MPS::ImageDescriptor* describe(MPS::ImageFeatureChannelFormat format, size_t batch, size_t size, size_t channels) {
  return MPS::ImageDescriptor::imageDescriptor(format, size, size, channels, batch,
                                               MTL::TextureUsageShaderRead | MTL::TextureUsageShaderWrite);
}

NS::SharedPtr<NS::Array> new_images(MTL::Device* device, size_t batch, size_t size, size_t channels) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  return new_images(device, describe(MPS::ImageFeatureChannelFormatFloat32, batch, size, channels));
}

// For what the host writes and never reads.
NS::SharedPtr<NS::Array> new_inputs(MTL::Device* device, MPS::ImageFeatureChannelFormat format, size_t batch,
                                    size_t size, size_t channels) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  MPS::ImageDescriptor* descriptor = describe(format, batch, size, channels);
  descriptor->setCpuCacheMode(MTL::CPUCacheModeWriteCombined);
  return new_images(device, descriptor);
}

NS::SharedPtr<MPS::CNNLoss> new_loss(MTL::Device* device, size_t batch) {
  MPS::CNNLossDescriptor* descriptor =
      MPS::CNNLossDescriptor::cnnLossDescriptor(MPS::CNNLossTypeSoftMaxCrossEntropy, MPS::CNNReductionTypeSum);
  descriptor->setReduceAcrossBatch(true);
  descriptor->setWeight(1.0f / static_cast<float>(batch));
  descriptor->setNumberOfClasses(classes);
  return NS::TransferPtr(MPS::CNNLoss::alloc()->init(device, descriptor));
}

}  // namespace

Slot::Slot(MTL::Device* device, size_t batch)
    : images_(new_inputs(device, MPS::ImageFeatureChannelFormatUnorm8, batch, image_size, 1)),
      logits_(new_images(device, batch, 1, classes)) {
  const auto one_hot = new_inputs(device, MPS::ImageFeatureChannelFormatFloat32, batch, 1, classes);
  std::vector<NS::SharedPtr<MPS::CNNLossLabels>> labels;
  std::vector<const NS::Object*> objects;
  for (size_t i = 0; i < batch; ++i) {
    labels.push_back(NS::TransferPtr(
        MPS::CNNLossLabels::alloc()->init(device, MTL::Size(1, 1, 1), one_hot->object<MPS::Image>(i), nullptr)));
    objects.push_back(labels.back().get());
  }
  labels_ = NS::TransferPtr(NS::Array::alloc()->init(objects.data(), objects.size()));
}

void Slot::fill(const Digits& digits, std::span<const uint32_t> indices) {
  for (size_t i = 0; i < images_->count(); ++i) {
    const uint32_t index = indices[i < indices.size() ? i : 0];
    images_->object<MPS::Image>(i)->writeBytes(digits.image(index).data(), MPS::DataLayoutHeightxWidthxFeatureChannels,
                                               0);
    std::array<float, classes> one_hot = {};
    one_hot[digits.labels[index]] = 1;
    labels_->object<MPS::CNNLossLabels>(i)->labelsImage()->writeBytes(one_hot.data(),
                                                                      MPS::DataLayoutHeightxWidthxFeatureChannels, 0);
  }
}

float Slot::loss() const {
  float loss = 0;
  labels_->object<MPS::CNNLossLabels>(0)->lossImage()->readBytes(&loss, MPS::DataLayoutHeightxWidthxFeatureChannels, 0);
  return loss;
}

std::vector<Slot::Prediction> Slot::predictions() const {
  std::vector<Prediction> predictions(logits_->count());
  for (size_t i = 0; i < predictions.size(); ++i) {
    std::array<float, classes> logits;
    logits_->object<MPS::Image>(i)->readBytes(logits.data(), MPS::DataLayoutHeightxWidthxFeatureChannels, 0);
    const auto best = std::ranges::max_element(logits);
    float sum = 0;
    for (const float logit : logits) sum += std::exp(logit - *best);
    predictions[i] = {static_cast<uint8_t>(best - logits.begin()), 1 / sum};
  }
  return predictions;
}

Network::Network(MTL::Device* device, size_t batch, double rate, uint64_t seed)
    : device_(device),
      batch_(batch),
      seed_(seed),
      random_(seed),
      first_(device, Layer::Kind::convolution, {"conv1", 5, 1, first_channels}, float(rate), random_),
      second_(device, Layer::Kind::convolution, {"conv2", 5, first_channels, second_channels}, float(rate), random_),
      hidden_(device, Layer::Kind::fully_connected, {"fc1", second_size, second_channels, hidden_channels}, float(rate),
              random_),
      last_(device, Layer::Kind::fully_connected, {"fc2", 1, hidden_channels, classes}, float(rate), random_) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  // The first image's gradient is needed by nobody.
  first_.backward->setGradientOption(MPS::CNNConvolutionGradientOptionGradientWithWeightsAndBias);
  pool_ = NS::TransferPtr(MPS::CNNPoolingMax::alloc()->init(device, 2, 2, 2, 2));
  pool_->setOffset({1, 1, 0});
  pool_gradient_ = NS::TransferPtr(MPS::CNNPoolingMaxGradient::alloc()->init(device, 2, 2, 2, 2));
  MPS::NNNeuronDescriptor* relu = MPS::NNNeuronDescriptor::cnnNeuronDescriptor(MPS::CNNNeuronTypeReLU);
  relu_ = NS::TransferPtr(MPS::CNNNeuron::alloc()->init(device, relu));
  relu_gradient_ = NS::TransferPtr(MPS::CNNNeuronGradient::alloc()->init(device, relu));
  dropout_gradient_ =
      NS::TransferPtr(MPS::CNNDropoutGradient::alloc()->init(device, keep_probability, 0, MTL::Size(1, 1, 1)));
  loss_ = new_loss(device, batch);

  const auto images = [&](size_t size, size_t channels) { return new_images(device, batch, size, channels); };
  convolved_first_ = images(image_size, first_channels);
  pooled_first_ = images(first_size, first_channels);
  activated_first_ = images(first_size, first_channels);
  convolved_second_ = images(first_size, second_channels);
  pooled_second_ = images(second_size, second_channels);
  activated_second_ = images(second_size, second_channels);
  connected_ = images(1, hidden_channels);
  activated_ = images(1, hidden_channels);
  kept_ = images(1, hidden_channels);
  image_gradient_ = images(image_size, 1);
  convolved_first_gradient_ = images(image_size, first_channels);
  pooled_first_gradient_ = images(first_size, first_channels);
  activated_first_gradient_ = images(first_size, first_channels);
  convolved_second_gradient_ = images(first_size, second_channels);
  pooled_second_gradient_ = images(second_size, second_channels);
  activated_second_gradient_ = images(second_size, second_channels);
  connected_gradient_ = images(1, hidden_channels);
  activated_gradient_ = images(1, hidden_channels);
  kept_gradient_ = images(1, hidden_channels);
  logits_gradient_ = images(1, classes);

  first_.states = states_of(first_.forward.get(), image_gradient_, convolved_first_);
  second_.states = states_of(second_.forward.get(), activated_first_, convolved_second_);
  hidden_.states = states_of(hidden_.forward.get(), activated_second_, connected_);
  last_.states = states_of(last_.forward.get(), kept_, logits_gradient_);
  pool_first_states_ = states_of(pool_.get(), convolved_first_, pooled_first_);
  pool_second_states_ = states_of(pool_.get(), convolved_second_, pooled_second_);
  relu_first_states_ = states_of(relu_.get(), pooled_first_, activated_first_);
  relu_second_states_ = states_of(relu_.get(), pooled_second_, activated_second_);
  relu_hidden_states_ = states_of(relu_.get(), connected_, activated_);
  dropout_states_ = states_of(new_dropout(0).get(), activated_, kept_);
}

void Network::encode_training(MTL::CommandBuffer* commands, const Slot& slot, size_t step) {
  encode_forward(commands, slot, new_dropout(step).get());
  loss_->encodeBatch(commands, slot.logits_.get(), slot.labels_.get(), logits_gradient_.get());
  encode_backward(commands, slot);
  for (Layer* layer : {&first_, &second_, &hidden_, &last_}) layer->encode_update(commands);
}

void Network::encode_inference(MTL::CommandBuffer* commands, const Slot& slot) {
  encode_forward(commands, slot, nullptr);
  loss_->encodeBatch(commands, slot.logits_.get(), slot.labels_.get(), logits_gradient_.get());
}

void Network::encode_forward(MTL::CommandBuffer* commands, const Slot& slot, MPS::CNNDropout* dropout) {
  const auto encode = [&](auto& kernel, auto& source, auto& states, auto& destination) {
    kernel->encodeBatch(commands, source.get(), states.get(), destination.get());
  };
  encode(first_.forward, slot.images_, first_.states, convolved_first_);
  encode(pool_, convolved_first_, pool_first_states_, pooled_first_);
  encode(relu_, pooled_first_, relu_first_states_, activated_first_);
  encode(second_.forward, activated_first_, second_.states, convolved_second_);
  encode(pool_, convolved_second_, pool_second_states_, pooled_second_);
  encode(relu_, pooled_second_, relu_second_states_, activated_second_);
  encode(hidden_.forward, activated_second_, hidden_.states, connected_);
  encode(relu_, connected_, relu_hidden_states_, activated_);
  if (dropout) dropout->encodeBatch(commands, activated_.get(), dropout_states_.get(), kept_.get());
  encode(last_.forward, dropout ? kept_ : activated_, last_.states, slot.logits_);
}

void Network::encode_backward(MTL::CommandBuffer* commands, const Slot& slot) {
  const auto encode = [&](auto& kernel, auto& gradient, auto& source, auto& states, auto& destination) {
    kernel->encodeBatch(commands, gradient.get(), source.get(), states.get(), destination.get());
  };
  encode(last_.backward, logits_gradient_, kept_, last_.states, kept_gradient_);
  encode(dropout_gradient_, kept_gradient_, activated_, dropout_states_, activated_gradient_);
  encode(relu_gradient_, activated_gradient_, connected_, relu_hidden_states_, connected_gradient_);
  encode(hidden_.backward, connected_gradient_, activated_second_, hidden_.states, activated_second_gradient_);
  encode(relu_gradient_, activated_second_gradient_, pooled_second_, relu_second_states_, pooled_second_gradient_);
  encode(pool_gradient_, pooled_second_gradient_, convolved_second_, pool_second_states_, convolved_second_gradient_);
  encode(second_.backward, convolved_second_gradient_, activated_first_, second_.states, activated_first_gradient_);
  encode(relu_gradient_, activated_first_gradient_, pooled_first_, relu_first_states_, pooled_first_gradient_);
  encode(pool_gradient_, pooled_first_gradient_, convolved_first_, pool_first_states_, convolved_first_gradient_);
  encode(first_.backward, convolved_first_gradient_, slot.images_, first_.states, image_gradient_);
}

std::vector<training::Tensor> Network::tensors() const {
  std::vector<training::Tensor> all;
  for (const Layer* layer : {&first_, &second_, &hidden_, &last_}) {
    const std::vector<training::Tensor> tensors = layer->weights->tensors();
    all.insert(all.end(), tensors.begin(), tensors.end());
  }
  return all;
}

void Network::set_step(size_t step) {
  for (Layer* layer : {&first_, &second_, &hidden_, &last_}) {
    layer->forward->reloadWeightsAndBiasesFromDataSource();
    layer->backward->reloadWeightsAndBiasesFromDataSource();
    layer->weights->set_step(step);
  }
}

NS::SharedPtr<NS::Array> Network::states_of(MPS::CNNKernel* kernel, const NS::SharedPtr<NS::Array>& source,
                                            const NS::SharedPtr<NS::Array>& destination) const {
  return NS::RetainPtr(kernel->resultStateBatch(source.get(), nullptr, destination.get()));
}

// One for each step, so that what it drops follows from seed and step, wherever the training was interrupted.
NS::SharedPtr<MPS::CNNDropout> Network::new_dropout(size_t step) const {
  return NS::TransferPtr(
      MPS::CNNDropout::alloc()->init(device_, keep_probability, seed_ * 0x9E3779B97F4A7C15 + step, MTL::Size(1, 1, 1)));
}

}  // namespace metalloid::train_cnn

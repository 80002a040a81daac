#include "sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "training/failure.hpp"

namespace metalloid::train_rnn {

namespace {

// A place in `logits`, by their softmax at a temperature.
size_t draw(const std::vector<float>& logits, double temperature, std::mt19937_64& random) {
  const auto best = std::ranges::max_element(logits);
  if (temperature == 0) return size_t(best - logits.begin());
  std::vector<double> weights;
  for (const float logit : logits) weights.push_back(std::exp((logit - *best) / temperature));
  double sum = 0;
  for (const double weight : weights) sum += weight;
  double left = double(random() >> 11) * 0x1p-53 * sum;
  size_t place = 0;
  while (place + 1 < weights.size() && left >= weights[place]) left -= weights[place++];
  return place;
}

}  // namespace

Sampler::Sampler(Network& network, MTL::CommandQueue* queue, std::vector<uint8_t> vocabulary)
    : network_(network),
      queue_(queue),
      vocabulary_(std::move(vocabulary)),
      flow_(network.device(), network.shape(), 1, 1, true),
      symbol_(new_buffer(network.device(), sizeof(uint16_t), MTL::ResourceStorageModeShared)),
      outputs_(new_buffer(network.device(), vocabulary_.size() * sizeof(float), MTL::ResourceStorageModeShared)) {}

std::string Sampler::sample(size_t characters, double temperature, uint64_t seed) {
  std::mt19937_64 random(seed);
  Memory memory;
  const auto line_end = std::ranges::find(vocabulary_, '\n');
  size_t symbol = line_end == vocabulary_.end() ? 0 : size_t(line_end - vocabulary_.begin());
  std::string text;
  while (text.size() < characters) {
    symbol = draw(read(uint16_t(symbol), memory), temperature, random);
    text += char(vocabulary_[symbol]);
  }
  return text;
}

std::vector<float> Sampler::read(uint16_t symbol, Memory& memory) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  *static_cast<uint16_t*>(symbol_->contents()) = symbol;
  MTL::CommandBuffer* commands = queue_->commandBuffer();
  network_.kernels().one_hot(commands, flow_.inputs.buffer(), symbol_.get(), 1, vocabulary_.size());
  network_.encode_forward(commands, flow_, memory, {});
  MTL::BlitCommandEncoder* copy = commands->blitCommandEncoder();
  copy->copyFromBuffer(flow_.output_buffer.get(), 0, outputs_.get(), 0, outputs_->length());
  copy->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  if (NS::Error* error = commands->error())
    throw training::Failure(training::exit_failed,
                            fmt::format("the device failed: {}", error->localizedDescription()->utf8String()));
  const auto* logits = static_cast<const float*>(outputs_->contents());
  return {logits, logits + vocabulary_.size()};
}

}  // namespace metalloid::train_rnn

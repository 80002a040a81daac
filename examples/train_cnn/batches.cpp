#include "batches.hpp"

#include <fmt/format.h>

#include "training/failure.hpp"

namespace metalloid::train_cnn {

namespace {

constexpr size_t batches_at_a_time = 3;

}  // namespace

Batches::Batches(Network& network, MTL::CommandQueue* queue, Consumer consume)
    : network_(network), queue_(queue), consume_(std::move(consume)) {
  for (size_t i = 0; i < batches_at_a_time; ++i) journeys_.emplace_back(network);
}

// Handlers of command buffers that are still to run look at the journeys.
Batches::~Batches() {
  std::unique_lock lock(mutex_);
  for (Journey& journey : journeys_) arrived_.wait(lock, [&] { return !journey.is_under_way || journey.is_done; });
}

void Batches::train(const Digits& digits, std::span<const uint32_t> indices, size_t step) {
  Journey& journey = prepare(digits, indices);
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  MTL::CommandBuffer* commands = queue_->commandBuffer();
  network_.encode_training(commands, journey.slot, step);
  send(commands, journey);
}

void Batches::infer(const Digits& digits, std::span<const uint32_t> indices) {
  Journey& journey = prepare(digits, indices);
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  MTL::CommandBuffer* commands = queue_->commandBuffer();
  network_.encode_inference(commands, journey.slot);
  send(commands, journey);
}

void Batches::finish() {
  for (size_t i = 0; i < journeys_.size(); ++i) arrive(journeys_[(next_ + i) % journeys_.size()]);
}

// The slot that was sent longest ago, filled anew.
Batches::Journey& Batches::prepare(const Digits& digits, std::span<const uint32_t> indices) {
  Journey& journey = journeys_[next_];
  arrive(journey);
  next_ = (next_ + 1) % journeys_.size();
  journey.indices.assign(indices.begin(), indices.end());
  journey.slot.fill(digits, indices);
  return journey;
}

void Batches::send(MTL::CommandBuffer* commands, Journey& journey) {
  journey.is_under_way = true;
  journey.is_done = false;
  commands->addCompletedHandler([this, &journey](MTL::CommandBuffer* completed) {
    if (NS::Error* error = completed->error())
      journey.error = error->localizedDescription()->utf8String();
    else
      journey.predictions = journey.slot.predictions();
    journey.loss = journey.slot.loss();
    std::lock_guard lock(mutex_);
    journey.is_done = true;
    arrived_.notify_all();
  });
  commands->commit();
}

void Batches::arrive(Journey& journey) {
  if (!journey.is_under_way) return;
  {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return journey.is_done; });
  }
  journey.is_under_way = false;
  if (!journey.error.empty())
    throw training::Failure(training::exit_failed, fmt::format("the device failed: {}", journey.error));
  consume_({journey.loss, journey.indices, std::span(journey.predictions).first(journey.indices.size())});
}

}  // namespace metalloid::train_cnn

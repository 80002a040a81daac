// Batches on their way through a network: while the device works on one, the host prepares the next. Results come back
// in the order in which batches were sent.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>

#include "network.hpp"

namespace metalloid::train_cnn {

struct BatchResult {
  double loss;
  std::span<const uint32_t> indices;
  std::span<const Slot::Prediction> predictions;  // one for each index
};

class Batches {
 public:
  using Consumer = std::function<void(const BatchResult&)>;

  // `consume` is called by send() and finish(), on their thread.
  Batches(Network& network, MTL::CommandQueue* queue, Consumer consume);
  ~Batches();
  Batches(const Batches&) = delete;
  Batches& operator=(const Batches&) = delete;

  // One step of training, or of inference. They throw a Failure if the device failed.
  void train(const Digits& digits, std::span<const uint32_t> indices, size_t step);
  void infer(const Digits& digits, std::span<const uint32_t> indices);
  // Waits for all batches that are on their way.
  void finish();

 private:
  struct Journey {
    explicit Journey(const Network& network) : slot(network.new_slot()) {}
    Slot slot;
    std::vector<uint32_t> indices;
    std::vector<Slot::Prediction> predictions;
    double loss = 0;
    std::string error;
    bool is_under_way = false, is_done = false;
  };
  Journey& prepare(const Digits& digits, std::span<const uint32_t> indices);
  void send(MTL::CommandBuffer* commands, Journey& journey);
  void arrive(Journey& journey);

  Network& network_;
  MTL::CommandQueue* const queue_;
  const Consumer consume_;
  std::deque<Journey> journeys_;  // handlers know their places
  size_t next_ = 0;               // the one that was sent longest ago, or is free
  std::mutex mutex_;
  std::condition_variable arrived_;
};

}  // namespace metalloid::train_cnn

// Writes text with a network: each character is drawn from what the network says comes next, and told to it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "network.hpp"

namespace metalloid::train_rnn {

class Sampler {
 public:
  // `vocabulary` has the bytes that the network's symbols stand for.
  Sampler(Network& network, MTL::CommandQueue* queue, std::vector<uint8_t> vocabulary);

  // As at the beginning of a line. Throws a training::Failure if the device fails.
  std::string sample(size_t characters, double temperature, uint64_t seed);

 private:
  // What the network makes of a symbol after all those before it.
  std::vector<float> read(uint16_t symbol, Memory& memory);

  Network& network_;
  MTL::CommandQueue* const queue_;
  const std::vector<uint8_t> vocabulary_;
  Flow flow_;
  NS::SharedPtr<MTL::Buffer> symbol_, outputs_;
};

}  // namespace metalloid::train_rnn

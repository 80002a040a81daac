// What a network says next, token by token, if it always takes the likeliest. The device finds that itself and goes on
// with it while the host is told.
#pragma once

#include <functional>
#include <metalloid/backend.hpp>
#include <vector>

#include "llama/network.hpp"

namespace metalloid::llama {

class GreedyTokens {
 public:
  // `most` is how often next() will be called; 1 at least.
  GreedyTokens(Network& network, Backend& backend, std::vector<int> prompt, size_t most);

  // -1 if results of the network are no numbers.
  Result<int> next();

 private:
  // A pass of the network over the prompt or the token that it found last, and the way of its answer to the host.
  void encode();

  Network& network_;
  Backend& backend_;
  std::vector<int> prompt_;
  size_t position_ = 0, left_;
  Tensor likeliest_;
  std::function<Status(void*)> reading_;  // of it; none if it has been read
};

}  // namespace metalloid::llama

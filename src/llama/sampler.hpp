// Chooses the next token from what may follow.
#pragma once

#include <metalloid/llama.hpp>
#include <random>
#include <vector>

namespace metalloid::llama {

class Sampler {
 public:
  explicit Sampler(const SamplingOptions& options) : options_(options), random_(options.seed) {}

  bool is_greedy() const { return options_.temperature <= 0; }
  // -1 if there is a number among them that is none.
  int choose(const std::vector<float>& logits);

 private:
  SamplingOptions options_;
  std::mt19937_64 random_;
};

}  // namespace metalloid::llama

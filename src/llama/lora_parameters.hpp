// The numbers that are learnt, of all adapters behind each other in one array, and so are their gradients and Adam's
// two moments: a step is one operation, and so is the norm.
#pragma once

#include <vector>

#include "llama/lora_file.hpp"

namespace metalloid::llama {

// Views of the arrays.
struct TrainedAdapter {
  Tensor a, b, a_gradient, b_gradient;  // [rank][in], [out][rank]

  explicit operator bool() const { return bool(a); }
};

class LoraParameters {
 public:
  // A is random and B zero, so that at first the model says what it said without them. No memory is an error.
  static Result<LoraParameters> make(const Weights& weights, Backend& backend, size_t rank,
                                     const std::vector<size_t>& targets, uint64_t seed);

  // None where the target is not learnt.
  const TrainedAdapter& adapter(size_t layer, size_t target) const { return adapters_[layer][target]; }
  size_t rank() const { return rank_; }
  size_t count() const { return count_; }

  // [rows][columns]; what is behind `count` numbers is nobody's, and zero.
  Tensor numbers, gradients, first_moments, second_moments;

  Result<LoraAdapter> read(float alpha, Backend& backend) const;

 private:
  size_t rank_ = 0, count_ = 0;
  std::vector<std::vector<TrainedAdapter>> adapters_;
};

}  // namespace metalloid::llama

// Weights that a layer begins with: of a size that sums of `inputs` of them keep numbers about as large as they were.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <span>

namespace metalloid::train_rnn {

inline void set_initial_weights(std::span<float> weights, size_t inputs, std::mt19937_64& random) {
  const float largest = 1 / std::sqrt(float(inputs));
  std::ranges::generate(weights, [&] { return largest * (2 * float(random() >> 40) * 0x1p-24f - 1); });
}

}  // namespace metalloid::train_rnn

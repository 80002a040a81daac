// Models that were first trained on short texts and then on longer ones turn more slowly than they began to.
#pragma once

#include <metalloid/safetensors.hpp>
#include <vector>

namespace metalloid::llama {

void scale_linearly(std::vector<float>& frequencies, double factor);

// Llama 3's: waves longer than the original context / low become `factor` times longer, those shorter than context /
// high stay, and those between are in between.
struct Llama3Scaling {
  double factor = 8, low = 1, high = 4, context = 8192;
};
void scale_as_llama3(std::vector<float>& frequencies, const Llama3Scaling& scaling);

// GGUF has a factor for each frequency. False if it has not.
bool divide_by(std::vector<float>& frequencies, const TensorView& factors);

}  // namespace metalloid::llama

#include "llama/rope_scaling.hpp"

#include <numbers>

namespace metalloid::llama {

void scale_linearly(std::vector<float>& frequencies, double factor) {
  for (float& frequency : frequencies) frequency = static_cast<float>(frequency / factor);
}

void scale_as_llama3(std::vector<float>& frequencies, const Llama3Scaling& scaling) {
  for (float& frequency : frequencies) {
    const double turns = scaling.context * frequency / (2 * std::numbers::pi);  // within the original context
    if (turns > scaling.high) continue;
    const double smooth = turns < scaling.low ? 0 : (turns - scaling.low) / (scaling.high - scaling.low);
    frequency = static_cast<float>((1 - smooth) * frequency / scaling.factor + smooth * frequency);
  }
}

bool divide_by(std::vector<float>& frequencies, const TensorView& factors) {
  if (factors.type != TensorType::f32 || factors.shape != std::vector<size_t>{frequencies.size()}) return false;
  for (size_t i = 0; i < frequencies.size(); ++i) frequencies[i] /= static_cast<const float*>(factors.data)[i];
  return true;
}

}  // namespace metalloid::llama

// Padding policies in one dimension: how many pixels a result has, and where in the source it begins.
#pragma once

#include <MetalPerformanceShaders/MPSNeuralNetworkTypes.hpp>

namespace metalloid::mps {

struct PaddedAxis {
  size_t source = 1;  // pixels
  size_t window = 1, stride = 1;
  bool is_backwards = false;  // the stride enlarges: the source is seen with stride - 1 zeros between its pixels
};

enum class Axis { x, y };

size_t padded_result_size(const PaddedAxis& axis, MPS::NNPaddingMethod method);

// Of the first window's center, in pixels of the source, or of the enlarged source where the layer is backwards.
NS::Integer padded_offset(const PaddedAxis& axis, MPS::NNPaddingMethod method, Axis direction);

}  // namespace metalloid::mps

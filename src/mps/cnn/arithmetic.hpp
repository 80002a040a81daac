// The data of arithmetic, and what its gradients know of it.
#pragma once

#include <MetalPerformanceShaders/MPSCNNMath.hpp>
#include <cfloat>

#include "mps/core/cnn_kernel.hpp"

namespace metalloid::mps {

enum class Operation : uint32_t { add, subtract, multiply, divide, compare };  // as kernels/arithmetic.metal has it

class ArithmeticPart : public CnnBinaryPart {
 public:
  Operation operation = Operation::add;
  float primary_scale = 1, secondary_scale = 1, bias = 0;
  NS::UInteger primary_channel_stride = 1, secondary_channel_stride = 1;
  float minimum = -FLT_MAX, maximum = FLT_MAX;
  MPS::NNComparisonType comparison = MPS::NNComparisonTypeEqual;
  float threshold = 0;

  const char* call() const override { return "MPS::CNNArithmetic::encode"; }
  ImageShape result_shape(const ImageShape& primary_image, const ImageShape& secondary_image) const override;
  NS::SharedPtr<MPS::State> new_state() const override;
  Status encode_layer(Encoding& encoding, CnnBinaryTask& task) const override;
};

// A source image of the forward pass, and how it was laid over the result.
struct ArithmeticSource {
  size_t width = 0, height = 0, channels = 0;
  WindowGeometry window;
  NS::UInteger channel_stride = 1;
};

class ArithmeticStatePart : public GradientStatePart {
 public:
  Operation operation = Operation::add;
  ArithmeticSource primary, secondary;
  bool has_limits = false;
};

// The source at the pixels of the result, with strides of 0 where it is repeated; `name` is for errors.
Result<ImageTensor> at_result(ImageWork& work, const ImageTensor& source, const ImageTensor& result,
                              const WindowGeometry& window, NS::UInteger channel_stride, const char* name);

}  // namespace metalloid::mps

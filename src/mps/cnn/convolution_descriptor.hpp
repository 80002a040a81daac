// The data of CNNConvolutionDescriptor.
#pragma once

#include <MetalPerformanceShaders/MPSCNNConvolution.hpp>
#include <metalloid/result.hpp>
#include <vector>

#include "mps/cnn/neuron_descriptor.hpp"
#include "mps/core/object.hpp"
#include "mps/core/state.hpp"

namespace metalloid::mps {

struct ConvolutionShape {
  NS::UInteger kernel_width = 3, kernel_height = 3;
  NS::UInteger inputs = 0, outputs = 0;
  NS::UInteger groups = 1;
  NS::UInteger stride_x = 1, stride_y = 1, dilation_x = 1, dilation_y = 1;
  bool is_depthwise = false;    // as many groups as inputs
  NS::UInteger sub_pixels = 1;  // an output pixel becomes a block that is so wide and high

  size_t all_groups() const { return is_depthwise ? inputs : groups; }
  size_t group_inputs() const { return inputs / all_groups(); }
  size_t group_outputs() const { return outputs / all_groups(); }
  size_t taps() const { return kernel_width * kernel_height; }
  size_t weights() const { return outputs * taps() * group_inputs(); }
  WindowGeometry window() const;
};

// What is wrong with it, by the names of the descriptor's properties.
Status check(const ConvolutionShape& shape);

class ConvolutionDescriptorPart {
 public:
  virtual ~ConvolutionDescriptorPart() = default;

  ConvolutionShape shape;
  NS::SharedPtr<MPS::NNNeuronDescriptor> neuron;
  std::vector<float> factors, addends;  // that batch normalisation multiplies results by, and adds; or empty
};

inline ConvolutionDescriptorPart* body(const MPS::CNNConvolutionDescriptor* descriptor) {
  return shared_part_of<ConvolutionDescriptorPart>(const_cast<MPS::CNNConvolutionDescriptor*>(descriptor));
}

}  // namespace metalloid::mps

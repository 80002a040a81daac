#include "mps/cnn/convolution_descriptor.hpp"

#include <fmt/format.h>

#include <cmath>

#include "foundation/misuse.hpp"
#include "mps/core/properties.hpp"

namespace metalloid::mps {

WindowGeometry ConvolutionShape::window() const {
  return {.kernel_width = kernel_width,
          .kernel_height = kernel_height,
          .stride_x = stride_x,
          .stride_y = stride_y,
          .dilation_x = dilation_x,
          .dilation_y = dilation_y};
}

Status check(const ConvolutionShape& shape) {
  const struct {
    const char* name;
    NS::UInteger value;
  } counts[] = {
      {"kernelWidth", shape.kernel_width},
      {"kernelHeight", shape.kernel_height},
      {"inputFeatureChannels", shape.inputs},
      {"outputFeatureChannels", shape.outputs},
      {"strideInPixelsX", shape.stride_x},
      {"strideInPixelsY", shape.stride_y},
      {"dilationRateX", shape.dilation_x},
      {"dilationRateY", shape.dilation_y},
      {"groups", shape.groups},
      {"subPixelScaleFactor", shape.sub_pixels},
  };
  for (const auto& [name, value] : counts)
    if (value == 0) return Error{fmt::format("the descriptor's {} must not be 0", name)};
  if (shape.is_depthwise && shape.groups != 1) return Error{"the descriptor's groups must be 1 for a depthwise one"};
  if (shape.inputs % shape.all_groups() || shape.outputs % shape.all_groups())
    return Error{
        fmt::format("the descriptor's {} inputFeatureChannels and {} outputFeatureChannels cannot be divided "
                    "into {} groups",
                    shape.inputs, shape.outputs, shape.all_groups())};
  if (shape.outputs % (shape.sub_pixels * shape.sub_pixels))
    return Error{fmt::format("the descriptor's {} outputFeatureChannels are no blocks of {} x {} pixels", shape.outputs,
                             shape.sub_pixels, shape.sub_pixels)};
  return success();
}

namespace {

template <class Interface>
Interface* new_descriptor(const char* class_name, const ConvolutionShape& shape) {
  auto* descriptor = new Object<Interface, ConvolutionDescriptorPart>(class_name);
  descriptor->shape = shape;
  return foundation::autoreleased(static_cast<Interface*>(descriptor));
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

CNNConvolutionDescriptor* CNNConvolutionDescriptor::cnnConvolutionDescriptor(NS::UInteger kernelWidth,
                                                                             NS::UInteger kernelHeight,
                                                                             NS::UInteger inputFeatureChannels,
                                                                             NS::UInteger outputFeatureChannels) {
  return new_descriptor<CNNConvolutionDescriptor>("MPSCNNConvolutionDescriptor", {.kernel_width = kernelWidth,
                                                                                  .kernel_height = kernelHeight,
                                                                                  .inputs = inputFeatureChannels,
                                                                                  .outputs = outputFeatureChannels});
}

#define DESCRIPTOR_NUMBER(getter, setter, member) \
  MPS_NUMBER(CNNConvolutionDescriptor, ConvolutionDescriptorPart, getter, setter, shape.member)
DESCRIPTOR_NUMBER(kernelWidth, setKernelWidth, kernel_width)
DESCRIPTOR_NUMBER(kernelHeight, setKernelHeight, kernel_height)
DESCRIPTOR_NUMBER(inputFeatureChannels, setInputFeatureChannels, inputs)
DESCRIPTOR_NUMBER(outputFeatureChannels, setOutputFeatureChannels, outputs)
DESCRIPTOR_NUMBER(strideInPixelsX, setStrideInPixelsX, stride_x)
DESCRIPTOR_NUMBER(strideInPixelsY, setStrideInPixelsY, stride_y)
DESCRIPTOR_NUMBER(groups, setGroups, groups)
DESCRIPTOR_NUMBER(dilationRateX, setDilationRateX, dilation_x)
DESCRIPTOR_NUMBER(dilationRateY, setDilationRateY, dilation_y)

NNNeuronDescriptor* CNNConvolutionDescriptor::fusedNeuronDescriptor() const {
  const auto* self = body(this);
  return self ? self->neuron.get() : nullptr;
}
void CNNConvolutionDescriptor::setFusedNeuronDescriptor(const NNNeuronDescriptor* descriptor) {
  if (auto* self = body(this)) self->neuron = foundation::retained(descriptor);
}

void CNNConvolutionDescriptor::setBatchNormalizationParametersForInference(const float* mean, const float* variance,
                                                                           const float* gamma, const float* beta,
                                                                           float epsilon) {
  auto* self = body(this);
  if (!self) return;
  if (!mean || !variance)
    return foundation::report_misuse("-[MPSCNNConvolutionDescriptor setBatchNormalizationParametersForInference…]",
                                     "mean and variance must not be null");
  self->factors.resize(self->shape.outputs);
  self->addends.resize(self->shape.outputs);
  for (size_t i = 0; i < self->shape.outputs; ++i) {
    self->factors[i] = (gamma ? gamma[i] : 1) / std::sqrt(variance[i] + epsilon);
    self->addends[i] = (beta ? beta[i] : 0) - self->factors[i] * mean[i];
  }
}

CNNDepthWiseConvolutionDescriptor* CNNDepthWiseConvolutionDescriptor::cnnConvolutionDescriptor(
    NS::UInteger kernelWidth, NS::UInteger kernelHeight, NS::UInteger inputFeatureChannels,
    NS::UInteger outputFeatureChannels) {
  return new_descriptor<CNNDepthWiseConvolutionDescriptor>("MPSCNNDepthWiseConvolutionDescriptor",
                                                           {.kernel_width = kernelWidth,
                                                            .kernel_height = kernelHeight,
                                                            .inputs = inputFeatureChannels,
                                                            .outputs = outputFeatureChannels,
                                                            .is_depthwise = true});
}

NS::UInteger CNNDepthWiseConvolutionDescriptor::channelMultiplier() const {
  const auto* self = body(this);
  return self && self->shape.inputs ? self->shape.outputs / self->shape.inputs : 0;
}

CNNSubPixelConvolutionDescriptor* CNNSubPixelConvolutionDescriptor::cnnConvolutionDescriptor(
    NS::UInteger kernelWidth, NS::UInteger kernelHeight, NS::UInteger inputFeatureChannels,
    NS::UInteger outputFeatureChannels) {
  return new_descriptor<CNNSubPixelConvolutionDescriptor>("MPSCNNSubPixelConvolutionDescriptor",
                                                          {.kernel_width = kernelWidth,
                                                           .kernel_height = kernelHeight,
                                                           .inputs = inputFeatureChannels,
                                                           .outputs = outputFeatureChannels});
}

MPS_NUMBER(CNNSubPixelConvolutionDescriptor, ConvolutionDescriptorPart, subPixelScaleFactor, setSubPixelScaleFactor,
           shape.sub_pixels)

}  // namespace MPS

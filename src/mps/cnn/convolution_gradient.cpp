#include <fmt/format.h>

#include "foundation/misuse.hpp"
#include "mps/cnn/convolution.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/properties.hpp"

namespace metalloid::mps {

class ConvolutionGradientPart : public CnnGradientPart {
 public:
  std::shared_ptr<ConvolutionWeights> weights;  // turned
  MPS::CNNConvolutionGradientOption option = MPS::CNNConvolutionGradientOptionAll;

  const char* call() const override { return "MPS::CNNConvolutionGradient::encode"; }
  size_t result_channels(size_t, size_t) const override { return weights->shape.inputs; }
  Status encode_gradient(Encoding& encoding, CnnGradientTask& task) const override;

 private:
  void encode_data_gradient(Encoding& encoding, const CnnGradientTask& task, const ImageTensor& gradient) const;
  Status encode_weights_gradient(Encoding& encoding, const CnnGradientTask& task, const ImageTensor& source,
                                 const ImageTensor& gradient) const;
};

namespace {

// The first channels, as many as a layer has.
ImageTensor first_channels(ImageTensor tensor, size_t channels) {
  if (tensor.channels == channels) return tensor;
  tensor.channels = channels;
  tensor.gap_is_padding = tensor.padding_is_zero = false;
  return tensor;
}

// Without numbers between pixels that a math library would stumble over.
ImageTensor for_library(const Encoding& encoding, ImageWork& work, const ImageTensor& tensor) {
  const bool is_fine = tensor.is_dense() && (tensor.pixel_stride == tensor.channels || tensor.padding_is_zero);
  return is_fine || !encoding.library() || tensor.type != MPS::DataTypeFloat32 ? tensor : work.packed(tensor);
}

// Pixels that windows read outside of the source by an edge mode other than zero have no gradient of their own.
bool reads_outside(const WindowGeometry& window, const ImageTensor& source, const ImageTensor& gradient) {
  const auto last = [](NS::Integer first, size_t count, size_t stride, size_t size) {
    return first + NS::Integer((count - 1) * stride + size) - 1;
  };
  return window.left() < 0 || window.top() < 0 ||
         last(window.left(), gradient.width, window.stride_x, window.window_width()) >= NS::Integer(source.width) ||
         last(window.top(), gradient.height, window.stride_y, window.window_height()) >= NS::Integer(source.height);
}

}  // namespace

Status ConvolutionGradientPart::encode_gradient(Encoding& encoding, CnnGradientTask& task) const {
  const ConvolutionShape& shape = weights->shape;
  if (task.gradient.channels < shape.outputs)
    return Error{fmt::format("sourceGradient has {} channels, and the convolution makes {}", task.gradient.channels,
                             shape.outputs)};
  if (task.source.channels < shape.inputs)
    return Error{
        fmt::format("sourceImage has {} channels, and the convolution takes {}", task.source.channels, shape.inputs)};
  const WindowGeometry& window = task.forward.geometry;
  if (window.edge_mode != MPS::ImageEdgeModeZero && reads_outside(window, task.source, task.gradient))
    return Error{"the forward pass read outside of sourceImage by another edgeMode than zero"};
  const ImageTensor gradient = for_library(encoding, task.work, first_channels(task.gradient, shape.outputs));
  if (option & MPS::CNNConvolutionGradientOptionGradientWithData) encode_data_gradient(encoding, task, gradient);
  if (option & MPS::CNNConvolutionGradientOptionGradientWithWeightsAndBias) {
    const ImageTensor source = for_library(encoding, task.work, first_channels(task.source, shape.inputs));
    return encode_weights_gradient(encoding, task, source, gradient);
  }
  return success();
}

void ConvolutionGradientPart::encode_data_gradient(Encoding& encoding, const CnnGradientTask& task,
                                                   const ImageTensor& gradient) const {
  const ConvolutionShape& shape = weights->shape;
  WindowGeometry window = task.forward.geometry;
  window.edge_mode = MPS::ImageEdgeModeZero;
  Convolution description;
  if (describe(description, ConvolutionPass::data_gradient, shape, window, task.destination, gradient))
    if (auto primitive = weights->primitive(encoding.library(), description)) {
      encoding.keep(weights->weights.get());
      return encoding.run(std::move(primitive), "convolution_data_gradient",
                          {gradient.place, Operand{weights->weights.get()}, task.destination.place});
    }
  // What the source pixel at s gets comes from the results at (s - left - tap * dilation) / stride: a convolution of
  // the gradient, its pixels moved apart by the stride, with the taps in reverse.
  encode_convolution(encoding, *weights,
                     {.left = -window.left() - NS::Integer(window.window_width() - 1),
                      .top = -window.top() - NS::Integer(window.window_height() - 1),
                      .apart_x = window.stride_x,
                      .apart_y = window.stride_y},
                     gradient, task.destination, false);
}

Status ConvolutionGradientPart::encode_weights_gradient(Encoding& encoding, const CnnGradientTask& task,
                                                        const ImageTensor& source, const ImageTensor& gradient) const {
  const ConvolutionShape& shape = weights->shape;
  const auto result = weights_gradient_in(task.states, shape);
  if (!result) return Error{result.error()};
  WindowGeometry window = task.forward.geometry;
  window.edge_mode = MPS::ImageEdgeModeZero;
  Convolution description;
  if (describe(description, ConvolutionPass::weights_gradient, shape, window, source, gradient))
    if (auto primitive = weights->primitive(encoding.library(), description)) {
      encoding.run(std::move(primitive), "convolution_weights_gradient",
                   {source.place, gradient.place, result->weights, result->biases});
      return success();
    }
  convolve_weights_gradient(encoding, shape, {window.left(), window.top(), window.stride_x, window.stride_y}, source,
                            gradient, *result);
  return success();
}

Result<WeightsGradient> weights_gradient_in(const std::vector<MPS::State*>& states, const ConvolutionShape& shape) {
  auto* state = shared_part_of<ConvolutionGradientStatePart>(states.front());
  if (!state) return Error{"gradientState is no state of a convolution"};
  for (MPS::State* other : states)
    if (other != states.front()) return Error{"gradientStates must be the one state of the batch"};
  const WeightsGradient found{{state->buffer(weights_index)}, {state->buffer(biases_index)}};
  if (!found.weights.buffer || !found.biases.buffer || found.weights.buffer->length() < shape.weights() * sizeof(float))
    return Error{"gradientState is of another convolution, or there is no memory for its gradients"};
  return found;
}

void convolve_weights_gradient(Encoding& encoding, const ConvolutionShape& shape, const ConvolutionPlace& place,
                               const ImageTensor& source, const ImageTensor& gradient, const WeightsGradient& result) {
  const KernelConvolution convolution = for_kernel(shape, place, source, gradient);
  constexpr size_t outputs_of_thread = 8;
  const char* type = metal_name_of(source.type);
  const MTL::Size simdgroup(32, 1, 1);
  if (convolution.inputs == 1 && convolution.outputs == 1) {
    encoding.dispatch({fmt::format("convolve_depthwise_weights_gradient_{}", type)},
                      MTL::Size(shape.outputs, shape.taps(), 1), simdgroup, source.place, gradient.place,
                      result.weights, convolution);
  } else {
    const size_t tiles = (convolution.outputs + outputs_of_thread - 1) / outputs_of_thread;
    encoding.dispatch({fmt::format("convolve_weights_gradient_{}", type)},
                      MTL::Size(convolution.inputs, shape.taps(), tiles * convolution.groups), simdgroup, source.place,
                      gradient.place, result.weights, convolution);
  }
  encoding.dispatch({fmt::format("convolve_biases_gradient_{}", type)}, MTL::Size(shape.outputs, 1, 1), simdgroup,
                    gradient.place, result.biases, for_kernel(gradient));
}

namespace {

ConvolutionGradientPart* body(const MPS::CNNConvolutionGradient* kernel) {
  return shared_part_of<ConvolutionGradientPart>(const_cast<MPS::CNNConvolutionGradient*>(kernel));
}

template <class Interface>
Interface* init(Interface* kernel, MTL::Device* device, MPS::CNNConvolutionDataSource* source, const char* call) {
  ConvolutionGradientPart* self = body(kernel);
  if (!self) return nullptr;
  auto loaded = ConvolutionWeights::load(device, source, ConvolutionWeights::Order::turned);
  if (!loaded) {
    foundation::report_misuse(call, loaded.error());
    return foundation::failed_init(kernel);
  }
  self->device = NS::RetainPtr(device);
  self->weights = *loaded;
  self->secondary = self->weights->shape.window();
  return kernel;
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

CNNConvolutionGradient* CNNConvolutionGradient::alloc() {
  return new mps::Object<CNNConvolutionGradient, ConvolutionGradientPart>("MPSCNNConvolutionGradient");
}

CNNConvolutionGradient* CNNConvolutionGradient::init(MTL::Device* device, CNNConvolutionDataSource* weights) {
  return mps::init(this, device, weights, "-[MPSCNNConvolutionGradient initWithDevice:weights:]");
}

NS::UInteger CNNConvolutionGradient::sourceGradientFeatureChannels() const {
  const auto* self = body(this);
  return self ? self->weights->shape.outputs : 0;
}
NS::UInteger CNNConvolutionGradient::sourceImageFeatureChannels() const {
  const auto* self = body(this);
  return self ? self->weights->shape.inputs : 0;
}
NS::UInteger CNNConvolutionGradient::groups() const {
  const auto* self = body(this);
  return self ? self->weights->shape.groups : 0;
}
NS::UInteger CNNConvolutionGradient::channelMultiplier() const {
  const auto* self = body(this);
  return self && self->weights->shape.is_depthwise ? self->weights->shape.group_outputs() : 0;
}
CNNConvolutionDataSource* CNNConvolutionGradient::dataSource() const {
  const auto* self = body(this);
  return self ? self->weights->source.get() : nullptr;
}
MPS_PROPERTY(CNNConvolutionGradient, ConvolutionGradientPart, CNNConvolutionGradientOption, gradientOption,
             setGradientOption, option, (CNNConvolutionGradientOptionAll))

void CNNConvolutionGradient::reloadWeightsAndBiasesFromDataSource() {
  auto* self = body(this);
  if (!self) return;
  auto loaded =
      ConvolutionWeights::load(self->device.get(), self->weights->source.get(), ConvolutionWeights::Order::turned);
  if (!loaded)
    return foundation::report_misuse("-[MPSCNNConvolutionGradient reloadWeightsAndBiasesFromDataSource]",
                                     loaded.error());
  self->weights = *loaded;
}

void CNNConvolutionGradient::reloadWeightsAndBiases(MTL::CommandBuffer* commandBuffer,
                                                    const CNNConvolutionWeightsAndBiasesState* state) {
  auto* self = body(this);
  if (!self) return;
  Encoding encoding(commandBuffer, *self, "MPS::CNNConvolutionGradient::reloadWeightsAndBiases");
  if (encoding) reload(encoding, self->weights, state);
}

CNNFullyConnectedGradient* CNNFullyConnectedGradient::alloc() {
  return new mps::Object<CNNFullyConnectedGradient, ConvolutionGradientPart>("MPSCNNFullyConnectedGradient");
}

CNNFullyConnectedGradient* CNNFullyConnectedGradient::init(MTL::Device* device, CNNConvolutionDataSource* weights) {
  return mps::init(this, device, weights, "-[MPSCNNFullyConnectedGradient initWithDevice:weights:]");
}

}  // namespace MPS

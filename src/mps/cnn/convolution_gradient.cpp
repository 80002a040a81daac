#include <fmt/format.h>

#include <algorithm>

#include "foundation/misuse.hpp"
#include "mps/cnn/convolution.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/device_kind.hpp"
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

// Each number of the result is the sum of its parts, which lie side by side.
void encode_sum_of_parts(Encoding& encoding, Operand sums, Operand result, size_t numbers, size_t parts) {
  encoding.dispatch({"convolve_sum_of_parts"}, MTL::Size(32, numbers, 1), MTL::Size(32, 1, 1), sums, result,
                    uint32_t(parts));
}

// The sum of all pixels. On a GPU many threads have a part of a channel's rows each.
void encode_biases_gradient(Encoding& encoding, const ImageTensor& gradient, Operand result) {
  constexpr size_t most_parts = 4096;
  const size_t rows = gradient.images * gradient.height;
  const size_t parts = is_gpu(encoding.device()) ? std::min(rows, most_parts) : 1;
  const MTL::Size simdgroup(32, 1, 1);
  const Operand sums = parts == 1 ? result : encoding.scratch(parts * gradient.channels * sizeof(float));
  if (!sums.buffer) return;
  encoding.dispatch({fmt::format("convolve_biases_gradient_{}", metal_name_of(gradient.type))},
                    MTL::Size(gradient.channels, parts, 1), simdgroup, gradient.place, sums, for_kernel(gradient),
                    uint32_t(parts));
  if (parts == 1) return;
  encode_sum_of_parts(encoding, sums, result, gradient.channels, parts);
}

// Windows of few numbers, on a GPU; see kernels/conv_narrow.metal.
bool is_narrow(const Encoding& encoding, const ConvolutionShape& shape) {
  constexpr size_t most_taps = 32;
  return is_gpu(encoding.device()) && shape.all_groups() == 1 && shape.taps() * shape.inputs <= most_taps;
}

void encode_narrow_weights_gradient(Encoding& encoding, const KernelConvolution& convolution, const ImageTensor& source,
                                    const ImageTensor& gradient, Operand result) {
  constexpr size_t simdgroups = 8, rows_of_simdgroup = 2, most_parts = 264;
  const size_t rows = gradient.images * gradient.height;
  const size_t parts = std::clamp<size_t>(rows / (simdgroups * rows_of_simdgroup), 1, most_parts);
  const size_t numbers =
      size_t{convolution.outputs} * convolution.kernel_width * convolution.kernel_height * convolution.inputs;
  const Operand sums = encoding.scratch(numbers * parts * sizeof(float));
  if (!sums.buffer) return;
  const size_t tiles = (convolution.outputs + 31) / 32;
  encoding.dispatch({fmt::format("convolve_weights_gradient_narrow_{}", metal_name_of(source.type)),
                     {convolution.kernel_width, convolution.kernel_height, convolution.inputs, convolution.stride_x,
                      convolution.dilation_x}},
                    MTL::Size(tiles * 32, parts * simdgroups, 1), MTL::Size(32, simdgroups, 1), source.place,
                    gradient.place, sums, convolution, uint32_t(parts));
  encode_sum_of_parts(encoding, sums, result, numbers, parts);
}

// A gradient kernel has no say of its own in this: it is as precise as the convolution that it belongs to.
bool accumulates_in_half(const CnnGradientTask& task) {
  const auto* state = shared_part_of<ConvolutionGradientStatePart>(task.states.empty() ? nullptr : task.states.front());
  const auto* forward = state ? shared_part_of<ConvolutionPart>(state->made_by.get()) : nullptr;
  return forward && forward->accumulates_in_half();
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
  const bool is_described =
      describe(description, ConvolutionPass::data_gradient, shape, window, task.destination, gradient);
  description.inputs_may_be_short = accumulates_in_half(task);
  if (is_described)
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
  const KernelConvolution convolution =
      for_kernel(shape, {window.left(), window.top(), window.stride_x, window.stride_y}, source, gradient);
  if (is_narrow(encoding, shape)) {
    encode_narrow_weights_gradient(encoding, convolution, source, gradient, result->weights);
    encode_biases_gradient(encoding, gradient, result->biases);
    return success();
  }
  Convolution description;
  if (describe(description, ConvolutionPass::weights_gradient, shape, window, source, gradient))
    for (const bool with_biases : {true, false}) {
      description.inputs_may_be_short = accumulates_in_half(task);
      description.has_biases = with_biases;
      auto primitive = weights->primitive(encoding.library(), description);
      if (!primitive) continue;
      encoding.run(std::move(primitive), "convolution_weights_gradient",
                   {source.place, gradient.place, result->weights, with_biases ? result->biases : Operand{}});
      if (!with_biases) encode_biases_gradient(encoding, gradient, result->biases);
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
  encode_biases_gradient(encoding, gradient, result.biases);
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

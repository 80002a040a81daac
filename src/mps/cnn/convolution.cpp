#include "mps/cnn/convolution.hpp"

#include <fmt/format.h>

#include "foundation/misuse.hpp"
#include "mps/cnn/pixel_rows.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/properties.hpp"
#include "mps/matrix/matrix_neuron.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {

void reload(Encoding& encoding, std::shared_ptr<ConvolutionWeights>& weights,
            const MPS::CNNConvolutionWeightsAndBiasesState* state) {
  auto* part = shared_part_of<StatePart>(const_cast<MPS::CNNConvolutionWeightsAndBiasesState*>(state));
  if (!part) return encoding.fail("state is null");
  auto made = weights->copied_from(encoding, {part->buffer(weights_index)}, {part->buffer(biases_index)});
  if (!made) return encoding.fail(made.error());
  weights = *made;
  part->was_read();
}

ImageShape ConvolutionPart::result_shape(const ImageShape&, const ImageShape& suggested) const {
  ImageShape shape = suggested;
  if (is_fully_connected) shape.width = shape.height = 1;
  shape.width *= weights->shape.sub_pixels;
  shape.height *= weights->shape.sub_pixels;
  return shape;
}

NS::SharedPtr<MPS::State> ConvolutionPart::new_state() const {
  auto* state =
      new Object<MPS::CNNConvolutionGradientState, ConvolutionGradientStatePart>("MPSCNNConvolutionGradientState");
  state->add_buffer(weights->shape.weights() * sizeof(float));
  state->add_buffer(weights->shape.outputs * sizeof(float));
  state->made_by = foundation::retained(dynamic_cast<const MPS::CNNConvolution*>(this));
  return NS::TransferPtr<MPS::State>(state);
}

// Where the math library has the convolution and not its neuron.
static void encode_neuron_in_place(Encoding& encoding, const ConvolutionWeights& weights, const ImageTensor& result) {
  const bool is_prelu = weights.neuron.type == MPS::CNNNeuronTypePReLU;
  NeuronHolder holder;
  holder.neuron = weights.neuron;
  if (is_prelu) {
    holder.channel_a = weights.slopes;
    holder.channels = weights.shape.outputs;
  }
  encoding.keep(weights.slopes.get());
  for_each_rows(
      std::array{result, result}, is_prelu ? Channels::each_in_its_column : Channels::all_alike,
      [&](const std::array<MatrixView, 2>& views) { encode_neuron(encoding, holder, 1, views[0], {}, views[1]); });
}

Status ConvolutionPart::encode_layer(Encoding& encoding, CnnTask& task) const {
  const ConvolutionShape& shape = weights->shape;
  if (shape.sub_pixels > 1 && task.destination.channels != shape.outputs) return encode_sub_pixels(encoding, task);
  ImageTensor source = task.source;
  if (source.channels < shape.inputs)
    return Error{
        fmt::format("sourceImage has {} channels, and the convolution takes {}", source.channels, shape.inputs)};
  if (source.channels > shape.inputs) {
    source.channels = shape.inputs;
    source.gap_is_padding = source.padding_is_zero = false;
  }
  WindowGeometry geometry = window;
  if (is_fully_connected) {
    if (source.width != shape.kernel_width || source.height != shape.kernel_height)
      return Error{fmt::format("sourceImage has {} x {} pixels, and the kernel, which must be as large, {} x {}",
                               source.width, source.height, shape.kernel_width, shape.kernel_height)};
    geometry.offset_x = NS::Integer(geometry.window_width() / 2);
    geometry.offset_y = NS::Integer(geometry.window_height() / 2);
    for (MPS::State* state : task.states)
      if (auto* part = shared_part_of<GradientStatePart>(state)) part->geometry = geometry;
  }
  const bool has_gaps = source.pixel_stride != source.channels;
  if (encoding.library() && source.type == MPS::DataTypeFloat32 && has_gaps && !source.padding_is_zero)
    source = task.work.packed(source);
  Convolution description;
  if (describe(description, ConvolutionPass::forward, shape, geometry, source, task.destination)) {
    description.inputs_may_be_short = accumulates_in_half();
    description.has_biases = weights->has_biases;
    for (const bool with_neuron : {true, false}) {
      description.neuron = with_neuron ? weights->neuron : Neuron{};
      auto primitive = weights->primitive(encoding.library(), description);
      if (!primitive) continue;
      for (MTL::Buffer* buffer : {weights->weights.get(), weights->biases.get()}) encoding.keep(buffer);
      encoding.run(
          std::move(primitive), "convolution",
          {source.place, Operand{weights->weights.get()}, Operand{weights->biases.get()}, task.destination.place});
      if (!with_neuron) encode_neuron_in_place(encoding, *weights, task.destination);
      return success();
    }
  }
  encode_convolution(encoding, *weights,
                     {geometry.left(), geometry.top(), geometry.stride_x, geometry.stride_y, 1, 1, geometry.edge_mode},
                     source, task.destination, true);
  return success();
}

// The convolution into scratch memory, and from there, block by block, to the destination.
Status ConvolutionPart::encode_sub_pixels(Encoding& encoding, CnnTask& task) const {
  const size_t factor = weights->shape.sub_pixels;
  const ImageTensor& result = task.destination;
  ImageTensor made = result;
  made.width = (result.width + factor - 1) / factor;
  made.height = (result.height + factor - 1) / factor;
  made.channels = weights->shape.outputs;
  made.pixel_stride = made.channels;
  made.row_stride = made.width * made.pixel_stride;
  made.image_stride = made.height * made.row_stride;
  made.gap_is_padding = made.padding_is_zero = false;
  made.place = encoding.scratch(made.images * made.image_stride * made.number_bytes());
  CnnTask convolution = task;
  convolution.destination = made;
  if (auto status = encode_layer(encoding, convolution); !status) return status;
  // As kernels/conv.metal has it.
  const struct {
    KernelImageTensor source, result;
    uint32_t factor;
  } numbers{for_kernel(made), for_kernel(result), uint32_t(factor)};
  encoding.dispatch({fmt::format("sub_pixels_{}", metal_name_of(result.type)), {uint32_t(MPS::CNNNeuronTypeNone)}},
                    MTL::Size(result.width * result.channels, result.height, result.images),
                    threads_along_row(result.width * result.channels), made.place, result.place, numbers);
  return success();
}

namespace {

ConvolutionPart* body(const MPS::CNNConvolution* kernel) {
  return shared_part_of<ConvolutionPart>(const_cast<MPS::CNNConvolution*>(kernel));
}

Status load(ConvolutionPart& self, MTL::Device* device, MPS::CNNConvolutionDataSource* source) {
  auto loaded = ConvolutionWeights::load(device, source, ConvolutionWeights::Order::as_given);
  if (!loaded) return Error{loaded.error()};
  const ConvolutionShape& shape = (*loaded)->shape;
  if (self.is_fully_connected && (shape.stride_x != 1 || shape.stride_y != 1 || shape.groups != 1))
    return Error{"a fully connected layer has strides and groups of 1"};
  self.weights = *loaded;
  const WindowGeometry window = shape.window();
  self.window.kernel_width = window.kernel_width;
  self.window.kernel_height = window.kernel_height;
  self.window.stride_x = window.stride_x;
  self.window.stride_y = window.stride_y;
  self.window.dilation_x = window.dilation_x;
  self.window.dilation_y = window.dilation_y;
  return success();
}

MPS::CNNConvolution* init(MPS::CNNConvolution* kernel, MTL::Device* device, MPS::CNNConvolutionDataSource* source,
                          bool is_fully_connected) {
  ConvolutionPart* self = body(kernel);
  if (!self) return nullptr;
  self->is_fully_connected = is_fully_connected;
  if (const Status status = load(*self, device, source); !status) {
    foundation::report_misuse(is_fully_connected ? "-[MPSCNNFullyConnected initWithDevice:weights:]"
                                                 : "-[MPSCNNConvolution initWithDevice:weights:]",
                              status.error());
    return foundation::failed_init(kernel);
  }
  self->device = NS::RetainPtr(device);
  self->label = NS::RetainPtr(source->label());
  if (is_fully_connected)
    self->padding = NS::RetainPtr<MPS::NNPadding>(MPS::NNDefaultPadding::padding(MPS::NNPaddingMethodSizeValidOnly));
  return kernel;
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

CNNConvolution* CNNConvolution::alloc() {
  return new mps::Object<CNNConvolution, ConvolutionPart>("MPSCNNConvolution");
}

CNNConvolution* CNNConvolution::init(MTL::Device* device, CNNConvolutionDataSource* weights) {
  return mps::init(this, device, weights, false);
}

#define CONVOLUTION_NUMBER(getter, value)         \
  NS::UInteger CNNConvolution::getter() const {   \
    const auto* self = body(this);                \
    return self ? self->weights->shape.value : 0; \
  }
CONVOLUTION_NUMBER(inputFeatureChannels, inputs)
CONVOLUTION_NUMBER(outputFeatureChannels, outputs)
CONVOLUTION_NUMBER(groups, groups)
CONVOLUTION_NUMBER(subPixelScaleFactor, sub_pixels)

NS::UInteger CNNConvolution::channelMultiplier() const {
  const auto* self = body(this);
  return self && self->weights->shape.is_depthwise ? self->weights->shape.group_outputs() : 0;
}
CNNConvolutionDataSource* CNNConvolution::dataSource() const {
  const auto* self = body(this);
  return self ? self->weights->source.get() : nullptr;
}
NNNeuronDescriptor* CNNConvolution::fusedNeuronDescriptor() const {
  const auto* self = body(this);
  return self ? self->weights->neuron_descriptor.get() : nullptr;
}
MPS_PROPERTY(CNNConvolution, ConvolutionPart, NNConvolutionAccumulatorPrecisionOption, accumulatorPrecisionOption,
             setAccumulatorPrecisionOption, accumulator, (NNConvolutionAccumulatorPrecisionOptionFloat))

void CNNConvolution::reloadWeightsAndBiasesFromDataSource() {
  auto* self = body(this);
  if (!self) return;
  if (const Status status = load(*self, self->device.get(), self->weights->source.get()); !status)
    foundation::report_misuse("-[MPSCNNConvolution reloadWeightsAndBiasesFromDataSource]", status.error());
}

void CNNConvolution::reloadWeightsAndBiases(MTL::CommandBuffer* commandBuffer,
                                            const CNNConvolutionWeightsAndBiasesState* state) {
  auto* self = body(this);
  if (!self) return;
  Encoding encoding(commandBuffer, *self, "MPS::CNNConvolution::reloadWeightsAndBiases");
  if (encoding) reload(encoding, self->weights, state);
}

CNNConvolutionWeightsAndBiasesState* CNNConvolution::exportWeightsAndBiases(MTL::CommandBuffer* commandBuffer,
                                                                            bool resultStateCanBeTemporary) {
  auto* self = body(this);
  if (!self) return nullptr;
  Encoding encoding(commandBuffer, *self, "MPS::CNNConvolution::exportWeightsAndBiases");
  if (!encoding) return nullptr;
  auto* state =
      new mps::Object<CNNConvolutionWeightsAndBiasesState, StatePart>("MPSCNNConvolutionWeightsAndBiasesState");
  state->set_device(self->device.get(), resultStateCanBeTemporary ? commandBuffer : nullptr);
  const ConvolutionShape& shape = self->weights->shape;
  state->add_buffer(shape.weights() * sizeof(float));
  state->add_buffer(shape.outputs * sizeof(float));
  encoding.keep(self->weights->weights.get());
  encoding.keep(self->weights->biases.get());
  MTL::BlitCommandEncoder* copy = commandBuffer->blitCommandEncoder();
  copy->copyFromBuffer(self->weights->weights.get(), 0, state->buffer(weights_index), 0,
                       shape.weights() * sizeof(float));
  copy->copyFromBuffer(self->weights->biases.get(), 0, state->buffer(biases_index), 0, shape.outputs * sizeof(float));
  copy->endEncoding();
  return foundation::autoreleased(static_cast<CNNConvolutionWeightsAndBiasesState*>(state));
}

CNNFullyConnected* CNNFullyConnected::alloc() {
  return new mps::Object<CNNFullyConnected, ConvolutionPart>("MPSCNNFullyConnected");
}

CNNFullyConnected* CNNFullyConnected::init(MTL::Device* device, CNNConvolutionDataSource* weights) {
  return static_cast<CNNFullyConnected*>(mps::init(this, device, weights, true));
}

}  // namespace MPS

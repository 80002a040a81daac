#include "mps/cnn/convolution_weights.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mps/cnn/source_weights.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/device_kind.hpp"

namespace metalloid::mps {
namespace {

NS::SharedPtr<MTL::Buffer> new_buffer(MTL::Device* device, const std::vector<float>& numbers) {
  return NS::TransferPtr(
      device->newBuffer(numbers.data(), numbers.size() * sizeof(float), MTL::ResourceStorageModeShared));
}

NS::SharedPtr<MTL::Buffer> new_buffer(MTL::Device* device, size_t numbers) {
  return NS::TransferPtr(device->newBuffer(numbers * sizeof(float), MTL::ResourceStorageModeShared));
}

// As kernels/conv.metal has it.
struct Packing {
  uint32_t groups, inputs, outputs, kernel_width, kernel_height, turned;
};

}  // namespace

Result<std::shared_ptr<ConvolutionWeights>> ConvolutionWeights::load(MTL::Device* device,
                                                                     MPS::CNNConvolutionDataSource* source,
                                                                     Order order) {
  if (!device) return Error{"device is null"};
  Result<SourceWeights> loaded = load_weights(source);
  if (!loaded) return Error{loaded.error()};
  auto made = std::make_shared<ConvolutionWeights>();
  made->shape = loaded->shape;
  made->source = NS::RetainPtr(source);
  made->order = order;
  made->has_biases = loaded->has_biases;
  made->neuron_descriptor = loaded->neuron_descriptor;
  made->neuron = loaded->neuron;
  if (loaded->slopes.empty()) loaded->slopes.resize(1);
  made->weights = new_buffer(device, loaded->numbers);
  made->biases = new_buffer(device, loaded->biases);
  made->slopes = new_buffer(device, loaded->slopes);
  made->packed_ = new_buffer(device, loaded->numbers.size());
  if (!made->weights || !made->biases || !made->slopes || !made->packed_)
    return Error{fmt::format("there is no memory for {} weights", loaded->numbers.size())};

  const auto queue = NS::TransferPtr(device->newCommandQueue());
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  MTL::CommandBuffer* commands = queue->commandBuffer();
  KernelPart kernel;
  kernel.device = NS::RetainPtr(device);
  {
    Encoding encoding(commands, kernel, "MPS::CNNConvolution::init");
    made->encode_packing(encoding, {made->packed_.get()});
  }
  commands->commit();
  commands->waitUntilCompleted();
  if (commands->error()) return Error{commands->error()->localizedDescription()->utf8String()};
  return made;
}

Result<std::shared_ptr<ConvolutionWeights>> ConvolutionWeights::copied_from(Encoding& encoding, Operand new_weights,
                                                                            Operand new_biases) const {
  const size_t bytes = shape.weights() * sizeof(float), bias_bytes = shape.outputs * sizeof(float);
  if (!new_weights.buffer || new_weights.buffer->length() < bytes)
    return Error{fmt::format("state's weights must have {} bytes", bytes)};
  if (new_biases.buffer && new_biases.buffer->length() < bias_bytes)
    return Error{fmt::format("state's biases must have {} bytes", bias_bytes)};
  auto made = std::make_shared<ConvolutionWeights>();
  made->shape = shape;
  made->source = source;
  made->slopes = slopes;
  made->has_biases = has_biases || new_biases.buffer;
  made->neuron_descriptor = neuron_descriptor;
  made->neuron = neuron;
  made->order = order;
  made->buffers_ = buffers_;
  made->kernels_read_it_ = kernels_read_it_ || !encoding.library();
  made->weights = buffers_->take(encoding.device(), shape.weights());
  made->biases = new_biases.buffer ? new_buffer(encoding.device(), shape.outputs) : biases;
  if (made->kernels_read_it_) made->packed_ = buffers_->take(encoding.device(), shape.weights());
  if (!made->weights || !made->biases || (made->kernels_read_it_ && !made->packed_))
    return Error{"there is no memory for the new weights"};
  for (MTL::Buffer* buffer : {made->weights.get(), made->biases.get(), made->packed_.get()})
    if (buffer) encoding.keep(buffer);
  MTL::BlitCommandEncoder* copy = encoding.command_buffer()->blitCommandEncoder();
  copy->copyFromBuffer(new_weights.buffer, new_weights.offset, made->weights.get(), 0, bytes);
  if (new_biases.buffer) copy->copyFromBuffer(new_biases.buffer, new_biases.offset, made->biases.get(), 0, bias_bytes);
  copy->endEncoding();
  if (made->packed_) made->encode_packing(encoding, {made->packed_.get()});
  return made;
}

// One that nobody but this list holds any more, neither weights nor commands that are to run.
NS::SharedPtr<MTL::Buffer> ConvolutionWeights::Buffers::take(MTL::Device* device, size_t numbers) {
  std::lock_guard lock(mutex_);
  for (const auto& buffer : buffers_)
    if (buffer->retainCount() == 1) return buffer;
  auto made = new_buffer(device, numbers);
  if (made) buffers_.push_back(made);
  return made;
}

Operand ConvolutionWeights::packed(Encoding& encoding) const {
  if (packed_) {
    encoding.keep(packed_.get());
    return {packed_.get()};
  }
  kernels_read_it_ = true;
  const Operand result = encoding.scratch(shape.weights() * sizeof(float));
  encode_packing(encoding, result);
  return result;
}

void ConvolutionWeights::encode_packing(Encoding& encoding, Operand result) const {
  const Packing packing{uint32_t(shape.all_groups()), uint32_t(shape.group_inputs()), uint32_t(shape.group_outputs()),
                        uint32_t(shape.kernel_width), uint32_t(shape.kernel_height),  order == Order::turned};
  encoding.dispatch({"convolve_pack"}, MTL::Size(shape.group_inputs(), shape.taps(), shape.outputs),
                    MTL::Size(32, 1, 1), Operand{weights.get()}, result, packing);
}

std::shared_ptr<Primitive> ConvolutionWeights::primitive(const MathLibrary* library, const Convolution& description) {
  if (!library) return nullptr;
  std::lock_guard lock(mutex_);
  const auto known =
      std::ranges::find(primitives_, description, &std::pair<Convolution, std::shared_ptr<Primitive>>::first);
  if (known != primitives_.end()) return known->second;
  return primitives_.emplace_back(description, library->convolution(description)).second;
}

KernelConvolution for_kernel(const ConvolutionShape& shape, const ConvolutionPlace& place, const ImageTensor& source,
                             const ImageTensor& result) {
  return {for_kernel(source),
          for_kernel(result),
          int32_t(place.left),
          int32_t(place.top),
          uint32_t(shape.kernel_width),
          uint32_t(shape.kernel_height),
          uint32_t(place.stride_x),
          uint32_t(place.stride_y),
          uint32_t(shape.dilation_x),
          uint32_t(shape.dilation_y),
          uint32_t(place.apart_x),
          uint32_t(place.apart_y),
          uint32_t(shape.all_groups()),
          uint32_t(shape.group_inputs()),
          uint32_t(shape.group_outputs()),
          uint32_t(place.edge_mode)};
}

void encode_convolution(Encoding& encoding, const ConvolutionWeights& weights, const ConvolutionPlace& place,
                        const ImageTensor& source, const ImageTensor& destination, bool with_biases_and_neuron) {
  constexpr size_t pixels_of_thread = 8;
  KernelConvolution convolution = for_kernel(weights.shape, place, source, destination);
  if (weights.order == ConvolutionWeights::Order::turned) std::swap(convolution.inputs, convolution.outputs);
  const bool is_depthwise = convolution.inputs == 1 && convolution.outputs == 1;
  const Neuron neuron = with_biases_and_neuron ? weights.neuron : Neuron{};
  Operand biases{weights.biases.get()};
  if (!with_biases_and_neuron) {
    biases = encoding.scratch(convolution.outputs * convolution.groups * sizeof(float));
    MTL::BlitCommandEncoder* fill = encoding.command_buffer()->blitCommandEncoder();
    fill->fillBuffer(biases.buffer,
                     NS::Range::Make(biases.offset, convolution.outputs * convolution.groups * sizeof(float)), 0);
    fill->endEncoding();
  }
  for (MTL::Buffer* buffer : {weights.slopes.get(), weights.biases.get()}) encoding.keep(buffer);
  const Operand packed = weights.packed(encoding);
  const size_t tiles = (destination.width + pixels_of_thread - 1) / pixels_of_thread;
  const MTL::Size threads =
      is_depthwise
          ? MTL::Size(convolution.groups, destination.width, destination.height * destination.images)
          : MTL::Size(convolution.outputs, tiles, destination.height * destination.images * convolution.groups);
  encoding.dispatch(
      {fmt::format("{}_{}", is_depthwise ? "convolve_depthwise" : "convolve", metal_name_of(destination.type)),
       {uint32_t(neuron.type)}},
      threads, MTL::Size(32, is_gpu(encoding.device()) ? 4 : 1, 1), source.place, packed, biases,
      Operand{weights.slopes.get()}, destination.place, convolution, neuron.parameters);
}

bool describe(Convolution& description, ConvolutionPass pass, const ConvolutionShape& shape,
              const WindowGeometry& window, const ImageTensor& source, const ImageTensor& destination) {
  const auto can_be_filled_up = [](const ImageTensor& tensor, bool is_read) {
    return tensor.pixel_stride == tensor.channels || (is_read ? tensor.padding_is_zero : tensor.gap_is_padding);
  };
  const bool reads_source = pass != ConvolutionPass::data_gradient, reads_result = pass != ConvolutionPass::forward;
  if (!source.is_dense() || !destination.is_dense() || !can_be_filled_up(source, reads_source) ||
      !can_be_filled_up(destination, reads_result))
    return false;
  if (window.edge_mode != MPS::ImageEdgeModeZero) return false;
  description = {.pass = pass,
                 .type = source.type,
                 .images = source.images,
                 .groups = shape.all_groups(),
                 .source_width = source.width,
                 .source_height = source.height,
                 .source_channels = shape.inputs,
                 .source_stored_channels = source.pixel_stride,
                 .destination_width = destination.width,
                 .destination_height = destination.height,
                 .destination_channels = shape.outputs,
                 .destination_stored_channels = destination.pixel_stride,
                 .kernel_width = shape.kernel_width,
                 .kernel_height = shape.kernel_height,
                 .stride_x = shape.stride_x,
                 .stride_y = shape.stride_y,
                 .dilation_x = shape.dilation_x,
                 .dilation_y = shape.dilation_y,
                 .left = window.left(),
                 .top = window.top(),
                 .neuron = {}};
  return true;
}

}  // namespace metalloid::mps

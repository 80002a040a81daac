// Slices and other shapes of images.
#include <fmt/format.h>

#include <MetalPerformanceShaders/MPSNNReshape.hpp>
#include <MetalPerformanceShaders/MPSNNSlice.hpp>

#include "mps/core/cnn_layer.hpp"
#include "mps/core/data_type.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {

class SlicePart : public CnnKernelPart {
 public:
  const char* call() const override { return "MPS::NNSlice::encode"; }
  Status encode_layer(Encoding&, CnnTask& task) const override {
    task.work.copy(task.source, task.destination, task.offset_x, task.offset_y, window.edge_mode);
    return success();
  }
};

namespace {

// As kernels/reshape.metal has it.
struct KernelReshape {
  KernelImageTensor source, result;
};

size_t numbers_of(const ImageTensor& tensor) {
  return tensor.width * tensor.height * tensor.channels;
}

Status encode_reshape(Encoding& encoding, const ImageTensor& source, const ImageTensor& result, const char* from,
                      const char* to) {
  if (numbers_of(source) != numbers_of(result))
    return Error{fmt::format("{} has {} x {} x {} numbers, and {} of {} x {} x {} are written", from, source.width,
                             source.height, source.channels, to, result.width, result.height, result.channels)};
  encoding.dispatch({fmt::format("reshape_{}", metal_name_of(result.type))},
                    MTL::Size(result.width * result.channels, result.height, result.images),
                    threads_along_row(result.width * result.channels), source.place, result.place,
                    KernelReshape{for_kernel(source), for_kernel(result)});
  return success();
}

}  // namespace

class ReshapePart : public CnnKernelPart {
 public:
  const char* call() const override { return "MPS::NNReshape::encode"; }
  Status encode_layer(Encoding& encoding, CnnTask& task) const override {
    return encode_reshape(encoding, task.source, task.destination, "sourceImage", "destinationImage");
  }
  bool writes_all_channels() const override { return true; }
};

class ReshapeGradientPart : public CnnGradientPart {
 public:
  const char* call() const override { return "MPS::NNReshapeGradient::encode"; }
  Status encode_gradient(Encoding& encoding, CnnGradientTask& task) const override {
    return encode_reshape(encoding, task.gradient, task.destination, "sourceGradient", "destinationGradient");
  }
};

namespace {

struct NewShape {
  NS::UInteger width, height, channels;
};

// Images of this shape for the results of `sources`, of which there is one, or a batch.
std::vector<ImageObject*> new_destinations(MPS::NNReshape* kernel, MTL::CommandBuffer* command_buffer,
                                           const std::vector<ImageObject*>& sources, const NewShape& shape) {
  const auto* self = part_of<ReshapePart>(kernel);
  if (!self || !command_buffer || sources.empty() || !sources.front()) return {};
  const ImageShape& source = sources.front()->shape;
  return allocate_images(
      *self, kernel, command_buffer,
      MPS::ImageDescriptor::imageDescriptor(source.format, shape.width, shape.height, shape.channels, source.images,
                                            MTL::TextureUsageShaderRead | MTL::TextureUsageShaderWrite),
      sources.size());
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

#define SIMPLE_KERNEL(Class, Part)                                                             \
  Class* Class::alloc() {                                                                      \
    return new mps::Object<Class, Part>("MPS" #Class);                                         \
  }                                                                                            \
  Class* Class::init(MTL::Device* device) {                                                    \
    return init_kernel(this, part_of<Part>(this), device, "-[MPS" #Class " initWithDevice:]"); \
  }
SIMPLE_KERNEL(NNSlice, SlicePart)
SIMPLE_KERNEL(NNReshape, ReshapePart)
SIMPLE_KERNEL(NNReshapeGradient, ReshapeGradientPart)

Image* NNReshape::encode(MTL::CommandBuffer* commandBuffer, const Image* sourceImage, NS::UInteger reshapedWidth,
                         NS::UInteger reshapedHeight, NS::UInteger reshapedFeatureChannels) {
  return encode(commandBuffer, sourceImage, nullptr, false, reshapedWidth, reshapedHeight, reshapedFeatureChannels);
}

Image* NNReshape::encode(MTL::CommandBuffer* commandBuffer, const Image* sourceImage, State** destinationState,
                         bool destinationStateIsTemporary, NS::UInteger reshapedWidth, NS::UInteger reshapedHeight,
                         NS::UInteger reshapedFeatureChannels) {
  const auto made = new_destinations(this, commandBuffer, {mps::body(sourceImage)},
                                     {reshapedWidth, reshapedHeight, reshapedFeatureChannels});
  if (made.empty()) return nullptr;
  State* state = nullptr;
  if (destinationState)
    *destinationState = state = destinationStateIsTemporary
                                    ? temporaryResultState(commandBuffer, sourceImage, nullptr, made.front())
                                    : resultState(sourceImage, nullptr, made.front());
  encode(commandBuffer, sourceImage, static_cast<const State*>(state), made.front());
  return made.front();
}

ImageBatch* NNReshape::encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceImages,
                                   NS::UInteger reshapedWidth, NS::UInteger reshapedHeight,
                                   NS::UInteger reshapedFeatureChannels) {
  return encodeBatch(commandBuffer, sourceImages, nullptr, false, reshapedWidth, reshapedHeight,
                     reshapedFeatureChannels);
}

ImageBatch* NNReshape::encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceImages,
                                   StateBatch** destinationStates, bool destinationStateIsTemporary,
                                   NS::UInteger reshapedWidth, NS::UInteger reshapedHeight,
                                   NS::UInteger reshapedFeatureChannels) {
  const auto made = new_destinations(this, commandBuffer, images_of(sourceImages),
                                     {reshapedWidth, reshapedHeight, reshapedFeatureChannels});
  if (made.empty()) return nullptr;
  ImageBatch* destinations = batch_of(made);
  StateBatch* states = nullptr;
  if (destinationStates)
    *destinationStates = states = destinationStateIsTemporary
                                      ? temporaryResultStateBatch(commandBuffer, sourceImages, nullptr, destinations)
                                      : resultStateBatch(sourceImages, nullptr, destinations);
  encodeBatch(commandBuffer, sourceImages, states, destinations);
  return destinations;
}

}  // namespace MPS

#include <fmt/format.h>

#include <MetalPerformanceShaders/MPSNNReduce.hpp>

#include "mps/core/cnn_layer.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/properties.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {

enum class Weighing : uint32_t { sum, mean, by_non_zero };  // as kernels/reduce.metal has it

class WeightedReducePart : public CnnBinaryPart {
 public:
  Weighing weighing = Weighing::sum;
  MTL::Region primary_clip = MPS::RectNoClip, secondary_clip = MPS::RectNoClip;

  const char* call() const override { return "MPS::NNReduceBinary::encode"; }
  ImageShape result_shape(const ImageShape& primary_image, const ImageShape&) const override {
    const MTL::Region region = clipped(primary_clip, primary_image);
    ImageShape shape = primary_image;
    shape.width = region.size.width;
    shape.height = region.size.height;
    shape.channels = 1;
    return shape;
  }
  Status encode_layer(Encoding& encoding, CnnBinaryTask& task) const override;
};

namespace {

// As kernels/reduce.metal has it.
struct KernelWeightedReduce {
  KernelImageTensor source, weights, result;
};

ImageTensor part_in(CnnBinaryTask& task, const ImageTensor& tensor, const MTL::Region& clip) {
  const MTL::Region region = clipped(clip, {.width = tensor.width, .height = tensor.height, .images = tensor.images});
  return task.work.shifted(tensor, NS::Integer(region.origin.x), NS::Integer(region.origin.y), region.size.width,
                           region.size.height, MPS::ImageEdgeModeZero);
}

template <class Interface>
Interface* init(Interface* kernel, MTL::Device* device, Weighing weighing, const char* call) {
  auto* self = part_of<WeightedReducePart>(kernel);
  if (self) self->weighing = weighing;
  return init_kernel(kernel, self, device, call);
}

}  // namespace

Status WeightedReducePart::encode_layer(Encoding& encoding, CnnBinaryTask& task) const {
  const ImageTensor source = part_in(task, task.primary, primary_clip);
  const ImageTensor weights = part_in(task, task.secondary, secondary_clip);
  const ImageTensor& result = task.destination;
  if (source.width != weights.width || source.height != weights.height || source.channels != weights.channels)
    return Error{
        fmt::format("{} x {} x {} numbers of primaryImage are reduced, and secondaryImage has {} x {} x {} "
                    "weights",
                    source.width, source.height, source.channels, weights.width, weights.height, weights.channels)};
  if (result.width > source.width || result.height > source.height)
    return Error{fmt::format("{} x {} pixels of destinationImage are written, and the reduction has {} x {}",
                             result.width, result.height, source.width, source.height)};
  encoding.dispatch({fmt::format("weighted_reduce_{}", metal_name_of(result.type)), {uint32_t(weighing)}},
                    MTL::Size(result.width, result.height, result.images), threads_along_row(result.width),
                    source.place, weights.place, result.place,
                    KernelWeightedReduce{for_kernel(source), for_kernel(weights), for_kernel(result)});
  return success();
}

}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

MPS_PROPERTY(NNReduceBinary, WeightedReducePart, MTL::Region, primarySourceClipRect, setPrimarySourceClipRect,
             primary_clip, (0, 0, 0, 0))
MPS_PROPERTY(NNReduceBinary, WeightedReducePart, MTL::Region, secondarySourceClipRect, setSecondarySourceClipRect,
             secondary_clip, (0, 0, 0, 0))

NNReduceFeatureChannelsAndWeightsMean* NNReduceFeatureChannelsAndWeightsMean::alloc() {
  return new mps::Object<NNReduceFeatureChannelsAndWeightsMean, WeightedReducePart>(
      "MPSNNReduceFeatureChannelsAndWeightsMean");
}
NNReduceFeatureChannelsAndWeightsMean* NNReduceFeatureChannelsAndWeightsMean::init(MTL::Device* device) {
  return mps::init(this, device, Weighing::mean, "-[MPSNNReduceFeatureChannelsAndWeightsMean initWithDevice:]");
}

NNReduceFeatureChannelsAndWeightsSum* NNReduceFeatureChannelsAndWeightsSum::alloc() {
  return new mps::Object<NNReduceFeatureChannelsAndWeightsSum, WeightedReducePart>(
      "MPSNNReduceFeatureChannelsAndWeightsSum");
}
NNReduceFeatureChannelsAndWeightsSum* NNReduceFeatureChannelsAndWeightsSum::init(MTL::Device* device,
                                                                                 bool doWeightedSumByNonZeroWeights) {
  return mps::init(this, device, doWeightedSumByNonZeroWeights ? Weighing::by_non_zero : Weighing::sum,
                   "-[MPSNNReduceFeatureChannelsAndWeightsSum initWithDevice:doWeightedSumByNonZeroWeights:]");
}
bool NNReduceFeatureChannelsAndWeightsSum::doWeightedSumByNonZeroWeights() const {
  const auto* self = part_of<WeightedReducePart>(this);
  return self && self->weighing == Weighing::by_non_zero;
}

}  // namespace MPS

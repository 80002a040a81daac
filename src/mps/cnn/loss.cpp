// The loss is found number by number together with its gradient; where it is reduced, a second kernel sums it up.
#include "mps/cnn/loss.hpp"

#include <fmt/format.h>

#include "foundation/misuse.hpp"
#include "mps/core/cnn_layer.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/pixel_threads.hpp"
#include "mps/core/properties.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {

class LossPart : public CnnKernelPart {
 public:
  LossDescriptorPart loss;

  const char* call() const override { return "MPS::CNNLoss::encode"; }
  Status encode_layer(Encoding& encoding, CnnTask& task) const override;
};

namespace {

// As kernels/loss.metal has them.
struct KernelLoss {
  KernelImageTensor source, labels, weights, gradient, losses;
  float weight, label_scale, label_shift, epsilon, delta;
  uint32_t pixels;
};
struct KernelLossSum {
  KernelImageTensor losses, weights;
  uint64_t result_stride;
  float scale, shift;
  uint32_t divides_by_weights, across_batch;
};

// The images that the states of a batch hold, of one kind.
struct Labels {
  std::vector<ImageObject*> labels, weights, losses;
};

Result<Labels> labels_of(const CnnTask& task) {
  if (task.states.size() != task.source.images)
    return Error{fmt::format("there are {} images and {} labels", task.source.images, task.states.size())};
  Labels all;
  for (MPS::State* state : task.states) {
    const auto* part = shared_part_of<LossLabelsPart>(state);
    if (!part) return Error{"labels is null"};
    all.labels.push_back(body(part->labels.get()));
    all.losses.push_back(body(part->loss.get()));
    if (part->weights) all.weights.push_back(body(part->weights.get()));
  }
  if (!all.weights.empty() && all.weights.size() != all.labels.size())
    return Error{"some of the labels have weights, and some have none"};
  return all;
}

// Numbers that belong to those of the source, as large as what is written.
Result<ImageTensor> beside(CnnTask& task, std::span<ImageObject* const> images, const char* name) {
  if (auto status = check_batch(images, name); !status) return Error{status.error()};
  const ImageShape& shape = images.front()->shape;
  if (shape.width != task.source.width || shape.height != task.source.height || shape.channels != task.source.channels)
    return Error{fmt::format("{} has {} x {} x {} numbers, and sourceImage {} x {} x {}", name, shape.width,
                             shape.height, shape.channels, task.source.width, task.source.height,
                             task.source.channels)};
  const auto all = task.work.source(images, whole(images), MPS::DataTypeFloat32);
  if (!all) return Error{all.error()};
  return task.work.shifted(*all, task.offset_x, task.offset_y, task.destination.width, task.destination.height,
                           MPS::ImageEdgeModeZero);
}

Result<ImageTensor> loss_tensor(CnnTask& task, std::span<ImageObject* const> images, bool is_one_number) {
  if (auto status = check_batch(images, "lossImage"); !status) return Error{status.error()};
  const ImageShape& shape = images.front()->shape;
  const ImageTensor& all = task.destination;
  const size_t width = is_one_number ? 1 : all.width, height = is_one_number ? 1 : all.height;
  const size_t channels = is_one_number ? 1 : all.channels;
  if (shape.width != width || shape.height != height || shape.channels != channels)
    return Error{
        fmt::format("lossImage of labels has {} x {} x {} numbers; with this reductionType it must have "
                    "{} x {} x {}",
                    shape.width, shape.height, shape.channels, width, height, channels)};
  return task.work.destination(images, whole(images), MPS::DataTypeFloat32);
}

ImageTensor dense(const ImageTensor& like) {
  ImageTensor tensor = like;
  tensor.type = MPS::DataTypeFloat32;
  tensor.pixel_stride = like.channels;
  tensor.row_stride = like.width * tensor.pixel_stride;
  tensor.image_stride = like.height * tensor.row_stride;
  return tensor;
}

// How labels are smoothed: t * scale + shift.
struct Smoothing {
  float scale = 1, shift = 0;
};
Smoothing smoothing_of(const LossDescriptorPart& loss) {
  if (loss.label_smoothing <= 0) return {};
  if (loss.type == MPS::CNNLossTypeSoftMaxCrossEntropy)
    return {1 - loss.label_smoothing, loss.label_smoothing / float(loss.classes)};
  if (loss.type == MPS::CNNLossTypeSigmoidCrossEntropy) return {1 - loss.label_smoothing, 0.5f * loss.label_smoothing};
  return {};
}

// What a sum is divided by, where that is known without looking at weights.
double divisor_of(const LossDescriptorPart& loss, const ImageTensor& tensor, bool has_weights) {
  const double pixels = double(tensor.width * tensor.height) * double(loss.across_batch ? tensor.images : 1);
  if (loss.reduction == MPS::CNNReductionTypeMean)
    return loss.type == MPS::CNNLossTypeSoftMaxCrossEntropy ? pixels : pixels * double(tensor.channels);
  return loss.reduction == MPS::CNNReductionTypeSumByNonZeroWeights && !has_weights ? pixels * double(tensor.channels)
                                                                                    : 1;
}

Status check(const LossDescriptorPart& loss) {
  if (loss.type >= MPS::CNNLossTypeCount) return Error{fmt::format("there is no lossType {}", uint32_t(loss.type))};
  if (loss.reduction < 0 || loss.reduction >= MPS::CNNReductionTypeCount)
    return Error{fmt::format("there is no reductionType {}", int32_t(loss.reduction))};
  if (loss.type == MPS::CNNLossTypeCosineDistance && loss.reduction != MPS::CNNReductionTypeSum)
    return Error{"the reductionType of a cosine distance must be sum"};
  if (loss.classes == 0) return Error{"numberOfClasses must not be 0"};
  return success();
}

}  // namespace

Status LossPart::encode_layer(Encoding& encoding, CnnTask& task) const {
  const auto images = labels_of(task);
  if (!images) return Error{images.error()};
  const bool reduces = loss.reduction != MPS::CNNReductionTypeNone, has_weights = !images->weights.empty();
  const ImageTensor& gradient = task.destination;
  const ImageTensor source =
      task.work.shifted(task.source, task.offset_x, task.offset_y, gradient.width, gradient.height, window.edge_mode);
  const auto labels = beside(task, images->labels, "labelsImage");
  if (!labels) return Error{labels.error()};
  ImageTensor weights = *labels;
  if (has_weights) {
    const auto given = beside(task, images->weights, "weightsImage");
    if (!given) return Error{given.error()};
    weights = *given;
  }
  const auto result = loss_tensor(task, images->losses, reduces);
  if (!result) return Error{result.error()};
  ImageTensor losses = *result;
  if (reduces) {
    losses = dense(gradient);
    losses.place = encoding.scratch(losses.images * losses.image_stride * sizeof(float));
  }

  Operand log_sums = labels->place;
  const char* type = metal_name_of(source.type);
  if (loss.type == MPS::CNNLossTypeSoftMaxCrossEntropy) {
    log_sums = encoding.scratch(source.images * source.height * source.width * sizeof(float));
    encoding.dispatch({fmt::format("loss_log_sum_{}", type), {uint32_t(loss.type), 0}},
                      MTL::Size(source.width * 32, source.height, source.images), MTL::Size(32, 1, 1), source.place,
                      log_sums, for_kernel(source));
  }
  const Smoothing smoothing = smoothing_of(loss);
  const LineThreads lines = threads_over_lines(encoding, source);
  const KernelLoss numbers{for_kernel(source), for_kernel(*labels), for_kernel(weights), for_kernel(gradient),
                           for_kernel(losses), loss.weight,         smoothing.scale,     smoothing.shift,
                           loss.epsilon,       loss.delta,          lines.pixels};
  const bool few = has_few_channels(source);
  const std::vector<uint32_t> constants = {uint32_t(loss.type), uint32_t(has_weights), few};
  encoding.dispatch({fmt::format("loss_{}", type), constants}, few ? threads_over_few_channels(source) : lines.threads,
                    pixel_threadgroup(encoding), source.place, labels->place, weights.place, log_sums, gradient.place,
                    losses.place, numbers);
  if (!reduces) return success();

  const bool by_weights = loss.reduction == MPS::CNNReductionTypeSumByNonZeroWeights;
  // Of the distance, whose sum has the weight already.
  const float shift = loss.type == MPS::CNNLossTypeCosineDistance ? loss.weight : 0;
  const KernelLossSum sum{for_kernel(losses),
                          for_kernel(weights),
                          result->image_stride,
                          float(1 / divisor_of(loss, losses, has_weights)),
                          shift * float(loss.across_batch ? losses.images : 1),
                          uint32_t(by_weights),
                          uint32_t(loss.across_batch)};
  const MTL::Size threads =
      threads_for_row(encoding.device(), losses.height * losses.row_stride * (loss.across_batch ? losses.images : 1));
  encoding.dispatch({"loss_sum", constants}, MTL::Size(threads.width * (loss.across_batch ? 1 : losses.images), 1, 1),
                    threads, losses.place, weights.place, result->place, sum);
  return success();
}

}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

CNNLoss* CNNLoss::alloc() {
  return new mps::Object<CNNLoss, LossPart>("MPSCNNLoss");
}

CNNLoss* CNNLoss::init(MTL::Device* device, const CNNLossDescriptor* lossDescriptor) {
  constexpr const char* call = "-[MPSCNNLoss initWithDevice:lossDescriptor:]";
  auto* self = part_of<LossPart>(this);
  const auto* described = part_of<LossDescriptorPart>(lossDescriptor);
  if (!self) return nullptr;
  const Status status = described ? check(*described) : Status(Error{"lossDescriptor is null"});
  if (!status) {
    foundation::report_misuse(call, status.error());
    return foundation::failed_init(this);
  }
  self->loss = *described;
  return init_kernel(this, self, device, call);
}

#define DESCRIBED(Type, getter, member) MPS_READONLY(CNNLoss, LossPart, Type, getter, loss.member, ())
DESCRIBED(CNNLossType, lossType, type)
DESCRIBED(CNNReductionType, reductionType, reduction)
DESCRIBED(bool, reduceAcrossBatch, across_batch)
DESCRIBED(float, weight, weight)
DESCRIBED(float, labelSmoothing, label_smoothing)
DESCRIBED(NS::UInteger, numberOfClasses, classes)
DESCRIBED(float, epsilon, epsilon)
DESCRIBED(float, delta, delta)

void CNNLoss::encode(MTL::CommandBuffer* commandBuffer, const Image* sourceImage, const CNNLossLabels* labels,
                     const Image* destinationImage) {
  CNNKernel::encode(commandBuffer, sourceImage, static_cast<const State*>(labels), destinationImage);
}

Image* CNNLoss::encode(MTL::CommandBuffer* commandBuffer, const Image* sourceImage, const CNNLossLabels* labels) {
  const NS::Object* source = sourceImage;
  ImageBatch* made = encodeBatch(commandBuffer, source ? NS::Array::array(&source, 1) : nullptr,
                                 labels ? NS::Array::array(labels) : nullptr);
  return made ? made->object<Image>(0) : nullptr;
}

void CNNLoss::encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceImages,
                          const CNNLossLabelsBatch* labels, const ImageBatch* destinationImages) {
  CNNKernel::encodeBatch(commandBuffer, sourceImages, labels, destinationImages);
}

ImageBatch* CNNLoss::encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceImages,
                                 const CNNLossLabelsBatch* labels) {
  const auto* self = part_of<LossPart>(this);
  ImageDescriptor* descriptor = destinationImageDescriptor(sourceImages, nullptr);
  if (!self || !descriptor || !commandBuffer) return nullptr;
  const auto made = allocate_images(*self, this, commandBuffer, descriptor, sourceImages->count());
  if (made.empty()) return nullptr;
  ImageBatch* destinations = mps::batch_of(made);
  encodeBatch(commandBuffer, sourceImages, labels, destinations);
  return destinations;
}

}  // namespace MPS

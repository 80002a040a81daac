// Instance normalization is group normalization with a group for each channel: one part serves both.
#include <fmt/format.h>

#include <MetalPerformanceShaders/MPSCNNGroupNormalization.hpp>
#include <MetalPerformanceShaders/MPSCNNInstanceNormalization.hpp>

#include "foundation/misuse.hpp"
#include "mps/cnn/group_normalization_at_once.hpp"
#include "mps/cnn/normalization.hpp"
#include "mps/cnn/pixel_rows.hpp"
#include "mps/core/properties.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {

class GroupNormalizationPart : public CnnKernelPart {
 public:
  size_t channels = 0, groups = 0;
  ChannelPair gamma_and_beta;
  float epsilon = 0;

  Status encode_layer(Encoding& encoding, CnnTask& task) const override;
};

class GroupNormalizationStatePart : public GradientStatePart {
 public:
  enum : size_t { gamma_gradient_index, beta_gradient_index };

  NS::SharedPtr<MPS::CNNKernel> made_by;
  ChannelPair gamma_and_beta;
  size_t groups = 0;
  float epsilon = 0;
};

class GroupNormalizationGradientPart : public CnnGradientPart {
 public:
  Status encode_gradient(Encoding& encoding, CnnGradientTask& task) const override;
};

namespace {

// As kernels/image_normalization.metal has them.
struct KernelGroups {
  uint32_t channels, size;
};
struct KernelStateSlices {
  uint32_t channels, first, count;
};

// Two rows of floats for each image.
struct ScratchPair {
  Operand first, second;

  ScratchPair(Encoding& encoding, const ImageTensor& tensor)
      : first(encoding.scratch(tensor.images * tensor.channels * sizeof(float))),
        second(encoding.scratch(tensor.images * tensor.channels * sizeof(float))) {}
};

// A SIMD-group for each group of an image.
constexpr size_t simdgroup = 32;
MTL::Size threads_over_groups(const ImageTensor& tensor, size_t groups) {
  return MTL::Size(simdgroup * groups, tensor.images, 1);
}

Normalization with_statistics(Encoding& encoding, const ImageTensor& source, size_t groups,
                              const ChannelPair& gamma_and_beta, float epsilon) {
  ScratchPair statistics(encoding, source);
  encode_statistics(encoding, source, Slices::images, statistics.first, statistics.second);
  if (groups < source.channels) {
    const ScratchPair of_channels = statistics;
    statistics = ScratchPair(encoding, source);
    encoding.dispatch({"image_group_statistics", {uint32_t(MPS::CNNNeuronTypeNone)}},
                      threads_over_groups(source, groups), MTL::Size(simdgroup, 1, 1), of_channels.first,
                      of_channels.second, statistics.first, statistics.second,
                      KernelGroups{uint32_t(source.channels), uint32_t(source.channels / groups)});
  }
  return {.slices = Slices::images,
          .mean = statistics.first,
          .variance = statistics.second,
          .gamma = {gamma_and_beta.first.get()},
          .beta = {gamma_and_beta.second.get()},
          .epsilon = epsilon};
}

// The sums of each image into its state.
Status encode_state_gradients(Encoding& encoding, const ScratchPair& sums, const ImageTensor& source,
                              const std::vector<MPS::State*>& states) {
  const bool one_image_each = states.size() == source.images;
  for (size_t first = 0; first < states.size();) {
    size_t end = first + 1;
    while (end < states.size() && states[end] == states[first]) ++end;
    auto* state = shared_part_of<GroupNormalizationStatePart>(states[first]);
    if (!state) return Error{"gradientState is no state of an instance or group normalization"};
    if (std::find(states.begin() + ptrdiff_t(end), states.end(), states[first]) != states.end())
      return Error{"images with the same gradientState must follow each other"};
    using State = GroupNormalizationStatePart;
    const Operand of_gamma{state->buffer(State::gamma_gradient_index)},
        of_beta{state->buffer(State::beta_gradient_index)};
    if (!of_gamma.buffer || !of_beta.buffer) return Error{"there is no memory for the gradients of gamma and beta"};
    const size_t count = one_image_each ? end - first : source.images;
    encoding.dispatch({"image_state_gradients", {uint32_t(MPS::CNNNeuronTypeNone)}}, MTL::Size(source.channels, 1, 1),
                      threads_along_row(source.channels), sums.first, sums.second, of_gamma, of_beta,
                      KernelStateSlices{uint32_t(source.channels), uint32_t(first), uint32_t(count)});
    first = end;
  }
  return success();
}

}  // namespace

Status GroupNormalizationPart::encode_layer(Encoding& encoding, CnnTask& task) const {
  const ImageTensor& source = task.source;
  if (source.channels != channels)
    return Error{fmt::format("sourceImage has {} channels, and the data source {}", source.channels, channels)};
  for (MPS::State* state : task.states) {
    auto* part = shared_part_of<GroupNormalizationStatePart>(state);
    if (!part) return Error{"destinationState is no state of an instance or group normalization"};
    part->epsilon = epsilon;
    part->gamma_and_beta = gamma_and_beta;
  }
  const bool is_all_of_it = task.offset_x == 0 && task.offset_y == 0 && source.width == task.destination.width &&
                            source.height == task.destination.height;
  if (is_all_of_it &&
      encode_group_normalization_at_once(encoding, source, task.destination, groups, gamma_and_beta, epsilon))
    return success();
  encode_normalization(encoding, with_statistics(encoding, source, groups, gamma_and_beta, epsilon),
                       source_at_destination(task, window), task.destination);
  return success();
}

Status GroupNormalizationGradientPart::encode_gradient(Encoding& encoding, CnnGradientTask& task) const {
  const auto* state = shared_part_of<GroupNormalizationStatePart>(task.states.front());
  if (!state) return Error{"gradientState is no state of an instance or group normalization"};
  const ImageTensor& source = task.source;
  const size_t channels = state->gamma_and_beta.first->length() / sizeof(float);
  if (source.channels != channels || task.gradient.channels < channels)
    return Error{fmt::format("sourceImage has {} channels, sourceGradient {}, and the normalization {}",
                             source.channels, task.gradient.channels, channels)};
  // All of the gradient has a part in the sums, even where little of the result is wanted.
  const WindowGeometry& forward = task.forward.geometry;
  const ImageTensor gradient = task.work.shifted(task.gradient, -forward.offset_x, -forward.offset_y, source.width,
                                                 source.height, MPS::ImageEdgeModeZero);
  const Normalization normalization =
      with_statistics(encoding, source, state->groups, state->gamma_and_beta, state->epsilon);
  const ScratchPair of_channels(encoding, source);
  encode_sums(encoding, normalization, gradient, source, of_channels.first, of_channels.second);
  if (auto status = encode_state_gradients(encoding, of_channels, source, task.states); !status) return status;

  const size_t group = channels / state->groups;
  const ScratchPair of_groups(encoding, source);
  encoding.dispatch({"image_group_sums", {uint32_t(MPS::CNNNeuronTypeNone)}},
                    threads_over_groups(source, state->groups), MTL::Size(simdgroup, 1, 1), of_channels.first,
                    of_channels.second, normalization.gamma, of_groups.first, of_groups.second,
                    KernelGroups{uint32_t(channels), uint32_t(group)});
  const auto moved = gradient_at_destination(task, *this);
  if (!moved) return Error{moved.error()};
  encode_source_gradient(encoding, normalization,
                         {.of_gamma = of_groups.first,
                          .of_beta = of_groups.second,
                          .have_gamma = true,
                          .count = float(source.width * source.height * group)},
                         moved->gradient, moved->source, task.destination);
  return success();
}

namespace {

// The two kinds differ in their data source, their interfaces' names, and where the number of groups comes from.
template <class Interface, class State, class DataSource>
class KindOfPart : public GroupNormalizationPart {
 public:
  NS::SharedPtr<DataSource> source;
  const char *encode_call = nullptr, *state_class = nullptr;

  const char* call() const override { return encode_call; }
  NS::SharedPtr<MPS::State> new_state() const override {
    auto* state = new Object<State, GroupNormalizationStatePart>(state_class);
    state->made_by = NS::RetainPtr<MPS::CNNKernel>(dynamic_cast<Interface*>(const_cast<KindOfPart*>(this)));
    state->gamma_and_beta = gamma_and_beta;
    state->groups = groups;
    state->GroupNormalizationStatePart::epsilon = epsilon;
    for (int i = 0; i < 2; ++i) state->add_buffer(channels * sizeof(float));
    return NS::TransferPtr<MPS::State>(state);
  }
};

using InstancePart = KindOfPart<MPS::CNNInstanceNormalization, MPS::CNNInstanceNormalizationGradientState,
                                MPS::CNNInstanceNormalizationDataSource>;
using GroupPart = KindOfPart<MPS::CNNGroupNormalization, MPS::CNNGroupNormalizationGradientState,
                             MPS::CNNGroupNormalizationDataSource>;

template <int kind>
class GradientPart : public GroupNormalizationGradientPart {
 public:
  const char* call() const override {
    return kind == 0 ? "MPS::CNNInstanceNormalizationGradient::encode" : "MPS::CNNGroupNormalizationGradient::encode";
  }
};
using InstanceGradientPart = GradientPart<0>;
using GroupGradientPart = GradientPart<1>;

size_t groups_of(MPS::CNNInstanceNormalizationDataSource& source) {
  return source.numberOfFeatureChannels();
}
size_t groups_of(MPS::CNNGroupNormalizationDataSource& source) {
  return source.numberOfGroups();
}

template <class Part>
bool load(Part& self) {
  self.gamma_and_beta = {new_floats(self.device.get(), self.source->gamma(), self.channels, 1),
                         new_floats(self.device.get(), self.source->beta(), self.channels, 0)};
  return self.gamma_and_beta.first && self.gamma_and_beta.second;
}

template <class Part, class Interface, class DataSource>
Interface* init(Interface* kernel, MTL::Device* device, DataSource* source, const char* call) {
  auto* self = part_of<Part>(kernel);
  if (!init_kernel(kernel, self, device, call)) return nullptr;
  const auto refuse = [&](const std::string& reason) {
    foundation::report_misuse(call, reason);
    return foundation::failed_init(kernel);
  };
  if (!source) return refuse("dataSource is null");
  self->channels = source->numberOfFeatureChannels();
  self->groups = groups_of(*source);
  if (self->channels == 0) return refuse("the data source has no channels");
  if (self->groups == 0 || self->channels % self->groups)
    return refuse(fmt::format("numberOfGroups ({}) must divide the {} channels", self->groups, self->channels));
  self->source = NS::RetainPtr(source);
  self->epsilon = source->epsilon();
  if (NS::String* label = source->label()) kernel->setLabel(label);
  return load(*self) ? kernel : refuse("there is no memory for the numbers of the data source");
}

GroupNormalizationStatePart* body(const MPS::State* state) {
  return shared_part_of<GroupNormalizationStatePart>(const_cast<MPS::State*>(state));
}

MTL::Buffer* buffer_of(const MPS::State* state, size_t index) {
  auto* self = body(state);
  return self ? self->buffer(index) : nullptr;
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

#define NORMALIZATION(Class, Part, GradientPart, DataSource, State, maker)                                            \
  Class* Class::alloc() {                                                                                             \
    auto* made = new mps::Object<Class, Part>("MPS" #Class);                                                          \
    made->encode_call = "MPS::" #Class "::encode";                                                                    \
    made->state_class = "MPS" #State;                                                                                 \
    return made;                                                                                                      \
  }                                                                                                                   \
  Class* Class::init(MTL::Device* device, DataSource* dataSource) {                                                   \
    return mps::init<Part>(this, device, dataSource, "-[MPS" #Class " initWithDevice:dataSource:]");                  \
  }                                                                                                                   \
  MPS_PROPERTY(Class, GroupNormalizationPart, float, epsilon, setEpsilon, epsilon, (0))                               \
  DataSource* Class::dataSource() const {                                                                             \
    const auto* self = part_of<Part>(this);                                                                           \
    return self ? self->source.get() : nullptr;                                                                       \
  }                                                                                                                   \
  State* Class::resultState(const Image* sourceImage, const NS::Array* sourceStates, const Image* destinationImage) { \
    return static_cast<State*>(CNNKernel::resultState(sourceImage, sourceStates, destinationImage));                  \
  }                                                                                                                   \
  State* Class::temporaryResultState(MTL::CommandBuffer* commandBuffer, const Image* sourceImage,                     \
                                     const NS::Array* sourceStates, const Image* destinationImage) {                  \
    return static_cast<State*>(                                                                                       \
        CNNKernel::temporaryResultState(commandBuffer, sourceImage, sourceStates, destinationImage));                 \
  }                                                                                                                   \
  void Class::reloadGammaAndBetaFromDataSource() {                                                                    \
    auto* self = part_of<Part>(this);                                                                                 \
    if (self && !load(*self))                                                                                         \
      foundation::report_misuse("-[MPS" #Class " reloadGammaAndBetaFromDataSource]", "there is no memory");           \
  }                                                                                                                   \
  void Class::reloadGammaAndBeta(MTL::CommandBuffer* commandBuffer,                                                   \
                                 const CNNNormalizationGammaAndBetaState* gammaAndBetaState) {                        \
    if (auto* self = part_of<Part>(this))                                                                             \
      reload(self->gamma_and_beta, self->channels, self->device.get(), commandBuffer, gammaAndBetaState,              \
             "-[MPS" #Class " reloadGammaAndBetaWithCommandBuffer:gammaAndBetaState:]");                              \
  }                                                                                                                   \
  Class* State::maker() const {                                                                                       \
    const auto* self = body(this);                                                                                    \
    return self ? static_cast<Class*>(self->made_by.get()) : nullptr;                                                 \
  }                                                                                                                   \
  MTL::Buffer* State::gamma() const {                                                                                 \
    const auto* self = body(this);                                                                                    \
    return self ? self->gamma_and_beta.first.get() : nullptr;                                                         \
  }                                                                                                                   \
  MTL::Buffer* State::beta() const {                                                                                  \
    const auto* self = body(this);                                                                                    \
    return self ? self->gamma_and_beta.second.get() : nullptr;                                                        \
  }                                                                                                                   \
  MTL::Buffer* State::gradientForGamma() const {                                                                      \
    return buffer_of(this, GroupNormalizationStatePart::gamma_gradient_index);                                        \
  }                                                                                                                   \
  MTL::Buffer* State::gradientForBeta() const {                                                                       \
    return buffer_of(this, GroupNormalizationStatePart::beta_gradient_index);                                         \
  }                                                                                                                   \
  Class##Gradient* Class##Gradient::alloc() {                                                                         \
    return new mps::Object<Class##Gradient, GradientPart>("MPS" #Class "Gradient");                                   \
  }                                                                                                                   \
  Class##Gradient* Class##Gradient::init(MTL::Device* device) {                                                       \
    return init_kernel(this, part_of<GradientPart>(this), device, "-[MPS" #Class "Gradient initWithDevice:]");        \
  }
NORMALIZATION(CNNInstanceNormalization, InstancePart, InstanceGradientPart, CNNInstanceNormalizationDataSource,
              CNNInstanceNormalizationGradientState, instanceNormalization)
NORMALIZATION(CNNGroupNormalization, GroupPart, GroupGradientPart, CNNGroupNormalizationDataSource,
              CNNGroupNormalizationGradientState, groupNormalization)

}  // namespace MPS

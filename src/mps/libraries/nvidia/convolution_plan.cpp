#include "mps/libraries/nvidia/convolution_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace metalloid::mps::nvidia {

static int64_t behind(size_t results, size_t stride, size_t kernel, size_t dilation, size_t source, ptrdiff_t first) {
  return int64_t((results - 1) * stride + (kernel - 1) * dilation + 1) - int64_t(source) + first;
}

int64_t rows_behind(const Convolution& c) {
  return behind(c.destination_height, c.stride_y, c.kernel_height, c.dilation_y, c.source_height, c.top);
}

int64_t columns_behind(const Convolution& c) {
  return behind(c.destination_width, c.stride_x, c.kernel_width, c.dilation_x, c.source_width, c.left);
}

namespace {

using dnn::Attribute, dnn::AttributeType, dnn::Kind;

constexpr int64_t most_workspace = int64_t{512} << 20;
constexpr size_t own_alignment = 16;  // of buffers and scratch memory

enum Id : int64_t { source_id = 1, weights_id, biases_id, destination_id, sum_id, biased_id };

dnn::Type type_of(MPS::DataType type) {
  return type == MPS::DataTypeFloat16 ? dnn::Type::float16 : dnn::Type::float32;
}

// [images, channels, height, width] by cuDNN's count, with the channels of a pixel side by side.
struct Sizes {
  size_t images, channels, height, width;
};

Descriptor& tensor(Descriptors& all, Id id, dnn::Type type, const Sizes& s, size_t alignment, bool is_virtual = false) {
  const auto size = [](size_t value) { return int64_t(value); };
  const std::array sizes = {size(s.images), size(s.channels), size(s.height), size(s.width)};
  const std::array strides = {size(s.channels * s.width * s.height), int64_t{1}, size(s.channels * s.width),
                              size(s.channels)};
  Descriptor& made = all.emplace_back(Kind::tensor);
  made.set(Attribute::tensor_type, AttributeType::data_type, type);
  made.set(Attribute::tensor_sizes, AttributeType::int64, sizes.size(), sizes.data());
  made.set(Attribute::tensor_strides, AttributeType::int64, strides.size(), strides.data());
  made.set(Attribute::tensor_id, AttributeType::int64, int64_t{id});
  made.set(Attribute::tensor_alignment, AttributeType::int64, int64_t(alignment));
  if (is_virtual) made.set(Attribute::tensor_is_virtual, AttributeType::boolean, true);
  made.finalize();
  return made;
}

Descriptor& geometry(Descriptors& all, const Convolution& c) {
  const std::array before = {int64_t{-c.top}, int64_t{-c.left}};
  const std::array behind = {std::max(rows_behind(c), int64_t{0}), std::max(columns_behind(c), int64_t{0})};
  const std::array strides = {int64_t(c.stride_y), int64_t(c.stride_x)};
  const std::array dilations = {int64_t(c.dilation_y), int64_t(c.dilation_x)};
  Descriptor& made = all.emplace_back(Kind::convolution);
  made.set(Attribute::convolution_compute_type, AttributeType::data_type, dnn::Type::float32);
  made.set(Attribute::convolution_mode, AttributeType::convolution_mode, dnn::ConvolutionMode::cross_correlation);
  made.set(Attribute::convolution_spatial_dimensions, AttributeType::int64, int64_t{2});
  made.set(Attribute::convolution_pre_paddings, AttributeType::int64, 2, before.data());
  made.set(Attribute::convolution_post_paddings, AttributeType::int64, 2, behind.data());
  made.set(Attribute::convolution_strides, AttributeType::int64, 2, strides.data());
  made.set(Attribute::convolution_dilations, AttributeType::int64, 2, dilations.data());
  made.finalize();
  return made;
}

dnn::Descriptor pointwise(Descriptors& all, dnn::PointwiseMode mode, const Descriptor& source, const Descriptor* other,
                          const Descriptor& result) {
  Descriptor& function = all.emplace_back(Kind::pointwise);
  Descriptor& operation = all.emplace_back(Kind::pointwise_operation);
  function.set(Attribute::pointwise_mode, AttributeType::pointwise_mode, mode);
  function.set(Attribute::pointwise_precision, AttributeType::data_type, dnn::Type::float32);
  function.finalize();
  operation.set(Attribute::pointwise_descriptor, function);
  operation.set(Attribute::pointwise_source, source);
  if (other) operation.set(Attribute::pointwise_other, *other);
  operation.set(Attribute::pointwise_result, result);
  operation.finalize();
  return operation.get();
}

// The attributes of the three passes follow each other in the same order.
struct PassAttributes {
  Kind kind;
  Attribute alpha, beta, convolution, weights, source, result;
};

PassAttributes attributes_of(ConvolutionPass pass) {
  using enum Attribute;
  switch (pass) {
    case ConvolutionPass::data_gradient:
      return {Kind::convolution_backward_data, backward_data_alpha,  backward_data_beta,  backward_data_convolution,
              backward_data_weights,           backward_data_source, backward_data_result};
    case ConvolutionPass::weights_gradient:
      return {
          Kind::convolution_backward_filter, backward_filter_alpha,  backward_filter_beta,  backward_filter_convolution,
          backward_filter_weights,           backward_filter_source, backward_filter_result};
    default:
      return {Kind::convolution_forward, forward_alpha,  forward_beta,  forward_convolution,
              forward_weights,           forward_source, forward_result};
  }
}

dnn::Descriptor operation_of(Descriptors& all, const Convolution& c, const Descriptor& source,
                             const Descriptor& weights, const Descriptor& result) {
  const PassAttributes names = attributes_of(c.pass);
  const Descriptor& convolution = geometry(all, c);
  Descriptor& made = all.emplace_back(names.kind);
  made.set(names.source, source);
  made.set(names.weights, weights);
  made.set(names.result, result);
  made.set(names.convolution, convolution);
  made.set(names.alpha, AttributeType::float32, 1.0f);
  made.set(names.beta, AttributeType::float32, 0.0f);
  made.finalize();
  return made.get();
}

std::vector<dnn::Descriptor> operations_of(Descriptors& all, const Convolution& c) {
  const dnn::Type type = type_of(c.type);
  const Sizes result{c.images, c.destination_stored_channels, c.destination_height, c.destination_width};
  const Descriptor& source =
      tensor(all, source_id, type, {c.images, c.source_stored_channels, c.source_height, c.source_width}, c.alignment);
  const Descriptor& weights =
      tensor(all, weights_id, type,
             {c.destination_stored_channels, c.source_stored_channels / c.groups, c.kernel_height, c.kernel_width},
             own_alignment);
  const Descriptor& destination = tensor(all, destination_id, type, result, c.alignment);
  if (c.pass != ConvolutionPass::forward) return {operation_of(all, c, source, weights, destination)};
  const bool has_neuron = c.neuron.type == MPS::CNNNeuronTypeReLU;
  const Descriptor& sum = tensor(all, sum_id, dnn::Type::float32, result, own_alignment, true);
  const Descriptor& biases =
      tensor(all, biases_id, dnn::Type::float32, {1, c.destination_stored_channels, 1, 1}, own_alignment);
  const Descriptor& biased =
      has_neuron ? tensor(all, biased_id, dnn::Type::float32, result, own_alignment, true) : destination;
  std::vector<dnn::Descriptor> operations = {operation_of(all, c, source, weights, sum),
                                             pointwise(all, dnn::PointwiseMode::add, sum, &biases, biased)};
  if (has_neuron) operations.push_back(pointwise(all, dnn::PointwiseMode::relu, biased, nullptr, destination));
  return operations;
}

// Float is float: no shorter inputs unless that is allowed, and no ways around that cost digits. And the same numbers
// each time.
bool is_good_enough(const Descriptor& configuration, MPS::DataType type, bool may_be_short) {
  const Cudnn& library = *Cudnn::shared();
  Descriptor engine(Kind::engine);
  dnn::Descriptor place = engine.get();
  int64_t count = 0;
  if (library.get_attribute(configuration.get(), Attribute::configuration_engine, AttributeType::descriptor, 1, &count,
                            &place) != dnn::Code::success)
    return false;
  std::array<dnn::NumericalNote, 16> notes = {};
  library.get_attribute(place, Attribute::engine_numerical_notes, AttributeType::numerical_note, notes.size(), &count,
                        notes.data());
  using enum dnn::NumericalNote;
  const auto is_bad = [&](dnn::NumericalNote note) {
    if (note == tensor_core || note == converts_inputs_down) return type == MPS::DataTypeFloat32 && !may_be_short;
    return note == reduces_with_less_precision || note == fft || note == nondeterministic ||
           (note >= winograd && note <= last_winograd);
  };
  return std::ranges::none_of(notes.begin(), notes.begin() + std::min<int64_t>(count, notes.size()), is_bad);
}

std::vector<Descriptor> configurations_for(const Descriptor& graph, dnn::HeuristicMode mode) {
  const Cudnn& library = *Cudnn::shared();
  Descriptor heuristics(Kind::engine_heuristics);
  heuristics.set(Attribute::heuristics_graph, graph);
  heuristics.set(Attribute::heuristics_mode, AttributeType::heuristic_mode, mode);
  std::vector<Descriptor> found;
  if (heuristics.finalize() != dnn::Code::success) return found;
  int64_t count = 0;
  library.get_attribute(heuristics.get(), Attribute::heuristics_results, AttributeType::descriptor, 0, &count, nullptr);
  std::vector<dnn::Descriptor> places;
  for (int64_t i = 0; i < count; ++i) places.push_back(found.emplace_back(Kind::engine_configuration).get());
  int64_t given = 0;
  library.get_attribute(heuristics.get(), Attribute::heuristics_results, AttributeType::descriptor, count, &given,
                        places.data());
  found.erase(found.begin() + std::min(given, count), found.end());
  return found;
}

}  // namespace

Descriptor::Descriptor(dnn::Kind kind) {
  code_ = Cudnn::shared()->create_descriptor(kind, &descriptor_);
}

Descriptor::~Descriptor() {
  if (descriptor_) Cudnn::shared()->destroy_descriptor(descriptor_);
}

Descriptor::Descriptor(Descriptor&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, nullptr)), code_(other.code_) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(code_, other.code_);
  return *this;
}

void Descriptor::set(dnn::Attribute attribute, dnn::AttributeType type, int64_t count, const void* elements) {
  if (code_ == dnn::Code::success)
    code_ = Cudnn::shared()->set_attribute(descriptor_, attribute, type, count, elements);
}

dnn::Code Descriptor::finalize() {
  if (code_ == dnn::Code::success) code_ = Cudnn::shared()->finalize(descriptor_);
  return code_;
}

Result<std::shared_ptr<const ConvolutionPlan>> ConvolutionPlan::make(dnn::Handle handle, const Convolution& c) {
  const Cudnn& library = *Cudnn::shared();
  Descriptors parts;
  const std::vector<dnn::Descriptor> operations = operations_of(parts, c);
  Descriptor& graph = parts.emplace_back(Kind::operation_graph);
  graph.set(Attribute::graph_operations, AttributeType::descriptor, int64_t(operations.size()), operations.data());
  graph.set(Attribute::graph_handle, AttributeType::handle, handle);
  if (const dnn::Code code = graph.finalize(); code != dnn::Code::success)
    return Error{fmt::format("cuDNN does not take this convolution: {}; METALLOID_MPS_LIBRARIES=0 does without it",
                             library.describe(code))};
  for (const dnn::HeuristicMode mode : {dnn::HeuristicMode::a, dnn::HeuristicMode::fallback})
    for (Descriptor& configuration : configurations_for(graph, mode)) {
      if (!is_good_enough(configuration, c.type, c.inputs_may_be_short)) continue;
      Descriptor plan(Kind::execution_plan);
      plan.set(Attribute::plan_handle, AttributeType::handle, handle);
      plan.set(Attribute::plan_configuration, configuration);
      if (plan.finalize() != dnn::Code::success) continue;
      int64_t bytes = 0, count = 0;
      library.get_attribute(plan.get(), Attribute::plan_workspace, AttributeType::int64, 1, &count, &bytes);
      if (bytes > most_workspace) continue;
      parts.push_back(std::move(configuration));
      return std::shared_ptr<const ConvolutionPlan>(
          new ConvolutionPlan(std::move(parts), std::move(plan), size_t(bytes), c.pass == ConvolutionPass::forward));
    }
  return Error{"cuDNN has no engine for this convolution; METALLOID_MPS_LIBRARIES=0 does without it"};
}

Status ConvolutionPlan::run(dnn::Handle handle, const Places& places) const {
  const Cudnn& library = *Cudnn::shared();
  const std::array<int64_t, 4> ids = {source_id, weights_id, destination_id, biases_id};
  const std::array<void*, 4> pointers = {places.source, places.weights, places.destination, places.biases};
  const int64_t count = has_biases_ ? 4 : 3;
  Descriptor pack(Kind::variant_pack);
  pack.set(Attribute::pack_ids, AttributeType::int64, count, ids.data());
  pack.set(Attribute::pack_pointers, AttributeType::pointer, count, pointers.data());
  pack.set(Attribute::pack_workspace, AttributeType::pointer, places.workspace);
  dnn::Code code = pack.finalize();
  if (code == dnn::Code::success) code = library.execute(handle, plan_.get(), pack.get());
  if (code == dnn::Code::success) return success();
  return Error{fmt::format("cuDNN's convolution failed: {}", library.describe(code))};
}

}  // namespace metalloid::mps::nvidia

// Convolutions by oneDNN. It is given images as they lie, channels innermost, including those that only fill pixels up:
// their weights are zero. Where that is much work, the source's pixels are first put together without them. Weights are
// put into the order that oneDNN likes best when a primitive is first run, unless they are in that order already, as
// those of fully connected layers are.
#include "mps/libraries/convolution.hpp"

#include <algorithm>
#include <cstring>
#include <dnnl.hpp>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "mps/libraries/cpu/pixels.hpp"
#include "mps/libraries/cpu/primitives.hpp"
#include "mps/libraries/cpu/scratch.hpp"

namespace metalloid::mps::cpu {
namespace {

using dnnl::memory;

const dnnl::engine& engine() {
  static const auto& engine = *new dnnl::engine(dnnl::engine::kind::cpu, 0);  // primitives may outlive static objects
  return engine;
}

memory::desc image_desc(size_t images, size_t channels, size_t height, size_t width) {
  return {{memory::dim(images), memory::dim(channels), memory::dim(height), memory::dim(width)},
          memory::data_type::f32,
          memory::format_tag::nhwc};
}

// Whether it takes longer to compute with the source's channels that fill pixels up than to copy all others, by what
// two cores of a Zen 4 do in a nanosecond: 70 multiplications and additions, or 4 numbers of a pixel. oneDNN has no
// good way for pixels with gaps.
bool is_worth_packing(const Convolution& c) {
  const size_t filling = c.source_stored_channels - c.source_channels;
  const size_t more_work = filling * c.kernel_width * c.kernel_height * c.destination_channels;
  return c.groups == 1 && more_work * 4 > (c.source_stored_channels + c.source_channels) * 70;
}

// Sizes as oneDNN has them: with the channels that fill pixels up, which only one group can have.
struct Sizes {
  explicit Sizes(const Convolution& c)
      : groups(c.groups),
        inputs(c.groups == 1 && !is_worth_packing(c) ? c.source_stored_channels : c.source_channels),
        outputs(c.groups == 1 ? c.destination_stored_channels : c.destination_channels),
        height(c.kernel_height),
        width(c.kernel_width) {}
  size_t groups, inputs, outputs, height, width;

  size_t numbers() const { return outputs * height * width * (inputs / groups); }
  memory::desc weights(bool any) const {
    const auto dim = [](size_t size) { return memory::dim(size); };
    if (groups == 1)
      return {{dim(outputs), dim(inputs), dim(height), dim(width)},
              memory::data_type::f32,
              any ? memory::format_tag::any : memory::format_tag::ohwi};
    return {{dim(groups), dim(outputs / groups), dim(inputs / groups), dim(height), dim(width)},
            memory::data_type::f32,
            any ? memory::format_tag::any : memory::format_tag::gohwi};
  }
  memory::desc biases() const { return {{memory::dim(outputs)}, memory::data_type::f32, memory::format_tag::x}; }
};

// The neuron as a step after the convolution; false if there is none such.
bool append(dnnl::post_ops& steps, const Neuron& neuron) {
  using dnnl::algorithm;
  const auto& [a, b, c] = neuron.parameters;
  const auto eltwise = [&](algorithm kind, float alpha, float beta) {
    steps.append_eltwise(1, kind, alpha, beta);
    return true;
  };
  switch (neuron.type) {
    case MPS::CNNNeuronTypeNone:
      return true;
    case MPS::CNNNeuronTypeReLU:
      return eltwise(algorithm::eltwise_relu, a, 0);
    case MPS::CNNNeuronTypeLinear:
      return eltwise(algorithm::eltwise_linear, a, b);
    case MPS::CNNNeuronTypeSigmoid:
      return eltwise(algorithm::eltwise_logistic, 0, 0);
    case MPS::CNNNeuronTypeTanH:
      return a == 1 && b == 1 && eltwise(algorithm::eltwise_tanh, 0, 0);
    case MPS::CNNNeuronTypeAbsolute:
      return eltwise(algorithm::eltwise_abs, 0, 0);
    case MPS::CNNNeuronTypeELU:
      return eltwise(algorithm::eltwise_elu, a, 0);
    case MPS::CNNNeuronTypeReLUN:
      return a == 0 && eltwise(algorithm::eltwise_clip, 0, b);
    case MPS::CNNNeuronTypeGeLU:
      return eltwise(algorithm::eltwise_gelu_erf, 0, 0);
    default:
      return false;
  }
}

bool keeps_zero(const Neuron& neuron) {
  return neuron.type != MPS::CNNNeuronTypeSigmoid &&
         (neuron.type != MPS::CNNNeuronTypeLinear || neuron.parameters.b == 0);
}

struct Geometry {
  memory::dims strides, dilations, before, after;
};

// False where a window begins inside: oneDNN can add pixels, not leave them out.
bool geometry_of(const Convolution& c, Geometry& geometry) {
  if (c.left > 0 || c.top > 0) return false;
  const auto after = [](size_t result, size_t stride, size_t kernel, size_t dilation, size_t source, ptrdiff_t first) {
    return memory::dim((result - 1) * stride + (kernel - 1) * dilation + 1) - memory::dim(source) + first;
  };
  geometry.strides = {memory::dim(c.stride_y), memory::dim(c.stride_x)};
  geometry.dilations = {memory::dim(c.dilation_y) - 1, memory::dim(c.dilation_x) - 1};
  geometry.before = {-c.top, -c.left};
  geometry.after = {after(c.destination_height, c.stride_y, c.kernel_height, c.dilation_y, c.source_height, c.top),
                    after(c.destination_width, c.stride_x, c.kernel_width, c.dilation_x, c.source_width, c.left)};
  return true;
}

// Weights with room for the channels that fill pixels up, where there are any.
std::vector<float> filled_up(const float* weights, const Convolution& c, const Sizes& sizes) {
  std::vector<float> all(sizes.numbers());
  const size_t inputs = c.source_channels / c.groups, stored = sizes.inputs / sizes.groups;
  for (size_t row = 0; row < c.destination_channels * c.kernel_height * c.kernel_width; ++row)
    std::memcpy(all.data() + row * stored, weights + row * inputs, inputs * sizeof(float));
  return all;
}

class OneDnnConvolution final : public Primitive {
 public:
  explicit OneDnnConvolution(const Convolution& convolution)
      : convolution_(convolution),
        sizes_(convolution),
        is_filled_up_(sizes_.inputs != convolution.source_channels ||
                      sizes_.outputs != convolution.destination_channels),
        source_(image_desc(convolution.images, sizes_.inputs, convolution.source_height, convolution.source_width)),
        destination_(image_desc(convolution.images, sizes_.outputs, convolution.destination_height,
                                convolution.destination_width)) {}

  // False if oneDNN has no good way.
  bool prepare() {
    Geometry g;
    dnnl::post_ops steps;
    const Convolution& c = convolution_;
    if (!geometry_of(c, g) || !append(steps, c.neuron)) return false;
    if (sizes_.outputs != c.destination_channels && !keeps_zero(c.neuron)) return false;
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    using dnnl::algorithm, dnnl::prop_kind;
    const bool trains = c.pass != ConvolutionPass::forward;
    const prop_kind kind = trains ? prop_kind::forward_training : prop_kind::forward_inference;
    const memory::desc weights = sizes_.weights(true), biases = sizes_.biases();
    const auto forward =
        c.has_biases ? dnnl::convolution_forward::desc(kind, algorithm::convolution_direct, source_, weights, biases,
                                                       destination_, g.strides, g.dilations, g.before, g.after)
                     : dnnl::convolution_forward::desc(kind, algorithm::convolution_direct, source_, weights,
                                                       destination_, g.strides, g.dilations, g.before, g.after);
    dnnl::primitive_attr with_neuron = attributes;
    with_neuron.set_post_ops(steps);
    const dnnl::convolution_forward::primitive_desc hint(forward, with_neuron, engine());
    switch (c.pass) {
      case ConvolutionPass::forward:
        return take(hint, hint.weights_desc());
      case ConvolutionPass::data_gradient: {
        const dnnl::convolution_backward_data::desc desc(algorithm::convolution_direct, source_, weights, destination_,
                                                         g.strides, g.dilations, g.before, g.after);
        const dnnl::convolution_backward_data::primitive_desc found(desc, attributes, engine(), hint);
        return take(found, found.weights_desc());
      }
      case ConvolutionPass::weights_gradient: {
        const dnnl::convolution_backward_weights::desc desc(algorithm::convolution_direct, source_, weights, biases,
                                                            destination_, g.strides, g.dilations, g.before, g.after);
        const dnnl::convolution_backward_weights::primitive_desc found(desc, attributes, engine(), hint);
        return take(found, found.diff_weights_desc());
      }
    }
    return false;
  }

  Status run(device::LibraryStream*, std::span<void* const> places) override try {
    dnnl::stream stream(engine());
    switch (convolution_.pass) {
      case ConvolutionPass::forward: {
        std::call_once(ready_, [&] { make_ready(stream, places[1], places[2]); });
        std::unordered_map<int, memory> arguments = {{DNNL_ARG_SRC, source_at(places[0])},
                                                     {DNNL_ARG_WEIGHTS, weights_at(places[1])},
                                                     {DNNL_ARG_DST, memory(destination_, engine(), places[3])}};
        if (convolution_.has_biases) {
          void* biases = is_filled_up_ ? biases_.data() : places[2];
          arguments.emplace(DNNL_ARG_BIAS, memory(sizes_.biases(), engine(), biases));
        }
        execute(stream, std::move(arguments));
        break;
      }
      case ConvolutionPass::data_gradient: {
        std::call_once(ready_, [&] { make_ready(stream, places[1], nullptr); });
        void* gradient = is_packed() ? scratch<Purpose::source>(source_.get_size()) : places[2];
        execute(stream, {{DNNL_ARG_DIFF_DST, memory(destination_, engine(), places[0])},
                         {DNNL_ARG_WEIGHTS, weights_at(places[1])},
                         {DNNL_ARG_DIFF_SRC, memory(source_, engine(), gradient)}});
        if (is_packed()) unpack(static_cast<const float*>(gradient), static_cast<float*>(places[2]), source_pixels());
        break;
      }
      case ConvolutionPass::weights_gradient:
        run_weights_gradient(stream, places);
        break;
    }
    stream.wait();
    return success();
  } catch (const dnnl::error& error) {
    return Error{std::string("oneDNN: ") + error.what()};
  }

 private:
  template <class Description>
  bool take(const Description& found, const memory::desc& weights) {
    if (std::string_view(found.impl_info_str()).find("ref") != std::string_view::npos) return false;
    primitive_ = dnnl::primitive(found.get());
    ordered_ = weights;
    is_in_order_ = !is_filled_up_ && ordered_ == sizes_.weights(false);
    if (!is_in_order_) prepare_ordering();
    scratchpad_ = found.scratchpad_desc();
    return true;
  }

  // Between the weights as they are given and as oneDNN likes them best.
  void prepare_ordering() {
    const bool makes_weights = convolution_.pass == ConvolutionPass::weights_gradient;
    const memory::desc plain = sizes_.weights(false);
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::reorder::primitive_desc found(engine(), makes_weights ? ordered_ : plain, engine(),
                                              makes_weights ? plain : ordered_, attributes);
    ordering_ = dnnl::reorder(found);
    ordering_scratchpad_ = found.scratchpad_desc();
  }
  void order(dnnl::stream& stream, const memory& from, const memory& to) const {
    const memory own(ordering_scratchpad_, engine(), scratch<Purpose::library>(ordering_scratchpad_.get_size()));
    ordering_.execute(stream, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}, {DNNL_ARG_SCRATCHPAD, own}});
  }

  bool is_packed() const { return sizes_.groups == 1 && sizes_.inputs != convolution_.source_stored_channels; }
  Pixels source_pixels() const {
    const Convolution& c = convolution_;
    return {c.images * c.source_width * c.source_height, c.source_channels, c.source_stored_channels};
  }
  memory source_at(void* place) const {
    if (!is_packed()) return memory(source_, engine(), place);
    void* packed = scratch<Purpose::source>(source_.get_size());
    pack(static_cast<const float*>(place), static_cast<float*>(packed), source_pixels());
    return memory(source_, engine(), packed);
  }

  memory weights_at(void* place) const { return is_in_order_ ? memory(ordered_, engine(), place) : ordered_weights_; }

  void make_ready(dnnl::stream& stream, void* weights, const void* biases) {
    if (is_in_order_) return;
    std::vector<float> all;
    if (is_filled_up_) {
      all = filled_up(static_cast<const float*>(weights), convolution_, sizes_);
      weights = all.data();
      biases_.resize(sizes_.outputs);
      if (convolution_.has_biases)
        std::memcpy(biases_.data(), biases, convolution_.destination_channels * sizeof(float));
    }
    ordered_weights_ = memory(ordered_, engine());
    memory given(sizes_.weights(false), engine(), weights);
    order(stream, given, ordered_weights_);
    stream.wait();
  }

  void run_weights_gradient(dnnl::stream& stream, std::span<void* const> places) {
    memory gradient = is_in_order_ ? memory(ordered_, engine(), places[2]) : memory(ordered_, engine());
    std::vector<float> all(is_filled_up_ ? sizes_.numbers() : 0), biases(sizes_.outputs);
    execute(stream, {{DNNL_ARG_SRC, source_at(places[0])},
                     {DNNL_ARG_DIFF_DST, memory(destination_, engine(), places[1])},
                     {DNNL_ARG_DIFF_WEIGHTS, gradient},
                     {DNNL_ARG_DIFF_BIAS, memory(sizes_.biases(), engine(), biases.data())}});
    const Convolution& c = convolution_;
    if (!is_in_order_) {
      memory wanted(sizes_.weights(false), engine(), is_filled_up_ ? all.data() : places[2]);
      order(stream, gradient, wanted);
    }
    stream.wait();
    std::memcpy(places[3], biases.data(), c.destination_channels * sizeof(float));
    if (!is_filled_up_) return;
    const size_t inputs = c.source_channels / c.groups, stored = sizes_.inputs / sizes_.groups;
    for (size_t row = 0; row < c.destination_channels * c.kernel_height * c.kernel_width; ++row)
      std::memcpy(static_cast<float*>(places[2]) + row * inputs, all.data() + row * stored, inputs * sizeof(float));
  }

  void execute(dnnl::stream& stream, std::unordered_map<int, memory> arguments) {
    arguments.emplace(DNNL_ARG_SCRATCHPAD,
                      memory(scratchpad_, engine(), scratch<Purpose::library>(scratchpad_.get_size())));
    primitive_.execute(stream, arguments);
  }

  const Convolution convolution_;
  const Sizes sizes_;
  const bool is_filled_up_;
  bool is_in_order_ = false;
  const memory::desc source_, destination_;
  memory::desc ordered_, scratchpad_, ordering_scratchpad_;
  dnnl::primitive primitive_;
  dnnl::primitive ordering_;
  std::once_flag ready_;
  memory ordered_weights_;
  std::vector<float> biases_;
};

}  // namespace

std::shared_ptr<Primitive> make_convolution(const Convolution& c) {
  if (c.type != MPS::DataTypeFloat32) return nullptr;
  if (c.pass == ConvolutionPass::weights_gradient && !c.has_biases) return nullptr;  // it always has both
  if (c.groups > 1 &&
      (c.source_stored_channels != c.source_channels || c.destination_stored_channels != c.destination_channels))
    return nullptr;
  try {
    auto made = std::make_shared<OneDnnConvolution>(c);
    return made->prepare() ? made : nullptr;
  } catch (const dnnl::error&) {
    return nullptr;
  }
}

}  // namespace metalloid::mps::cpu

// Neurons of images are those of matrices, with pixels for rows.
#include <fmt/format.h>

#include <MetalPerformanceShaders/MPSCNNNeuron.hpp>

#include "mps/cnn/layer_neuron.hpp"
#include "mps/cnn/neuron_descriptor.hpp"
#include "mps/cnn/pixel_rows.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/properties.hpp"
#include "mps/matrix/matrix_neuron.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {

class LayerNeuron {
 public:
  NeuronHolder holder;
  NS::SharedPtr<NS::Data> data;

  Channels channels() const {
    return holder.neuron.type == MPS::CNNNeuronTypePReLU ? Channels::each_in_its_column : Channels::all_alike;
  }
};

class CnnNeuronPart : public CnnKernelPart {
 public:
  LayerNeuron neuron;

  const char* call() const override { return "MPS::CNNNeuron::encode"; }
  bool works_in_place() const override { return window.offset_x == 0 && window.offset_y == 0; }
  Status encode_layer(Encoding& encoding, CnnTask& task) const override;
};

class CnnNeuronGradientPart : public CnnGradientPart {
 public:
  LayerNeuron neuron;

  const char* call() const override { return "MPS::CNNNeuronGradient::encode"; }
  Status encode_gradient(Encoding& encoding, CnnGradientTask& task) const override;
};

Status CnnNeuronPart::encode_layer(Encoding& encoding, CnnTask& task) const {
  if (auto status = check_neuron(neuron.holder, task.destination.channels); !status) return status;
  for_each_rows(std::array{source_at_destination(task, window), task.destination}, neuron.channels(),
                [&](const std::array<MatrixView, 2>& views) {
                  encode_neuron(encoding, neuron.holder, 1, views[0], {}, views[1]);
                });
  return success();
}

namespace {

// As kernels/matrix_neuron.metal has it.
struct GradientShape {
  NeuronParameters parameters;
  float alpha;
  RowStrides gradient, input, result;
  uint32_t rows, columns, matrices;
};

template <class Interface, class Part>
Interface* init(Interface* kernel, Part* self, MTL::Device* device, const MPS::NNNeuronDescriptor* descriptor,
                const char* call) {
  if (!self) return nullptr;
  if (!device || !descriptor) {
    foundation::report_misuse(call, device ? "neuronDescriptor is null" : "device is null");
    return foundation::failed_init(kernel);
  }
  if (!set_neuron(self->neuron.holder, device, descriptor, call)) return foundation::failed_init(kernel);
  if (self->neuron.holder.channel_a) self->neuron.data = body(descriptor)->data;
  return init_kernel(kernel, self, device, call);
}

}  // namespace

Status CnnNeuronGradientPart::encode_gradient(Encoding& encoding, CnnGradientTask& task) const {
  if (auto status = check_neuron(neuron.holder, task.destination.channels); !status) return status;
  const auto moved = gradient_at_destination(task, *this);
  if (!moved) return Error{moved.error()};
  const KernelFunction function{fmt::format("matrix_neuron_gradient_{}", metal_name_of(task.destination.type)),
                                {uint32_t(neuron.holder.neuron.type), false}};
  for_each_rows(std::array{moved->gradient, moved->source, task.destination}, neuron.channels(),
                [&](const std::array<MatrixView, 3>& views) {
                  const auto& [gradient, source, result] = views;
                  encoding.dispatch(function, MTL::Size(result.columns, result.rows, result.matrices),
                                    threads_along_row(result.columns), gradient.first, source.first, result.first,
                                    Operand{}, neuron.holder.channel_parameters(),
                                    GradientShape{neuron.holder.neuron.parameters, 1, gradient.strides, source.strides,
                                                  result.strides, uint32_t(result.rows), uint32_t(result.columns),
                                                  uint32_t(result.matrices)});
                });
  return success();
}

}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

#define NEURON_LAYER(Class, Part)                                                                      \
  Class* Class::alloc() {                                                                              \
    return new mps::Object<Class, Part>("MPS" #Class);                                                 \
  }                                                                                                    \
  Class* Class::init(MTL::Device* device, const NNNeuronDescriptor* neuronDescriptor) {                \
    return mps::init(this, shared_part_of<Part>(this), device, neuronDescriptor,                       \
                     "-[MPS" #Class " initWithDevice:neuronDescriptor:]");                             \
  }                                                                                                    \
  MPS_READONLY(Class, Part, CNNNeuronType, neuronType, neuron.holder.neuron.type, (CNNNeuronTypeNone)) \
  MPS_READONLY(Class, Part, float, a, neuron.holder.neuron.parameters.a, (0))                          \
  MPS_READONLY(Class, Part, float, b, neuron.holder.neuron.parameters.b, (0))                          \
  MPS_READONLY(Class, Part, float, c, neuron.holder.neuron.parameters.c, (0))                          \
  NS::Data* Class::data() const {                                                                      \
    const auto* self = shared_part_of<Part>(this);                                                     \
    return self ? self->neuron.data.get() : nullptr;                                                   \
  }
NEURON_LAYER(CNNNeuron, CnnNeuronPart)
NEURON_LAYER(CNNNeuronGradient, CnnNeuronGradientPart)

#define ONE_NEURON(kind, declared, given)                                                                              \
  CNNNeuron##kind* CNNNeuron##kind::alloc() {                                                                          \
    return new mps::Object<CNNNeuron##kind, CnnNeuronPart>("MPSCNNNeuron" #kind);                                      \
  }                                                                                                                    \
  CNNNeuron##kind* CNNNeuron##kind::init declared {                                                                    \
    return mps::init(this, shared_part_of<CnnNeuronPart>(this), device, NNNeuronDescriptor::cnnNeuronDescriptor given, \
                     "-[MPSCNNNeuron" #kind " initWithDevice:…]");                                                     \
  }
ONE_NEURON(Linear, (MTL::Device * device, float a, float b), (CNNNeuronTypeLinear, a, b))
ONE_NEURON(ReLU, (MTL::Device * device, float a), (CNNNeuronTypeReLU, a))
ONE_NEURON(Sigmoid, (MTL::Device * device), (CNNNeuronTypeSigmoid))
ONE_NEURON(HardSigmoid, (MTL::Device * device, float a, float b), (CNNNeuronTypeHardSigmoid, a, b))
ONE_NEURON(TanH, (MTL::Device * device, float a, float b), (CNNNeuronTypeTanH, a, b))
ONE_NEURON(Absolute, (MTL::Device * device), (CNNNeuronTypeAbsolute))
ONE_NEURON(SoftPlus, (MTL::Device * device, float a, float b), (CNNNeuronTypeSoftPlus, a, b))
ONE_NEURON(SoftSign, (MTL::Device * device), (CNNNeuronTypeSoftSign))
ONE_NEURON(ELU, (MTL::Device * device, float a), (CNNNeuronTypeELU, a))
ONE_NEURON(ReLUN, (MTL::Device * device, float a, float b), (CNNNeuronTypeReLUN, a, b))
ONE_NEURON(Power, (MTL::Device * device, float a, float b, float c), (CNNNeuronTypePower, a, b, c))
ONE_NEURON(Exponential, (MTL::Device * device, float a, float b, float c), (CNNNeuronTypeExponential, a, b, c))
ONE_NEURON(Logarithm, (MTL::Device * device, float a, float b, float c), (CNNNeuronTypeLogarithm, a, b, c))

CNNNeuronPReLU* CNNNeuronPReLU::alloc() {
  return new mps::Object<CNNNeuronPReLU, CnnNeuronPart>("MPSCNNNeuronPReLU");
}
CNNNeuronPReLU* CNNNeuronPReLU::init(MTL::Device* device, const float* a, NS::UInteger count) {
  const auto data = NS::TransferPtr(a ? NS::Data::alloc()->init(a, count * sizeof(float)) : nullptr);
  return mps::init(this, shared_part_of<CnnNeuronPart>(this), device,
                   NNNeuronDescriptor::cnnNeuronPReLUDescriptor(data.get(), false),
                   "-[MPSCNNNeuronPReLU initWithDevice:a:count:]");
}

}  // namespace MPS

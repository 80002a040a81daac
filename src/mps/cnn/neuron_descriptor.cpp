#include "mps/cnn/neuron_descriptor.hpp"

#include <cstring>

#include "foundation/object.hpp"

namespace metalloid::mps {

std::vector<float> NeuronDescriptorPart::slopes() const {
  std::vector<float> slopes(data ? data->length() / sizeof(float) : 0);
  if (!slopes.empty()) std::memcpy(slopes.data(), data->bytes(), slopes.size() * sizeof(float));
  return slopes;
}

}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

NNNeuronDescriptor* NNNeuronDescriptor::cnnNeuronDescriptor(CNNNeuronType neuronType, float a, float b, float c) {
  auto* descriptor = new mps::Object<NNNeuronDescriptor, NeuronDescriptorPart>("MPSNNNeuronDescriptor");
  descriptor->neuron = {neuronType, {a, b, c}};
  return foundation::autoreleased(static_cast<NNNeuronDescriptor*>(descriptor));
}

NNNeuronDescriptor* NNNeuronDescriptor::cnnNeuronPReLUDescriptor(const NS::Data* data, bool) {
  NNNeuronDescriptor* descriptor = cnnNeuronDescriptor(CNNNeuronTypePReLU);
  descriptor->setData(data);
  return descriptor;
}

#define DESCRIPTOR_PROPERTY(Type, getter, setter, member) \
  Type NNNeuronDescriptor::getter() const {               \
    const auto* self = body(this);                        \
    return self ? self->member : Type{};                  \
  }                                                       \
  void NNNeuronDescriptor::setter(Type value) {           \
    if (auto* self = body(this)) self->member = value;    \
  }
DESCRIPTOR_PROPERTY(CNNNeuronType, neuronType, setNeuronType, neuron.type)
DESCRIPTOR_PROPERTY(float, a, setA, neuron.parameters.a)
DESCRIPTOR_PROPERTY(float, b, setB, neuron.parameters.b)
DESCRIPTOR_PROPERTY(float, c, setC, neuron.parameters.c)

NS::Data* NNNeuronDescriptor::data() const {
  const auto* self = body(this);
  return self ? self->data.get() : nullptr;
}
void NNNeuronDescriptor::setData(const NS::Data* data) {
  if (auto* self = body(this)) self->data = NS::TransferPtr(data ? data->copy() : nullptr);
}

}  // namespace MPS

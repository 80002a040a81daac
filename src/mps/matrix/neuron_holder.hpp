// The neuron of a matrix kernel, and the methods by which it is set.
#pragma once

#include <vector>

#include "foundation/misuse.hpp"
#include "mps/core/neuron.hpp"
#include "mps/core/operand.hpp"
#include "mps/core/properties.hpp"

namespace metalloid::mps {

class NeuronHolder {
 public:
  Neuron neuron;
  NS::SharedPtr<MTL::Buffer> channel_a;  // of PReLU: a float for each column
  size_t channels = 0;

  void set(MPS::CNNNeuronType type, NeuronParameters parameters, const char* call);
  void set_to_prelu(MTL::Device* device, const NS::Data* parameters, const char* call);
  Operand channel_parameters() const { return {channel_a.get(), 0}; }
};

}  // namespace metalloid::mps

#define MPS_NEURON(Class, Part)                                                                               \
  void Class::setNeuronType(CNNNeuronType neuronType, float parameterA, float parameterB, float parameterC) { \
    if (auto* self = ::metalloid::mps::shared_part_of<::metalloid::mps::Part>(this))                          \
      self->holder.set(neuronType, {parameterA, parameterB, parameterC},                                      \
                       "-[MPS" #Class " setNeuronType:parameterA:parameterB:parameterC:]");                   \
  }                                                                                                           \
  MPS_READONLY(Class, Part, CNNNeuronType, neuronType, holder.neuron.type, (CNNNeuronTypeNone))               \
  MPS_READONLY(Class, Part, float, neuronParameterA, holder.neuron.parameters.a, (0))                         \
  MPS_READONLY(Class, Part, float, neuronParameterB, holder.neuron.parameters.b, (0))                         \
  MPS_READONLY(Class, Part, float, neuronParameterC, holder.neuron.parameters.c, (0))

#define MPS_PRELU(Class, Part)                                                                                         \
  void Class::setNeuronToPReLU(const NS::Data* parametersA) {                                                          \
    if (auto* self = ::metalloid::mps::shared_part_of<::metalloid::mps::Part>(this))                                   \
      self->holder.set_to_prelu(self->device.get(), parametersA, "-[MPS" #Class " setNeuronToPReLUWithParametersA:]"); \
  }

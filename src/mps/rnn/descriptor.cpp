#include "mps/rnn/descriptor.hpp"

#include "foundation/object.hpp"
#include "mps/core/properties.hpp"

namespace metalloid::mps {
namespace {

template <class Interface>
Interface* new_descriptor(const char* class_name, CellKind kind, NS::UInteger inputs, NS::UInteger outputs) {
  auto* descriptor = new Object<Interface, RnnDescriptorPart>(class_name);
  descriptor->kind = kind;
  descriptor->inputs = inputs;
  descriptor->outputs = outputs;
  return foundation::autoreleased(static_cast<Interface*>(descriptor));
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

MPS_NUMBER(RNNDescriptor, RnnDescriptorPart, inputFeatureChannels, setInputFeatureChannels, inputs)
MPS_NUMBER(RNNDescriptor, RnnDescriptorPart, outputFeatureChannels, setOutputFeatureChannels, outputs)
MPS_PROPERTY(RNNDescriptor, RnnDescriptorPart, bool, useLayerInputUnitTransformMode, setUseLayerInputUnitTransformMode,
             input_is_unit, (false))
MPS_PROPERTY(RNNDescriptor, RnnDescriptorPart, bool, useFloat32Weights, setUseFloat32Weights, float32_weights, (false))
MPS_PROPERTY(RNNDescriptor, RnnDescriptorPart, RNNSequenceDirection, layerSequenceDirection, setLayerSequenceDirection,
             direction, (RNNSequenceDirectionForward))

RNNSingleGateDescriptor* RNNSingleGateDescriptor::createRNNSingleGateDescriptor(NS::UInteger inputFeatureChannels,
                                                                                NS::UInteger outputFeatureChannels) {
  return new_descriptor<RNNSingleGateDescriptor>("MPSRNNSingleGateDescriptor", CellKind::single_gate,
                                                 inputFeatureChannels, outputFeatureChannels);
}
GRUDescriptor* GRUDescriptor::createGRUDescriptor(NS::UInteger inputFeatureChannels,
                                                  NS::UInteger outputFeatureChannels) {
  return new_descriptor<GRUDescriptor>("MPSGRUDescriptor", CellKind::gru, inputFeatureChannels, outputFeatureChannels);
}
LSTMDescriptor* LSTMDescriptor::createLSTMDescriptor(NS::UInteger inputFeatureChannels,
                                                     NS::UInteger outputFeatureChannels) {
  return new_descriptor<LSTMDescriptor>("MPSLSTMDescriptor", CellKind::lstm, inputFeatureChannels,
                                        outputFeatureChannels);
}

#define WEIGHTS(Class, getter, setter, id)                                                       \
  CNNConvolutionDataSource* Class::getter() const {                                              \
    const auto* self = body(this);                                                               \
    return self ? self->sources[RNNMatrixId##id].get() : nullptr;                                \
  }                                                                                              \
  void Class::setter(const CNNConvolutionDataSource* weights) {                                  \
    if (auto* self = body(this)) self->sources[RNNMatrixId##id] = foundation::retained(weights); \
  }

WEIGHTS(RNNSingleGateDescriptor, inputWeights, setInputWeights, SingleGateInputWeights)
WEIGHTS(RNNSingleGateDescriptor, recurrentWeights, setRecurrentWeights, SingleGateRecurrentWeights)

WEIGHTS(GRUDescriptor, inputGateInputWeights, setInputGateInputWeights, GRUInputGateInputWeights)
WEIGHTS(GRUDescriptor, inputGateRecurrentWeights, setInputGateRecurrentWeights, GRUInputGateRecurrentWeights)
WEIGHTS(GRUDescriptor, recurrentGateInputWeights, setRecurrentGateInputWeights, GRURecurrentGateInputWeights)
WEIGHTS(GRUDescriptor, recurrentGateRecurrentWeights, setRecurrentGateRecurrentWeights,
        GRURecurrentGateRecurrentWeights)
WEIGHTS(GRUDescriptor, outputGateInputWeights, setOutputGateInputWeights, GRUOutputGateInputWeights)
WEIGHTS(GRUDescriptor, outputGateRecurrentWeights, setOutputGateRecurrentWeights, GRUOutputGateRecurrentWeights)
WEIGHTS(GRUDescriptor, outputGateInputGateWeights, setOutputGateInputGateWeights, GRUOutputGateInputGateWeights)
MPS_PROPERTY(GRUDescriptor, RnnDescriptorPart, float, gatePnormValue, setGatePnormValue, p_norm, (0))
MPS_PROPERTY(GRUDescriptor, RnnDescriptorPart, bool, flipOutputGates, setFlipOutputGates, flipped, (false))

MPS_PROPERTY(LSTMDescriptor, RnnDescriptorPart, bool, memoryWeightsAreDiagonal, setMemoryWeightsAreDiagonal,
             diagonal_memory, (false))
WEIGHTS(LSTMDescriptor, inputGateInputWeights, setInputGateInputWeights, LSTMInputGateInputWeights)
WEIGHTS(LSTMDescriptor, inputGateRecurrentWeights, setInputGateRecurrentWeights, LSTMInputGateRecurrentWeights)
WEIGHTS(LSTMDescriptor, inputGateMemoryWeights, setInputGateMemoryWeights, LSTMInputGateMemoryWeights)
WEIGHTS(LSTMDescriptor, forgetGateInputWeights, setForgetGateInputWeights, LSTMForgetGateInputWeights)
WEIGHTS(LSTMDescriptor, forgetGateRecurrentWeights, setForgetGateRecurrentWeights, LSTMForgetGateRecurrentWeights)
WEIGHTS(LSTMDescriptor, forgetGateMemoryWeights, setForgetGateMemoryWeights, LSTMForgetGateMemoryWeights)
WEIGHTS(LSTMDescriptor, cellGateInputWeights, setCellGateInputWeights, LSTMMemoryGateInputWeights)
WEIGHTS(LSTMDescriptor, cellGateRecurrentWeights, setCellGateRecurrentWeights, LSTMMemoryGateRecurrentWeights)
WEIGHTS(LSTMDescriptor, cellGateMemoryWeights, setCellGateMemoryWeights, LSTMMemoryGateMemoryWeights)
WEIGHTS(LSTMDescriptor, outputGateInputWeights, setOutputGateInputWeights, LSTMOutputGateInputWeights)
WEIGHTS(LSTMDescriptor, outputGateRecurrentWeights, setOutputGateRecurrentWeights, LSTMOutputGateRecurrentWeights)
WEIGHTS(LSTMDescriptor, outputGateMemoryWeights, setOutputGateMemoryWeights, LSTMOutputGateMemoryWeights)
MPS_PROPERTY(LSTMDescriptor, RnnDescriptorPart, CNNNeuronType, cellToOutputNeuronType, setCellToOutputNeuronType,
             output_neuron.type, (CNNNeuronTypeNone))
MPS_PROPERTY(LSTMDescriptor, RnnDescriptorPart, float, cellToOutputNeuronParamA, setCellToOutputNeuronParamA,
             output_neuron.parameters.a, (0))
MPS_PROPERTY(LSTMDescriptor, RnnDescriptorPart, float, cellToOutputNeuronParamB, setCellToOutputNeuronParamB,
             output_neuron.parameters.b, (0))
MPS_PROPERTY(LSTMDescriptor, RnnDescriptorPart, float, cellToOutputNeuronParamC, setCellToOutputNeuronParamC,
             output_neuron.parameters.c, (0))

}  // namespace MPS

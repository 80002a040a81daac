// Recurrent layers on matrices: single gate, GRU and LSTM, for inference (one layer, stacks, both directions) and for
// training (gradients through time).
//
// A sequence is an array of matrices, one for each step of time, whose rows are the vectors of the sequences that run
// side by side. Later matrices may have fewer rows: those sequences have ended, and their states stay what they were.
// Offsets, in bytes, say where in a matrix its part of the sequence begins; it has the rows from there on.
//
// Where Apple's methods append to a mutable array, these set the pointer they are given to a new array, which is
// autoreleased.
#pragma once

#include "MPSCNNConvolution.hpp"
#include "MPSMatrix.hpp"
#include "MPSState.hpp"

namespace MPS {

_MPS_ENUM(NS::UInteger, RNNSequenceDirection){
    RNNSequenceDirectionForward = 0,
    RNNSequenceDirectionBackward = 1,
};

_MPS_ENUM(NS::UInteger, RNNBidirectionalCombineMode){
    RNNBidirectionalCombineModeNone = 0,
    RNNBidirectionalCombineModeAdd = 1,
    RNNBidirectionalCombineModeConcatenate = 2,
};

class _MPS_EXPORT RNNDescriptor : public NS::Copying<RNNDescriptor> {
 public:
  NS::UInteger inputFeatureChannels() const;
  void setInputFeatureChannels(NS::UInteger inputFeatureChannels);
  NS::UInteger outputFeatureChannels() const;
  void setOutputFeatureChannels(NS::UInteger outputFeatureChannels);
  // The input is taken as it is in place of W x; there are as many input as output channels.
  bool useLayerInputUnitTransformMode() const;
  void setUseLayerInputUnitTransformMode(bool use);
  // Weights are Float32 in any case.
  bool useFloat32Weights() const;
  void setUseFloat32Weights(bool use);
  // For encodeBidirectionalSequence.
  RNNSequenceDirection layerSequenceDirection() const;
  void setLayerSequenceDirection(RNNSequenceDirection direction);
};

// Weights are [outputFeatureChannels][input channels], by data sources that are as those of a convolution of 1 x 1; the
// source of a gate's input weights has its biases and its neuron, too. A null source stands for weights of 0.

// h1 = g(W x + U h0 + b)
class _MPS_EXPORT RNNSingleGateDescriptor : public NS::Copying<RNNSingleGateDescriptor, RNNDescriptor> {
 public:
  static RNNSingleGateDescriptor* createRNNSingleGateDescriptor(NS::UInteger inputFeatureChannels,
                                                                NS::UInteger outputFeatureChannels);

  CNNConvolutionDataSource* inputWeights() const;
  void setInputWeights(const CNNConvolutionDataSource* weights);
  CNNConvolutionDataSource* recurrentWeights() const;
  void setRecurrentWeights(const CNNConvolutionDataSource* weights);
};

// z = gz(Wz x + Uz h0 + bz)    r = gr(Wr x + Ur h0 + br)    h = gh(Wh x + Uh (r h0) + Vh (z h0) + bh)
// h1 = (1 - z^p)^(1/p) h + z h0 or, with flipped output gates, (1 - z^p)^(1/p) h0 + z h
class _MPS_EXPORT GRUDescriptor : public NS::Copying<GRUDescriptor, RNNDescriptor> {
 public:
  static GRUDescriptor* createGRUDescriptor(NS::UInteger inputFeatureChannels, NS::UInteger outputFeatureChannels);

  CNNConvolutionDataSource* inputGateInputWeights() const;  // Wz
  void setInputGateInputWeights(const CNNConvolutionDataSource* weights);
  CNNConvolutionDataSource* inputGateRecurrentWeights() const;  // Uz
  void setInputGateRecurrentWeights(const CNNConvolutionDataSource* weights);
  CNNConvolutionDataSource* recurrentGateInputWeights() const;  // Wr
  void setRecurrentGateInputWeights(const CNNConvolutionDataSource* weights);
  CNNConvolutionDataSource* recurrentGateRecurrentWeights() const;  // Ur
  void setRecurrentGateRecurrentWeights(const CNNConvolutionDataSource* weights);
  CNNConvolutionDataSource* outputGateInputWeights() const;  // Wh
  void setOutputGateInputWeights(const CNNConvolutionDataSource* weights);
  CNNConvolutionDataSource* outputGateRecurrentWeights() const;  // Uh
  void setOutputGateRecurrentWeights(const CNNConvolutionDataSource* weights);
  CNNConvolutionDataSource* outputGateInputGateWeights() const;  // Vh
  void setOutputGateInputGateWeights(const CNNConvolutionDataSource* weights);
  float gatePnormValue() const;
  void setGatePnormValue(float p);
  bool flipOutputGates() const;
  void setFlipOutputGates(bool flip);
};

// I = gi(Wi x + Ui h0 + Vi c0 + bi)    F = gf(Wf x + Uf h0 + Vf c0 + bf)    C = gc(Wc x + Uc h0 + Vc c0 + bc)
// c1 = F c0 + I C    O = go(Wo x + Uo h0 + Vo c1 + bo)    h1 = O gh(c1)
class _MPS_EXPORT LSTMDescriptor : public NS::Copying<LSTMDescriptor, RNNDescriptor> {
 public:
  static LSTMDescriptor* createLSTMDescriptor(NS::UInteger inputFeatureChannels, NS::UInteger outputFeatureChannels);

  // Each V is a diagonal, of which the source gives outputFeatureChannels numbers.
  bool memoryWeightsAreDiagonal() const;
  void setMemoryWeightsAreDiagonal(bool diagonal);
  CNNConvolutionDataSource* inputGateInputWeights() const;
  void setInputGateInputWeights(const CNNConvolutionDataSource* weights);
  CNNConvolutionDataSource* inputGateRecurrentWeights() const;
  void setInputGateRecurrentWeights(const CNNConvolutionDataSource* weights);
  CNNConvolutionDataSource* inputGateMemoryWeights() const;
  void setInputGateMemoryWeights(const CNNConvolutionDataSource* weights);
  CNNConvolutionDataSource* forgetGateInputWeights() const;
  void setForgetGateInputWeights(const CNNConvolutionDataSource* weights);
  CNNConvolutionDataSource* forgetGateRecurrentWeights() const;
  void setForgetGateRecurrentWeights(const CNNConvolutionDataSource* weights);
  CNNConvolutionDataSource* forgetGateMemoryWeights() const;
  void setForgetGateMemoryWeights(const CNNConvolutionDataSource* weights);
  CNNConvolutionDataSource* outputGateInputWeights() const;
  void setOutputGateInputWeights(const CNNConvolutionDataSource* weights);
  CNNConvolutionDataSource* outputGateRecurrentWeights() const;
  void setOutputGateRecurrentWeights(const CNNConvolutionDataSource* weights);
  CNNConvolutionDataSource* outputGateMemoryWeights() const;
  void setOutputGateMemoryWeights(const CNNConvolutionDataSource* weights);
  CNNConvolutionDataSource* cellGateInputWeights() const;
  void setCellGateInputWeights(const CNNConvolutionDataSource* weights);
  CNNConvolutionDataSource* cellGateRecurrentWeights() const;
  void setCellGateRecurrentWeights(const CNNConvolutionDataSource* weights);
  CNNConvolutionDataSource* cellGateMemoryWeights() const;
  void setCellGateMemoryWeights(const CNNConvolutionDataSource* weights);
  // gh: tanh with all parameters 1, unless another is set.
  CNNNeuronType cellToOutputNeuronType() const;
  void setCellToOutputNeuronType(CNNNeuronType type);
  float cellToOutputNeuronParamA() const;
  void setCellToOutputNeuronParamA(float a);
  float cellToOutputNeuronParamB() const;
  void setCellToOutputNeuronParamB(float b);
  float cellToOutputNeuronParamC() const;
  void setCellToOutputNeuronParamC(float c);
};

// The outputs and memory cells of each layer after a step, or their gradients; Float32, a row for each sequence.
class _MPS_EXPORT RNNRecurrentMatrixState : public NS::Referencing<RNNRecurrentMatrixState, State> {
 public:
  Matrix* getRecurrentOutputMatrix(NS::UInteger layerIndex) const;
  // Null where the layer is no LSTM.
  Matrix* getMemoryCellMatrix(NS::UInteger layerIndex) const;
};

class _MPS_EXPORT RNNMatrixInferenceLayer : public NS::Copying<RNNMatrixInferenceLayer, Kernel> {
 public:
  static RNNMatrixInferenceLayer* alloc();
  RNNMatrixInferenceLayer* init(MTL::Device* device, const RNNDescriptor* rnnDescriptor);
  RNNMatrixInferenceLayer* init(MTL::Device* device, const NS::Array* rnnDescriptors);

  NS::UInteger inputFeatureChannels() const;
  NS::UInteger outputFeatureChannels() const;
  NS::UInteger numberOfLayers() const;
  bool recurrentOutputIsTemporary() const;
  void setRecurrentOutputIsTemporary(bool temporary);
  // recurrentOutputStates has a state for each step, not the last one only.
  bool storeAllIntermediateStates() const;
  void setStoreAllIntermediateStates(bool store);
  RNNBidirectionalCombineMode bidirectionalCombineMode() const;
  void setBidirectionalCombineMode(RNNBidirectionalCombineMode mode);

  // All layers run forwards, whatever their descriptors say.
  void encodeSequence(MTL::CommandBuffer* commandBuffer, const NS::Array* sourceMatrices,
                      const NS::UInteger* sourceOffsets, const NS::Array* destinationMatrices,
                      const NS::UInteger* destinationOffsets, const RNNRecurrentMatrixState* recurrentInputState,
                      NS::Array** recurrentOutputStates);
  void encodeSequence(MTL::CommandBuffer* commandBuffer, const NS::Array* sourceMatrices,
                      const NS::Array* destinationMatrices, const RNNRecurrentMatrixState* recurrentInputState,
                      NS::Array** recurrentOutputStates);
  // Layers of each direction are a stack of their own. Where results are combined, destinationBackwardMatrices may be
  // null.
  void encodeBidirectionalSequence(MTL::CommandBuffer* commandBuffer, const NS::Array* sourceSequence,
                                   const NS::Array* destinationForwardMatrices,
                                   const NS::Array* destinationBackwardMatrices);
};

// What the gradient of a step needs of its forward pass.
class _MPS_EXPORT RNNMatrixTrainingState : public NS::Referencing<RNNMatrixTrainingState, State> {};

_MPS_ENUM(NS::UInteger, RNNMatrixId){
    RNNMatrixIdSingleGateInputWeights = 0,
    RNNMatrixIdSingleGateRecurrentWeights = 1,
    RNNMatrixIdSingleGateBiasTerms = 2,
    RNNMatrixIdLSTMInputGateInputWeights = 3,
    RNNMatrixIdLSTMInputGateRecurrentWeights = 4,
    RNNMatrixIdLSTMInputGateMemoryWeights = 5,
    RNNMatrixIdLSTMInputGateBiasTerms = 6,
    RNNMatrixIdLSTMForgetGateInputWeights = 7,
    RNNMatrixIdLSTMForgetGateRecurrentWeights = 8,
    RNNMatrixIdLSTMForgetGateMemoryWeights = 9,
    RNNMatrixIdLSTMForgetGateBiasTerms = 10,
    RNNMatrixIdLSTMMemoryGateInputWeights = 11,
    RNNMatrixIdLSTMMemoryGateRecurrentWeights = 12,
    RNNMatrixIdLSTMMemoryGateMemoryWeights = 13,
    RNNMatrixIdLSTMMemoryGateBiasTerms = 14,
    RNNMatrixIdLSTMOutputGateInputWeights = 15,
    RNNMatrixIdLSTMOutputGateRecurrentWeights = 16,
    RNNMatrixIdLSTMOutputGateMemoryWeights = 17,
    RNNMatrixIdLSTMOutputGateBiasTerms = 18,
    RNNMatrixIdGRUInputGateInputWeights = 19,
    RNNMatrixIdGRUInputGateRecurrentWeights = 20,
    RNNMatrixIdGRUInputGateBiasTerms = 21,
    RNNMatrixIdGRURecurrentGateInputWeights = 22,
    RNNMatrixIdGRURecurrentGateRecurrentWeights = 23,
    RNNMatrixIdGRURecurrentGateBiasTerms = 24,
    RNNMatrixIdGRUOutputGateInputWeights = 25,
    RNNMatrixIdGRUOutputGateRecurrentWeights = 26,
    RNNMatrixIdGRUOutputGateInputGateWeights = 27,
    RNNMatrixIdGRUOutputGateBiasTerms = 28,
    RNNMatrixId_count = 29,
};

// The weights are the program's, in an array of matrices that init makes from the descriptor's data sources; programs
// name them by their RNNMatrixId, and may update the matrices themselves with any optimizer.
class _MPS_EXPORT RNNMatrixTrainingLayer : public NS::Copying<RNNMatrixTrainingLayer, Kernel> {
 public:
  static RNNMatrixTrainingLayer* alloc();
  RNNMatrixTrainingLayer* init(MTL::Device* device, const RNNDescriptor* rnnDescriptor, NS::Array** trainableWeights);

  NS::UInteger inputFeatureChannels() const;
  NS::UInteger outputFeatureChannels() const;
  bool storeAllIntermediateStates() const;
  void setStoreAllIntermediateStates(bool store);
  bool recurrentOutputIsTemporary() const;
  void setRecurrentOutputIsTemporary(bool temporary);
  // Memory of temporary training states is used again and again: a program that goes back in the same command buffer
  // does well to set it.
  bool trainingStateIsTemporary() const;
  void setTrainingStateIsTemporary(bool temporary);
  bool accumulateWeightGradients() const;
  void setAccumulateWeightGradients(bool accumulate);

  // Matrices of zeros, as the layer's weights are laid out. Those for gradients are Float32 or Float16.
  void createWeightGradientMatrices(NS::Array** matricesOut, DataType dataType);
  void createTemporaryWeightGradientMatrices(NS::Array** matricesOut, DataType dataType,
                                             MTL::CommandBuffer* commandBuffer);
  void createWeightMatrices(NS::Array** matricesOut);

  // To or from a matrix whose rows are output and whose columns are input channels; biases, and diagonals, are one row.
  void encodeCopyWeights(MTL::CommandBuffer* commandBuffer, const NS::Array* weights, RNNMatrixId matrixId,
                         const Matrix* matrix, bool copyFromWeightsToMatrix, MTL::Origin matrixOffset);

  void encodeForwardSequence(MTL::CommandBuffer* commandBuffer, const NS::Array* sourceMatrices,
                             const NS::UInteger* sourceOffsets, const NS::Array* destinationMatrices,
                             const NS::UInteger* destinationOffsets, NS::Array** trainingStates,
                             const RNNRecurrentMatrixState* recurrentInputState, NS::Array** recurrentOutputStates,
                             const NS::Array* weights);
  void encodeForwardSequence(MTL::CommandBuffer* commandBuffer, const NS::Array* sourceMatrices,
                             const NS::Array* destinationMatrices, NS::Array** trainingStates,
                             const NS::Array* weights);

  // Arrays are in the order of time, as in the forward pass. destinationGradients and weightGradients may be null. The
  // recurrent states here are gradients: of what the last step left, and of what the first step found.
  void encodeGradientSequence(MTL::CommandBuffer* commandBuffer, const NS::Array* forwardSources,
                              const NS::UInteger* forwardSourceOffsets, const NS::Array* sourceGradients,
                              const NS::UInteger* sourceGradientOffsets, const NS::Array* destinationGradients,
                              const NS::UInteger* destinationOffsets, const NS::Array* weightGradients,
                              const NS::Array* trainingStates, const RNNRecurrentMatrixState* recurrentInputState,
                              NS::Array** recurrentOutputStates, const NS::Array* weights);
  void encodeGradientSequence(MTL::CommandBuffer* commandBuffer, const NS::Array* forwardSources,
                              const NS::Array* sourceGradients, const NS::Array* destinationGradients,
                              const NS::Array* weightGradients, const NS::Array* trainingStates,
                              const NS::Array* weights);
};

}  // namespace MPS

// Training of a layer: its weights, which are in matrices of the program's, and the methods of the interface.
#include "mps/rnn/training.hpp"

#include "mps/core/data_type.hpp"
#include "mps/core/properties.hpp"

namespace metalloid::mps {
namespace {

void encode_copy_weights(Encoding& encoding, const RnnTrainingPart& self, const NS::Array* weights, MPS::RNNMatrixId id,
                         const MPS::Matrix* matrix, bool from_weights, MTL::Origin origin) {
  const Cell& cell = self.layer->cell;
  Arguments arguments(encoding);
  const auto views = weight_views(arguments, cell, weights, "weights");
  const std::optional<WeightPart> part = part_of_weights(cell, id);
  arguments.require(part.has_value(), "matrixId ({}) is of no weights that the layer's descriptor has", size_t(id));
  const MatrixView other = arguments.matrix(matrix, origin, "matrix");
  if (arguments) arguments.has_room(other, part->rows, part->columns, "matrix");
  arguments.is_floating_point(other.type, "matrix");
  if (!encoding.check(arguments.status())) return;

  MatrixView own = views[size_t(part->role)];
  own.first = own.object->at(0, part->row, part->column);
  encode_copy(encoding, from_weights ? own : other, from_weights ? other : own, part->rows, part->columns);
  (from_weights ? own : other).object->was_read();
}

// Matrices like the weights'. `make` makes one.
template <class Make>
NS::Array* new_weights(const RnnTrainingPart& self, const Make& make) {
  std::vector<NS::SharedPtr<MPS::Matrix>> matrices;
  for (const Role role : trained_roles(self.layer->cell)) {
    matrices.push_back(make(size_of(self.layer->cell, role)));
    if (!matrices.back()) return nullptr;  // which is reported
  }
  return array_of(matrices);
}

NS::Array* new_weights(const RnnTrainingPart& self, MPS::DataType type) {
  return new_weights(self, [&](const MatrixSize& size) { return new_weight_matrix(self.device.get(), size, type); });
}

bool is_gradient_type(MPS::DataType type, const char* call) {
  if (is_floating_point(type) && metal_name_of(type)) return true;
  foundation::report_misuse(call,
                            fmt::format("dataType is {}; gradients are Float32, Float16 or BFloat16", name_of(type)));
  return false;
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

RNNMatrixTrainingLayer* RNNMatrixTrainingLayer::alloc() {
  return new mps::Object<RNNMatrixTrainingLayer, RnnTrainingPart>("MPSRNNMatrixTrainingLayer");
}
RNNMatrixTrainingLayer* RNNMatrixTrainingLayer::init(MTL::Device* device, const RNNDescriptor* rnnDescriptor,
                                                     NS::Array** trainableWeights) {
  constexpr const char* call = "-[MPSRNNMatrixTrainingLayer initWithDevice:rnnDescriptor:trainableWeights:]";
  auto* self = part_of<RnnTrainingPart>(this);
  if (!init_kernel(this, self, device, call)) return nullptr;
  const auto layer = RnnLayer::load(device, rnnDescriptor);
  if (!layer || !trainableWeights) {
    foundation::report_misuse(call, layer ? "trainableWeights is null" : layer.error());
    return foundation::failed_init(this);
  }
  self->layer = *layer;
  std::vector<NS::SharedPtr<Matrix>> matrices;
  for (const Role role : trained_roles(self->layer->cell)) matrices.push_back(self->layer->matrices[size_t(role)]);
  *trainableWeights = array_of(matrices);
  return this;
}

MPS_READONLY(RNNMatrixTrainingLayer, RnnTrainingPart, NS::UInteger, inputFeatureChannels, layer->cell.inputs, (0))
MPS_READONLY(RNNMatrixTrainingLayer, RnnTrainingPart, NS::UInteger, outputFeatureChannels, layer->cell.outputs, (0))
MPS_PROPERTY(RNNMatrixTrainingLayer, RnnTrainingPart, bool, storeAllIntermediateStates, setStoreAllIntermediateStates,
             stores_all_states, (false))
MPS_PROPERTY(RNNMatrixTrainingLayer, RnnTrainingPart, bool, recurrentOutputIsTemporary, setRecurrentOutputIsTemporary,
             states_are_temporary, (false))
MPS_PROPERTY(RNNMatrixTrainingLayer, RnnTrainingPart, bool, trainingStateIsTemporary, setTrainingStateIsTemporary,
             training_states_are_temporary, (false))
MPS_PROPERTY(RNNMatrixTrainingLayer, RnnTrainingPart, bool, accumulateWeightGradients, setAccumulateWeightGradients,
             accumulates, (false))

void RNNMatrixTrainingLayer::createWeightMatrices(NS::Array** matricesOut) {
  const auto* self = part_of<RnnTrainingPart>(this);
  if (self && matricesOut) *matricesOut = new_weights(*self, DataTypeFloat32);
}
void RNNMatrixTrainingLayer::createWeightGradientMatrices(NS::Array** matricesOut, DataType dataType) {
  const auto* self = part_of<RnnTrainingPart>(this);
  if (!self || !matricesOut) return;
  *matricesOut = is_gradient_type(dataType, "-[MPSRNNMatrixTrainingLayer createWeightGradientMatrices:dataType:]")
                     ? new_weights(*self, dataType)
                     : nullptr;
}
void RNNMatrixTrainingLayer::createTemporaryWeightGradientMatrices(NS::Array** matricesOut, DataType dataType,
                                                                   MTL::CommandBuffer* commandBuffer) {
  const auto* self = part_of<RnnTrainingPart>(this);
  if (!self || !matricesOut) return;
  *matricesOut = nullptr;
  constexpr const char* call = "MPS::RNNMatrixTrainingLayer::createTemporaryWeightGradientMatrices";
  Encoding encoding(commandBuffer, *self, call);
  if (!encoding || !is_gradient_type(dataType, call)) return;
  *matricesOut = new_weights(*self, [&](const MatrixSize& size) {
    auto matrix =
        NS::RetainPtr<Matrix>(TemporaryMatrix::temporaryMatrix(commandBuffer, weight_descriptor(size, dataType)));
    if (matrix) encode_zeros(encoding, {matrix->data(), 0}, matrix->resourceSize());
    return matrix;
  });
}

void RNNMatrixTrainingLayer::encodeCopyWeights(MTL::CommandBuffer* commandBuffer, const NS::Array* weights,
                                               RNNMatrixId matrixId, const Matrix* matrix, bool copyFromWeightsToMatrix,
                                               MTL::Origin matrixOffset) {
  const auto* self = part_of<RnnTrainingPart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::RNNMatrixTrainingLayer::encodeCopyWeights"); encoding)
    encode_copy_weights(encoding, *self, weights, matrixId, matrix, copyFromWeightsToMatrix, matrixOffset);
}

void RNNMatrixTrainingLayer::encodeForwardSequence(MTL::CommandBuffer* commandBuffer, const NS::Array* sourceMatrices,
                                                   const NS::UInteger* sourceOffsets,
                                                   const NS::Array* destinationMatrices,
                                                   const NS::UInteger* destinationOffsets, NS::Array** trainingStates,
                                                   const RNNRecurrentMatrixState* recurrentInputState,
                                                   NS::Array** recurrentOutputStates, const NS::Array* weights) {
  const auto* self = part_of<RnnTrainingPart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::RNNMatrixTrainingLayer::encodeForwardSequence"); encoding)
    encode_forward(encoding, *self,
                   {.sources = {sourceMatrices, sourceOffsets},
                    .destinations = {destinationMatrices, destinationOffsets},
                    .training_states = trainingStates,
                    .input_state = recurrentInputState,
                    .output_states = recurrentOutputStates,
                    .weights = weights});
}
void RNNMatrixTrainingLayer::encodeForwardSequence(MTL::CommandBuffer* commandBuffer, const NS::Array* sourceMatrices,
                                                   const NS::Array* destinationMatrices, NS::Array** trainingStates,
                                                   const NS::Array* weights) {
  encodeForwardSequence(commandBuffer, sourceMatrices, nullptr, destinationMatrices, nullptr, trainingStates, nullptr,
                        nullptr, weights);
}

void RNNMatrixTrainingLayer::encodeGradientSequence(
    MTL::CommandBuffer* commandBuffer, const NS::Array* forwardSources, const NS::UInteger* forwardSourceOffsets,
    const NS::Array* sourceGradients, const NS::UInteger* sourceGradientOffsets, const NS::Array* destinationGradients,
    const NS::UInteger* destinationOffsets, const NS::Array* weightGradients, const NS::Array* trainingStates,
    const RNNRecurrentMatrixState* recurrentInputState, NS::Array** recurrentOutputStates, const NS::Array* weights) {
  const auto* self = part_of<RnnTrainingPart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::RNNMatrixTrainingLayer::encodeGradientSequence"); encoding)
    encode_gradient(encoding, *self,
                    {.sources = {forwardSources, forwardSourceOffsets},
                     .gradients = {sourceGradients, sourceGradientOffsets},
                     .destinations = {destinationGradients, destinationOffsets},
                     .weight_gradients = weightGradients,
                     .training_states = trainingStates,
                     .weights = weights,
                     .input_state = recurrentInputState,
                     .output_states = recurrentOutputStates});
}
void RNNMatrixTrainingLayer::encodeGradientSequence(MTL::CommandBuffer* commandBuffer, const NS::Array* forwardSources,
                                                    const NS::Array* sourceGradients,
                                                    const NS::Array* destinationGradients,
                                                    const NS::Array* weightGradients, const NS::Array* trainingStates,
                                                    const NS::Array* weights) {
  encodeGradientSequence(commandBuffer, forwardSources, nullptr, sourceGradients, nullptr, destinationGradients,
                         nullptr, weightGradients, trainingStates, nullptr, nullptr, weights);
}

}  // namespace MPS

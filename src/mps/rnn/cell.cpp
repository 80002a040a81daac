#include "mps/rnn/cell.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "foundation/object.hpp"
#include "mps/cnn/source_weights.hpp"

namespace metalloid::mps {
namespace {

struct MatrixName {
  CellKind kind;
  size_t gate;
  Role role;
  const char* property;  // of the descriptor that the matrix comes from
};

// By RNNMatrixId.
constexpr MatrixName names[] = {
    {CellKind::single_gate, 0, Role::input, "inputWeights"},
    {CellKind::single_gate, 0, Role::recurrent, "recurrentWeights"},
    {CellKind::single_gate, 0, Role::biases, "inputWeights"},
    {CellKind::lstm, 0, Role::input, "inputGateInputWeights"},
    {CellKind::lstm, 0, Role::recurrent, "inputGateRecurrentWeights"},
    {CellKind::lstm, 0, Role::memory, "inputGateMemoryWeights"},
    {CellKind::lstm, 0, Role::biases, "inputGateInputWeights"},
    {CellKind::lstm, 1, Role::input, "forgetGateInputWeights"},
    {CellKind::lstm, 1, Role::recurrent, "forgetGateRecurrentWeights"},
    {CellKind::lstm, 1, Role::memory, "forgetGateMemoryWeights"},
    {CellKind::lstm, 1, Role::biases, "forgetGateInputWeights"},
    {CellKind::lstm, 2, Role::input, "cellGateInputWeights"},
    {CellKind::lstm, 2, Role::recurrent, "cellGateRecurrentWeights"},
    {CellKind::lstm, 2, Role::memory, "cellGateMemoryWeights"},
    {CellKind::lstm, 2, Role::biases, "cellGateInputWeights"},
    {CellKind::lstm, 3, Role::input, "outputGateInputWeights"},
    {CellKind::lstm, 3, Role::recurrent, "outputGateRecurrentWeights"},
    {CellKind::lstm, 3, Role::memory, "outputGateMemoryWeights"},
    {CellKind::lstm, 3, Role::biases, "outputGateInputWeights"},
    {CellKind::gru, 0, Role::input, "inputGateInputWeights"},
    {CellKind::gru, 0, Role::recurrent, "inputGateRecurrentWeights"},
    {CellKind::gru, 0, Role::biases, "inputGateInputWeights"},
    {CellKind::gru, 1, Role::input, "recurrentGateInputWeights"},
    {CellKind::gru, 1, Role::recurrent, "recurrentGateRecurrentWeights"},
    {CellKind::gru, 1, Role::biases, "recurrentGateInputWeights"},
    {CellKind::gru, 2, Role::input, "outputGateInputWeights"},
    {CellKind::gru, 2, Role::recurrent, "outputGateRecurrentWeights"},
    {CellKind::gru, 2, Role::memory, "outputGateInputGateWeights"},
    {CellKind::gru, 2, Role::biases, "outputGateInputWeights"},
};
static_assert(std::size(names) == MPS::RNNMatrixId_count);

// The id whose data source has the matrix: biases come with the input weights of their gate.
size_t source_of(size_t id) {
  if (names[id].role != Role::biases) return id;
  return size_t(std::ranges::find_if(names,
                                     [&](const MatrixName& name) {
                                       return name.kind == names[id].kind && name.gate == names[id].gate &&
                                              name.role == Role::input;
                                     }) -
                names);
}

WeightPart part_at(const Cell& cell, const MatrixName& name) {
  const size_t n = cell.outputs, first = name.gate * n;
  switch (name.role) {
    case Role::input:
      return {name.role, first, 0, n, cell.inputs};
    case Role::recurrent:
      return {name.role, first, 0, n, n};
    case Role::biases:
      return {name.role, 0, first, 1, n};
    case Role::memory:
      break;
  }
  if (cell.memory == MemoryWeights::diagonal) return {name.role, 0, first, 1, n};
  return {name.role, cell.kind == CellKind::gru ? 0 : first, 0, n, n};
}

using HostWeights = std::array<std::vector<float>, role_count>;

// Numbers of a part, from `numbers` on, to where they belong.
void place(const Cell& cell, const WeightPart& part, const float* numbers, HostWeights& weights) {
  const size_t columns = size_of(cell, part.role).columns;
  std::vector<float>& to = weights[size_t(part.role)];
  for (size_t row = 0; row < part.rows; ++row)
    std::copy_n(numbers + row * part.columns, part.columns,
                to.begin() + long((part.row + row) * columns + part.column));
}

Status load(const RnnDescriptorPart& descriptor, const MatrixName& name, size_t id, Cell& cell, HostWeights& weights) {
  const WeightPart part = part_at(cell, name);
  const bool is_diagonal = name.role == Role::memory && cell.memory == MemoryWeights::diagonal;
  const bool is_unused = name.role == Role::input && cell.input_is_unit;
  const auto refused = [&](const std::string& reason) {
    return Error{fmt::format("the descriptor's {}: {}", name.property, reason)};
  };
  const Result<SourceWeights> loaded =
      load_weights(descriptor.sources[id].get(), is_unused ? 0 : part.rows * part.columns);
  if (!loaded) return refused(loaded.error());
  const ConvolutionShape& shape = loaded->shape;
  if (shape.taps() != 1 || shape.all_groups() != 1)
    return refused("the data source's kernel must be 1 x 1, and its groups 1, for a layer on matrices");
  if (!is_diagonal && !is_unused && (shape.inputs != part.columns || shape.outputs != part.rows))
    return refused(fmt::format("the data source has {} input and {} output channels, and {} and {} are needed",
                               shape.inputs, shape.outputs, part.columns, part.rows));
  if (loaded->numbers.size() < (is_unused ? 0 : part.rows * part.columns))
    return refused(fmt::format("the data source has {} weights, and {} are needed", loaded->numbers.size(),
                               part.rows * part.columns));
  if (!is_unused) place(cell, part, loaded->numbers.data(), weights);
  if (name.role != Role::input) return success();
  if (loaded->neuron.type == MPS::CNNNeuronTypePReLU) return refused("a gate's neuron must not be a PReLU");
  if (loaded->biases.size() != cell.outputs)
    return refused(
        fmt::format("the data source has {} biases, and {} are needed", loaded->biases.size(), cell.outputs));
  cell.neurons[name.gate] = loaded->neuron;
  place(cell, {Role::biases, 0, name.gate * cell.outputs, 1, cell.outputs}, loaded->biases.data(), weights);
  return success();
}

// What is wrong with a descriptor apart from its data sources.
Status check(const RnnDescriptorPart& descriptor) {
  if (descriptor.inputs == 0 || descriptor.outputs == 0)
    return Error{fmt::format("the descriptor's inputFeatureChannels ({}) and outputFeatureChannels ({}) must not be 0",
                             descriptor.inputs, descriptor.outputs)};
  if (descriptor.input_is_unit && descriptor.inputs != descriptor.outputs)
    return Error{
        fmt::format("the descriptor's useLayerInputUnitTransformMode needs as many inputFeatureChannels ({}) as "
                    "outputFeatureChannels ({})",
                    descriptor.inputs, descriptor.outputs)};
  if (!(descriptor.p_norm > 0))
    return Error{fmt::format("the descriptor's gatePnormValue ({}) must be more than 0", descriptor.p_norm)};
  if (!is_neuron_type(descriptor.output_neuron.type) || descriptor.output_neuron.type == MPS::CNNNeuronTypePReLU)
    return Error{"the descriptor's cellToOutputNeuronType is no neuron that it can have"};
  return success();
}

}  // namespace

MatrixSize size_of(const Cell& cell, Role role) {
  switch (role) {
    case Role::input:
      return {cell.columns(), cell.inputs};
    case Role::recurrent:
      return {cell.columns(), cell.outputs};
    case Role::biases:
      return {1, cell.columns()};
    case Role::memory:
      break;
  }
  if (cell.memory == MemoryWeights::diagonal) return {1, cell.columns()};
  return {cell.kind == CellKind::gru ? cell.outputs : cell.columns(), cell.outputs};
}

std::vector<Role> trained_roles(const Cell& cell) {
  std::vector<Role> roles;
  if (!cell.input_is_unit) roles.push_back(Role::input);
  roles.push_back(Role::recurrent);
  roles.push_back(Role::biases);
  if (cell.memory != MemoryWeights::none) roles.push_back(Role::memory);
  return roles;
}

std::optional<WeightPart> part_of_weights(const Cell& cell, MPS::RNNMatrixId id) {
  if (id >= MPS::RNNMatrixId_count || !cell.has[id]) return {};
  return part_at(cell, names[id]);
}

std::vector<WeightPart> parts_not_given(const Cell& cell) {
  std::vector<WeightPart> parts;
  for (size_t id = 0; id < std::size(names); ++id) {
    const MatrixName& name = names[id];
    const bool is_trained = name.role == Role::input    ? !cell.input_is_unit
                            : name.role == Role::memory ? cell.memory != MemoryWeights::none
                                                        : true;
    if (name.kind == cell.kind && is_trained && !cell.has[id]) parts.push_back(part_at(cell, name));
  }
  return parts;
}

Result<std::shared_ptr<const RnnLayer>> RnnLayer::load(MTL::Device* device, const MPS::RNNDescriptor* rnn_descriptor) {
  if (!device) return Error{"device is null"};
  const RnnDescriptorPart* descriptor = body(rnn_descriptor);
  if (!descriptor) return Error{"rnnDescriptor is null"};
  if (const Status status = check(*descriptor); !status) return Error{status.error()};
  auto layer = std::make_shared<RnnLayer>();
  Cell& cell = layer->cell;
  cell.kind = descriptor->kind;
  cell.inputs = descriptor->inputs;
  cell.outputs = descriptor->outputs;
  cell.input_is_unit = descriptor->input_is_unit;
  cell.output_neuron = descriptor->output_neuron;
  cell.p_norm = descriptor->p_norm;
  cell.flipped = descriptor->flipped;
  layer->direction = descriptor->direction;
  for (size_t id = 0; id < std::size(names); ++id) {
    if (names[id].kind != cell.kind) continue;
    const bool is_given = bool(descriptor->sources[source_of(id)]);
    cell.has[id] = is_given && !(names[id].role == Role::input && cell.input_is_unit);
    if (is_given && names[id].role == Role::memory)
      cell.memory =
          cell.kind == CellKind::lstm && descriptor->diagonal_memory ? MemoryWeights::diagonal : MemoryWeights::full;
  }

  HostWeights weights;
  for (size_t role = 0; role < role_count; ++role) {
    const MatrixSize size = size_of(cell, Role(role));
    if (Role(role) != Role::memory || cell.memory != MemoryWeights::none)
      weights[role].resize(size.rows * size.columns);
  }
  if (cell.input_is_unit)
    for (size_t row = 0; row < cell.columns(); ++row)
      weights[size_t(Role::input)][row * cell.inputs + row % cell.outputs] = 1;
  for (size_t id = 0; id < std::size(names); ++id)
    if (names[id].kind == cell.kind && descriptor->sources[id])
      if (const Status status = mps::load(*descriptor, names[id], id, cell, weights); !status)
        return Error{status.error()};

  for (size_t role = 0; role < role_count; ++role) {
    if (weights[role].empty()) continue;
    const MatrixSize size = size_of(cell, Role(role));
    NS::SharedPtr<MPS::Matrix> matrix = new_weight_matrix(device, size, MPS::DataTypeFloat32);
    if (!matrix) return Error{fmt::format("there is no memory for {} weights", weights[role].size())};
    auto* bytes = static_cast<std::byte*>(matrix->data()->contents());
    for (size_t row = 0; row < size.rows; ++row)
      std::memcpy(bytes + row * matrix->rowBytes(), weights[role].data() + row * size.columns,
                  size.columns * sizeof(float));
    layer->matrices[role] = std::move(matrix);
  }
  return std::shared_ptr<const RnnLayer>(std::move(layer));
}

Weights RnnLayer::weights() const {
  Weights blocks;
  for (size_t role = 0; role < role_count; ++role)
    if (matrices[role]) blocks[role] = block_of(matrices[role].get());
  return blocks;
}

MPS::MatrixDescriptor* weight_descriptor(const MatrixSize& size, MPS::DataType type) {
  return MPS::MatrixDescriptor::matrixDescriptor(size.rows, size.columns,
                                                 MPS::MatrixDescriptor::rowBytesForColumns(size.columns, type), type);
}

NS::SharedPtr<MPS::Matrix> new_weight_matrix(MTL::Device* device, const MatrixSize& size, MPS::DataType type) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  return NS::TransferPtr(MPS::Matrix::alloc()->init(device, weight_descriptor(size, type)));
}

Block block_of(const MPS::Matrix* matrix) {
  const MatrixObject* object = body(matrix);
  return {object->at(0, 0, 0), object->layout.row_bytes / sizeof(float)};
}

void encode_product(Encoding& encoding, const RnnLayer& layer, const BlockProduct& product, Block left, Block right,
                    Block result) {
  mps::encode_product(encoding, layer.primitives,
                      {.rows = product.rows,
                       .columns = product.columns,
                       .interior = product.interior,
                       .transpose_left = product.transpose_left,
                       .transpose_right = product.transpose_right,
                       .beta = product.beta,
                       .result_type = product.result_type,
                       .left_row_stride = left.stride,
                       .right_row_stride = right.stride,
                       .result_row_stride = result.stride},
                      left.first, right.first, result.first);
}

}  // namespace metalloid::mps

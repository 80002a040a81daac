// What a recurrent layer computes in a step, and how its weights are laid out.
//
// The gates' weights lie below each other in one matrix, [gates * outputs][channels], so that one product does for all
// gates: input weights W, recurrent weights U, and V, which are an LSTM's memory weights ([4 * outputs][outputs], or
// one row of diagonals) or a GRU's input gate weights ([outputs][outputs]). Biases are one row. Gates are in the order
// of the formulas: z, r, h of a GRU, I, F, C, O of an LSTM.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "mps/matrix/product.hpp"
#include "mps/rnn/descriptor.hpp"

namespace metalloid::mps {

enum class Role { input, recurrent, biases, memory };
constexpr size_t role_count = 4;

enum class MemoryWeights { none, diagonal, full };

struct Cell {
  CellKind kind = CellKind::single_gate;
  size_t inputs = 0, outputs = 0;
  bool input_is_unit = false;
  MemoryWeights memory = MemoryWeights::none;
  std::array<Neuron, 4> neurons = {};
  Neuron output_neuron;  // of an LSTM
  float p_norm = 1;      // of a GRU
  bool flipped = false;  // of a GRU
  // Whether there is a data source for each matrix. The others are zeros, and stay so.
  std::array<bool, MPS::RNNMatrixId_count> has = {};

  size_t gates() const { return kind == CellKind::lstm ? 4 : kind == CellKind::gru ? 3 : 1; }
  size_t columns() const { return gates() * outputs; }
  bool operator==(const Cell&) const = default;
};

// A matrix of floats, or a part of one.
struct Block {
  Operand first;
  size_t stride = 0;  // numbers from row to row

  Block column(size_t index) const { return {first + index * sizeof(float), stride}; }
  Block row(size_t index) const { return {first + index * stride * sizeof(float), stride}; }
};

using Weights = std::array<Block, role_count>;

struct MatrixSize {
  size_t rows = 0, columns = 0;
};
MatrixSize size_of(const Cell& cell, Role role);

// The roles that a program's array of weights has matrices for, in their order.
std::vector<Role> trained_roles(const Cell& cell);

// Where the matrix of an id lies; null if the cell has no such matrix.
struct WeightPart {
  Role role;
  size_t row = 0, column = 0, rows = 0, columns = 0;
};
std::optional<WeightPart> part_of_weights(const Cell& cell, MPS::RNNMatrixId id);
// The parts of the program's matrices that stay zero, since there is no data source for them.
std::vector<WeightPart> parts_not_given(const Cell& cell);

// A layer and the weights it begins with.
class RnnLayer {
 public:
  Cell cell;
  MPS::RNNSequenceDirection direction = MPS::RNNSequenceDirectionForward;
  std::array<NS::SharedPtr<MPS::Matrix>, role_count> matrices;  // null where the cell has none
  mutable ProductPrimitives primitives;

  static Result<std::shared_ptr<const RnnLayer>> load(MTL::Device* device, const MPS::RNNDescriptor* descriptor);
  Weights weights() const;
};

// A matrix for weights of a role, of zeros.
NS::SharedPtr<MPS::Matrix> new_weight_matrix(MTL::Device* device, const MatrixSize& size, MPS::DataType type);
MPS::MatrixDescriptor* weight_descriptor(const MatrixSize& size, MPS::DataType type);

Block block_of(const MPS::Matrix* matrix);

// result = op(left) op(right) + beta * result
struct BlockProduct {
  size_t rows, columns, interior;
  bool transpose_left = false, transpose_right = false;
  double beta = 0;
  MPS::DataType result_type = MPS::DataTypeFloat32;
};
void encode_product(Encoding& encoding, const RnnLayer& layer, const BlockProduct& product, Block left, Block right,
                    Block result);

}  // namespace metalloid::mps

// Recurrent layers for tests: their formulas in float64, and descriptors whose data sources have the same weights.
#pragma once

#include <map>

#include "matrix_program.hpp"
#include "neuron_reference.hpp"

namespace metalloid::mps {

enum class Kind { single_gate, gru, lstm };

struct NeuronCase {
  MPS::CNNNeuronType type;
  float a = 0, b = 0, c = 0;
  double operator()(double x) const { return neuron_reference(type, x, a, b, c); }
};
constexpr NeuronCase sigmoid{MPS::CNNNeuronTypeSigmoid}, hyperbolic{MPS::CNNNeuronTypeTanH, 1, 1};

struct RnnCase {
  std::string name;
  Kind kind = Kind::lstm;
  size_t inputs = 3, outputs = 5;
  std::vector<NeuronCase> neurons = {sigmoid, sigmoid, hyperbolic, sigmoid};  // in the order of the gates
  NeuronCase of_cells = hyperbolic;
  bool has_memory_weights = false, diagonal = false;  // V of an LSTM or of a GRU
  float p = 1;
  bool flipped = false, unit = false;
  std::vector<MPS::RNNMatrixId> absent = {};

  size_t gates() const { return kind == Kind::lstm ? 4 : kind == Kind::gru ? 3 : 1; }
};

inline std::vector<RnnCase> rnn_cases(size_t inputs, size_t outputs) {
  const std::vector<NeuronCase> gru = {sigmoid, sigmoid, hyperbolic};
  std::vector<RnnCase> cases = {
      {.name = "single gate", .kind = Kind::single_gate, .neurons = {{MPS::CNNNeuronTypeTanH, 0.9f, 0.8f}}},
      {.name = "single gate, soft sign", .kind = Kind::single_gate, .neurons = {{MPS::CNNNeuronTypeSoftSign}}},
      {.name = "GRU", .kind = Kind::gru, .neurons = gru},
      {.name = "GRU, flipped", .kind = Kind::gru, .neurons = gru, .flipped = true},
      {.name = "GRU, p-norm", .kind = Kind::gru, .neurons = gru, .has_memory_weights = true, .p = 2.5f},
      {.name = "GRU, p-norm, flipped", .kind = Kind::gru, .neurons = gru, .p = 1.5f, .flipped = true},
      {.name = "minimal gated unit",
       .kind = Kind::gru,
       .neurons = {sigmoid, {MPS::CNNNeuronTypeNone}, hyperbolic},
       .has_memory_weights = true,
       .absent = {MPS::RNNMatrixIdGRUOutputGateRecurrentWeights, MPS::RNNMatrixIdGRURecurrentGateInputWeights,
                  MPS::RNNMatrixIdGRURecurrentGateBiasTerms, MPS::RNNMatrixIdGRURecurrentGateRecurrentWeights}},
      {.name = "LSTM"},
      {.name = "LSTM, diagonal peepholes", .has_memory_weights = true, .diagonal = true},
      {.name = "LSTM, full peepholes", .has_memory_weights = true},
      {.name = "LSTM, one peephole and other neurons",
       .neurons = {{MPS::CNNNeuronTypeSoftPlus, 0.5f, 1}, sigmoid, {MPS::CNNNeuronTypeSoftSign}, sigmoid},
       .of_cells = {MPS::CNNNeuronTypeLinear, 0.5f, 0.1f},
       .has_memory_weights = true,
       .absent = {MPS::RNNMatrixIdLSTMInputGateMemoryWeights, MPS::RNNMatrixIdLSTMForgetGateMemoryWeights,
                  MPS::RNNMatrixIdLSTMMemoryGateMemoryWeights}},
      {.name = "LSTM, unit input", .unit = true},
  };
  for (RnnCase& c : cases) {
    c.outputs = outputs;
    c.inputs = c.unit ? outputs : inputs;
  }
  return cases;
}

// The id of a gate's matrix: 0 input weights, 1 recurrent weights, 2 memory (a GRU's input gate) weights, 3 biases.
inline MPS::RNNMatrixId matrix_id(Kind kind, size_t gate, size_t role) {
  switch (kind) {
    case Kind::single_gate:
      return MPS::RNNMatrixId(role == 3 ? 2 : role);
    case Kind::lstm:
      return MPS::RNNMatrixId(MPS::RNNMatrixIdLSTMInputGateInputWeights + 4 * gate + role);
    case Kind::gru:
      break;
  }
  const bool has_memory = gate == 2;
  return MPS::RNNMatrixId(MPS::RNNMatrixIdGRUInputGateInputWeights + 3 * gate + (role == 3 && !has_memory ? 2 : role));
}

using Vector = std::vector<double>;

struct ReferenceState {
  Vector h, c;
};

// Weights and the formulas of the header.
class ReferenceLayer {
 public:
  ReferenceLayer(const RnnCase& rnn, std::mt19937& random) : rnn_case(rnn) {
    std::uniform_real_distribution<float> distribution(-0.8f, 0.8f);
    for (size_t gate = 0; gate < rnn.gates(); ++gate)
      for (size_t role = 0; role < 4; ++role) {
        if (role == 0 && rnn.unit) continue;
        if (role == 2 && (!rnn.has_memory_weights || rnn.kind == Kind::single_gate)) continue;
        if (role == 2 && rnn.kind == Kind::gru && gate != 2) continue;
        const MPS::RNNMatrixId id = matrix_id(rnn.kind, gate, role);
        if (std::find(rnn.absent.begin(), rnn.absent.end(), id) != rnn.absent.end()) continue;
        Vector& matrix = weights[id];
        matrix.resize(rows(role) * columns(role));
        for (double& number : matrix) number = distribution(random);  // a float
      }
  }

  size_t rows(size_t role) const { return role == 3 || (role == 2 && rnn_case.diagonal) ? 1 : rnn_case.outputs; }
  size_t columns(size_t role) const { return role == 0 ? rnn_case.inputs : rnn_case.outputs; }

  ReferenceState step(const Vector& x, const ReferenceState& before) const {
    const size_t n = rnn_case.outputs;
    const auto sum = [&](size_t gate, size_t i) {
      return (rnn_case.unit ? x[i] : times(gate, 0, i, x)) + times(gate, 1, i, before.h) + bias(gate, i);
    };
    const auto neuron = [&](size_t gate, double y) { return rnn_case.neurons[gate](y); };
    ReferenceState after{Vector(n), Vector(n)};
    if (rnn_case.kind == Kind::single_gate) {
      for (size_t i = 0; i < n; ++i) after.h[i] = neuron(0, sum(0, i));
    } else if (rnn_case.kind == Kind::gru) {
      Vector z(n), r_h(n), z_h(n);
      for (size_t i = 0; i < n; ++i) {
        z[i] = neuron(0, sum(0, i));
        r_h[i] = neuron(1, sum(1, i)) * before.h[i];
        z_h[i] = z[i] * before.h[i];
      }
      for (size_t i = 0; i < n; ++i) {
        const double h = neuron(
            2, (rnn_case.unit ? x[i] : times(2, 0, i, x)) + times(2, 1, i, r_h) + times(2, 2, i, z_h) + bias(2, i));
        const double p = rnn_case.p, q = std::pow(1 - std::pow(z[i], p), 1 / p);
        after.h[i] = rnn_case.flipped ? q * before.h[i] + z[i] * h : q * h + z[i] * before.h[i];
      }
    } else {
      for (size_t i = 0; i < n; ++i) {
        const double in = neuron(0, sum(0, i) + times(0, 2, i, before.c));
        const double forget = neuron(1, sum(1, i) + times(1, 2, i, before.c));
        const double cell = neuron(2, sum(2, i) + times(2, 2, i, before.c));
        after.c[i] = forget * before.c[i] + in * cell;
      }
      for (size_t i = 0; i < n; ++i)
        after.h[i] = neuron(3, sum(3, i) + times(3, 2, i, after.c)) * rnn_case.of_cells(after.c[i]);
    }
    return after;
  }

  RnnCase rnn_case;
  std::map<MPS::RNNMatrixId, Vector> weights;

 private:
  double times(size_t gate, size_t role, size_t i, const Vector& vector) const {
    if (rnn_case.kind != Kind::lstm && role == 2 && gate != 2) return 0;
    const auto found = weights.find(matrix_id(rnn_case.kind, gate, role));
    if (found == weights.end()) return 0;
    if (role == 2 && rnn_case.diagonal) return found->second[i] * vector[i];
    double sum = 0;
    for (size_t j = 0; j < vector.size(); ++j) sum += found->second[i * vector.size() + j] * vector[j];
    return sum;
  }
  double bias(size_t gate, size_t i) const {
    const auto found = weights.find(matrix_id(rnn_case.kind, gate, 3));
    return found == weights.end() ? 0 : found->second[i];
  }
};

class MatrixSource final : public MPS::CNNConvolutionDataSource {
 public:
  MatrixSource(const Vector& weights, const Vector* bias_terms, size_t inputs, size_t outputs, const NeuronCase* neuron)
      : numbers_(weights.begin(), weights.end()) {
    if (bias_terms) biases_.assign(bias_terms->begin(), bias_terms->end());
    descriptor_ = NS::RetainPtr(MPS::CNNConvolutionDescriptor::cnnConvolutionDescriptor(1, 1, inputs, outputs));
    if (neuron)
      descriptor_->setFusedNeuronDescriptor(
          MPS::NNNeuronDescriptor::cnnNeuronDescriptor(neuron->type, neuron->a, neuron->b, neuron->c));
  }

  MPS::DataType dataType() override { return MPS::DataTypeFloat32; }
  MPS::CNNConvolutionDescriptor* descriptor() override { return descriptor_.get(); }
  void* weights() override { return numbers_.data(); }
  float* biasTerms() override { return biases_.empty() ? nullptr : biases_.data(); }
  bool load() override { return true; }
  void purge() override {}

 private:
  std::vector<float> numbers_, biases_;
  NS::SharedPtr<MPS::CNNConvolutionDescriptor> descriptor_;
};

// Data sources are set by the descriptor's own names.
inline MPS::RNNDescriptor* descriptor_of(const ReferenceLayer& layer) {
  const RnnCase& c = layer.rnn_case;
  const auto source = [&](size_t gate, size_t role) -> NS::SharedPtr<MPS::CNNConvolutionDataSource> {
    const auto found = layer.weights.find(matrix_id(c.kind, gate, role));
    const auto biases = layer.weights.find(matrix_id(c.kind, gate, 3));
    if (found == layer.weights.end() && (role != 0 || !c.unit)) return {};
    return NS::TransferPtr<MPS::CNNConvolutionDataSource>(
        new MatrixSource(found == layer.weights.end() ? Vector(c.outputs * c.inputs) : found->second,
                         role == 0 && biases != layer.weights.end() ? &biases->second : nullptr, layer.columns(role),
                         c.outputs, role == 0 ? &c.neurons[gate] : nullptr));
  };
  MPS::RNNDescriptor* made = nullptr;
  if (c.kind == Kind::single_gate) {
    auto* d = MPS::RNNSingleGateDescriptor::createRNNSingleGateDescriptor(c.inputs, c.outputs);
    d->setInputWeights(source(0, 0).get());
    d->setRecurrentWeights(source(0, 1).get());
    made = d;
  } else if (c.kind == Kind::gru) {
    auto* d = MPS::GRUDescriptor::createGRUDescriptor(c.inputs, c.outputs);
    d->setInputGateInputWeights(source(0, 0).get());
    d->setInputGateRecurrentWeights(source(0, 1).get());
    d->setRecurrentGateInputWeights(source(1, 0).get());
    d->setRecurrentGateRecurrentWeights(source(1, 1).get());
    d->setOutputGateInputWeights(source(2, 0).get());
    d->setOutputGateRecurrentWeights(source(2, 1).get());
    d->setOutputGateInputGateWeights(source(2, 2).get());
    d->setGatePnormValue(c.p);
    d->setFlipOutputGates(c.flipped);
    made = d;
  } else {
    auto* d = MPS::LSTMDescriptor::createLSTMDescriptor(c.inputs, c.outputs);
    d->setInputGateInputWeights(source(0, 0).get());
    d->setInputGateRecurrentWeights(source(0, 1).get());
    d->setInputGateMemoryWeights(source(0, 2).get());
    d->setForgetGateInputWeights(source(1, 0).get());
    d->setForgetGateRecurrentWeights(source(1, 1).get());
    d->setForgetGateMemoryWeights(source(1, 2).get());
    d->setCellGateInputWeights(source(2, 0).get());
    d->setCellGateRecurrentWeights(source(2, 1).get());
    d->setCellGateMemoryWeights(source(2, 2).get());
    d->setOutputGateInputWeights(source(3, 0).get());
    d->setOutputGateRecurrentWeights(source(3, 1).get());
    d->setOutputGateMemoryWeights(source(3, 2).get());
    d->setMemoryWeightsAreDiagonal(c.diagonal);
    d->setCellToOutputNeuronType(c.of_cells.type);
    d->setCellToOutputNeuronParamA(c.of_cells.a);
    d->setCellToOutputNeuronParamB(c.of_cells.b);
    d->setCellToOutputNeuronParamC(c.of_cells.c);
    made = d;
  }
  made->setUseLayerInputUnitTransformMode(c.unit);
  return made;
}

using Matrices = std::vector<Numbers>;

inline NS::Array* array_of(const Matrices& matrices) {
  std::vector<const NS::Object*> objects;
  for (const Numbers& numbers : matrices) objects.push_back(numbers.matrix());
  return NS::Array::array(objects.data(), objects.size());
}

inline Vector row_of(const Numbers& numbers, size_t row, size_t columns) {
  Vector result;
  for (size_t i = 0; i < columns; ++i) result.push_back(numbers.at(row, i));
  return result;
}

// A number of a matrix of MPS's own.
inline float number_in(const MPS::Matrix* matrix, size_t row, size_t column) {
  const auto* bytes = static_cast<const std::byte*>(matrix->data()->contents()) + matrix->offset();
  return float(number_at(bytes + row * matrix->rowBytes(), column, matrix->dataType()));
}

class RnnTest : public MatrixTest {
 protected:
  // A matrix for each step, with these rows.
  Matrices random_sequence(const std::vector<size_t>& rows, size_t columns, MPS::DataType type, double size) {
    Matrices matrices;
    for (const size_t count : rows)
      matrices.push_back(random_matrix({.rows = count, .columns = columns, .type = type}, -size, size));
    return matrices;
  }
};

}  // namespace metalloid::mps

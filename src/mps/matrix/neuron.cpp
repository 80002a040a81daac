#include <MetalPerformanceShaders/MPSMatrixNeuron.hpp>
#include <algorithm>

#include "mps/core/data_type.hpp"
#include "mps/core/device_kind.hpp"
#include "mps/core/encoding.hpp"
#include "mps/matrix/arguments.hpp"
#include "mps/matrix/matrix_neuron.hpp"
#include "mps/matrix/neuron_holder.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {

class MatrixNeuronPart : public MatrixUnaryPart {
 public:
  NS::UInteger rows = NS::UIntegerMax, columns = NS::UIntegerMax;
  double alpha = 1;
  NeuronHolder holder;
};

class MatrixNeuronGradientPart : public MatrixBinaryPart {
 public:
  NS::UInteger rows = NS::UIntegerMax, columns = NS::UIntegerMax;
  double alpha = 1;
  NeuronHolder holder;
};

namespace {

struct Shape {
  NeuronParameters parameters;
  float alpha;
  RowStrides source, result;
  Span span;
};

struct SumShape {
  uint32_t rows, matrices;
  RowStrides source;
};

// Of tables of 32 numbers, which are two of AVX-512's registers.
bool looks_up_fast([[maybe_unused]] MTL::Device* device) {
#if defined(__x86_64__)
  return !is_gpu(device) && __builtin_cpu_supports("avx512f");
#else
  return false;
#endif
}

// As kernels/neuron.h numbers them.
uint32_t kernel_neuron(MTL::Device* device, MPS::CNNNeuronType type) {
  constexpr uint32_t tanh_by_table = 32, gelu_by_table = 33;
  if (!looks_up_fast(device)) return uint32_t(type);
  return type == MPS::CNNNeuronTypeTanH   ? tanh_by_table
         : type == MPS::CNNNeuronTypeGeLU ? gelu_by_table
                                          : uint32_t(type);
}

}  // namespace

void encode_neuron(Encoding& encoding, const NeuronHolder& holder, double alpha, const MatrixView& source,
                   const VectorView& bias, const MatrixView& result) {
  if (holder.neuron.type == MPS::CNNNeuronTypeNone && alpha == 1 && !bias && source.first == result.first) return;
  size_t columns = source.columns, rows = source.rows;
  const bool columns_are_alike = !bias && holder.neuron.type != MPS::CNNNeuronTypePReLU;
  if (columns_are_alike && source.strides.row == columns && result.strides.row == columns) {
    columns *= rows;
    rows = 1;
  }
  const SpanThreads all = threads_over_spans(encoding.device(), columns, rows, source.matrices);
  const bool streams = fills_caches(encoding.device(), bytes_of(result.type, columns * rows * source.matrices));
  encoding.dispatch({fmt::format("matrix_neuron_{}", metal_name_of(source.type)),
                     {kernel_neuron(encoding.device(), holder.neuron.type), bool(bias), streams, float(alpha) != 1}},
                    all.threads, all.threadgroup, source.first, result.first, bias.first, holder.channel_parameters(),
                    Shape{holder.neuron.parameters, float(alpha), source.strides, result.strides, all.span});
}

void encode_column_sums(Encoding& encoding, const MatrixView& source, const VectorView& sums) {
  encoding.dispatch({fmt::format("column_sums_{}", metal_name_of(source.type))}, MTL::Size(source.columns, 1, 1),
                    threads_along_row(source.columns), source.first, sums.first,
                    SumShape{uint32_t(source.rows), uint32_t(source.matrices), source.strides});
}

namespace {

using MatrixNeuronObject = Object<MPS::MatrixNeuron, MatrixNeuronPart>;
using MatrixNeuronGradientObject = Object<MPS::MatrixNeuronGradient, MatrixNeuronGradientPart>;

void check_channels(Arguments& arguments, const NeuronHolder& holder, size_t columns) {
  arguments.require(holder.neuron.type != MPS::CNNNeuronTypePReLU || holder.channels >= columns,
                    "the neuron has parameters for {} channels, and the matrix has {} columns", holder.channels,
                    columns);
}

void encode(Encoding& encoding, const MatrixNeuronPart& self, const MPS::Matrix* input, const MPS::Vector* bias_vector,
            const MPS::Matrix* output) {
  Arguments arguments(encoding, self.batch_start, self.batch_size);
  const MatrixView source = arguments.matrix(input, self.source_origin, "inputMatrix");
  const size_t rows = std::min(self.rows, source.rows), columns = std::min(self.columns, source.columns);
  const VectorView bias = arguments.optional_vector(bias_vector, columns, "biasVector");
  const MatrixView result = arguments.matrix(output, self.result_origin, "resultMatrix");
  arguments.is_floating_point(source.type, "inputMatrix");
  arguments.is_of_type(result.type, source.type, "resultMatrix");
  if (bias) arguments.is_of_type(bias.type, source.type, "biasVector");
  arguments.has_room(result, rows, columns, "resultMatrix");
  arguments.may_be_written(result, "resultMatrix", source, "inputMatrix", rows, columns);
  check_channels(arguments, self.holder, columns);
  if (!encoding.check(arguments.status())) return;

  MatrixView used = source;
  used.rows = rows;
  used.columns = columns;
  used.matrices = std::min(source.matrices, result.matrices);
  encode_neuron(encoding, self.holder, self.alpha, used, bias, result);
  source.object->was_read();
  if (bias) bias.object->was_read();
}

struct GradientShape {
  NeuronParameters parameters;
  float alpha;
  RowStrides gradient, input, result;
  uint32_t rows, columns, matrices;
};

void encode(Encoding& encoding, const MatrixNeuronGradientPart& self, const MPS::Matrix* gradient_matrix,
            const MPS::Matrix* input_matrix, const MPS::Vector* bias_vector, const MPS::Matrix* data_matrix,
            const MPS::Vector* bias_gradient_vector) {
  Arguments arguments(encoding, self.batch_start, self.batch_size);
  const MatrixView gradient = arguments.matrix(gradient_matrix, self.primary_origin, "gradientMatrix");
  const MatrixView input = arguments.matrix(input_matrix, self.secondary_origin, "inputMatrix");
  const size_t rows = std::min({self.rows, gradient.rows, input.rows});
  const size_t columns = std::min({self.columns, gradient.columns, input.columns});
  const VectorView bias = arguments.optional_vector(bias_vector, columns, "biasVector");
  const MatrixView data = arguments.matrix(data_matrix, self.result_origin, "resultGradientForDataMatrix");
  const VectorView bias_gradient =
      arguments.optional_vector(bias_gradient_vector, columns, "resultGradientForBiasVector");
  arguments.is_floating_point(gradient.type, "gradientMatrix");
  arguments.is_of_type(input.type, gradient.type, "inputMatrix");
  arguments.is_of_type(data.type, gradient.type, "resultGradientForDataMatrix");
  if (bias) arguments.is_of_type(bias.type, gradient.type, "biasVector");
  if (bias_gradient) arguments.is_of_type(bias_gradient.type, gradient.type, "resultGradientForBiasVector");
  arguments.has_room(data, rows, columns, "resultGradientForDataMatrix");
  arguments.may_be_written(data, "resultGradientForDataMatrix", gradient, "gradientMatrix", rows, columns);
  arguments.may_be_written(data, "resultGradientForDataMatrix", input, "inputMatrix", rows, columns);
  check_channels(arguments, self.holder, columns);
  if (!encoding.check(arguments.status())) return;

  const size_t matrices = std::min({gradient.matrices, input.matrices, data.matrices});
  const GradientShape shape{self.holder.neuron.parameters,
                            float(self.alpha),
                            gradient.strides,
                            input.strides,
                            data.strides,
                            uint32_t(rows),
                            uint32_t(columns),
                            uint32_t(matrices)};
  const std::vector<uint32_t> constants = {uint32_t(self.holder.neuron.type), bool(bias)};
  const char* type = metal_name_of(gradient.type);
  if (bias_gradient)  // first, since the data's gradient may replace the gradient it comes from
    encoding.dispatch({fmt::format("matrix_neuron_bias_gradient_{}", type), constants}, MTL::Size(columns, 1, 1),
                      threads_along_row(columns), gradient.first, input.first, bias_gradient.first, bias.first,
                      self.holder.channel_parameters(), shape);
  encoding.dispatch({fmt::format("matrix_neuron_gradient_{}", type), constants}, MTL::Size(columns, rows, matrices),
                    threads_along_row(columns), gradient.first, input.first, data.first, bias.first,
                    self.holder.channel_parameters(), shape);
  gradient.object->was_read();
  input.object->was_read();
  if (bias) bias.object->was_read();
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid::mps;

MatrixNeuron* MatrixNeuron::alloc() {
  return new MatrixNeuronObject("MPSMatrixNeuron");
}
MatrixNeuron* MatrixNeuron::init(MTL::Device* device) {
  return init_kernel(this, part_of<MatrixNeuronPart>(this), device, "-[MPSMatrixNeuron initWithDevice:]");
}

MPS_NUMBER(MatrixNeuron, MatrixNeuronPart, sourceNumberOfFeatureVectors, setSourceNumberOfFeatureVectors, rows)
MPS_NUMBER(MatrixNeuron, MatrixNeuronPart, sourceInputFeatureChannels, setSourceInputFeatureChannels, columns)
MPS_PROPERTY(MatrixNeuron, MatrixNeuronPart, double, alpha, setAlpha, alpha, (0))
MPS_NEURON(MatrixNeuron, MatrixNeuronPart)
MPS_PRELU(MatrixNeuron, MatrixNeuronPart)

void MatrixNeuron::encode(MTL::CommandBuffer* commandBuffer, const Matrix* inputMatrix, const Vector* biasVector,
                          const Matrix* resultMatrix) {
  auto* self = part_of<MatrixNeuronPart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::MatrixNeuron::encode"); encoding)
    metalloid::mps::encode(encoding, *self, inputMatrix, biasVector, resultMatrix);
}

MatrixNeuronGradient* MatrixNeuronGradient::alloc() {
  return new MatrixNeuronGradientObject("MPSMatrixNeuronGradient");
}
MatrixNeuronGradient* MatrixNeuronGradient::init(MTL::Device* device) {
  return init_kernel(this, part_of<MatrixNeuronGradientPart>(this), device,
                     "-[MPSMatrixNeuronGradient initWithDevice:]");
}

MPS_NUMBER(MatrixNeuronGradient, MatrixNeuronGradientPart, sourceNumberOfFeatureVectors,
           setSourceNumberOfFeatureVectors, rows)
MPS_NUMBER(MatrixNeuronGradient, MatrixNeuronGradientPart, sourceInputFeatureChannels, setSourceInputFeatureChannels,
           columns)
MPS_PROPERTY(MatrixNeuronGradient, MatrixNeuronGradientPart, double, alpha, setAlpha, alpha, (0))
MPS_NEURON(MatrixNeuronGradient, MatrixNeuronGradientPart)
MPS_PRELU(MatrixNeuronGradient, MatrixNeuronGradientPart)

void MatrixNeuronGradient::encode(MTL::CommandBuffer* commandBuffer, const Matrix* gradientMatrix,
                                  const Matrix* inputMatrix, const Vector* biasVector,
                                  const Matrix* resultGradientForDataMatrix,
                                  const Vector* resultGradientForBiasVector) {
  auto* self = part_of<MatrixNeuronGradientPart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::MatrixNeuronGradient::encode"); encoding)
    metalloid::mps::encode(encoding, *self, gradientMatrix, inputMatrix, biasVector, resultGradientForDataMatrix,
                           resultGradientForBiasVector);
}

}  // namespace MPS

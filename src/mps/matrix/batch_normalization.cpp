#include <MetalPerformanceShaders/MPSMatrixBatchNormalization.hpp>
#include <algorithm>
#include <cfloat>

#include "mps/core/data_type.hpp"
#include "mps/core/device_kind.hpp"
#include "mps/core/encoding.hpp"
#include "mps/matrix/arguments.hpp"
#include "mps/matrix/column_blocks.hpp"
#include "mps/matrix/neuron_holder.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {

class BatchNormalizationPart : public MatrixUnaryPart {
 public:
  NS::UInteger rows = NS::UIntegerMax, columns = NS::UIntegerMax;
  float epsilon = FLT_MIN;
  bool compute_statistics = false;
  NeuronHolder holder;
};

class BatchNormalizationGradientPart : public MatrixBinaryPart {
 public:
  NS::UInteger rows = NS::UIntegerMax, columns = NS::UIntegerMax;
  float epsilon = FLT_MIN;
  NeuronHolder holder;
};

namespace {

using BatchNormalizationObject = Object<MPS::MatrixBatchNormalization, BatchNormalizationPart>;
using BatchNormalizationGradientObject = Object<MPS::MatrixBatchNormalizationGradient, BatchNormalizationGradientPart>;

struct Shape {
  NeuronParameters parameters;
  float epsilon;
  uint32_t rows;
  RowStrides source, result, gradient;
};

// The vectors of a batch normalisation, which are of one type with its matrices.
struct Vectors {
  VectorView mean, variance, gamma, beta;
};

Vectors check_vectors(Arguments& arguments, size_t columns, MPS::DataType type, const MPS::Vector* mean,
                      const MPS::Vector* variance, const MPS::Vector* gamma, const MPS::Vector* beta) {
  const Vectors vectors{
      arguments.vector(mean, columns, "meanVector"), arguments.vector(variance, columns, "varianceVector"),
      arguments.optional_vector(gamma, columns, "gammaVector"), arguments.optional_vector(beta, columns, "betaVector")};
  arguments.is_of_type(vectors.mean.type, type, "meanVector");
  arguments.is_of_type(vectors.variance.type, type, "varianceVector");
  if (vectors.gamma) arguments.is_of_type(vectors.gamma.type, type, "gammaVector");
  if (vectors.beta) arguments.is_of_type(vectors.beta.type, type, "betaVector");
  return vectors;
}

struct Size {
  size_t rows, columns, matrices;
};

// A thread for each column, and for each number.
void encode_by_numbers(Encoding& encoding, const BatchNormalizationPart& self, const MatrixView& source,
                       const MatrixView& result, const Vectors& vectors, const Size& size) {
  const Shape shape{
      self.holder.neuron.parameters, self.epsilon, uint32_t(size.rows), source.strides, result.strides, {}};
  const char* type = metal_name_of(source.type);
  const MTL::Size threadgroup = threads_along_row(size.columns);
  if (self.compute_statistics)
    encoding.dispatch({fmt::format("batch_statistics_{}", type)}, MTL::Size(size.columns, 1, 1), threadgroup,
                      source.first, vectors.mean.first, vectors.variance.first, shape);
  encoding.dispatch({fmt::format("batch_normalization_{}", type),
                     {uint32_t(self.holder.neuron.type), bool(vectors.gamma), bool(vectors.beta)}},
                    MTL::Size(size.columns, size.rows, size.matrices), threadgroup, source.first, result.first,
                    vectors.mean.first, vectors.variance.first, vectors.gamma.first, vectors.beta.first, shape);
}

void encode_by_blocks(Encoding& encoding, const BatchNormalizationPart& self, const MatrixView& source,
                      const MatrixView& result, const Vectors& vectors, const Size& size) {
  const ColumnsOfRows rows{source.first, source.type, source.strides, size.rows, size.columns, size.matrices};
  const ColumnNumbers numbers{vectors.mean.first, vectors.variance.first, vectors.gamma.first, vectors.beta.first};
  if (self.compute_statistics) encode_column_statistics(encoding, rows, numbers.mean, numbers.variance);
  encode_column_normalization(encoding, rows, result.first, result.strides, numbers, self.epsilon, self.holder.neuron);
}

void encode(Encoding& encoding, const BatchNormalizationPart& self, const MPS::Matrix* input_matrix,
            const MPS::Vector* mean, const MPS::Vector* variance, const MPS::Vector* gamma, const MPS::Vector* beta,
            const MPS::Matrix* result_matrix) {
  Arguments arguments(encoding, self.batch_start, self.batch_size);
  const MatrixView source = arguments.matrix(input_matrix, self.source_origin, "inputMatrix");
  const MatrixView result = arguments.matrix(result_matrix, self.result_origin, "resultMatrix");
  const size_t rows = std::min(self.rows, source.rows), columns = std::min(self.columns, source.columns);
  arguments.is_floating_point(source.type, "inputMatrix");
  arguments.is_of_type(result.type, source.type, "resultMatrix");
  arguments.has_room(result, rows, columns, "resultMatrix");
  arguments.may_be_written(result, "resultMatrix", source, "inputMatrix", rows, columns);
  const Vectors vectors = check_vectors(arguments, columns, source.type, mean, variance, gamma, beta);
  if (!encoding.check(arguments.status())) return;

  const Size size{rows, columns, std::min(source.matrices, result.matrices)};
  if (is_gpu(encoding.device()))
    encode_by_numbers(encoding, self, source, result, vectors, size);
  else
    encode_by_blocks(encoding, self, source, result, vectors, size);
  source.object->was_read();
}

void encode(Encoding& encoding, const BatchNormalizationGradientPart& self, const MPS::Matrix* gradient_matrix,
            const MPS::Matrix* input_matrix, const MPS::Vector* mean, const MPS::Vector* variance,
            const MPS::Vector* gamma, const MPS::Vector* beta, const MPS::Matrix* data_matrix,
            const MPS::Vector* gamma_vector, const MPS::Vector* beta_vector) {
  Arguments arguments(encoding, self.batch_start, self.batch_size);
  const MatrixView gradient = arguments.matrix(gradient_matrix, self.primary_origin, "gradientMatrix");
  const MatrixView input = arguments.matrix(input_matrix, self.secondary_origin, "inputMatrix");
  const MatrixView data = arguments.matrix(data_matrix, self.result_origin, "resultGradientForDataMatrix");
  const size_t rows = std::min({self.rows, gradient.rows, input.rows});
  const size_t columns = std::min({self.columns, gradient.columns, input.columns});
  arguments.is_floating_point(gradient.type, "gradientMatrix");
  arguments.is_of_type(input.type, gradient.type, "inputMatrix");
  arguments.is_of_type(data.type, gradient.type, "resultGradientForDataMatrix");
  arguments.has_room(data, rows, columns, "resultGradientForDataMatrix");
  arguments.may_be_written(data, "resultGradientForDataMatrix", gradient, "gradientMatrix", rows, columns);
  arguments.may_be_written(data, "resultGradientForDataMatrix", input, "inputMatrix", rows, columns);
  arguments.require(gradient.matrices == 1 && input.matrices == 1,
                    "gradientMatrix and inputMatrix must be one matrix each: choose it with batchStart and batchSize");
  const Vectors vectors = check_vectors(arguments, columns, gradient.type, mean, variance, gamma, beta);
  const VectorView for_gamma = arguments.optional_vector(gamma_vector, columns, "resultGradientForGammaVector");
  const VectorView for_beta = arguments.optional_vector(beta_vector, columns, "resultGradientForBetaVector");
  if (for_gamma) arguments.is_of_type(for_gamma.type, gradient.type, "resultGradientForGammaVector");
  if (for_beta) arguments.is_of_type(for_beta.type, gradient.type, "resultGradientForBetaVector");
  if (!encoding.check(arguments.status())) return;

  encoding.dispatch(
      {fmt::format("batch_normalization_gradient_{}", metal_name_of(gradient.type)),
       {uint32_t(self.holder.neuron.type), bool(vectors.gamma), bool(vectors.beta), bool(for_gamma), bool(for_beta)}},
      MTL::Size(columns, 1, 1), threads_along_row(columns), gradient.first, input.first, data.first, vectors.mean.first,
      vectors.variance.first, vectors.gamma.first, vectors.beta.first, for_gamma.first, for_beta.first,
      Shape{self.holder.neuron.parameters, self.epsilon, uint32_t(rows), input.strides, data.strides,
            gradient.strides});
  gradient.object->was_read();
  input.object->was_read();
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid::mps;

MatrixBatchNormalization* MatrixBatchNormalization::alloc() {
  return new BatchNormalizationObject("MPSMatrixBatchNormalization");
}
MatrixBatchNormalization* MatrixBatchNormalization::init(MTL::Device* device) {
  return init_kernel(this, part_of<BatchNormalizationPart>(this), device,
                     "-[MPSMatrixBatchNormalization initWithDevice:]");
}

MPS_NUMBER(MatrixBatchNormalization, BatchNormalizationPart, sourceNumberOfFeatureVectors,
           setSourceNumberOfFeatureVectors, rows)
MPS_NUMBER(MatrixBatchNormalization, BatchNormalizationPart, sourceInputFeatureChannels, setSourceInputFeatureChannels,
           columns)
MPS_PROPERTY(MatrixBatchNormalization, BatchNormalizationPart, float, epsilon, setEpsilon, epsilon, (0))
MPS_PROPERTY(MatrixBatchNormalization, BatchNormalizationPart, bool, computeStatistics, setComputeStatistics,
             compute_statistics, (false))
MPS_NEURON(MatrixBatchNormalization, BatchNormalizationPart)

void MatrixBatchNormalization::encode(MTL::CommandBuffer* commandBuffer, const Matrix* inputMatrix,
                                      const Vector* meanVector, const Vector* varianceVector, const Vector* gammaVector,
                                      const Vector* betaVector, const Matrix* resultMatrix) {
  auto* self = part_of<BatchNormalizationPart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::MatrixBatchNormalization::encode"); encoding)
    metalloid::mps::encode(encoding, *self, inputMatrix, meanVector, varianceVector, gammaVector, betaVector,
                           resultMatrix);
}

MatrixBatchNormalizationGradient* MatrixBatchNormalizationGradient::alloc() {
  return new BatchNormalizationGradientObject("MPSMatrixBatchNormalizationGradient");
}
MatrixBatchNormalizationGradient* MatrixBatchNormalizationGradient::init(MTL::Device* device) {
  return init_kernel(this, part_of<BatchNormalizationGradientPart>(this), device,
                     "-[MPSMatrixBatchNormalizationGradient initWithDevice:]");
}

MPS_NUMBER(MatrixBatchNormalizationGradient, BatchNormalizationGradientPart, sourceNumberOfFeatureVectors,
           setSourceNumberOfFeatureVectors, rows)
MPS_NUMBER(MatrixBatchNormalizationGradient, BatchNormalizationGradientPart, sourceInputFeatureChannels,
           setSourceInputFeatureChannels, columns)
MPS_PROPERTY(MatrixBatchNormalizationGradient, BatchNormalizationGradientPart, float, epsilon, setEpsilon, epsilon, (0))
MPS_NEURON(MatrixBatchNormalizationGradient, BatchNormalizationGradientPart)

void MatrixBatchNormalizationGradient::encode(MTL::CommandBuffer* commandBuffer, const Matrix* gradientMatrix,
                                              const Matrix* inputMatrix, const Vector* meanVector,
                                              const Vector* varianceVector, const Vector* gammaVector,
                                              const Vector* betaVector, const Matrix* resultGradientForDataMatrix,
                                              const Vector* resultGradientForGammaVector,
                                              const Vector* resultGradientForBetaVector) {
  auto* self = part_of<BatchNormalizationGradientPart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::MatrixBatchNormalizationGradient::encode"); encoding)
    metalloid::mps::encode(encoding, *self, gradientMatrix, inputMatrix, meanVector, varianceVector, gammaVector,
                           betaVector, resultGradientForDataMatrix, resultGradientForGammaVector,
                           resultGradientForBetaVector);
}

}  // namespace MPS

#include <MetalPerformanceShaders/MPSMatrixFullyConnected.hpp>
#include <algorithm>

#include "mps/core/data_type.hpp"
#include "mps/matrix/arguments.hpp"
#include "mps/matrix/matrix_neuron.hpp"
#include "mps/matrix/neuron_holder.hpp"
#include "mps/matrix/product.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {

class FullyConnectedPart : public MatrixBinaryPart {
 public:
  NS::UInteger vectors = NS::UIntegerMax, inputs = NS::UIntegerMax, outputs = NS::UIntegerMax;
  double alpha = 1;
  NeuronHolder holder;
  ProductPrimitives primitives;
};

class FullyConnectedGradientPart : public MatrixBinaryPart {
 public:
  NS::UInteger vectors = NS::UIntegerMax, inputs = NS::UIntegerMax, outputs = NS::UIntegerMax;
  double alpha = 1;
  ProductPrimitives primitives;
};

namespace {

using FullyConnectedObject = Object<MPS::MatrixFullyConnected, FullyConnectedPart>;
using FullyConnectedGradientObject = Object<MPS::MatrixFullyConnectedGradient, FullyConnectedGradientPart>;

void encode(Encoding& encoding, FullyConnectedPart& self, const MPS::Matrix* input_matrix,
            const MPS::Matrix* weight_matrix, const MPS::Vector* bias_vector, const MPS::Matrix* result_matrix) {
  Arguments arguments(encoding, self.batch_start, self.batch_size);
  const MatrixView input = arguments.matrix(input_matrix, self.primary_origin, "inputMatrix");
  const MatrixView weights = arguments.matrix(weight_matrix, self.secondary_origin, "weightMatrix");
  const MatrixView result = arguments.matrix(result_matrix, self.result_origin, "resultMatrix");
  MatrixProduct product = product_of({.alpha = self.alpha}, input, weights, result);
  product.rows = std::min(self.vectors, input.rows);
  product.interior = std::min({self.inputs, input.columns, weights.rows});
  product.columns = std::min(self.outputs, weights.columns);
  const VectorView bias = arguments.optional_vector(bias_vector, product.columns, "biasVector");
  arguments.is_floating_point(result.type, "resultMatrix");
  arguments.has_room(result, product.rows, product.columns, "resultMatrix");
  if (bias) arguments.is_of_type(bias.type, result.type, "biasVector");
  if (!encoding.check(arguments.status()) ||
      !encoding.check(check_product_types(input.type, weights.type, result.type)) ||
      !encoding.check(check_product(product, input.first, "inputMatrix", weights.first, "weightMatrix", result.first)))
    return;

  encode_product(encoding, self.primitives, product, input.first, weights.first, result.first);
  MatrixView made = result;
  made.rows = product.rows;
  made.columns = product.columns;
  made.matrices = product.batch;
  encode_neuron(encoding, self.holder, 1, made, bias, made);
  input.object->was_read();
  weights.object->was_read();
  if (bias) bias.object->was_read();
}

void encode_for_data(Encoding& encoding, FullyConnectedGradientPart& self, const MPS::Matrix* gradient_matrix,
                     const MPS::Matrix* weight_matrix, const MPS::Matrix* result_matrix) {
  Arguments arguments(encoding, self.batch_start, self.batch_size);
  const MatrixView gradient = arguments.matrix(gradient_matrix, self.primary_origin, "gradientMatrix");
  const MatrixView weights = arguments.matrix(weight_matrix, self.secondary_origin, "weightMatrix");
  const MatrixView result = arguments.matrix(result_matrix, self.result_origin, "resultGradientForDataMatrix");
  MatrixProduct product = product_of({.alpha = self.alpha}, gradient, weights, result);
  product.transpose_right = true;
  product.rows = std::min(self.vectors, gradient.rows);
  product.interior = std::min({self.outputs, gradient.columns, weights.columns});
  product.columns = std::min(self.inputs, weights.rows);
  arguments.has_room(result, product.rows, product.columns, "resultGradientForDataMatrix");
  if (!encoding.check(arguments.status()) ||
      !encoding.check(check_product_types(gradient.type, weights.type, result.type)) ||
      !encoding.check(
          check_product(product, gradient.first, "gradientMatrix", weights.first, "weightMatrix", result.first)))
    return;
  encode_product(encoding, self.primitives, product, gradient.first, weights.first, result.first);
  gradient.object->was_read();
  weights.object->was_read();
}

void encode_for_weights(Encoding& encoding, FullyConnectedGradientPart& self, const MPS::Matrix* gradient_matrix,
                        const MPS::Matrix* input_matrix, const MPS::Matrix* weight_result,
                        const MPS::Vector* bias_result) {
  Arguments arguments(encoding, self.batch_start, self.batch_size);
  const MatrixView gradient = arguments.matrix(gradient_matrix, self.primary_origin, "gradientMatrix");
  const MatrixView input = arguments.matrix(input_matrix, self.secondary_origin, "inputMatrix");
  const MatrixView result = arguments.matrix(weight_result, self.result_origin, "resultGradientForWeightMatrix");
  MatrixProduct product = product_of({.alpha = self.alpha}, input, gradient, result);
  product.transpose_left = true;
  product.rows = std::min(self.inputs, input.columns);
  product.interior = std::min({self.vectors, input.rows, gradient.rows});
  product.columns = std::min(self.outputs, gradient.columns);
  const VectorView bias = arguments.optional_vector(bias_result, product.columns, "resultGradientForBiasVector");
  arguments.has_room(result, product.rows, product.columns, "resultGradientForWeightMatrix");
  if (bias) arguments.is_of_type(bias.type, gradient.type, "resultGradientForBiasVector");
  if (!encoding.check(arguments.status()) ||
      !encoding.check(check_product_types(input.type, gradient.type, result.type)) ||
      !encoding.check(
          check_product(product, input.first, "inputMatrix", gradient.first, "gradientMatrix", result.first)))
    return;
  encode_product(encoding, self.primitives, product, input.first, gradient.first, result.first);
  if (bias) {
    MatrixView summed = gradient;
    summed.rows = product.interior;
    summed.columns = product.columns;
    summed.matrices = product.batch;
    encode_column_sums(encoding, summed, bias);
  }
  gradient.object->was_read();
  input.object->was_read();
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid::mps;

MatrixFullyConnected* MatrixFullyConnected::alloc() {
  return new FullyConnectedObject("MPSMatrixFullyConnected");
}
MatrixFullyConnected* MatrixFullyConnected::init(MTL::Device* device) {
  return init_kernel(this, part_of<FullyConnectedPart>(this), device, "-[MPSMatrixFullyConnected initWithDevice:]");
}

MPS_NUMBER(MatrixFullyConnected, FullyConnectedPart, sourceNumberOfFeatureVectors, setSourceNumberOfFeatureVectors,
           vectors)
MPS_NUMBER(MatrixFullyConnected, FullyConnectedPart, sourceInputFeatureChannels, setSourceInputFeatureChannels, inputs)
MPS_NUMBER(MatrixFullyConnected, FullyConnectedPart, sourceOutputFeatureChannels, setSourceOutputFeatureChannels,
           outputs)
MPS_PROPERTY(MatrixFullyConnected, FullyConnectedPart, double, alpha, setAlpha, alpha, (0))
MPS_NEURON(MatrixFullyConnected, FullyConnectedPart)

void MatrixFullyConnected::encode(MTL::CommandBuffer* commandBuffer, const Matrix* inputMatrix,
                                  const Matrix* weightMatrix, const Vector* biasVector, const Matrix* resultMatrix) {
  auto* self = part_of<FullyConnectedPart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::MatrixFullyConnected::encode"); encoding)
    metalloid::mps::encode(encoding, *self, inputMatrix, weightMatrix, biasVector, resultMatrix);
}

MatrixFullyConnectedGradient* MatrixFullyConnectedGradient::alloc() {
  return new FullyConnectedGradientObject("MPSMatrixFullyConnectedGradient");
}
MatrixFullyConnectedGradient* MatrixFullyConnectedGradient::init(MTL::Device* device) {
  return init_kernel(this, part_of<FullyConnectedGradientPart>(this), device,
                     "-[MPSMatrixFullyConnectedGradient initWithDevice:]");
}

MPS_NUMBER(MatrixFullyConnectedGradient, FullyConnectedGradientPart, sourceNumberOfFeatureVectors,
           setSourceNumberOfFeatureVectors, vectors)
MPS_NUMBER(MatrixFullyConnectedGradient, FullyConnectedGradientPart, sourceInputFeatureChannels,
           setSourceInputFeatureChannels, inputs)
MPS_NUMBER(MatrixFullyConnectedGradient, FullyConnectedGradientPart, sourceOutputFeatureChannels,
           setSourceOutputFeatureChannels, outputs)
MPS_PROPERTY(MatrixFullyConnectedGradient, FullyConnectedGradientPart, double, alpha, setAlpha, alpha, (0))

void MatrixFullyConnectedGradient::encodeGradientForData(MTL::CommandBuffer* commandBuffer,
                                                         const Matrix* gradientMatrix, const Matrix* weightMatrix,
                                                         const Matrix* resultGradientForDataMatrix) {
  auto* self = part_of<FullyConnectedGradientPart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::MatrixFullyConnectedGradient::encodeGradientForData"); encoding)
    encode_for_data(encoding, *self, gradientMatrix, weightMatrix, resultGradientForDataMatrix);
}

void MatrixFullyConnectedGradient::encodeGradientForWeightsAndBias(MTL::CommandBuffer* commandBuffer,
                                                                   const Matrix* gradientMatrix,
                                                                   const Matrix* inputMatrix,
                                                                   const Matrix* resultGradientForWeightMatrix,
                                                                   const Vector* resultGradientForBiasVector) {
  auto* self = part_of<FullyConnectedGradientPart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::MatrixFullyConnectedGradient::encodeGradientForWeightsAndBias");
      encoding)
    encode_for_weights(encoding, *self, gradientMatrix, inputMatrix, resultGradientForWeightMatrix,
                       resultGradientForBiasVector);
}

}  // namespace MPS

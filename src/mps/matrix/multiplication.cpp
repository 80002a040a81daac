#include <fmt/format.h>

#include <MetalPerformanceShaders/MPSMatrixMultiplication.hpp>
#include <algorithm>

#include "mps/core/properties.hpp"
#include "mps/matrix/arguments.hpp"
#include "mps/matrix/product.hpp"

namespace metalloid::mps {

class MultiplicationPart : public KernelPart {
 public:
  MatrixProduct product;
  MTL::Origin left_origin = {0, 0, 0}, right_origin = {0, 0, 0}, result_origin = {0, 0, 0};
  NS::UInteger batch_start = 0, batch_size = NS::UIntegerMax;
  ProductPrimitives primitives;
};

namespace {

using MultiplicationObject = Object<MPS::MatrixMultiplication, MultiplicationPart>;

void encode(Encoding& encoding, MultiplicationPart& self, const MPS::Matrix* left_matrix,
            const MPS::Matrix* right_matrix, const MPS::Matrix* result_matrix) {
  Arguments arguments(encoding, self.batch_start, self.batch_size);
  const MatrixView left = arguments.matrix(left_matrix, self.left_origin, "leftMatrix");
  const MatrixView right = arguments.matrix(right_matrix, self.right_origin, "rightMatrix");
  const MatrixView result = arguments.matrix(result_matrix, self.result_origin, "resultMatrix");
  const MatrixProduct product = product_of(self.product, left, right, result);
  const auto has_room = [&](const MatrixView& view, size_t rows, size_t columns, bool transposed, const char* name) {
    arguments.has_room(view, transposed ? columns : rows, transposed ? rows : columns, name);
  };
  has_room(left, product.rows, product.interior, product.transpose_left, "leftMatrix");
  has_room(right, product.interior, product.columns, product.transpose_right, "rightMatrix");
  has_room(result, product.rows, product.columns, false, "resultMatrix");
  if (!encoding.check(arguments.status()) || !encoding.check(check_product_types(left.type, right.type, result.type)) ||
      !encoding.check(check_product(product, left.first, "leftMatrix", right.first, "rightMatrix", result.first)))
    return;

  encode_product(encoding, self.primitives, product, left.first, right.first, result.first);
  left.object->was_read();
  right.object->was_read();
  if (product.beta != 0) result.object->was_read();
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

MatrixMultiplication* MatrixMultiplication::alloc() {
  return new MultiplicationObject("MPSMatrixMultiplication");
}

MatrixMultiplication* MatrixMultiplication::init(MTL::Device* device, bool transposeLeft, bool transposeRight,
                                                 NS::UInteger resultRows, NS::UInteger resultColumns,
                                                 NS::UInteger interiorColumns, double alpha, double beta) {
  constexpr const char* call = "-[MPSMatrixMultiplication initWithDevice:]";
  auto* self = part_of<MultiplicationPart>(this);
  if (self && (resultRows == 0 || resultColumns == 0 || interiorColumns == 0)) {
    foundation::report_misuse(
        call, fmt::format("resultRows ({}), resultColumns ({}) and interiorColumns ({}) must not be 0", resultRows,
                          resultColumns, interiorColumns));
    return foundation::failed_init(this);
  }
  if (self) {
    self->product.rows = resultRows;
    self->product.columns = resultColumns;
    self->product.interior = interiorColumns;
    self->product.transpose_left = transposeLeft;
    self->product.transpose_right = transposeRight;
    self->product.alpha = alpha;
    self->product.beta = beta;
  }
  return init_kernel(this, self, device, call);
}

MatrixMultiplication* MatrixMultiplication::init(MTL::Device* device, NS::UInteger resultRows,
                                                 NS::UInteger resultColumns, NS::UInteger interiorColumns) {
  return init(device, false, false, resultRows, resultColumns, interiorColumns, 1, 0);
}

MPS_ORIGIN(MatrixMultiplication, MultiplicationPart, resultMatrixOrigin, setResultMatrixOrigin, result_origin)
MPS_ORIGIN(MatrixMultiplication, MultiplicationPart, leftMatrixOrigin, setLeftMatrixOrigin, left_origin)
MPS_ORIGIN(MatrixMultiplication, MultiplicationPart, rightMatrixOrigin, setRightMatrixOrigin, right_origin)
MPS_NUMBER(MatrixMultiplication, MultiplicationPart, batchStart, setBatchStart, batch_start)
MPS_NUMBER(MatrixMultiplication, MultiplicationPart, batchSize, setBatchSize, batch_size)

void MatrixMultiplication::encode(MTL::CommandBuffer* commandBuffer, const Matrix* leftMatrix,
                                  const Matrix* rightMatrix, const Matrix* resultMatrix) {
  auto* self = part_of<MultiplicationPart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::MatrixMultiplication::encode"); encoding)
    metalloid::mps::encode(encoding, *self, leftMatrix, rightMatrix, resultMatrix);
}

}  // namespace MPS

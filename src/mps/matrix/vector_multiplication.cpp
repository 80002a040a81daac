#include <fmt/format.h>

#include <MetalPerformanceShaders/MPSMatrixMultiplication.hpp>
#include <algorithm>

#include "mps/core/data_type.hpp"
#include "mps/core/device_kind.hpp"
#include "mps/core/encoding.hpp"
#include "mps/matrix/arguments.hpp"

namespace metalloid::mps {

class VectorMultiplicationPart : public MatrixBinaryPart {
 public:
  bool transpose = false;
  size_t rows = 0, columns = 0;  // of the matrix as it is used
  double alpha = 1, beta = 0;
};

namespace {

using VectorMultiplicationObject = Object<MPS::MatrixVectorMultiplication, VectorMultiplicationPart>;

// As kernels/gemv.metal has it.
struct MatrixVector {
  uint32_t rows, columns;
  float alpha, beta;
  RowStrides matrix;
  uint64_t vector, result;
};

// The vector from an origin on, of the batch's first; its numbers are checked to be enough.
Operand first_of(Arguments& arguments, const VectorView& view, MTL::Origin origin, size_t length, size_t batch_start,
                 const char* name) {
  arguments.require(origin.y == 0 && origin.z == 0, "the origin of {}, [{}, {}, {}], has more than an x", name,
                    origin.x, origin.y, origin.z);
  if (!arguments) return {};
  arguments.require(origin.x + length <= view.length, "{} has {} numbers, and {} from {} on are needed", name,
                    view.length, length, origin.x);
  arguments.require(batch_start < view.object->vectors,
                    "batchStart ({}) is beyond the vectors of {}, of which there are {}", batch_start, name,
                    view.object->vectors);
  return view.object->at(batch_start, origin.x);
}

size_t stride_of(const VectorView& view) {
  return view.object->vector_bytes * 8 / bits_of(view.type);
}

void encode(Encoding& encoding, const VectorMultiplicationPart& self, const MPS::Matrix* input_matrix,
            const MPS::Vector* input_vector, const MPS::Vector* result_vector) {
  Arguments arguments(encoding, self.batch_start, self.batch_size);
  const MatrixView matrix = arguments.matrix(input_matrix, self.primary_origin, "inputMatrix");
  const VectorView vector = arguments.vector(input_vector, self.columns, "inputVector");
  const VectorView result = arguments.vector(result_vector, self.rows, "resultVector");
  arguments.has_room(matrix, self.transpose ? self.columns : self.rows, self.transpose ? self.rows : self.columns,
                     "inputMatrix");
  const Operand x = first_of(arguments, vector, self.secondary_origin, self.columns, self.batch_start, "inputVector");
  const Operand y = first_of(arguments, result, self.result_origin, self.rows, self.batch_start, "resultVector");
  const bool is_integer = matrix.type == MPS::DataTypeInt8 || matrix.type == MPS::DataTypeInt16;
  if (!is_integer) arguments.is_floating_point(matrix.type, "inputMatrix");
  arguments.is_of_type(vector.type, matrix.type, "inputVector");
  arguments.require(result.type == MPS::DataTypeFloat32 || (result.type == matrix.type && !is_integer),
                    "resultVector has the type {}; the product of {} is Float32{}", name_of(result.type),
                    name_of(matrix.type), is_integer ? "" : " or of its own type");
  if (!encoding.check(arguments.status())) return;

  const size_t batch =
      std::min({matrix.matrices, vector.object->vectors - self.batch_start, result.object->vectors - self.batch_start});
  const auto bytes = [&](const VectorView& view, size_t numbers) {
    return (batch - 1) * view.object->vector_bytes + bytes_of(view.type, numbers);
  };
  arguments.require(are_apart(x, bytes(vector, self.columns), y, bytes(result, self.rows)),
                    "resultVector overlaps inputVector, which is still read while it is written");
  if (!encoding.check(arguments.status())) return;
  const size_t simdgroups = is_gpu(encoding.device()) ? 8 : 1;
  const size_t rows_of_group = self.transpose ? 128 : simdgroups * 4;
  encoding.dispatch({fmt::format("{}_{}_{}", self.transpose ? "gemv_transposed" : "gemv", metal_name_of(matrix.type),
                                 metal_name_of(result.type))},
                    MTL::Size((self.rows + rows_of_group - 1) / rows_of_group * simdgroups * 32, 1, batch),
                    MTL::Size(simdgroups * 32, 1, 1), matrix.first, x, y,
                    MatrixVector{uint32_t(self.rows), uint32_t(self.columns), float(self.alpha), float(self.beta),
                                 matrix.strides, stride_of(vector), stride_of(result)});
  matrix.object->was_read();
  vector.object->was_read();
  if (self.beta != 0) result.object->was_read();
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

MatrixVectorMultiplication* MatrixVectorMultiplication::alloc() {
  return new VectorMultiplicationObject("MPSMatrixVectorMultiplication");
}

MatrixVectorMultiplication* MatrixVectorMultiplication::init(MTL::Device* device, bool transpose, NS::UInteger rows,
                                                             NS::UInteger columns, double alpha, double beta) {
  constexpr const char* call = "-[MPSMatrixVectorMultiplication initWithDevice:]";
  auto* self = part_of<VectorMultiplicationPart>(this);
  if (self && (rows == 0 || columns == 0)) {
    foundation::report_misuse(call, fmt::format("rows ({}) and columns ({}) must not be 0", rows, columns));
    return foundation::failed_init(this);
  }
  if (self) {
    self->transpose = transpose;
    self->rows = rows;
    self->columns = columns;
    self->alpha = alpha;
    self->beta = beta;
  }
  return init_kernel(this, self, device, call);
}

MatrixVectorMultiplication* MatrixVectorMultiplication::init(MTL::Device* device, NS::UInteger rows,
                                                             NS::UInteger columns) {
  return init(device, false, rows, columns, 1, 0);
}

void MatrixVectorMultiplication::encode(MTL::CommandBuffer* commandBuffer, const Matrix* inputMatrix,
                                        const Vector* inputVector, const Vector* resultVector) {
  auto* self = part_of<VectorMultiplicationPart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::MatrixVectorMultiplication::encode"); encoding)
    metalloid::mps::encode(encoding, *self, inputMatrix, inputVector, resultVector);
}

}  // namespace MPS

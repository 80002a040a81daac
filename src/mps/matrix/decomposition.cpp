#include <fmt/format.h>

#include <MetalPerformanceShaders/MPSMatrixDecomposition.hpp>
#include <algorithm>

#include "mps/core/device_kind.hpp"
#include "mps/core/encoding.hpp"
#include "mps/libraries/linear_systems.hpp"
#include "mps/matrix/arguments.hpp"

namespace metalloid::mps {

class DecompositionPart : public MatrixUnaryPart {
 public:
  MatrixDecomposition::Kind kind = MatrixDecomposition::Kind::lu;
  size_t rows = 0, columns = 0;
};

namespace {

using LUObject = Object<MPS::MatrixDecompositionLU, DecompositionPart>;
using CholeskyObject = Object<MPS::MatrixDecompositionCholesky, DecompositionPart>;
using Kind = MatrixDecomposition::Kind;

// As kernels/decomposition.metal has it.
struct DecompositionShape {
  uint32_t rows, columns, statuses;
  RowStrides source, result;
  uint64_t pivots;
};

void encode(Encoding& encoding, const DecompositionPart& self, const MPS::Matrix* source_matrix,
            const MPS::Matrix* result_matrix, const MPS::Matrix* pivot_indices, const MTL::Buffer* status) {
  Arguments arguments(encoding, self.batch_start, self.batch_size);
  const MatrixView source = arguments.matrix(source_matrix, self.source_origin, "sourceMatrix");
  const MatrixView result = arguments.matrix(result_matrix, self.result_origin, "resultMatrix");
  arguments.has_room(source, self.rows, self.columns, "sourceMatrix");
  arguments.has_room(result, self.rows, self.columns, "resultMatrix");
  arguments.may_be_written(result, "resultMatrix", source, "sourceMatrix", self.rows, self.columns);
  arguments.is_of_type(source.type, MPS::DataTypeFloat32, "sourceMatrix");
  arguments.is_of_type(result.type, MPS::DataTypeFloat32, "resultMatrix");
  size_t batch = std::min(source.matrices, result.matrices);
  MatrixView pivots;
  if (self.kind == Kind::lu) {
    pivots = arguments.matrix(pivot_indices, MTL::Origin(0, 0, 0), "pivotIndices");
    arguments.has_room(pivots, 1, std::min(self.rows, self.columns), "pivotIndices");
    arguments.require(pivots.type == MPS::DataTypeUInt32, "pivotIndices must have the type UInt32");
    batch = std::min(batch, pivots.matrices);
  }
  arguments.require(!status || status->length() >= sizeof(int), "status has {} bytes, which is less than an int",
                    status ? status->length() : 0);
  if (!encoding.check(arguments.status())) return;

  MatrixDecomposition decomposition;
  decomposition.kind = self.kind;
  decomposition.rows = self.rows;
  decomposition.columns = self.columns;
  decomposition.source_row_stride = source.strides.row;
  decomposition.source_batch_stride = source.strides.matrix;
  decomposition.result_row_stride = result.strides.row;
  decomposition.result_batch_stride = result.strides.matrix;
  decomposition.pivots_batch_stride = pivots.strides.matrix;
  decomposition.batch = batch;
  decomposition.statuses = status ? std::min<size_t>(batch, status->length() / sizeof(int)) : 0;
  const Operand statuses{const_cast<MTL::Buffer*>(status), 0};

  std::shared_ptr<Primitive> primitive;
  if (encoding.library()) primitive = encoding.library()->matrix_decomposition(decomposition);
  if (primitive) {
    encoding.run(std::move(primitive), "matrix decomposition", {source.first, result.first, pivots.first, statuses});
  } else {
    const size_t threads = is_gpu(encoding.device()) ? 512 : 32;
    const MTL::Size grid(threads, 1, batch), group(threads, 1, 1);
    const DecompositionShape shape{uint32_t(self.rows), uint32_t(self.columns), uint32_t(decomposition.statuses),
                                   source.strides,      result.strides,         pivots.strides.matrix};
    const Operand written = status ? statuses : result.first;  // of which nothing is written where there is no status
    if (self.kind == Kind::lu)
      encoding.dispatch({"decompose_lu"}, grid, group, source.first, result.first, pivots.first, written, shape);
    else
      encoding.dispatch({"decompose_cholesky", {self.kind == Kind::cholesky_lower}}, grid, group, source.first,
                        result.first, written, shape);
  }
  source.object->was_read();
}

template <class Interface>
Interface* init(Interface* kernel, MTL::Device* device, Kind kind, size_t rows, size_t columns, const char* call) {
  auto* self = part_of<DecompositionPart>(kernel);
  if (self && (rows == 0 || columns == 0)) {
    foundation::report_misuse(call, fmt::format("a matrix of {} rows and {} columns is none", rows, columns));
    return foundation::failed_init(kernel);
  }
  if (self) {
    self->kind = kind;
    self->rows = rows;
    self->columns = columns;
  }
  return init_kernel(kernel, self, device, call);
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid::mps;

MatrixDecompositionLU* MatrixDecompositionLU::alloc() {
  return new LUObject("MPSMatrixDecompositionLU");
}

MatrixDecompositionLU* MatrixDecompositionLU::init(MTL::Device* device, NS::UInteger rows, NS::UInteger columns) {
  return metalloid::mps::init(this, device, Kind::lu, rows, columns,
                              "-[MPSMatrixDecompositionLU initWithDevice:rows:columns:]");
}

void MatrixDecompositionLU::encode(MTL::CommandBuffer* commandBuffer, const Matrix* sourceMatrix,
                                   const Matrix* resultMatrix, const Matrix* pivotIndices, const MTL::Buffer* status) {
  auto* self = part_of<DecompositionPart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::MatrixDecompositionLU::encode"); encoding)
    metalloid::mps::encode(encoding, *self, sourceMatrix, resultMatrix, pivotIndices, status);
}

MatrixDecompositionCholesky* MatrixDecompositionCholesky::alloc() {
  return new CholeskyObject("MPSMatrixDecompositionCholesky");
}

MatrixDecompositionCholesky* MatrixDecompositionCholesky::init(MTL::Device* device, bool lower, NS::UInteger order) {
  return metalloid::mps::init(this, device, lower ? Kind::cholesky_lower : Kind::cholesky_upper, order, order,
                              "-[MPSMatrixDecompositionCholesky initWithDevice:lower:order:]");
}

void MatrixDecompositionCholesky::encode(MTL::CommandBuffer* commandBuffer, const Matrix* sourceMatrix,
                                         const Matrix* resultMatrix, const MTL::Buffer* status) {
  auto* self = part_of<DecompositionPart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::MatrixDecompositionCholesky::encode"); encoding)
    metalloid::mps::encode(encoding, *self, sourceMatrix, resultMatrix, nullptr, status);
}

}  // namespace MPS

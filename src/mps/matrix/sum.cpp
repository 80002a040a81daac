#include <MetalPerformanceShaders/MPSMatrixSum.hpp>

#include "foundation/array.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/encoding.hpp"
#include "mps/matrix/arguments.hpp"
#include "mps/matrix/neuron_holder.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {

class MatrixSumPart : public KernelPart {
 public:
  NS::UInteger count = 0, rows = 0, columns = 0;
  bool transpose = false;
  NeuronHolder holder;
};

namespace {

using MatrixSumObject = Object<MPS::MatrixSum, MatrixSumPart>;

struct AdditionShape {
  uint32_t columns, index;               // of the result; of the matrix that is added
  uint32_t source_rows, source_columns;  // that the source has
  uint64_t source_row;                   // stride
};

struct ResultShape {
  NeuronParameters parameters;
  uint32_t columns;
  RowStrides result;
};

// Sums are kept in float until the end.
void encode(Encoding& encoding, const MatrixSumPart& self, const NS::Array* source_matrices,
            const MPS::Matrix* result_matrix, const MPS::Vector* scale_vector, const MPS::Vector* offset_vector,
            const MPS::Vector* bias_vector, size_t start) {
  Arguments arguments(encoding);
  arguments.require(source_matrices && source_matrices->count() >= self.count, "sourceMatrices must have {} matrices",
                    self.count);
  const MatrixView result = arguments.matrix(result_matrix, {0, 0, 0}, "resultMatrix");
  const VectorView scales = arguments.optional_vector(scale_vector, start + self.count, "scaleVector");
  const VectorView offsets = arguments.optional_vector(offset_vector, 2 * (start + self.count), "offsetVector");
  const VectorView bias = arguments.optional_vector(bias_vector, self.columns, "biasVector");
  arguments.is_floating_point(result.type, "resultMatrix");
  arguments.has_room(result, self.rows, self.columns, "resultMatrix");
  if (scales) arguments.is_of_type(scales.type, MPS::DataTypeFloat32, "scaleVector");
  if (offsets) arguments.is_of_type(offsets.type, MPS::DataTypeUInt32, "offsetVector");
  if (bias) arguments.is_of_type(bias.type, result.type, "biasVector");
  std::vector<MatrixView> sources;
  for (size_t i = 0; i < self.count && arguments; ++i) {
    const MatrixView source = arguments.matrix(foundation::element_of<MPS::Matrix>(source_matrices, i), {0, 0, 0},
                                               "a matrix of sourceMatrices");
    arguments.is_of_type(source.type, result.type, "a matrix of sourceMatrices");
    if (!offsets)
      arguments.has_room(source, self.transpose ? self.columns : self.rows, self.transpose ? self.rows : self.columns,
                         "a matrix of sourceMatrices");
    sources.push_back(source);
  }
  if (!encoding.check(arguments.status())) return;

  const Operand sums = encoding.scratch(self.rows * self.columns * sizeof(float));
  if (!sums.buffer) return;
  const char* type = metal_name_of(result.type);
  const MTL::Size grid(self.columns, self.rows, 1), threads = threads_along_row(self.columns);
  for (size_t i = 0; i < self.count; ++i) {
    const AdditionShape shape{uint32_t(self.columns), uint32_t(start + i), uint32_t(sources[i].rows),
                              uint32_t(sources[i].columns), sources[i].strides.row};
    encoding.dispatch({fmt::format("matrix_sum_add_{}", type),
                       {MPS::CNNNeuronTypeNone, false, i == 0, bool(scales), bool(offsets), self.transpose}},
                      grid, threads, sources[i].first, sums, scales.first, offsets.first, shape);
    sources[i].object->was_read();
  }
  encoding.dispatch({fmt::format("matrix_sum_result_{}", type), {uint32_t(self.holder.neuron.type), bool(bias)}}, grid,
                    threads, sums, result.first, bias.first,
                    ResultShape{self.holder.neuron.parameters, uint32_t(self.columns), result.strides});
  if (bias) bias.object->was_read();
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid::mps;

MatrixSum* MatrixSum::alloc() {
  return new MatrixSumObject("MPSMatrixSum");
}

MatrixSum* MatrixSum::init(MTL::Device* device, NS::UInteger count, NS::UInteger rows, NS::UInteger columns,
                           bool transpose) {
  constexpr const char* call = "-[MPSMatrixSum initWithDevice:count:rows:columns:transpose:]";
  auto* self = part_of<MatrixSumPart>(this);
  if (!self) return nullptr;
  if (count == 0 || rows == 0 || columns == 0) {
    metalloid::foundation::report_misuse(call, "count, rows and columns must not be 0");
    return metalloid::foundation::failed_init(this);
  }
  self->count = count;
  self->rows = rows;
  self->columns = columns;
  self->transpose = transpose;
  return init_kernel(this, self, device, call);
}

MPS_READONLY(MatrixSum, MatrixSumPart, NS::UInteger, count, count, (0))
MPS_READONLY(MatrixSum, MatrixSumPart, NS::UInteger, rows, rows, (0))
MPS_READONLY(MatrixSum, MatrixSumPart, NS::UInteger, columns, columns, (0))
MPS_READONLY(MatrixSum, MatrixSumPart, bool, transpose, transpose, (false))
MPS_NEURON(MatrixSum, MatrixSumPart)

void MatrixSum::encode(MTL::CommandBuffer* commandBuffer, const NS::Array* sourceMatrices, const Matrix* resultMatrix,
                       const Vector* scaleVector, const Vector* offsetVector, const Vector* biasVector,
                       NS::UInteger startIndex) {
  auto* self = part_of<MatrixSumPart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::MatrixSum::encode"); encoding)
    metalloid::mps::encode(encoding, *self, sourceMatrices, resultMatrix, scaleVector, offsetVector, biasVector,
                           startIndex);
}

}  // namespace MPS

#include "mps/matrix/soft_max.hpp"

#include <MetalPerformanceShaders/MPSMatrixSoftMax.hpp>
#include <algorithm>

#include "mps/core/data_type.hpp"
#include "mps/core/device_kind.hpp"
#include "mps/core/encoding.hpp"
#include "mps/core/properties.hpp"
#include "mps/matrix/arguments.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {

namespace {

struct Shape {
  uint32_t rows, columns;
  RowStrides source, result;
  uint32_t rows_in_turn;
};

bool is_of_fours(const MatrixView& view) {
  return view.first.offset % bytes_of(view.type, 4) == 0 && view.strides.row % 4 == 0 && view.strides.matrix % 4 == 0;
}

}  // namespace

void encode_soft_max(Encoding& encoding, bool logarithm, const MatrixView& source, const MatrixView& result,
                     SoftMaxSize size) {
  constexpr size_t held_numbers = 8, most_powers = 7168;  // as kernels/soft_max.metal has them
  const bool on_gpu = is_gpu(encoding.device());
  const MTL::Size threads = threads_for_row(encoding.device(), size.columns);
  const bool is_held = on_gpu && size.columns <= threads.width * held_numbers;
  const bool is_in_turn = !on_gpu && (logarithm || size.columns <= most_powers);
  const bool keeps_powers = !on_gpu && !is_in_turn && source.type == MPS::DataTypeFloat32;
  const bool in_fours = size.columns % 4 == 0 && is_of_fours(source) && is_of_fours(result);
  const size_t in_turn = is_in_turn ? rows_in_turn(size.rows * size.matrices) : 1;
  encoding.dispatch(
      {fmt::format("{}soft_max{}_{}", logarithm ? "log_" : "",
                   is_held      ? "_held"
                   : is_in_turn ? "_in_turn"
                                : "",
                   metal_name_of(source.type)),
       {keeps_powers, in_fours,
        fills_caches(encoding.device(), bytes_of(result.type, size.rows * size.columns * size.matrices))}},
      MTL::Size(threads.width, (size.rows + in_turn - 1) / in_turn, size.matrices), threads, source.first, result.first,
      Shape{uint32_t(size.rows), uint32_t(size.columns), source.strides, result.strides, uint32_t(in_turn)});
}

class SoftMaxPart : public MatrixUnaryPart {
 public:
  bool logarithm = false;
  NS::UInteger rows = NS::UIntegerMax, columns = NS::UIntegerMax;
};

class SoftMaxGradientPart : public MatrixBinaryPart {
 public:
  bool logarithm = false;
  NS::UInteger rows = NS::UIntegerMax, columns = NS::UIntegerMax;
};

namespace {

// The logarithms have the longer interfaces, so all objects are of their classes.
using SoftMaxObject = Object<MPS::MatrixLogSoftMax, SoftMaxPart>;
using SoftMaxGradientObject = Object<MPS::MatrixLogSoftMaxGradient, SoftMaxGradientPart>;

SoftMaxPart* body(MPS::MatrixSoftMax* kernel) {
  return static_cast<SoftMaxObject*>(kernel);
}
SoftMaxGradientPart* body(MPS::MatrixSoftMaxGradient* kernel) {
  return static_cast<SoftMaxGradientObject*>(kernel);
}

template <class Kernel>
Kernel* init(Kernel* kernel, MTL::Device* device, bool logarithm, const char* call) {
  auto* self = body(kernel);
  if (self) self->logarithm = logarithm;
  return init_kernel(kernel, self, device, call);
}

void encode(Encoding& encoding, const SoftMaxPart& self, const MPS::Matrix* input, const MPS::Matrix* output) {
  Arguments arguments(encoding, self.batch_start, self.batch_size);
  const MatrixView source = arguments.matrix(input, self.source_origin, "inputMatrix");
  const MatrixView result = arguments.matrix(output, self.result_origin, "resultMatrix");
  arguments.is_floating_point(source.type, "inputMatrix");
  arguments.is_of_type(result.type, source.type, "resultMatrix");
  const size_t columns = std::min({self.columns, source.columns, result.columns});
  const size_t rows = std::min({self.rows, source.rows, result.rows});
  arguments.may_be_written(result, "resultMatrix", source, "inputMatrix", rows, columns);
  if (!encoding.check(arguments.status())) return;

  encode_soft_max(encoding, self.logarithm, source, result,
                  {rows, columns, std::min(source.matrices, result.matrices)});
  source.object->was_read();
}

struct GradientShape {
  uint32_t columns;
  RowStrides gradient, output, result;
};

void encode(Encoding& encoding, const SoftMaxGradientPart& self, const MPS::Matrix* gradient_matrix,
            const MPS::Matrix* output_matrix, const MPS::Matrix* result_matrix) {
  Arguments arguments(encoding, self.batch_start, self.batch_size);
  const MatrixView gradient = arguments.matrix(gradient_matrix, self.primary_origin, "gradientMatrix");
  const MatrixView output = arguments.matrix(output_matrix, self.secondary_origin, "forwardOutputMatrix");
  const MatrixView result = arguments.matrix(result_matrix, self.result_origin, "resultMatrix");
  arguments.is_floating_point(gradient.type, "gradientMatrix");
  arguments.is_of_type(output.type, gradient.type, "forwardOutputMatrix");
  arguments.is_of_type(result.type, gradient.type, "resultMatrix");
  const size_t columns = std::min({self.columns, gradient.columns, output.columns, result.columns});
  const size_t rows = std::min({self.rows, gradient.rows, output.rows, result.rows});
  arguments.may_be_written(result, "resultMatrix", gradient, "gradientMatrix", rows, columns);
  arguments.may_be_written(result, "resultMatrix", output, "forwardOutputMatrix", rows, columns);
  if (!encoding.check(arguments.status())) return;

  const MTL::Size threads = threads_for_row(encoding.device(), columns);
  encoding.dispatch({fmt::format("{}_{}", self.logarithm ? "log_soft_max_gradient" : "soft_max_gradient",
                                 metal_name_of(gradient.type))},
                    MTL::Size(threads.width, rows, std::min({gradient.matrices, output.matrices, result.matrices})),
                    threads, gradient.first, output.first, result.first,
                    GradientShape{uint32_t(columns), gradient.strides, output.strides, result.strides});
  gradient.object->was_read();
  output.object->was_read();
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid::mps;

MatrixSoftMax* MatrixSoftMax::alloc() {
  return new SoftMaxObject("MPSMatrixSoftMax");
}
MatrixSoftMax* MatrixSoftMax::init(MTL::Device* device) {
  return metalloid::mps::init(this, device, false, "-[MPSMatrixSoftMax initWithDevice:]");
}

MPS_NUMBER(MatrixSoftMax, SoftMaxPart, sourceRows, setSourceRows, rows)
MPS_NUMBER(MatrixSoftMax, SoftMaxPart, sourceColumns, setSourceColumns, columns)

void MatrixSoftMax::encode(MTL::CommandBuffer* commandBuffer, const Matrix* inputMatrix, const Matrix* resultMatrix) {
  SoftMaxPart* self = body(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::MatrixSoftMax::encode"); encoding)
    metalloid::mps::encode(encoding, *self, inputMatrix, resultMatrix);
}

MatrixLogSoftMax* MatrixLogSoftMax::alloc() {
  return new SoftMaxObject("MPSMatrixLogSoftMax");
}
MatrixLogSoftMax* MatrixLogSoftMax::init(MTL::Device* device) {
  return metalloid::mps::init(this, device, true, "-[MPSMatrixLogSoftMax initWithDevice:]");
}

MatrixSoftMaxGradient* MatrixSoftMaxGradient::alloc() {
  return new SoftMaxGradientObject("MPSMatrixSoftMaxGradient");
}
MatrixSoftMaxGradient* MatrixSoftMaxGradient::init(MTL::Device* device) {
  return metalloid::mps::init(this, device, false, "-[MPSMatrixSoftMaxGradient initWithDevice:]");
}

MPS_NUMBER(MatrixSoftMaxGradient, SoftMaxGradientPart, sourceRows, setSourceRows, rows)
MPS_NUMBER(MatrixSoftMaxGradient, SoftMaxGradientPart, sourceColumns, setSourceColumns, columns)

void MatrixSoftMaxGradient::encode(MTL::CommandBuffer* commandBuffer, const Matrix* gradientMatrix,
                                   const Matrix* forwardOutputMatrix, const Matrix* resultMatrix) {
  SoftMaxGradientPart* self = body(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::MatrixSoftMaxGradient::encode"); encoding)
    metalloid::mps::encode(encoding, *self, gradientMatrix, forwardOutputMatrix, resultMatrix);
}

MatrixLogSoftMaxGradient* MatrixLogSoftMaxGradient::alloc() {
  return new SoftMaxGradientObject("MPSMatrixLogSoftMaxGradient");
}
MatrixLogSoftMaxGradient* MatrixLogSoftMaxGradient::init(MTL::Device* device) {
  return metalloid::mps::init(this, device, true, "-[MPSMatrixLogSoftMaxGradient initWithDevice:]");
}

}  // namespace MPS

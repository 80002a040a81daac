#include <fmt/format.h>

#include <MetalPerformanceShaders/MPSMatrixSolve.hpp>
#include <algorithm>

#include "mps/core/encoding.hpp"
#include "mps/libraries/linear_systems.hpp"
#include "mps/matrix/arguments.hpp"

namespace metalloid::mps {

class SolvePart : public MatrixBinaryPart {
 public:
  TriangularSystem system;
};

namespace {

using TriangularObject = Object<MPS::MatrixSolveTriangular, SolvePart>;
using LUObject = Object<MPS::MatrixSolveLU, SolvePart>;
using CholeskyObject = Object<MPS::MatrixSolveCholesky, SolvePart>;

// What all three are given, checked.
struct Equations {
  MatrixView matrix, right_hand_sides, pivots, solution;
  size_t rows = 0, columns = 0, batch = 0;  // of the solution
};

Equations equations_of(Arguments& arguments, const SolvePart& self, const MPS::Matrix* matrix,
                       const MPS::Matrix* right_hand_sides, const MPS::Matrix* solution) {
  const TriangularSystem& system = self.system;
  Equations e;
  e.rows = system.right ? system.right_hand_sides : system.order;
  e.columns = system.right ? system.order : system.right_hand_sides;
  e.matrix = arguments.matrix(matrix, self.primary_origin, "sourceMatrix");
  e.right_hand_sides = arguments.matrix(right_hand_sides, self.secondary_origin, "rightHandSideMatrix");
  e.solution = arguments.matrix(solution, self.result_origin, "solutionMatrix");
  arguments.has_room(e.matrix, system.order, system.order, "sourceMatrix");
  arguments.has_room(e.right_hand_sides, e.rows, e.columns, "rightHandSideMatrix");
  arguments.has_room(e.solution, e.rows, e.columns, "solutionMatrix");
  arguments.may_be_written(e.solution, "solutionMatrix", e.right_hand_sides, "rightHandSideMatrix", e.rows, e.columns);
  arguments.is_of_type(e.matrix.type, MPS::DataTypeFloat32, "sourceMatrix");
  arguments.is_of_type(e.right_hand_sides.type, MPS::DataTypeFloat32, "rightHandSideMatrix");
  arguments.is_of_type(e.solution.type, MPS::DataTypeFloat32, "solutionMatrix");
  e.batch = std::min({e.matrix.matrices, e.right_hand_sides.matrices, e.solution.matrices});
  return e;
}

MTL::Size threads_for(size_t count, size_t batch) {
  return MTL::Size((count + 31) / 32 * 32, 1, batch);
}

// As kernels/solve.metal has it.
struct Exchange {
  uint32_t rows, columns, pivots, backwards;
  RowStrides from, to;
  uint64_t pivots_stride;
};

enum class Exchanges { none, forwards, backwards };

// Rows of one matrix as those of the solution, exchanged as the pivots say.
void bring_rows(Encoding& encoding, const Equations& e, const MatrixView& from, Exchanges exchanges) {
  const Exchange exchange{uint32_t(e.rows),
                          uint32_t(e.columns),
                          exchanges == Exchanges::none ? 0 : uint32_t(e.rows),
                          exchanges == Exchanges::backwards,
                          from.strides,
                          e.solution.strides,
                          e.pivots.strides.matrix};
  encoding.dispatch({"exchange_rows"}, threads_for(e.columns, e.batch), MTL::Size(32, 1, 1), from.first,
                    e.solution.first, e.pivots.object ? e.pivots.first : from.first, exchange);
}

// As kernels/solve.metal has it.
struct SystemShape {
  uint32_t order, right_hand_sides;
  float alpha;
  RowStrides matrix, solution;
};

// What is in the solution's place is the right-hand side.
void substitute(Encoding& encoding, const Equations& e, TriangularSystem system) {
  system.matrix_row_stride = e.matrix.strides.row;
  system.matrix_batch_stride = e.matrix.strides.matrix;
  system.solution_row_stride = e.solution.strides.row;
  system.solution_batch_stride = e.solution.strides.matrix;
  system.batch = e.batch;
  std::shared_ptr<Primitive> primitive;
  if (encoding.library()) primitive = encoding.library()->triangular_system(system);
  if (primitive)
    encoding.run(std::move(primitive), "triangular system", {e.matrix.first, e.solution.first});
  else
    encoding.dispatch({"solve_triangular", {system.right, system.upper, system.transpose, system.unit}},
                      threads_for(system.right_hand_sides, e.batch), MTL::Size(32, 1, 1), e.matrix.first,
                      e.solution.first,
                      SystemShape{uint32_t(system.order), uint32_t(system.right_hand_sides), float(system.alpha),
                                  e.matrix.strides, e.solution.strides});
}

void were_read(const Equations& e) {
  e.matrix.object->was_read();
  e.right_hand_sides.object->was_read();
  if (e.pivots.object) e.pivots.object->was_read();
}

void encode_triangular(Encoding& encoding, const SolvePart& self, const MPS::Matrix* matrix,
                       const MPS::Matrix* right_hand_sides, const MPS::Matrix* solution) {
  Arguments arguments(encoding, self.batch_start, self.batch_size);
  const Equations e = equations_of(arguments, self, matrix, right_hand_sides, solution);
  if (!encoding.check(arguments.status())) return;
  bring_rows(encoding, e, e.right_hand_sides, Exchanges::none);
  substitute(encoding, e, self.system);
  were_read(e);
}

// P A = L U: A X = B is L U X = P B, and A^T X = B is U^T L^T P X = B.
void encode_lu(Encoding& encoding, const SolvePart& self, const MPS::Matrix* matrix,
               const MPS::Matrix* right_hand_sides, const MPS::Matrix* pivots, const MPS::Matrix* solution) {
  Arguments arguments(encoding, self.batch_start, self.batch_size);
  Equations e = equations_of(arguments, self, matrix, right_hand_sides, solution);
  e.pivots = arguments.matrix(pivots, MTL::Origin(0, 0, 0), "pivotIndices");
  arguments.has_room(e.pivots, 1, self.system.order, "pivotIndices");
  arguments.require(e.pivots.type == MPS::DataTypeUInt32, "pivotIndices must have the type UInt32");
  if (!encoding.check(arguments.status())) return;
  e.batch = std::min(e.batch, e.pivots.matrices);
  TriangularSystem lower = self.system, upper = self.system;
  lower.unit = true;
  upper.upper = true;
  if (self.system.transpose) {
    bring_rows(encoding, e, e.right_hand_sides, Exchanges::none);
    substitute(encoding, e, upper);
    substitute(encoding, e, lower);
    bring_rows(encoding, e, e.solution, Exchanges::backwards);
  } else {
    bring_rows(encoding, e, e.right_hand_sides, Exchanges::forwards);
    substitute(encoding, e, lower);
    substitute(encoding, e, upper);
  }
  were_read(e);
}

// A = L L^T or A = U^T U.
void encode_cholesky(Encoding& encoding, const SolvePart& self, const MPS::Matrix* matrix,
                     const MPS::Matrix* right_hand_sides, const MPS::Matrix* solution) {
  Arguments arguments(encoding, self.batch_start, self.batch_size);
  const Equations e = equations_of(arguments, self, matrix, right_hand_sides, solution);
  if (!encoding.check(arguments.status())) return;
  TriangularSystem first = self.system, second = self.system;
  first.transpose = self.system.upper;
  second.transpose = !self.system.upper;
  bring_rows(encoding, e, e.right_hand_sides, Exchanges::none);
  substitute(encoding, e, first);
  substitute(encoding, e, second);
  were_read(e);
}

template <class Interface>
Interface* init(Interface* kernel, MTL::Device* device, const TriangularSystem& system, const char* call) {
  auto* self = part_of<SolvePart>(kernel);
  if (self && (system.order == 0 || system.right_hand_sides == 0)) {
    foundation::report_misuse(call, fmt::format("order ({}) and numberOfRightHandSides ({}) must not be 0",
                                                system.order, system.right_hand_sides));
    return foundation::failed_init(kernel);
  }
  if (self) self->system = system;
  return init_kernel(kernel, self, device, call);
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid::mps;

MatrixSolveTriangular* MatrixSolveTriangular::alloc() {
  return new TriangularObject("MPSMatrixSolveTriangular");
}

MatrixSolveTriangular* MatrixSolveTriangular::init(MTL::Device* device, bool right, bool upper, bool transpose,
                                                   bool unit, NS::UInteger order, NS::UInteger numberOfRightHandSides,
                                                   double alpha) {
  TriangularSystem system;
  system.right = right;
  system.upper = upper;
  system.transpose = transpose;
  system.unit = unit;
  system.order = order;
  system.right_hand_sides = numberOfRightHandSides;
  system.alpha = alpha;
  return metalloid::mps::init(this, device, system, "-[MPSMatrixSolveTriangular initWithDevice:]");
}

void MatrixSolveTriangular::encode(MTL::CommandBuffer* commandBuffer, const Matrix* sourceMatrix,
                                   const Matrix* rightHandSideMatrix, const Matrix* solutionMatrix) {
  auto* self = part_of<SolvePart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::MatrixSolveTriangular::encode"); encoding)
    encode_triangular(encoding, *self, sourceMatrix, rightHandSideMatrix, solutionMatrix);
}

MatrixSolveLU* MatrixSolveLU::alloc() {
  return new LUObject("MPSMatrixSolveLU");
}

MatrixSolveLU* MatrixSolveLU::init(MTL::Device* device, bool transpose, NS::UInteger order,
                                   NS::UInteger numberOfRightHandSides) {
  TriangularSystem system;
  system.transpose = transpose;
  system.order = order;
  system.right_hand_sides = numberOfRightHandSides;
  return metalloid::mps::init(this, device, system, "-[MPSMatrixSolveLU initWithDevice:]");
}

void MatrixSolveLU::encode(MTL::CommandBuffer* commandBuffer, const Matrix* sourceMatrix,
                           const Matrix* rightHandSideMatrix, const Matrix* pivotIndices,
                           const Matrix* solutionMatrix) {
  auto* self = part_of<SolvePart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::MatrixSolveLU::encode"); encoding)
    encode_lu(encoding, *self, sourceMatrix, rightHandSideMatrix, pivotIndices, solutionMatrix);
}

MatrixSolveCholesky* MatrixSolveCholesky::alloc() {
  return new CholeskyObject("MPSMatrixSolveCholesky");
}

MatrixSolveCholesky* MatrixSolveCholesky::init(MTL::Device* device, bool upper, NS::UInteger order,
                                               NS::UInteger numberOfRightHandSides) {
  TriangularSystem system;
  system.upper = upper;
  system.order = order;
  system.right_hand_sides = numberOfRightHandSides;
  return metalloid::mps::init(this, device, system, "-[MPSMatrixSolveCholesky initWithDevice:]");
}

void MatrixSolveCholesky::encode(MTL::CommandBuffer* commandBuffer, const Matrix* sourceMatrix,
                                 const Matrix* rightHandSideMatrix, const Matrix* solutionMatrix) {
  auto* self = part_of<SolvePart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::MatrixSolveCholesky::encode"); encoding)
    encode_cholesky(encoding, *self, sourceMatrix, rightHandSideMatrix, solutionMatrix);
}

}  // namespace MPS

// Matrices as products of triangular ones.
#pragma once

#include "MPSMatrix.hpp"

namespace MPS {

_MPS_ENUM(int, MatrixDecompositionStatus){
    MatrixDecompositionStatusSuccess = 0,
    MatrixDecompositionStatusFailure = -1,
    MatrixDecompositionStatusSingular = -2,
    MatrixDecompositionStatusNonPositiveDefinite = -3,
};

// P * A = L * U: L without its diagonal of ones below the diagonal of the result, U above. Rows are exchanged so that
// each pivot is the largest of its column; number i of pivotIndices, which are UInt32, is the row that was exchanged
// with row i. Of Float32.
//
// The status, if it is asked for, is written when the commands are done: one for each matrix of the batch, as far as
// the buffer has room.
class _MPS_EXPORT MatrixDecompositionLU : public NS::Copying<MatrixDecompositionLU, MatrixUnaryKernel> {
 public:
  static MatrixDecompositionLU* alloc();
  MatrixDecompositionLU* init(MTL::Device* device, NS::UInteger rows, NS::UInteger columns);

  void encode(MTL::CommandBuffer* commandBuffer, const Matrix* sourceMatrix, const Matrix* resultMatrix,
              const Matrix* pivotIndices, const MTL::Buffer* status);
};

// A = L * L^T from and to the lower triangle, or A = U^T * U from and to the upper one; the other is neither read nor
// written. Of Float32.
class _MPS_EXPORT MatrixDecompositionCholesky : public NS::Copying<MatrixDecompositionCholesky, MatrixUnaryKernel> {
 public:
  static MatrixDecompositionCholesky* alloc();
  MatrixDecompositionCholesky* init(MTL::Device* device, bool lower, NS::UInteger order);

  void encode(MTL::CommandBuffer* commandBuffer, const Matrix* sourceMatrix, const Matrix* resultMatrix,
              const MTL::Buffer* status);
};

}  // namespace MPS

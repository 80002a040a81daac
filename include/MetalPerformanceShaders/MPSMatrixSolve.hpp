// Systems of linear equations with triangular matrices, or with what a decomposition made of a matrix. Of Float32.
#pragma once

#include "MPSMatrix.hpp"

namespace MPS {

// X with op(A) * X = alpha * B, or X * op(A) = alpha * B where A is on the right.
class _MPS_EXPORT MatrixSolveTriangular : public NS::Copying<MatrixSolveTriangular, MatrixBinaryKernel> {
 public:
  static MatrixSolveTriangular* alloc();
  MatrixSolveTriangular* init(MTL::Device* device, bool right, bool upper, bool transpose, bool unit,
                              NS::UInteger order, NS::UInteger numberOfRightHandSides, double alpha);

  void encode(MTL::CommandBuffer* commandBuffer, const Matrix* sourceMatrix, const Matrix* rightHandSideMatrix,
              const Matrix* solutionMatrix);
};

// X with op(A) * X = B, from the result and the pivots of MatrixDecompositionLU.
class _MPS_EXPORT MatrixSolveLU : public NS::Copying<MatrixSolveLU, MatrixBinaryKernel> {
 public:
  static MatrixSolveLU* alloc();
  MatrixSolveLU* init(MTL::Device* device, bool transpose, NS::UInteger order, NS::UInteger numberOfRightHandSides);

  void encode(MTL::CommandBuffer* commandBuffer, const Matrix* sourceMatrix, const Matrix* rightHandSideMatrix,
              const Matrix* pivotIndices, const Matrix* solutionMatrix);
};

// X with A * X = B, from the result of MatrixDecompositionCholesky.
class _MPS_EXPORT MatrixSolveCholesky : public NS::Copying<MatrixSolveCholesky, MatrixBinaryKernel> {
 public:
  static MatrixSolveCholesky* alloc();
  MatrixSolveCholesky* init(MTL::Device* device, bool upper, NS::UInteger order, NS::UInteger numberOfRightHandSides);

  void encode(MTL::CommandBuffer* commandBuffer, const Matrix* sourceMatrix, const Matrix* rightHandSideMatrix,
              const Matrix* solutionMatrix);
};

}  // namespace MPS

// Products of matrices, and of a matrix and a vector.
#pragma once

#include "MPSMatrix.hpp"

namespace MPS {

// C = alpha * op(A) * op(B) + beta * C, where op transposes or not. C has resultRows x resultColumns numbers,
// interiorColumns is how many products each sums up. Where beta is 0, C is not read.
//
// Origins have the row as x and the column as y, of the matrices as they are stored. Left and right may be Float32,
// Float16, BFloat16, Int8 and Int16, each for itself; the result Float32, Float16, BFloat16, and of two matrices of
// integers Int32. Sums are formed as float, of integers for an Int32 result as int.
class _MPS_EXPORT MatrixMultiplication : public NS::Copying<MatrixMultiplication, Kernel> {
 public:
  static MatrixMultiplication* alloc();
  MatrixMultiplication* init(MTL::Device* device, bool transposeLeft, bool transposeRight, NS::UInteger resultRows,
                             NS::UInteger resultColumns, NS::UInteger interiorColumns, double alpha, double beta);
  MatrixMultiplication* init(MTL::Device* device, NS::UInteger resultRows, NS::UInteger resultColumns,
                             NS::UInteger interiorColumns);

  MTL::Origin resultMatrixOrigin() const;
  void setResultMatrixOrigin(MTL::Origin origin);
  MTL::Origin leftMatrixOrigin() const;
  void setLeftMatrixOrigin(MTL::Origin origin);
  MTL::Origin rightMatrixOrigin() const;
  void setRightMatrixOrigin(MTL::Origin origin);
  NS::UInteger batchStart() const;
  void setBatchStart(NS::UInteger batchStart);
  NS::UInteger batchSize() const;
  void setBatchSize(NS::UInteger batchSize);

  void encode(MTL::CommandBuffer* commandBuffer, const Matrix* leftMatrix, const Matrix* rightMatrix,
              const Matrix* resultMatrix);
};

// y = alpha * op(A) * x + beta * y, where op(A) is rows x columns. The vectors begin at the x of their origins. Matrix
// and vector have one type, Float32, Float16, BFloat16, Int8 or Int16; the result is Float32, or of theirs.
class _MPS_EXPORT MatrixVectorMultiplication : public NS::Copying<MatrixVectorMultiplication, MatrixBinaryKernel> {
 public:
  static MatrixVectorMultiplication* alloc();
  MatrixVectorMultiplication* init(MTL::Device* device, bool transpose, NS::UInteger rows, NS::UInteger columns,
                                   double alpha, double beta);
  MatrixVectorMultiplication* init(MTL::Device* device, NS::UInteger rows, NS::UInteger columns);

  void encode(MTL::CommandBuffer* commandBuffer, const Matrix* inputMatrix, const Vector* inputVector,
              const Vector* resultVector);
};

}  // namespace MPS

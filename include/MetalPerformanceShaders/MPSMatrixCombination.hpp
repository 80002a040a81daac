// Copies of parts of matrices, many in one call.
#pragma once

#include "MPSMatrix.hpp"

namespace MPS {

// Where a copy begins, in rows and columns of the matrices as copyRows and copyColumns count them.
struct MatrixCopyOffsets {
  uint32_t sourceRowOffset;
  uint32_t sourceColumnOffset;
  uint32_t destinationRowOffset;
  uint32_t destinationColumnOffset;
};

// The copies of one call: from which matrix to which, and where. They may happen in any order.
class _MPS_EXPORT MatrixCopyDescriptor : public NS::Referencing<MatrixCopyDescriptor> {
 public:
  static MatrixCopyDescriptor* alloc();
  static MatrixCopyDescriptor* descriptor(const Matrix* sourceMatrix, const Matrix* destinationMatrix,
                                          MatrixCopyOffsets offsets);
  // Copies that setCopyOperation describes one by one.
  MatrixCopyDescriptor* init(MTL::Device* device, NS::UInteger count);
  // Copies between the matrices of two arrays, where offsets, a vector of UInt32, has a MatrixCopyOffsets for each from
  // byteOffset on; it is read when the copies are made.
  MatrixCopyDescriptor* init(const NS::Array* sourceMatrices, const NS::Array* destinationMatrices,
                             const Vector* offsets, NS::UInteger byteOffset);

  void setCopyOperation(NS::UInteger index, const Matrix* sourceMatrix, const Matrix* destinationMatrix,
                        MatrixCopyOffsets offsets);
};

// A matrix that is transposed has its rows stored as columns.
class _MPS_EXPORT MatrixCopy : public NS::Copying<MatrixCopy, Kernel> {
 public:
  static MatrixCopy* alloc();
  MatrixCopy* init(MTL::Device* device, NS::UInteger copyRows, NS::UInteger copyColumns, bool sourcesAreTransposed,
                   bool destinationsAreTransposed);

  NS::UInteger copyRows() const;
  NS::UInteger copyColumns() const;
  bool sourcesAreTransposed() const;
  bool destinationsAreTransposed() const;

  void encode(MTL::CommandBuffer* commandBuffer, const MatrixCopyDescriptor* copyDescriptor);
  // Row i of a copy is row rowPermuteIndices[rowPermuteOffset + i] of its source, and columns likewise; indices are
  // UInt32, and null leaves the order as it is.
  void encode(MTL::CommandBuffer* commandBuffer, const MatrixCopyDescriptor* copyDescriptor,
              const Vector* rowPermuteIndices, NS::UInteger rowPermuteOffset, const Vector* columnPermuteIndices,
              NS::UInteger columnPermuteOffset);
};

}  // namespace MPS

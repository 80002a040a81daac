// The largest numbers of each row, and where they are.
#pragma once

#include "MPSMatrix.hpp"

namespace MPS {

// Row i of the results has the numberOfTopKValues largest numbers of row i of the input, the largest first, and of
// equal ones the leftmost first; indices are UInt32, count from the origin, and have indexOffset added.
class _MPS_EXPORT MatrixFindTopK : public NS::Copying<MatrixFindTopK, MatrixUnaryKernel> {
 public:
  static MatrixFindTopK* alloc();
  MatrixFindTopK* init(MTL::Device* device, NS::UInteger numberOfTopKValues);

  NS::UInteger sourceRows() const;
  void setSourceRows(NS::UInteger sourceRows);
  NS::UInteger sourceColumns() const;
  void setSourceColumns(NS::UInteger sourceColumns);
  NS::UInteger indexOffset() const;
  void setIndexOffset(NS::UInteger indexOffset);
  NS::UInteger numberOfTopKValues() const;  // at most 16
  void setNumberOfTopKValues(NS::UInteger numberOfTopKValues);

  void encode(MTL::CommandBuffer* commandBuffer, const Matrix* inputMatrix, const Matrix* resultIndexMatrix,
              const Matrix* resultValueMatrix);
};

}  // namespace MPS

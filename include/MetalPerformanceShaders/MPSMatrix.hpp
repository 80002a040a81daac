// Matrices and vectors: rows of numbers in a buffer. Row i of matrix m starts at m * matrixBytes + i * rowBytes.
#pragma once

#include "MPSKernel.hpp"

namespace MPS {

class _MPS_EXPORT MatrixDescriptor : public NS::Referencing<MatrixDescriptor> {
 public:
  static MatrixDescriptor* matrixDescriptor(NS::UInteger rows, NS::UInteger columns, NS::UInteger rowBytes,
                                            DataType dataType);
  static MatrixDescriptor* matrixDescriptor(NS::UInteger rows, NS::UInteger columns, NS::UInteger matrices,
                                            NS::UInteger rowBytes, NS::UInteger matrixBytes, DataType dataType);
  // The distance between rows that is best for speed.
  static size_t rowBytesForColumns(NS::UInteger columns, DataType dataType);
  static size_t rowBytesFromColumns(NS::UInteger columns, DataType dataType);

  NS::UInteger rows() const;
  void setRows(NS::UInteger rows);
  NS::UInteger columns() const;
  void setColumns(NS::UInteger columns);
  NS::UInteger matrices() const;
  DataType dataType() const;
  void setDataType(DataType dataType);
  NS::UInteger rowBytes() const;
  void setRowBytes(NS::UInteger rowBytes);
  NS::UInteger matrixBytes() const;
};

class _MPS_EXPORT VectorDescriptor : public NS::Referencing<VectorDescriptor> {
 public:
  static VectorDescriptor* vectorDescriptor(NS::UInteger length, DataType dataType);
  static VectorDescriptor* vectorDescriptor(NS::UInteger length, NS::UInteger vectors, NS::UInteger vectorBytes,
                                            DataType dataType);
  static size_t vectorBytesForLength(NS::UInteger length, DataType dataType);

  NS::UInteger length() const;
  void setLength(NS::UInteger length);
  NS::UInteger vectors() const;
  DataType dataType() const;
  void setDataType(DataType dataType);
  NS::UInteger vectorBytes() const;
};

class _MPS_EXPORT Matrix : public NS::Referencing<Matrix> {
 public:
  static Matrix* alloc();
  // These answer null, with a line on stderr that says why, where the buffer is too short for the description.
  Matrix* init(const MTL::Buffer* buffer, const MatrixDescriptor* descriptor);
  Matrix* init(const MTL::Buffer* buffer, NS::UInteger offset, const MatrixDescriptor* descriptor);
  Matrix* init(MTL::Device* device, const MatrixDescriptor* descriptor);

  MTL::Device* device() const;
  NS::UInteger rows() const;
  NS::UInteger columns() const;
  NS::UInteger matrices() const;
  DataType dataType() const;
  NS::UInteger rowBytes() const;
  NS::UInteger matrixBytes() const;
  NS::UInteger offset() const;
  MTL::Buffer* data() const;

  void synchronize(MTL::CommandBuffer* commandBuffer);
  NS::UInteger resourceSize() const;
};

class _MPS_EXPORT Vector : public NS::Referencing<Vector> {
 public:
  static Vector* alloc();
  Vector* init(const MTL::Buffer* buffer, const VectorDescriptor* descriptor);
  Vector* init(const MTL::Buffer* buffer, NS::UInteger offset, const VectorDescriptor* descriptor);
  Vector* init(MTL::Device* device, const VectorDescriptor* descriptor);

  MTL::Device* device() const;
  NS::UInteger length() const;
  NS::UInteger vectors() const;
  DataType dataType() const;
  NS::UInteger vectorBytes() const;
  NS::UInteger offset() const;
  MTL::Buffer* data() const;

  void synchronize(MTL::CommandBuffer* commandBuffer);
  NS::UInteger resourceSize() const;
};

// Matrices and vectors that hold nothing beyond their command buffer, whose memory others use after the last read.
class _MPS_EXPORT TemporaryMatrix : public NS::Referencing<TemporaryMatrix, Matrix> {
 public:
  static TemporaryMatrix* temporaryMatrix(MTL::CommandBuffer* commandBuffer, const MatrixDescriptor* descriptor);
  static void prefetchStorage(MTL::CommandBuffer* commandBuffer, const NS::Array* descriptorList);
  NS::UInteger readCount() const;
  void setReadCount(NS::UInteger readCount);
};

class _MPS_EXPORT TemporaryVector : public NS::Referencing<TemporaryVector, Vector> {
 public:
  static TemporaryVector* temporaryVector(MTL::CommandBuffer* commandBuffer, const VectorDescriptor* descriptor);
  static void prefetchStorage(MTL::CommandBuffer* commandBuffer, const NS::Array* descriptorList);
  NS::UInteger readCount() const;
  void setReadCount(NS::UInteger readCount);
};

// Kernels with one source: the origins say where in source and result they work, x being the row and y the column, as
// in all of MPS's matrix kernels; batchStart and batchSize choose among the matrices.
class _MPS_EXPORT MatrixUnaryKernel : public NS::Copying<MatrixUnaryKernel, Kernel> {
 public:
  MTL::Origin sourceMatrixOrigin() const;
  void setSourceMatrixOrigin(MTL::Origin origin);
  MTL::Origin resultMatrixOrigin() const;
  void setResultMatrixOrigin(MTL::Origin origin);
  NS::UInteger batchStart() const;
  void setBatchStart(NS::UInteger batchStart);
  NS::UInteger batchSize() const;
  void setBatchSize(NS::UInteger batchSize);
};

class _MPS_EXPORT MatrixBinaryKernel : public NS::Copying<MatrixBinaryKernel, Kernel> {
 public:
  MTL::Origin primarySourceMatrixOrigin() const;
  void setPrimarySourceMatrixOrigin(MTL::Origin origin);
  MTL::Origin secondarySourceMatrixOrigin() const;
  void setSecondarySourceMatrixOrigin(MTL::Origin origin);
  MTL::Origin resultMatrixOrigin() const;
  void setResultMatrixOrigin(MTL::Origin origin);
  NS::UInteger batchStart() const;
  void setBatchStart(NS::UInteger batchStart);
  NS::UInteger batchSize() const;
  void setBatchSize(NS::UInteger batchSize);
};

}  // namespace MPS

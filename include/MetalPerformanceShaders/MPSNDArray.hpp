// Arrays of numbers with up to 16 dimensions. Dimension 0 is the one whose numbers lie side by side; rows of it begin
// at multiples of 16 bytes unless they are to be packed, and everything beyond follows without gaps.
#pragma once

#include <array>
#include <initializer_list>

#include "MPSMatrix.hpp"

namespace MPS {

// A shape, and what a view makes of an array: of each dimension a slice, and then another order of dimensions.
class _MPS_EXPORT NDArrayDescriptor : public NS::Copying<NDArrayDescriptor> {
 public:
  // Sizes from dimension 0 on.
  static NDArrayDescriptor* descriptor(DataType dataType, NS::UInteger numberOfDimensions,
                                       const NS::UInteger* dimensionSizes);
  static NDArrayDescriptor* descriptor(DataType dataType, std::initializer_list<NS::UInteger> dimensionSizes);
  // NS::Numbers from the last dimension to dimension 0, as most frameworks order them.
  static NDArrayDescriptor* descriptor(DataType dataType, const NS::Array* shape);

  DataType dataType() const;
  void setDataType(DataType dataType);
  NS::UInteger numberOfDimensions() const;
  void setNumberOfDimensions(NS::UInteger numberOfDimensions);
  bool preferPackedRows() const;
  void setPreferPackedRows(bool preferPackedRows);

  NS::UInteger lengthOfDimension(NS::UInteger dimensionIndex) const;
  DimensionSlice sliceRange(NS::UInteger dimensionIndex) const;
  void sliceDimension(NS::UInteger dimensionIndex, DimensionSlice subRange);
  void transposeDimension(NS::UInteger dimensionIndex, NS::UInteger dimensionIndex2);
  std::array<uint8_t, 16> dimensionOrder() const;
  NS::Array* getShape() const;

  void reshape(NS::UInteger numberOfDimensions, const NS::UInteger* dimensionSizes);
  void reshape(const NS::Array* shape);
};

class _MPS_EXPORT NDArray : public NS::Referencing<NDArray> {
 public:
  static NDArray* alloc();
  // These answer null, with a line on stderr that says why, where the arguments make no array.
  NDArray* init(MTL::Device* device, const NDArrayDescriptor* descriptor);
  NDArray* init(MTL::Device* device, double scalar);
  NDArray* init(const MTL::Buffer* buffer, NS::UInteger offset, const NDArrayDescriptor* descriptor);

  NS::String* label() const;
  void setLabel(const NS::String* label);
  DataType dataType() const;
  size_t dataTypeSize() const;
  NS::UInteger numberOfDimensions() const;
  NS::UInteger lengthOfDimension(NS::UInteger dimensionIndex) const;
  MTL::Device* device() const;
  NDArrayDescriptor* descriptor() const;
  NS::UInteger resourceSize() const;
  // The buffer it was made with; null where there was none.
  MTL::Buffer* userBuffer() const;
  NDArray* parent() const;

  // The same numbers sliced, in another order of dimensions or in another shape, without a copy; null where that
  // takes one.
  NDArray* arrayView(const NDArrayDescriptor* descriptor);
  // The same, and where a copy is needed or wanted, it is made in the command buffer.
  NDArray* arrayView(MTL::CommandBuffer* commandBuffer, const NDArrayDescriptor* descriptor, AliasingStrategy aliasing);

  // Copies in the command buffer. Row strides are bytes from one to the next in dimensions 1, 2, …; null where the
  // buffer has no gaps.
  void exportData(MTL::CommandBuffer* commandBuffer, const MTL::Buffer* toBuffer, DataType destinationDataType,
                  NS::UInteger offset, const NS::Integer* rowStrides);
  void importData(MTL::CommandBuffer* commandBuffer, const MTL::Buffer* fromBuffer, DataType sourceDataType,
                  NS::UInteger offset, const NS::Integer* rowStrides);

  // Copies at once. Strides are bytes from one to the next in dimensions 0, 1, …; null where there are no gaps.
  void readBytes(void* buffer, const NS::Integer* strideBytes);
  void writeBytes(const void* buffer, const NS::Integer* strideBytes);
  void synchronize(MTL::CommandBuffer* commandBuffer);
};

// An array that holds nothing beyond its command buffer, whose memory others use after the last read.
class _MPS_EXPORT TemporaryNDArray : public NS::Referencing<TemporaryNDArray, NDArray> {
 public:
  static TemporaryNDArray* temporaryNDArray(MTL::CommandBuffer* commandBuffer, const NDArrayDescriptor* descriptor);
  NS::UInteger readCount() const;
  void setReadCount(NS::UInteger readCount);
};

}  // namespace MPS

// The object behind MPS::NDArray: lengths, and distances from one number to the next, in each dimension. A view is an
// array of its own on the same buffer.
#pragma once

#include <MetalPerformanceShaders/MPSNDArray.hpp>
#include <metalloid/result.hpp>
#include <string>
#include <vector>

#include "mps/core/encoding.hpp"
#include "mps/core/matrix.hpp"

namespace metalloid::mps {

inline constexpr size_t most_dimensions = 16;

struct NDArrayLayout {
  MPS::DataType type = MPS::DataTypeInvalid;
  std::vector<size_t> lengths;
  std::vector<ptrdiff_t> strides;  // numbers

  size_t dimensions() const { return lengths.size(); }
  size_t length(size_t dimension) const { return dimension < lengths.size() ? lengths[dimension] : 1; }
  // From one number to the next; 0 where there is none.
  ptrdiff_t stride(size_t dimension) const { return length(dimension) > 1 ? strides[dimension] : 0; }
  size_t count() const;
  size_t bytes() const;  // from the first number to the last
};

// Rows begin at multiples of 16 bytes, unless they are packed.
NDArrayLayout layout_of(MPS::DataType type, std::vector<size_t> lengths, bool packed_rows);

class NDArrayObject final : public MPS::TemporaryNDArray {
 public:
  NS::SharedPtr<MTL::Buffer> buffer;
  size_t offset = 0;  // bytes
  NDArrayLayout layout;
  bool has_user_buffer = false;
  NS::SharedPtr<NS::String> label;
  NS::SharedPtr<MPS::NDArray> parent;
  TemporaryLife life;  // of the first ancestor

  Operand first() const { return {buffer.get(), offset}; }
  void was_read();
  const char* className() const override { return life.home ? "MPSTemporaryNDArray" : "MPSNDArray"; }
};

inline NDArrayObject* body(const MPS::NDArray* array) {
  return const_cast<NDArrayObject*>(static_cast<const NDArrayObject*>(array));
}

NS::SharedPtr<MPS::NDArray> new_temporary_array(MTL::CommandBuffer* command_buffer, const NDArrayLayout& layout);
MPS::NDArrayDescriptor* descriptor_of(const NDArrayLayout& layout);

// One dimension of a descriptor: which of the array's it is, and the part of it that a view shows.
struct DescribedDimension {
  size_t length = 1;
  MPS::DimensionSlice slice = {0, 1};
  uint8_t source = 0;
};

class NDArrayDescriptorObject final : public MPS::NDArrayDescriptor {
 public:
  MPS::DataType type = MPS::DataTypeInvalid;
  std::vector<DescribedDimension> dimensions;
  bool packed_rows = false;

  std::vector<size_t> lengths() const;  // of the slices
  const char* className() const override { return "MPSNDArrayDescriptor"; }
  NS::Object* contentCopy() const override;
};

inline NDArrayDescriptorObject* body(const MPS::NDArrayDescriptor* descriptor) {
  return const_cast<NDArrayDescriptorObject*>(static_cast<const NDArrayDescriptorObject*>(descriptor));
}

// Numbers of one array as those of another of the same lengths, in the command buffer; the types may differ.
Status encode_copy(Encoding& encoding, Operand from, const NDArrayLayout& from_layout, Operand to,
                   const NDArrayLayout& to_layout);

}  // namespace metalloid::mps

#include <fmt/format.h>

#include <algorithm>

#include "foundation/array.hpp"
#include "foundation/misuse.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/nd_array.hpp"

namespace metalloid::mps {

size_t NDArrayLayout::count() const {
  size_t count = 1;
  for (const size_t length : lengths) count *= length;
  return count;
}

size_t NDArrayLayout::bytes() const {
  size_t numbers = 1;
  for (size_t i = 0; i < lengths.size(); ++i) numbers = plus(numbers, times(lengths[i] - 1, size_t(strides[i])));
  return bytes_of(type, numbers);
}

NDArrayLayout layout_of(MPS::DataType type, std::vector<size_t> lengths, bool packed_rows) {
  constexpr size_t row_alignment = 16;  // bytes
  NDArrayLayout layout{type, std::move(lengths), {}};
  size_t next = 1;
  for (size_t i = 0; i < layout.lengths.size(); ++i) {
    layout.strides.push_back(ptrdiff_t(next));
    next = times(next, layout.lengths[i]);
    if (i == 0 && layout.lengths.size() > 1 && !packed_rows)
      while (bits_of(type) * next % (row_alignment * 8) != 0) next = plus(next, 1);
  }
  return layout;
}

std::vector<size_t> NDArrayDescriptorObject::lengths() const {
  std::vector<size_t> lengths;
  for (const DescribedDimension& dimension : dimensions) lengths.push_back(dimension.slice.length);
  return lengths;
}

NS::Object* NDArrayDescriptorObject::contentCopy() const {
  auto* copy = new NDArrayDescriptorObject;
  copy->type = type;
  copy->dimensions = dimensions;
  copy->packed_rows = packed_rows;
  return copy;
}

MPS::NDArrayDescriptor* descriptor_of(const NDArrayLayout& layout) {
  return MPS::NDArrayDescriptor::descriptor(layout.type, layout.lengths.size(), layout.lengths.data());
}

namespace {

// From dimension 0 on.
std::vector<NS::UInteger> sizes_of(const NS::Array* shape) {
  std::vector<NS::UInteger> sizes;
  for (NS::UInteger i = shape ? shape->count() : 0; i > 0; --i)
    sizes.push_back(foundation::element_of<NS::Number>(shape, i - 1)->unsignedIntegerValue());  // 0 of what is none
  return sizes;
}

bool is_shape(NS::UInteger count, const NS::UInteger* sizes, const char* call) {
  if (count > most_dimensions)
    foundation::report_misuse(call, fmt::format("numberOfDimensions ({}) is more than {}", count, most_dimensions));
  else if (std::find(sizes, sizes + count, NS::UInteger{0}) != sizes + count)
    foundation::report_misuse(call, "a dimension has the length 0");
  else
    return true;
  return false;
}

void set_shape(NDArrayDescriptorObject* self, NS::UInteger count, const NS::UInteger* sizes) {
  self->dimensions.clear();
  for (size_t i = 0; i < count; ++i) self->dimensions.push_back({sizes[i], {0, sizes[i]}, uint8_t(i)});
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

NDArrayDescriptor* NDArrayDescriptor::descriptor(DataType dataType, NS::UInteger numberOfDimensions,
                                                 const NS::UInteger* dimensionSizes) {
  constexpr const char* call = "+[MPSNDArrayDescriptor descriptorWithDataType:dimensionCount:dimensionSizes:]";
  if (!is_known(dataType)) {
    foundation::report_misuse(call, fmt::format("dataType is no type of MPS ({})", name_of(dataType)));
    return nullptr;
  }
  if (!is_shape(numberOfDimensions, dimensionSizes, call)) return nullptr;
  auto* descriptor = new NDArrayDescriptorObject;
  descriptor->type = dataType;
  set_shape(descriptor, numberOfDimensions, dimensionSizes);
  return foundation::autoreleased(static_cast<NDArrayDescriptor*>(descriptor));
}

NDArrayDescriptor* NDArrayDescriptor::descriptor(DataType dataType,
                                                 std::initializer_list<NS::UInteger> dimensionSizes) {
  return descriptor(dataType, dimensionSizes.size(), dimensionSizes.begin());
}

NDArrayDescriptor* NDArrayDescriptor::descriptor(DataType dataType, const NS::Array* shape) {
  const std::vector<NS::UInteger> sizes = sizes_of(shape);
  return descriptor(dataType, sizes.size(), sizes.data());
}

DataType NDArrayDescriptor::dataType() const {
  const auto* self = body(this);
  return self ? self->type : DataTypeInvalid;
}
void NDArrayDescriptor::setDataType(DataType dataType) {
  if (auto* self = body(this)) self->type = dataType;
}

NS::UInteger NDArrayDescriptor::numberOfDimensions() const {
  const auto* self = body(this);
  return self ? self->dimensions.size() : 0;
}

void NDArrayDescriptor::setNumberOfDimensions(NS::UInteger numberOfDimensions) {
  auto* self = body(this);
  if (!self) return;
  if (numberOfDimensions > most_dimensions) {
    foundation::report_misuse("-[MPSNDArrayDescriptor setNumberOfDimensions:]",
                              fmt::format("{} is more than {}", numberOfDimensions, most_dimensions));
    return;
  }
  while (self->dimensions.size() < numberOfDimensions)
    self->dimensions.push_back({1, {0, 1}, uint8_t(self->dimensions.size())});
  self->dimensions.resize(numberOfDimensions);
}

bool NDArrayDescriptor::preferPackedRows() const {
  const auto* self = body(this);
  return self && self->packed_rows;
}
void NDArrayDescriptor::setPreferPackedRows(bool preferPackedRows) {
  if (auto* self = body(this)) self->packed_rows = preferPackedRows;
}

NS::UInteger NDArrayDescriptor::lengthOfDimension(NS::UInteger dimensionIndex) const {
  const auto* self = body(this);
  return !self ? 0 : dimensionIndex < self->dimensions.size() ? self->dimensions[dimensionIndex].length : 1;
}

DimensionSlice NDArrayDescriptor::sliceRange(NS::UInteger dimensionIndex) const {
  const auto* self = body(this);
  return self && dimensionIndex < self->dimensions.size() ? self->dimensions[dimensionIndex].slice
                                                          : DimensionSlice{0, 1};
}

void NDArrayDescriptor::sliceDimension(NS::UInteger dimensionIndex, DimensionSlice subRange) {
  auto* self = body(this);
  if (!self) return;
  constexpr const char* call = "-[MPSNDArrayDescriptor sliceDimension:withSubrange:]";
  if (dimensionIndex >= self->dimensions.size()) {
    foundation::report_misuse(call, fmt::format("there is no dimension {}", dimensionIndex));
    return;
  }
  DescribedDimension& dimension = self->dimensions[dimensionIndex];
  if (subRange.length == 0 || subRange.start >= dimension.length ||
      subRange.length > dimension.length - subRange.start) {
    foundation::report_misuse(call, fmt::format("{} from {} on are not in the {} of dimension {}", subRange.length,
                                                subRange.start, dimension.length, dimensionIndex));
    return;
  }
  dimension.slice = subRange;
}

void NDArrayDescriptor::transposeDimension(NS::UInteger dimensionIndex, NS::UInteger dimensionIndex2) {
  auto* self = body(this);
  if (!self) return;
  if (std::max(dimensionIndex, dimensionIndex2) >= self->dimensions.size()) {
    foundation::report_misuse("-[MPSNDArrayDescriptor transposeDimension:withDimension:]",
                              fmt::format("there is no dimension {}", std::max(dimensionIndex, dimensionIndex2)));
    return;
  }
  std::swap(self->dimensions[dimensionIndex], self->dimensions[dimensionIndex2]);
}

std::array<uint8_t, 16> NDArrayDescriptor::dimensionOrder() const {
  std::array<uint8_t, 16> order{};
  const auto* self = body(this);
  for (size_t i = 0; self && i < order.size(); ++i)
    order[i] = i < self->dimensions.size() ? self->dimensions[i].source : uint8_t(i);
  return order;
}

NS::Array* NDArrayDescriptor::getShape() const {
  const auto* self = body(this);
  if (!self) return nullptr;
  std::vector<const NS::Object*> numbers;
  for (auto i = self->dimensions.rbegin(); i != self->dimensions.rend(); ++i)
    numbers.push_back(NS::Number::number(static_cast<unsigned long>(i->length)));
  return NS::Array::array(numbers.data(), numbers.size());
}

void NDArrayDescriptor::reshape(NS::UInteger numberOfDimensions, const NS::UInteger* dimensionSizes) {
  auto* self = body(this);
  if (self &&
      is_shape(numberOfDimensions, dimensionSizes, "-[MPSNDArrayDescriptor reshapeWithDimensionCount:dimensionSizes:]"))
    set_shape(self, numberOfDimensions, dimensionSizes);
}

void NDArrayDescriptor::reshape(const NS::Array* shape) {
  const std::vector<NS::UInteger> sizes = sizes_of(shape);
  reshape(sizes.size(), sizes.data());
}

}  // namespace MPS

// The product of quantised matrices: what their numbers stand for is written to scratch memory, and multiplied there.
#include <fmt/format.h>

#include <MetalPerformanceShaders/MPSNDArrayQuantizedMatrixMultiplication.hpp>
#include <algorithm>

#include "mps/core/data_type.hpp"
#include "mps/core/properties.hpp"
#include "mps/matrix/nd_array_multiplication.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {

class QuantizationPart {
 public:
  virtual ~QuantizationPart() = default;

  MPS::DataType type = MPS::DataTypeInvalid;
  MPS::NDArrayQuantizationScheme scheme = MPS::NDArrayQuantizationTypeNone;
  bool has_zero_point = false, has_min_value = false, implicit_zero_point = false;

  // How many arrays come with the quantised one.
  size_t arrays() const {
    return scheme == MPS::NDArrayQuantizationTypeNone  ? 0
           : scheme == MPS::NDArrayQuantizationTypeLUT ? 1
                                                       : 1 + has_zero_point + has_min_value;
  }
};

class QuantizedMultiplicationPart : public NDArrayMultiplicationPart {
 public:
  QuantizationPart left, right;

  Result<NDArrayLayout> result_layout(std::span<NDArrayObject* const> sources) const override;
  Status encode(Encoding& encoding, std::span<NDArrayObject* const> sources, NDArrayObject& result) override;
};

namespace {

using AffineObject = Object<MPS::NDArrayAffineQuantizationDescriptor, QuantizationPart>;
using TableObject = Object<MPS::NDArrayLUTQuantizationDescriptor, QuantizationPart>;
using QuantizedMultiplicationObject = Object<MPS::NDArrayQuantizedMatrixMultiplication, QuantizedMultiplicationPart>;

// As kernels/quantised.metal has it.
struct Dequantisation {
  uint32_t dimensions = 2;
  uint32_t lengths[most_dimensions] = {}, blocks[most_dimensions] = {};
  int64_t from[most_dimensions] = {}, to[most_dimensions] = {}, scales[most_dimensions] = {};
};

// Numbers of any type as floats without gaps.
Result<Operand> as_floats(Encoding& encoding, const NDArrayObject& array) {
  const NDArrayLayout packed = layout_of(MPS::DataTypeFloat32, array.layout.lengths, /*packed_rows=*/true);
  const Operand room = encoding.scratch(packed.bytes());
  if (!room.buffer) return Error{"there is no memory for scales"};
  if (const Status status = encode_copy(encoding, array.first(), array.layout, room, packed); !status)
    return Error{status.error()};
  return room;
}

// A new array of float in scratch memory. `arrays` are those that come with the quantised one.
Result<NS::SharedPtr<MPS::NDArray>> dequantised(Encoding& encoding, const QuantizationPart& quantisation,
                                                const NDArrayObject& array, std::span<NDArrayObject* const> arrays,
                                                const char* side) {
  const NDArrayLayout& layout = array.layout;
  if (layout.type != quantisation.type)
    return Error{fmt::format("the {} source has the type {}, and its descriptor {}", side, name_of(layout.type),
                             name_of(quantisation.type))};
  const bool is_table = quantisation.scheme == MPS::NDArrayQuantizationTypeLUT;
  const NDArrayLayout& scales = arrays[0]->layout;
  if (is_table && scales.count() != size_t{1} << bits_of(layout.type))
    return Error{fmt::format("the table of the {} source has {} numbers; {} has {}", side, scales.count(),
                             name_of(layout.type), size_t{1} << bits_of(layout.type))};
  const NDArrayLayout packed_scales = layout_of(MPS::DataTypeFloat32, scales.lengths, true);
  const NDArrayLayout target = layout_of(MPS::DataTypeFloat32, layout.lengths, true);
  Dequantisation shape;
  size_t rest = 1;
  for (size_t i = 0; i < most_dimensions; ++i) {
    shape.lengths[i] = uint32_t(layout.length(i));
    shape.from[i] = layout.stride(i);
    shape.to[i] = target.stride(i);
    shape.blocks[i] = 1;
    if (i >= 2) rest *= layout.length(i);
    if (layout.length(i) > 1) shape.dimensions = std::max(shape.dimensions, uint32_t(i + 1));
    if (is_table) continue;
    if (layout.length(i) % scales.length(i))
      return Error{fmt::format("dimension {} of the {} source has the length {}, which is no multiple of the {} scales",
                               i, side, layout.length(i), scales.length(i))};
    shape.blocks[i] = uint32_t(layout.length(i) / scales.length(i));
    shape.scales[i] = packed_scales.stride(i);
  }
  std::vector<Operand> places;
  for (const NDArrayObject* with : arrays) {
    if (with->layout.lengths != scales.lengths)
      return Error{fmt::format("the {} source's zero points and minima must have the shape of its scales", side)};
    const auto floats = as_floats(encoding, *with);
    if (!floats) return Error{floats.error()};
    places.push_back(*floats);
  }
  const Operand scale = places.front();
  const Operand zero_point = quantisation.has_zero_point && !is_table ? places[1] : scale;
  const Operand minimum = quantisation.has_min_value && !is_table ? places.back() : scale;

  auto* made = new NDArrayObject;
  auto kept = NS::TransferPtr(static_cast<MPS::NDArray*>(made));
  made->layout = target;
  made->buffer = NS::RetainPtr(encoding.scratch(target.bytes()).buffer);
  if (!made->buffer) return Error{"there is no memory for what is quantised"};
  const bool is_signed = quantisation.type & MPS::DataTypeSignedBit;
  encoding.dispatch({"dequantise",
                     {uint32_t(bits_of(layout.type)), is_signed, is_table, quantisation.has_zero_point,
                      quantisation.has_min_value, quantisation.implicit_zero_point}},
                    MTL::Size((shape.lengths[0] + 31) / 32 * 32, shape.lengths[1], rest),
                    threads_along_row(shape.lengths[0]), array.first(), made->first(), scale, zero_point, minimum,
                    shape);
  return kept;
}

bool can_be_quantised(MPS::DataType type) {
  return type == MPS::DataTypeInt8 || type == MPS::DataTypeUInt8 || type == MPS::DataTypeInt4 ||
         type == MPS::DataTypeUInt4;
}

template <class Interface>
Interface* init(Interface* descriptor, MPS::DataType type, MPS::NDArrayQuantizationScheme scheme, const char* call) {
  auto* self = part_of<QuantizationPart>(descriptor);
  if (!self) return nullptr;
  if (!can_be_quantised(type)) {
    foundation::report_misuse(
        call,
        fmt::format("quantizationDataType is {}; quantised numbers are Int8, UInt8, Int4 or UInt4", name_of(type)));
    return foundation::failed_init(descriptor);
  }
  self->type = type;
  self->scheme = scheme;
  return descriptor;
}

}  // namespace

Result<NDArrayLayout> QuantizedMultiplicationPart::result_layout(std::span<NDArrayObject* const> sources) const {
  const size_t wanted = 2 + left.arrays() + right.arrays();
  if (sources.size() != wanted)
    return Error{fmt::format("sourceArrays has {} arrays; the quantisation takes {}", sources.size(), wanted)};
  Result<NDArrayLayout> layout = NDArrayMultiplicationPart::result_layout(sources.first(2));
  if (!layout) return layout;
  MPS::DataType type = MPS::DataTypeFloat32;
  for (const NDArrayObject* source : sources.first(2))
    if (is_floating_point(source->layout.type)) type = source->layout.type;
  return layout_of(type, layout->lengths, /*packed_rows=*/false);
}

Status QuantizedMultiplicationPart::encode(Encoding& encoding, std::span<NDArrayObject* const> sources,
                                           NDArrayObject& result) {
  if (const auto layout = result_layout(sources); !layout) return Error{layout.error()};
  std::vector<NDArrayObject*> factors(sources.begin(), sources.begin() + 2);
  std::vector<NS::SharedPtr<MPS::NDArray>> kept;
  auto with = sources.subspan(2);
  for (size_t i = 0; i < 2; ++i) {
    const QuantizationPart& quantisation = i == 0 ? left : right;
    if (quantisation.arrays() == 0) continue;
    const auto array =
        dequantised(encoding, quantisation, *factors[i], with.first(quantisation.arrays()), i == 0 ? "left" : "right");
    if (!array) return Error{array.error()};
    with = with.subspan(quantisation.arrays());
    kept.push_back(*array);
    factors[i] = body(kept.back().get());
  }
  return NDArrayMultiplicationPart::encode(encoding, factors, result);
}

}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

DataType NDArrayQuantizationDescriptor::quantizationDataType() const {
  const auto* self = shared_part_of<QuantizationPart>(this);
  return self ? self->type : DataTypeInvalid;
}
NDArrayQuantizationScheme NDArrayQuantizationDescriptor::quantizationScheme() const {
  const auto* self = shared_part_of<QuantizationPart>(this);
  return self ? self->scheme : NDArrayQuantizationTypeNone;
}

NDArrayAffineQuantizationDescriptor* NDArrayAffineQuantizationDescriptor::alloc() {
  return new AffineObject("MPSNDArrayAffineQuantizationDescriptor");
}

NDArrayAffineQuantizationDescriptor* NDArrayAffineQuantizationDescriptor::init(DataType quantizationDataType,
                                                                               bool hasZeroPoint, bool hasMinValue) {
  if (auto* self = part_of<QuantizationPart>(this)) {
    self->has_zero_point = hasZeroPoint;
    self->has_min_value = hasMinValue;
  }
  return metalloid::mps::init(this, quantizationDataType, NDArrayQuantizationTypeAffine,
                              "-[MPSNDArrayAffineQuantizationDescriptor initWithDataType:hasZeroPoint:hasMinValue:]");
}

MPS_PROPERTY(NDArrayAffineQuantizationDescriptor, QuantizationPart, bool, hasZeroPoint, setHasZeroPoint, has_zero_point,
             (false))
MPS_PROPERTY(NDArrayAffineQuantizationDescriptor, QuantizationPart, bool, hasMinValue, setHasMinValue, has_min_value,
             (false))
MPS_PROPERTY(NDArrayAffineQuantizationDescriptor, QuantizationPart, bool, implicitZeroPoint, setImplicitZeroPoint,
             implicit_zero_point, (false))

NDArrayLUTQuantizationDescriptor* NDArrayLUTQuantizationDescriptor::alloc() {
  return new TableObject("MPSNDArrayLUTQuantizationDescriptor");
}

NDArrayLUTQuantizationDescriptor* NDArrayLUTQuantizationDescriptor::init(DataType quantizationDataType) {
  return metalloid::mps::init(this, quantizationDataType, NDArrayQuantizationTypeLUT,
                              "-[MPSNDArrayLUTQuantizationDescriptor initWithDataType:]");
}

NDArrayQuantizedMatrixMultiplication* NDArrayQuantizedMatrixMultiplication::alloc() {
  return new QuantizedMultiplicationObject("MPSNDArrayQuantizedMatrixMultiplication");
}

NDArrayQuantizedMatrixMultiplication* NDArrayQuantizedMatrixMultiplication::init(
    MTL::Device* device, const NDArrayQuantizationDescriptor* leftQuantizationDescriptor,
    const NDArrayQuantizationDescriptor* rightQuantizationDescriptor) {
  auto* self = part_of<QuantizedMultiplicationPart>(this);
  if (self) {
    if (const auto* left = shared_part_of<QuantizationPart>(leftQuantizationDescriptor)) self->left = *left;
    if (const auto* right = shared_part_of<QuantizationPart>(rightQuantizationDescriptor)) self->right = *right;
    self->call = "MPS::NDArrayQuantizedMatrixMultiplication::encode";
  }
  return init_kernel(this, self, device, "-[MPSNDArrayQuantizedMatrixMultiplication initWithDevice:]");
}

}  // namespace MPS

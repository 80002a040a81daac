#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "mps/core/data_type.hpp"
#include "mps/core/nd_array.hpp"

namespace metalloid::mps {
namespace {

// In the order of kernels/nd_array.metal.
constexpr MPS::DataType copied_types[] = {
    MPS::DataTypeFloat32, MPS::DataTypeFloat16, MPS::DataTypeBFloat16, MPS::DataTypeInt8,   MPS::DataTypeUInt8,
    MPS::DataTypeInt16,   MPS::DataTypeUInt16,  MPS::DataTypeInt32,    MPS::DataTypeUInt32, MPS::DataTypeInt64};

// As kernels/nd_array.metal has it.
struct ArrayCopy {
  uint32_t dimensions = 2;
  uint32_t lengths[most_dimensions] = {};
  int64_t from[most_dimensions] = {}, to[most_dimensions] = {};
};

}  // namespace

Status encode_copy(Encoding& encoding, Operand from, const NDArrayLayout& from_layout, Operand to,
                   const NDArrayLayout& to_layout) {
  std::vector<uint32_t> types;
  for (const MPS::DataType type : {from_layout.type, to_layout.type}) {
    const auto* found = std::ranges::find(copied_types, type);
    if (found == std::end(copied_types)) return Error{fmt::format("arrays of {} cannot be copied", name_of(type))};
    types.push_back(uint32_t(found - copied_types));
  }
  ArrayCopy copy;
  size_t rest = 1;
  for (size_t i = 0; i < most_dimensions; ++i) {
    copy.lengths[i] = uint32_t(from_layout.length(i));
    copy.from[i] = from_layout.stride(i);
    copy.to[i] = to_layout.stride(i);
    if (i >= 2) rest *= from_layout.length(i);
    if (copy.lengths[i] > 1) copy.dimensions = std::max(copy.dimensions, uint32_t(i + 1));
  }
  const size_t threads = (copy.lengths[0] + 31) / 32 * 32;
  encoding.dispatch({"nd_array_copy", types}, MTL::Size(threads, copy.lengths[1], rest),
                    MTL::Size(std::min<size_t>(threads, 256), 1, 1), from, to, copy);
  return success();
}

}  // namespace metalloid::mps

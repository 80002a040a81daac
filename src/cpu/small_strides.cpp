#include "cpu/small_strides.hpp"

#include <algorithm>
#include <cstring>

namespace metalloid::cpu {

namespace {

template <class T>
bool is_small(const char* place, uint64_t most) {
  T number;
  std::memcpy(&number, place, sizeof number);
  return std::min<T>(number, static_cast<T>(0 - number)) <= most;  // it may be negative
}

bool is_small(const Stride& stride, const device::Argument& argument) {
  if (argument.value == 0 || argument.length < stride.offset + stride.bytes) return false;
  const auto* place = reinterpret_cast<const char*>(argument.value + stride.offset);
  switch (stride.bytes) {
    case 1:
      return is_small<uint8_t>(place, stride.most);
    case 2:
      return is_small<uint16_t>(place, stride.most);
    case 4:
      return is_small<uint32_t>(place, stride.most);
    default:
      return is_small<uint64_t>(place, stride.most);
  }
}

}  // namespace

bool are_small(std::span<const Stride> strides, const device::Argument* arguments) {
  return std::ranges::all_of(strides, [&](const Stride& stride) { return is_small(stride, arguments[stride.slot]); });
}

}  // namespace metalloid::cpu

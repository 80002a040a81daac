// Rounding up to a multiple.
#pragma once

#include <cstdint>

namespace metalloid::metal {

constexpr uint64_t align(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace metalloid::metal

// A size or a position in three dimensions, of grids, threadgroups and textures.
#pragma once

#include <cstdint>

namespace metalloid::device {

struct Size {
  uint32_t x = 0, y = 0, z = 0;

  // More than 64 bits can say are as many as they can.
  uint64_t count() const {
    uint64_t all = 0;
    return __builtin_mul_overflow(uint64_t{x} * y, uint64_t{z}, &all) ? UINT64_MAX : all;
  }
  bool operator==(const Size&) const = default;
};

}  // namespace metalloid::device

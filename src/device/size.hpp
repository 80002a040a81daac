// A size or a position in three dimensions, of grids, threadgroups and textures.
#pragma once

#include <cstdint>

namespace metalloid::device {

struct Size {
  uint32_t x = 0, y = 0, z = 0;

  uint64_t count() const { return uint64_t{x} * y * z; }
  bool operator==(const Size&) const = default;
};

}  // namespace metalloid::device

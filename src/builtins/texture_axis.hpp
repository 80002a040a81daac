// A coordinate of a point on one axis of a texture becomes two texels and the weight of the second.
#pragma once

#include "builtins/texel.hpp"
#include "device/sampler.hpp"

namespace metalloid::builtins {

using device::AddressMode;

// Indices of texels that an address mode puts outside of the texture.
constexpr int outside_is_zero = -1, outside_is_border = -2;

struct Axis {
  int texel[2];
  float weight;  // of the second
};

inline int addressed(int i, int size, AddressMode mode) {
  switch (mode) {
    case AddressMode::repeat: {
      const int rest = i % size;
      return rest < 0 ? rest + size : rest;
    }
    case AddressMode::mirror_repeat: {
      int rest = i % (2 * size);
      rest = rest < 0 ? rest + 2 * size : rest;
      return rest < size ? rest : 2 * size - 1 - rest;
    }
    case AddressMode::clamp_to_zero:
      return i < 0 || i >= size ? outside_is_zero : i;
    case AddressMode::clamp_to_border:
      return i < 0 || i >= size ? outside_is_border : i;
    case AddressMode::mirror_clamp_to_edge:
      i = i < 0 ? -1 - i : i;
      break;
    default:
      break;
  }
  return i < 0 ? 0 : i < size ? i : size - 1;
}

inline Axis on_axis(float coordinate, unsigned size, int offset, AddressMode mode, bool pixels, bool linear) {
  constexpr float limit = 0x1p30f;
  if (!pixels) {
    // Far away, what repeats is brought near while it is exact.
    if (mode == AddressMode::repeat) coordinate -= __builtin_floorf(coordinate);
    if (mode == AddressMode::mirror_repeat) coordinate -= 2 * __builtin_floorf(coordinate * 0.5f);
    coordinate *= static_cast<float>(size);
  }
  if (linear) coordinate -= 0.5f;
  coordinate = clamped(coordinate, -limit, limit);
  const float floor = __builtin_floorf(coordinate);
  const int first = static_cast<int>(floor) + offset;
  const int texels = static_cast<int>(size);
  if (!linear) return {{addressed(first, texels, mode), 0}, 0};
  return {{addressed(first, texels, mode), addressed(first + 1, texels, mode)}, coordinate - floor};
}

}  // namespace metalloid::builtins

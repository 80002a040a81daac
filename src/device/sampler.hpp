// A sampler is 64 bits, in an argument buffer as well as in a kernel: its whole state, in the layout of
// docs/builtins.md, where a sampler written in Metal source has it too. 0 is no sampler. Compiled for devices as well,
// hence no library types.
#pragma once

#include "device/small_float.hpp"

namespace metalloid::device {

enum class AddressMode : unsigned char {
  clamp_to_edge,
  mirror_clamp_to_edge,
  repeat,
  mirror_repeat,
  clamp_to_zero,
  clamp_to_border
};
enum class Filter : unsigned char { nearest, linear, bicubic };
enum class MipFilter : unsigned char { none, nearest, linear };
enum class Compare : unsigned char { never, less, equal, less_equal, greater, not_equal, greater_equal, always };
enum class BorderColor : unsigned char { transparent_black, opaque_black, opaque_white };
enum class Reduction : unsigned char { weighted_average, minimum, maximum };

// The values of the enumerations are those of MTLSamplerDescriptor's.
struct Sampler {
  float min_level = 0, max_level = 3.402823466e+38f;
  bool pixel_coordinates = false;
  AddressMode address[3] = {};  // of s, t, r
  Filter magnification = Filter::nearest, minification = Filter::nearest;
  MipFilter mip = MipFilter::none;
  Compare compare = Compare::never;
  unsigned max_anisotropy = 1;  // 1 … 16
  BorderColor border = BorderColor::transparent_black;
  Reduction reduction = Reduction::weighted_average;
};

constexpr unsigned long long pack(const Sampler& sampler) {
  unsigned long long state = 1ull << 63;
  const auto put = [&state](unsigned value, unsigned shift) {
    state |= static_cast<unsigned long long>(value) << shift;
  };
  put(to_half(sampler.min_level), 0);
  put(to_half(sampler.max_level), 16);
  put(sampler.pixel_coordinates, 32);
  for (unsigned i = 0; i < 3; ++i) put(static_cast<unsigned>(sampler.address[i]), 33 + 3 * i);
  put(static_cast<unsigned>(sampler.magnification), 42);
  put(static_cast<unsigned>(sampler.minification), 44);
  put(static_cast<unsigned>(sampler.mip), 46);
  put(static_cast<unsigned>(sampler.compare), 48);
  put((sampler.max_anisotropy - 1) & 15, 52);
  put(static_cast<unsigned>(sampler.border), 56);
  put(static_cast<unsigned>(sampler.reduction), 58);
  return state;
}

constexpr Sampler unpack_sampler(unsigned long long state) {
  const auto field = [state](unsigned shift, unsigned width) {
    return static_cast<unsigned>(state >> shift) & ((1u << width) - 1);
  };
  Sampler sampler;
  sampler.min_level = from_half(field(0, 16));
  sampler.max_level = from_half(field(16, 16));
  sampler.pixel_coordinates = field(32, 1) != 0;
  for (unsigned i = 0; i < 3; ++i) sampler.address[i] = static_cast<AddressMode>(field(33 + 3 * i, 3));
  sampler.magnification = static_cast<Filter>(field(42, 2));
  sampler.minification = static_cast<Filter>(field(44, 2));
  sampler.mip = static_cast<MipFilter>(field(46, 2));
  sampler.compare = static_cast<Compare>(field(48, 4));
  sampler.max_anisotropy = field(52, 4) + 1;
  sampler.border = static_cast<BorderColor>(field(56, 2));
  sampler.reduction = static_cast<Reduction>(field(58, 2));
  return sampler;
}

}  // namespace metalloid::device

// Textures seen through samplers.
//
// A point becomes, on each axis, two texels and the weight of the second; a filter sums the texels around the point
// with the products of these weights, in float, and leaves out those whose weight is 0. Integers are not filtered.
//
// Simpler than hardware: a cube's faces are filtered alone, clamped to their edges; anisotropy is ignored, gradients
// giving the level of the longer one; bicubic filters are linear.
#pragma once

#include "builtins/texture.hpp"
#include "builtins/texture_axis.hpp"

namespace metalloid::builtins {

using device::BorderColor;
using device::Compare;
using device::Filter;
using device::MipFilter;
using device::Reduction;
using device::Sampler;

struct Vector {
  float x, y, z;
};

struct Offset {
  int x, y, z;
};

// A point on the images of one slice; a cube's direction becomes a point on the face it meets.
struct Point {
  Vector at;
  unsigned slice;
};

struct Gradient {
  Vector dx, dy;
};

inline unsigned slice_of(Texture texture, Kind kind, unsigned slice, unsigned face) {
  const unsigned faces = kind == Kind::cube ? 6 : 1;
  const unsigned slices = texture->slices / faces > 1 ? texture->slices / faces : 1;
  return (slice < slices ? slice : slices - 1) * faces + face;
}

// A face of a cube: which component of a direction is its axis, and which are its s and t, with their signs.
struct Face {
  unsigned index;
  float s, t, axis;
};

inline Face face_of(const Vector& major, const Vector& v) {
  const float x = __builtin_fabsf(major.x), y = __builtin_fabsf(major.y), z = __builtin_fabsf(major.z);
  if (z >= x && z >= y) return major.z < 0 ? Face{5, -v.x, -v.y, -v.z} : Face{4, v.x, -v.y, v.z};
  if (y >= x) return major.y < 0 ? Face{3, v.x, -v.z, -v.y} : Face{2, v.x, v.z, v.y};
  return major.x < 0 ? Face{1, v.z, -v.y, -v.x} : Face{0, -v.z, -v.y, v.x};
}

inline Point point_on(Texture texture, Kind kind, const Vector& at, unsigned slice) {
  if (kind != Kind::cube) return {at, slice_of(texture, kind, slice, 0)};
  const Face face = face_of(at, at);
  return {{(face.s / face.axis + 1) * 0.5f, (face.t / face.axis + 1) * 0.5f, 0},
          slice_of(texture, kind, slice, face.index)};
}

// How a derivative of a direction moves the point on the direction's face.
inline Vector on_face(const Vector& direction, const Vector& derivative) {
  const Face at = face_of(direction, direction), by = face_of(direction, derivative);
  const float scale = 0.5f / (at.axis * at.axis);
  return {(by.s * at.axis - at.s * by.axis) * scale, (by.t * at.axis - at.t * by.axis) * scale, 0};
}

// Cubes are clamped to the edges of their faces.
inline Sampler sampler_for(Kind kind, unsigned long long state) {
  Sampler sampler = device::unpack_sampler(state);
  if (kind == Kind::cube) {
    sampler.pixel_coordinates = false;
    for (AddressMode& mode : sampler.address) mode = AddressMode::clamp_to_edge;
  }
  return sampler;
}

inline float level_of(Texture texture, Kind kind, const Sampler& sampler, const Vector& at, Gradient gradient) {
  if (kind == Kind::cube) gradient = {on_face(at, gradient.dx), on_face(at, gradient.dy)};
  const auto squared_texels = [&](const Vector& d) {
    const bool pixels = sampler.pixel_coordinates;
    const float x = pixels ? d.x : d.x * static_cast<float>(texture->width);
    const float y = pixels ? d.y : d.y * static_cast<float>(texture->height);
    const float z = pixels ? d.z : d.z * static_cast<float>(texture->depth);
    return x * x + (dimensions(kind) > 1 ? y * y : 0) + (dimensions(kind) > 2 ? z * z : 0);
  };
  const float dx = squared_texels(gradient.dx), dy = squared_texels(gradient.dy);
  return 0.5f * log2(dx > dy ? dx : dy);
}

inline float level_in_range(const Sampler& sampler, float level, float min_level) {
  level = level > sampler.min_level ? level : sampler.min_level;
  level = level < sampler.max_level ? level : sampler.max_level;
  return level > min_level ? level : min_level;
}

template <class T>
Color<T> border(const Sampler& sampler) {
  const T color = sampler.border == BorderColor::opaque_white ? 1 : 0;
  const T alpha = sampler.border == BorderColor::transparent_black ? 0 : 1;
  return {color, color, color, alpha};
}

template <class T>
Color<T> texel_at(Texture texture, const Sampler& sampler, unsigned slice, unsigned level, int x, int y, int z) {
  if (x == outside_is_border || y == outside_is_border || z == outside_is_border)
    return swizzled<T>(texture, border<T>(sampler));
  // A place that is not inside gives the zero of the format.
  const bool zero = x == outside_is_zero || y == outside_is_zero || z == outside_is_zero;
  const Place place = {
      static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z), slice, zero ? ~0u : level, 0};
  return swizzled<T>(texture, load<T>(texture, place));
}

// The axes of a point on a level; those that the texture does not have lie on texel 0.
struct Footprint {
  Axis x, y, z;
};

inline Footprint footprint(Texture texture, Kind kind, const Sampler& sampler, const Vector& at, const Offset& offset,
                           unsigned level, bool linear) {
  const auto axis = [&](unsigned i, float coordinate, unsigned size, int offset_in_texels) {
    if (i >= dimensions(kind)) return Axis{{0, 0}, 0};
    return on_axis(coordinate, size_at_level(size, level), offset_in_texels, sampler.address[i],
                   sampler.pixel_coordinates, linear);
  };
  return {axis(0, at.x, texture->width, offset.x), axis(1, at.y, texture->height, offset.y),
          axis(2, at.z, texture->depth, offset.z)};
}

// What a filter makes of the texels around a point: their weighted sum, or the least or greatest of them.
template <class Value>
Value combined(const Value& sum, const Value& value, float weight, bool first, Reduction reduction) {
  if (reduction == Reduction::minimum) return first ? value : __builtin_elementwise_min(sum, value);
  if (reduction == Reduction::maximum) return first ? value : __builtin_elementwise_max(sum, value);
  return sum + value * weight;
}

template <class Value, class Fetch>
Value filtered(const Footprint& around, Reduction reduction, Fetch fetch) {
  Value sum = 0;
  bool first = true;
  for (unsigned corner = 0; corner < 8; ++corner) {
    const unsigned x = corner & 1, y = corner >> 1 & 1, z = corner >> 2;
    const auto weight_on = [](const Axis& axis, unsigned i) { return i != 0 ? axis.weight : 1 - axis.weight; };
    const float weight = weight_on(around.x, x) * weight_on(around.y, y) * weight_on(around.z, z);
    if (weight == 0) continue;
    sum = combined(sum, fetch(around.x.texel[x], around.y.texel[y], around.z.texel[z]), weight, first, reduction);
    first = false;
  }
  return sum;
}

// Filters within a level, and between two where the sampler says so; fetch(level, x, y, z) gives what is filtered.
template <class Value, class Fetch>
Value sampled(Texture texture, Kind kind, const Sampler& sampler, const Vector& at, const Offset& offset, float level,
              Fetch fetch) {
  const Filter filter = level > 0 ? sampler.minification : sampler.magnification;
  const auto on_level = [&](unsigned i) {
    const Footprint around = footprint(texture, kind, sampler, at, offset, i, filter != Filter::nearest);
    return filtered<Value>(around, sampler.reduction, [&](int x, int y, int z) { return fetch(i, x, y, z); });
  };
  if (sampler.mip == MipFilter::none || texture->levels < 2) return on_level(0);
  level = clamped(level, 0, static_cast<float>(texture->levels - 1));
  if (sampler.mip == MipFilter::nearest) return on_level(static_cast<unsigned>(level + 0.5f));
  const unsigned lower = static_cast<unsigned>(level);
  const float weight = level - static_cast<float>(lower);
  if (weight == 0) return on_level(lower);
  const Value sum = combined(Value(0), on_level(lower), 1 - weight, true, sampler.reduction);
  return combined(sum, on_level(lower + 1), weight, false, sampler.reduction);
}

template <class T>
Color<T> sample(Texture texture, Kind kind, const Sampler& sampler, const Vector& at, unsigned slice,
                const Offset& offset, float level) {
  const Point point = point_on(texture, kind, at, slice);
  const auto fetch = [&](unsigned i, int x, int y, int z) {
    return texel_at<T>(texture, sampler, point.slice, i, x, y, z);
  };
  if constexpr (__is_same(T, float)) {
    return sampled<Color<float>>(texture, kind, sampler, point.at, offset, level, fetch);
  } else {
    const bool mipmapped = sampler.mip != MipFilter::none && texture->levels > 0;
    const float last = static_cast<float>(texture->levels - 1);
    const unsigned i = mipmapped ? static_cast<unsigned>(clamped(level, 0, last) + 0.5f) : 0;
    const Footprint around = footprint(texture, kind, sampler, point.at, offset, i, false);
    return fetch(i, around.x.texel[0], around.y.texel[0], around.z.texel[0]);
  }
}

inline bool compares(Compare function, float value, float texel) {
  switch (function) {
    case Compare::less:
      return value < texel;
    case Compare::equal:
      return value == texel;
    case Compare::less_equal:
      return value <= texel;
    case Compare::greater:
      return value > texel;
    case Compare::not_equal:
      return value != texel;
    case Compare::greater_equal:
      return value >= texel;
    case Compare::always:
      return true;
    default:
      return false;
  }
}

// A texel of a fixed-point format is in 0 … 1, and so is what it is compared with.
inline float comparable(Texture texture, float value) {
  return device::pixel_format(texture->pixel_format).numbers == Numbers::unorm ? clamped(value, 0, 1) : value;
}

inline float sample_compare(Texture texture, Kind kind, const Sampler& sampler, const Vector& at, unsigned slice,
                            float value, const Offset& offset, float level) {
  const Point point = point_on(texture, kind, at, slice);
  value = comparable(texture, value);
  return sampled<float>(texture, kind, sampler, point.at, offset, level, [&](unsigned i, int x, int y, int z) {
    const float texel = texel_at<float>(texture, sampler, point.slice, i, x, y, z).x;
    return compares(sampler.compare, value, texel) ? 1.0f : 0.0f;
  });
}

// The four texels that a linear filter would use on the first level, from (-, +) against the clock.
template <class T>
Color<T> gather(Texture texture, Kind kind, const Sampler& sampler, const Vector& at, unsigned slice,
                const Offset& offset, unsigned component) {
  const Point point = point_on(texture, kind, at, slice);
  const Footprint around = footprint(texture, kind, sampler, point.at, offset, 0, true);
  const auto texel = [&](unsigned x, unsigned y) {
    return texel_at<T>(texture, sampler, point.slice, 0, around.x.texel[x], around.y.texel[y], 0)[component & 3];
  };
  return {texel(0, 1), texel(1, 1), texel(1, 0), texel(0, 0)};
}

inline Color<float> gather_compare(Texture texture, Kind kind, const Sampler& sampler, const Vector& at, unsigned slice,
                                   float value, const Offset& offset) {
  const Color<float> texels = gather<float>(texture, kind, sampler, at, slice, offset, 0);
  value = comparable(texture, value);
  Color<float> result;
  for (unsigned i = 0; i < 4; ++i) result[i] = compares(sampler.compare, value, texels[i]) ? 1.0f : 0.0f;
  return result;
}

}  // namespace metalloid::builtins

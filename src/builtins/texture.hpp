// A texture as builtins see it: the description behind its handle, and where its texels are.
//
// One body serves all kinds of texture, because all take the same operands and a kind only says what they mean. The
// macros at the end give a body the symbols of all kinds and elements that docs/builtins.md lists.
#pragma once

#include "builtins/texel.hpp"
#include "device/texture.hpp"

namespace metalloid::builtins {

using device::TextureDescription;
using Texture = const METAL_DEVICE TextureDescription*;

inline Texture texture_of(unsigned long long handle) {
  return reinterpret_cast<Texture>(handle);
}

// What a kind of texture says about its operands. An array is as its elements: without one, the slice is 0.
enum class Kind { line, plane, multisample_plane, volume, cube };

constexpr Kind texture_1d = Kind::line, texture_1d_array = Kind::line, texture_buffer = Kind::line;
constexpr Kind texture_2d = Kind::plane, texture_2d_array = Kind::plane;
constexpr Kind texture_2d_ms = Kind::multisample_plane, texture_2d_ms_array = Kind::multisample_plane;
constexpr Kind texture_3d = Kind::volume;
constexpr Kind texture_cube = Kind::cube, texture_cube_array = Kind::cube;

constexpr unsigned dimensions(Kind kind) {
  return kind == Kind::line ? 1 : kind == Kind::volume ? 3 : 2;
}

inline unsigned size_at_level(unsigned size, unsigned level) {
  return size >> level > 1 ? size >> level : 1;
}

// A texel of one image: z is a plane of a 3-D texture, and the faces of a cube are slices.
struct Place {
  unsigned x, y, z, slice, level, sample;
};

inline Place place_of(Kind kind, unsigned x, unsigned y, unsigned z, unsigned slice, unsigned level_or_sample) {
  const bool multisample = kind == Kind::multisample_plane;
  const unsigned level = multisample ? 0 : level_or_sample, sample = multisample ? level_or_sample : 0;
  if (kind != Kind::cube) return {x, y, z, slice, level, sample};
  // A face that does not exist is no slice, not one of the next cube.
  return {x, y, 0, z < 6 && slice < 0x10000000 ? slice * 6 + z : ~0u, level, sample};
}

inline bool is_inside(Texture texture, const Place& place) {
  return place.level < texture->levels && place.x < size_at_level(texture->width, place.level) &&
         place.y < size_at_level(texture->height, place.level) &&
         place.z < size_at_level(texture->depth, place.level) &&
         place.slice < (texture->slices > 1 ? texture->slices : 1) &&
         place.sample < (texture->samples > 1 ? texture->samples : 1);
}

inline METAL_DEVICE char* address_of(Texture texture, const Place& place) {
  const unsigned samples = texture->samples > 1 ? texture->samples : 1;
  const unsigned long long texel = static_cast<unsigned long long>(place.x) * samples + place.sample;
  const METAL_DEVICE device::TextureLevel& level = texture->level[place.level];
  return reinterpret_cast<METAL_DEVICE char*>(
      texture->base + level.offset + (place.z + static_cast<unsigned long long>(place.slice)) * level.image_bytes +
      place.y * level.row_bytes + texel * texture->bytes_per_texel);
}

// MTLTextureSwizzle: zero, one, red, green, blue, alpha.
template <class T>
Color<T> swizzled(Texture texture, const Color<T>& color) {
  Color<T> result;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned from = texture->swizzle[i];
    result[i] = from == 0 ? T(0) : from == 1 ? T(1) : color[(from - 2) & 3];
  }
  return result;
}

// Before the swizzle; zeros, and the alpha of the format, where there is no such texel.
template <class T>
Color<T> load(Texture texture, const Place& place) {
  const PixelFormat format = device::pixel_format(texture->pixel_format);
  TexelBits bits;
  if (is_inside(texture, place)) bits = load_bits(address_of(texture, place), format.bytes);
  return decode<T>(format, bits);
}

#define METAL_TEXEL unsigned x, unsigned y, unsigned z, unsigned slice
#define METAL_POINT float x, float y, float z, unsigned slice
#define METAL_OFFSET int offset_x, int offset_y, int offset_z
#define METAL_GRADIENT float dx_x, float dx_y, float dx_z, float dy_x, float dy_y, float dy_z

// X(kind, T, suffix) for each element.
#define METAL_EACH_32_BIT(X, kind) X(kind, float, f32) X(kind, int, i32) X(kind, unsigned, u32)
#define METAL_EACH_ATOMIC(X, kind) X(kind, int, i32) X(kind, unsigned, u32) X(kind, unsigned long long, u64)
#define METAL_EACH_ELEMENT(X, kind) METAL_EACH_32_BIT(X, kind) X(kind, unsigned long long, u64)

// EACH(X, kind) for kinds of texture: those with a sampler, with single texels to change, and all.
#define METAL_EACH_SAMPLED(EACH, X) \
  EACH(X, texture_1d)               \
  EACH(X, texture_1d_array)         \
  EACH(X, texture_2d) EACH(X, texture_2d_array) EACH(X, texture_3d) EACH(X, texture_cube) EACH(X, texture_cube_array)
#define METAL_EACH_SINGLE_SAMPLE(EACH, X) METAL_EACH_SAMPLED(EACH, X) EACH(X, texture_buffer)
#define METAL_EACH_KIND(EACH, X) METAL_EACH_SINGLE_SAMPLE(EACH, X) EACH(X, texture_2d_ms) EACH(X, texture_2d_ms_array)

// The head of a builtin's definition: METAL_TEXTURE_BUILTIN(Color<float>, texture_2d, read, f32, METAL_TEXEL) { … }
#define METAL_TEXTURE_BUILTIN(result, kind, operation, suffix, ...)                                 \
  result kind##_##operation##_##suffix(unsigned long long texture,                                  \
                                       __VA_ARGS__) asm("metal." #kind "_" #operation "." #suffix); \
  result kind##_##operation##_##suffix(unsigned long long texture, __VA_ARGS__)

}  // namespace metalloid::builtins

// Single texels, read and written. Out of bounds a read gives zeros (with the alpha of a format that has none, 1) and a
// write does nothing; without a texture, a read gives zeros.
#include "builtins/texture.hpp"

namespace metalloid::builtins {

template <class T>
static Color<T> read(Texture texture, const Place& place) {
  return is_null(texture) ? Color<T>{} : swizzled<T>(texture, load<T>(texture, place));
}

template <class T>
static void write(Texture texture, const Color<T>& color, const Place& place) {
  if (is_null(texture) || !is_inside(texture, place)) return;
  const PixelFormat format = device::pixel_format(texture->pixel_format);
  store_bits(address_of(texture, place), format.bytes, encode<T>(format, color));
}

#define METAL_READ(kind, T, suffix)                                                \
  METAL_TEXTURE_BUILTIN(Color<T>, kind, read, suffix, METAL_TEXEL, unsigned lod) { \
    return read<T>(texture_of(texture), place_of(kind, x, y, z, slice, lod));      \
  }
METAL_EACH_KIND(METAL_EACH_ELEMENT, METAL_READ)

#define METAL_WRITE(kind, T, suffix)                                                            \
  METAL_TEXTURE_BUILTIN(void, kind, write, suffix, Color<T> color, METAL_TEXEL, unsigned lod) { \
    write<T>(texture_of(texture), color, place_of(kind, x, y, z, slice, lod));                  \
  }
METAL_EACH_KIND(METAL_EACH_ELEMENT, METAL_WRITE)

}  // namespace metalloid::builtins

// What a kernel asks a texture about itself: its sizes. Without a texture, or beyond its last level, they are 0.
#include "builtins/texture.hpp"

namespace metalloid::builtins {

static unsigned size_at(Texture texture, unsigned TextureDescription::* size, unsigned level) {
  return is_null(texture) || level >= texture->levels ? 0 : size_at_level(texture->*size, level);
}

unsigned texture_width(unsigned long long texture, unsigned level) asm("metal.texture_width");
unsigned texture_width(unsigned long long texture, unsigned level) {
  return size_at(texture_of(texture), &TextureDescription::width, level);
}

unsigned texture_height(unsigned long long texture, unsigned level) asm("metal.texture_height");
unsigned texture_height(unsigned long long texture, unsigned level) {
  return size_at(texture_of(texture), &TextureDescription::height, level);
}

unsigned texture_depth(unsigned long long texture, unsigned level) asm("metal.texture_depth");
unsigned texture_depth(unsigned long long texture, unsigned level) {
  return size_at(texture_of(texture), &TextureDescription::depth, level);
}

unsigned texture_array_size(unsigned long long texture) asm("metal.texture_array_size");
unsigned texture_array_size(unsigned long long handle) {
  constexpr unsigned cube = 5, cube_array = 6;  // MTLTextureType
  const Texture texture = texture_of(handle);
  if (is_null(texture)) return 0;
  return texture->type == cube || texture->type == cube_array ? texture->slices / 6 : texture->slices;
}

unsigned texture_num_mip_levels(unsigned long long texture) asm("metal.texture_num_mip_levels");
unsigned texture_num_mip_levels(unsigned long long handle) {
  const Texture texture = texture_of(handle);
  return is_null(texture) ? 0 : texture->levels;
}

unsigned texture_num_samples(unsigned long long texture) asm("metal.texture_num_samples");
unsigned texture_num_samples(unsigned long long handle) {
  const Texture texture = texture_of(handle);
  return is_null(texture) ? 0 : texture->samples;
}

}  // namespace metalloid::builtins

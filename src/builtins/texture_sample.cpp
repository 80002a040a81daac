// Textures seen through samplers (texture_sampling.hpp): sample, gather, and both compared with a value.
#include "builtins/texture_sampling.hpp"

namespace metalloid::builtins {

// Each begins alike: the texture and sampler behind their handles, and zeros without a texture.
#define METAL_BEGIN(kind, zero)                     \
  const Texture source = texture_of(texture);       \
  if (is_null(source)) return zero;                 \
  const Sampler sampler = sampler_for(kind, state); \
  const Vector at = {x, y, z};                      \
  const Offset offset = {offset_x, offset_y, offset_z};

#define METAL_SAMPLE(kind, T, suffix)                                                                                 \
  METAL_TEXTURE_BUILTIN(Color<T>, kind, sample, suffix, unsigned long long state, METAL_POINT, METAL_OFFSET,          \
                        float lod, float min_lod) {                                                                   \
    METAL_BEGIN(kind, Color<T>{})                                                                                     \
    return sample<T>(source, kind, sampler, at, slice, offset, level_in_range(sampler, lod, min_lod));                \
  }                                                                                                                   \
  METAL_TEXTURE_BUILTIN(Color<T>, kind, sample_gradient, suffix, unsigned long long state, METAL_POINT, METAL_OFFSET, \
                        METAL_GRADIENT, float min_lod) {                                                              \
    METAL_BEGIN(kind, Color<T>{})                                                                                     \
    const float lod = level_of(source, kind, sampler, at, {{dx_x, dx_y, dx_z}, {dy_x, dy_y, dy_z}});                  \
    return sample<T>(source, kind, sampler, at, slice, offset, level_in_range(sampler, lod, min_lod));                \
  }                                                                                                                   \
  METAL_TEXTURE_BUILTIN(Color<T>, kind, gather, suffix, unsigned long long state, METAL_POINT, METAL_OFFSET,          \
                        unsigned component) {                                                                         \
    METAL_BEGIN(kind, Color<T>{})                                                                                     \
    return gather<T>(source, kind, sampler, at, slice, offset, component);                                            \
  }
METAL_EACH_SAMPLED(METAL_EACH_32_BIT, METAL_SAMPLE)

#define METAL_COMPARE(kind)                                                                                            \
  METAL_TEXTURE_BUILTIN(float, kind, sample_compare, f32, unsigned long long state, METAL_POINT, float value,          \
                        METAL_OFFSET, float lod, float min_lod) {                                                      \
    METAL_BEGIN(kind, 0)                                                                                               \
    return sample_compare(source, kind, sampler, at, slice, value, offset, level_in_range(sampler, lod, min_lod));     \
  }                                                                                                                    \
  METAL_TEXTURE_BUILTIN(float, kind, sample_compare_gradient, f32, unsigned long long state, METAL_POINT, float value, \
                        METAL_OFFSET, METAL_GRADIENT, float min_lod) {                                                 \
    METAL_BEGIN(kind, 0)                                                                                               \
    const float lod = level_of(source, kind, sampler, at, {{dx_x, dx_y, dx_z}, {dy_x, dy_y, dy_z}});                   \
    return sample_compare(source, kind, sampler, at, slice, value, offset, level_in_range(sampler, lod, min_lod));     \
  }                                                                                                                    \
  METAL_TEXTURE_BUILTIN(Color<float>, kind, gather_compare, f32, unsigned long long state, METAL_POINT, float value,   \
                        METAL_OFFSET) {                                                                                \
    METAL_BEGIN(kind, Color<float>{})                                                                                  \
    return gather_compare(source, kind, sampler, at, slice, value, offset);                                            \
  }
METAL_COMPARE(texture_2d)
METAL_COMPARE(texture_2d_array)
METAL_COMPARE(texture_cube)
METAL_COMPARE(texture_cube_array)

}  // namespace metalloid::builtins

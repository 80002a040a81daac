// Accesses of textures by the lanes of a group, who all access the same one. What a texture's format and a sampler's
// state decide is decided once for all lanes, and what lanes compute is loops over them, which compilers vectorise; in
// common cases. All others, and what a lane does by itself, are the builtins' own functions, lane after lane.
//
// Compiled once for each kind of processor (CMakeLists.txt), with the flags of builtins, so that all give the same.

// These become part of the loops over lanes.
#pragma clang attribute push([[gnu::always_inline, gnu::flatten]], apply_to = function)
#include "builtins/texel.hpp"
#include "builtins/texture_axis.hpp"
#pragma clang attribute pop

#include "builtins/texture_sampling.hpp"
#include "cpu/textures/group_texels.hpp"
#include "cpu/textures/texture_function.hpp"

namespace metalloid::builtins {

using cpu::textures::TextureFunction;
using cpu::textures::TextureFunctions;

static bool has_identity_swizzle(Texture texture) {
  for (unsigned i = 0; i < 4; ++i)
    if (texture->swizzle[i] != i + 2) return false;
  return true;
}

template <class T>
static void give_all(const Group& group, const Colors<T>& colors) {
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned lane = 0; lane < most_lanes; ++lane)
      group.results[i * most_lanes + lane] = as<unsigned>(colors[i][lane]);
}

template <class T>
static void give_zeros(const Group& group) {
  for_each_lane(group, [&](unsigned lane) { group.give(lane, Color<T>{}); });
}

// Operands of a read from the first on, and of a write behind the color.
enum { texel_x, texel_y, texel_z, texel_slice, texel_level };

// Whether lanes access one level of a texture whose texels are one sample each and lie slice by slice.
static bool is_plain(Texture texture, Kind kind, const Group& group, unsigned first) {
  return !group.is_one_lane() && kind != Kind::cube && kind != Kind::multisample_plane && texture->samples <= 1 &&
         group.all_agree(first + texel_level) && group.natural(first + texel_level, group.first()) < texture->levels;
}

// Of a level.
struct Images {
  unsigned long long base, row_bytes, image_bytes;

  Images(Texture texture, unsigned level)
      : base(texture->base + texture->level[level].offset),
        row_bytes(texture->level[level].row_bytes),
        image_bytes(texture->level[level].image_bytes) {}

  unsigned long long row(unsigned y, unsigned long long image) const {
    return base + image * image_bytes + y * row_bytes;
  }
};

static Places plain_places(Texture texture, const Group& group, unsigned first) {
  const unsigned level = group.natural(first + texel_level, group.first());
  const unsigned width = size_at_level(texture->width, level), height = size_at_level(texture->height, level);
  const unsigned depth = size_at_level(texture->depth, level), slices = texture->slices > 1 ? texture->slices : 1;
  const Images images(texture, level);
  Places places;
  unsigned are_there = 0;
  for (unsigned lane = 0; lane < most_lanes; ++lane) {
    const unsigned x = group.natural(first + texel_x, lane), y = group.natural(first + texel_y, lane);
    const unsigned z = group.natural(first + texel_z, lane), slice = group.natural(first + texel_slice, lane);
    places.x[lane] = x;
    places.row[lane] = images.row(y, z + static_cast<unsigned long long>(slice));
    are_there |= static_cast<unsigned>(x < width & y < height & z < depth & slice < slices) << lane;
  }
  places.are_there = are_there & group.mask;
  return places;
}

static Place place_of(Kind kind, const Group& group, unsigned first, unsigned lane) {
  return place_of(kind, group.natural(first + texel_x, lane), group.natural(first + texel_y, lane),
                  group.natural(first + texel_z, lane), group.natural(first + texel_slice, lane),
                  group.natural(first + texel_level, lane));
}

template <class T>
static void read(Kind kind, unsigned long long handle, unsigned long long, const Group& group) {
  const Texture texture = texture_of(handle);
  if (is_null(texture)) return give_zeros<T>(group);
  if (!is_plain(texture, kind, group, 0) || !has_identity_swizzle(texture))
    return for_each_lane(group, [&](unsigned lane) {
      group.give(lane, swizzled<T>(texture, load<T>(texture, place_of(kind, group, 0, lane))));
    });
  Colors<T> colors;
  load_colors<T>(texture, plain_places(texture, group, 0), colors);
  give_all<T>(group, colors);
}

template <class T>
static void write(Kind kind, unsigned long long handle, unsigned long long, const Group& group) {
  const Texture texture = texture_of(handle);
  if (is_null(texture)) return;
  constexpr unsigned behind_color = 4;
  if (!is_plain(texture, kind, group, behind_color)) {
    const PixelFormat format = device::pixel_format(texture->pixel_format);
    return for_each_lane(group, [&](unsigned lane) {
      const Place place = place_of(kind, group, behind_color, lane);
      if (is_inside(texture, place))
        store_bits(address_of(texture, place), format.bytes, encode<T>(format, group.color<T>(0, lane)));
    });
  }
  Colors<T> colors;
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned lane = 0; lane < most_lanes; ++lane) colors[i][lane] = as<T>(group.natural(i, lane));
  store_colors<T>(texture, plain_places(texture, group, behind_color), colors);
}

// Operands of functions with samplers.
enum { point_x, point_y, point_z, point_slice, behind_point };

static Vector point(const Group& group, unsigned lane) {
  return {group.number(point_x, lane), group.number(point_y, lane), group.number(point_z, lane)};
}
static Offset offset(const Group& group, unsigned first, unsigned lane) {
  return {group.integer(first, lane), group.integer(first + 1, lane), group.integer(first + 2, lane)};
}
static Gradient gradient(const Group& group, unsigned first, unsigned lane) {
  return {{group.number(first, lane), group.number(first + 1, lane), group.number(first + 2, lane)},
          {group.number(first + 3, lane), group.number(first + 4, lane), group.number(first + 5, lane)}};
}

// Both texels of an axis and the weight of the second, of all lanes.
struct Axes {
  int texel[2][most_lanes];
  float weight[most_lanes];
};

template <AddressMode mode, bool pixels, bool linear>
[[gnu::flatten]] static void place_on_axis(const Group& group, unsigned coordinate, unsigned offset, unsigned size,
                                           Axes& axes) {
  for (unsigned lane = 0; lane < most_lanes; ++lane) {
    const Axis axis = on_axis(group.number(coordinate, lane), size, group.integer(offset, lane), mode, pixels, linear);
    axes.texel[0][lane] = axis.texel[0];
    axes.texel[1][lane] = axis.texel[1];
    axes.weight[lane] = axis.weight;
  }
}

static void place_on_axis(AddressMode mode, const Group& group, unsigned coordinate, unsigned offset, unsigned size,
                          bool pixels, bool linear, Axes& axes) {
  const auto place = [&]<AddressMode known>() {
    const auto way = pixels ? (linear ? place_on_axis<known, true, true> : place_on_axis<known, true, false>)
                            : (linear ? place_on_axis<known, false, true> : place_on_axis<known, false, false>);
    way(group, coordinate, offset, size, axes);
  };
  switch (mode) {
    case AddressMode::repeat:
      return place.operator()<AddressMode::repeat>();
    case AddressMode::mirror_repeat:
      return place.operator()<AddressMode::mirror_repeat>();
    case AddressMode::mirror_clamp_to_edge:
      return place.operator()<AddressMode::mirror_clamp_to_edge>();
    case AddressMode::clamp_to_zero:
      return place.operator()<AddressMode::clamp_to_zero>();
    case AddressMode::clamp_to_border:
      return place.operator()<AddressMode::clamp_to_border>();
    default:
      return place.operator()<AddressMode::clamp_to_edge>();
  }
}

// Whether lanes take a weighted sum of texels of the first level.
static bool is_plain(Texture texture, Kind kind, const Group& group, const Sampler& sampler) {
  return !group.is_one_lane() && kind == Kind::plane && (sampler.mip == MipFilter::none || texture->levels < 2) &&
         sampler.magnification == sampler.minification && sampler.reduction == Reduction::weighted_average &&
         has_identity_swizzle(texture);
}

static void sample_plane(Texture texture, const Sampler& sampler, const Group& group) {
  const bool linear = sampler.magnification != Filter::nearest;
  Axes x, y;
  place_on_axis(sampler.address[0], group, point_x, behind_point, texture->width, sampler.pixel_coordinates, linear, x);
  place_on_axis(sampler.address[1], group, point_y, behind_point + 1, texture->height, sampler.pixel_coordinates,
                linear, y);
  const Images images(texture, 0);
  const bool has_border =
      sampler.address[0] == AddressMode::clamp_to_border || sampler.address[1] == AddressMode::clamp_to_border;
  const Color<float> outside = border<float>(sampler);
  const unsigned last_slice = texture->slices > 1 ? texture->slices - 1 : 0;
  Colors<float> sum = {};
  for (unsigned corner = 0; corner < (linear ? 4 : 1); ++corner) {
    const unsigned i = corner & 1, j = corner >> 1;
    Places places;
    unsigned are_there = 0;
    for (unsigned lane = 0; lane < most_lanes; ++lane) {
      const unsigned slice = group.natural(point_slice, lane);
      const int column = x.texel[i][lane], row = y.texel[j][lane];
      places.x[lane] = static_cast<unsigned>(column);
      places.row[lane] = images.row(static_cast<unsigned>(row), slice < last_slice ? slice : last_slice);
      are_there |= static_cast<unsigned>(column >= 0 & row >= 0) << lane;
    }
    places.are_there = are_there & group.mask;
    Colors<float> colors;
    load_colors<float>(texture, places, colors);
    for (unsigned c = 0; c < 4; ++c)
      for (unsigned lane = 0; lane < most_lanes; ++lane) {
        const bool is_border =
            has_border & ((x.texel[i][lane] == outside_is_border) | (y.texel[j][lane] == outside_is_border));
        const float color = is_border ? outside[c] : colors[c][lane];
        const float weight =
            (i != 0 ? x.weight[lane] : 1 - x.weight[lane]) * (j != 0 ? y.weight[lane] : 1 - y.weight[lane]);
        const float more = sum[c][lane] + color * weight;
        sum[c][lane] = weight == 0 ? sum[c][lane] : more;
      }
  }
  give_all<float>(group, sum);
}

template <class T>
static void sample(Kind kind, unsigned long long handle, unsigned long long state, const Group& group) {
  const Texture texture = texture_of(handle);
  if (is_null(texture)) return give_zeros<T>(group);
  const Sampler sampler = sampler_for(kind, state);
  if constexpr (__is_same(T, float))
    if (is_plain(texture, kind, group, sampler)) return sample_plane(texture, sampler, group);
  enum { offset_x = behind_point, lod = offset_x + 3, min_lod };
  for_each_lane(group, [&](unsigned lane) {
    group.give(lane, sample<T>(texture, kind, sampler, point(group, lane), group.natural(point_slice, lane),
                               offset(group, offset_x, lane),
                               level_in_range(sampler, group.number(lod, lane), group.number(min_lod, lane))));
  });
}

template <class T>
static void sample_gradient(Kind kind, unsigned long long handle, unsigned long long state, const Group& group) {
  const Texture texture = texture_of(handle);
  if (is_null(texture)) return give_zeros<T>(group);
  const Sampler sampler = sampler_for(kind, state);
  enum { offset_x = behind_point, gradient_x = offset_x + 3, min_lod = gradient_x + 6 };
  for_each_lane(group, [&](unsigned lane) {
    const float lod = level_of(texture, kind, sampler, point(group, lane), gradient(group, gradient_x, lane));
    group.give(lane,
               sample<T>(texture, kind, sampler, point(group, lane), group.natural(point_slice, lane),
                         offset(group, offset_x, lane), level_in_range(sampler, lod, group.number(min_lod, lane))));
  });
}

template <class T>
static void gather(Kind kind, unsigned long long handle, unsigned long long state, const Group& group) {
  const Texture texture = texture_of(handle);
  if (is_null(texture)) return give_zeros<T>(group);
  const Sampler sampler = sampler_for(kind, state);
  enum { offset_x = behind_point, component = offset_x + 3 };
  for_each_lane(group, [&](unsigned lane) {
    group.give(lane, gather<T>(texture, kind, sampler, point(group, lane), group.natural(point_slice, lane),
                               offset(group, offset_x, lane), group.natural(component, lane)));
  });
}

// Those that compare have the value before the offset.
enum { compared = behind_point, compared_offset, behind_compared_offset = compared_offset + 3 };

template <class>
static void sample_compare(Kind kind, unsigned long long handle, unsigned long long state, const Group& group) {
  const Texture texture = texture_of(handle);
  if (is_null(texture)) return for_each_lane(group, [&](unsigned lane) { group.give(lane, 0.0f); });
  const Sampler sampler = sampler_for(kind, state);
  enum { lod = behind_compared_offset, min_lod };
  for_each_lane(group, [&](unsigned lane) {
    group.give(lane, sample_compare(texture, kind, sampler, point(group, lane), group.natural(point_slice, lane),
                                    group.number(compared, lane), offset(group, compared_offset, lane),
                                    level_in_range(sampler, group.number(lod, lane), group.number(min_lod, lane))));
  });
}

template <class>
static void sample_compare_gradient(Kind kind, unsigned long long handle, unsigned long long state,
                                    const Group& group) {
  const Texture texture = texture_of(handle);
  if (is_null(texture)) return for_each_lane(group, [&](unsigned lane) { group.give(lane, 0.0f); });
  const Sampler sampler = sampler_for(kind, state);
  enum { gradient_x = behind_compared_offset, min_lod = gradient_x + 6 };
  for_each_lane(group, [&](unsigned lane) {
    const float lod = level_of(texture, kind, sampler, point(group, lane), gradient(group, gradient_x, lane));
    group.give(lane, sample_compare(texture, kind, sampler, point(group, lane), group.natural(point_slice, lane),
                                    group.number(compared, lane), offset(group, compared_offset, lane),
                                    level_in_range(sampler, lod, group.number(min_lod, lane))));
  });
}

template <class>
static void gather_compare(Kind kind, unsigned long long handle, unsigned long long state, const Group& group) {
  const Texture texture = texture_of(handle);
  if (is_null(texture)) return give_zeros<float>(group);
  const Sampler sampler = sampler_for(kind, state);
  for_each_lane(group, [&](unsigned lane) {
    group.give(lane, gather_compare(texture, kind, sampler, point(group, lane), group.natural(point_slice, lane),
                                    group.number(compared, lane), offset(group, compared_offset, lane)));
  });
}

template <void (*body)(Kind, unsigned long long, unsigned long long, const Group&), Kind kind>
static void call(unsigned long long texture, unsigned long long sampler, const unsigned* arguments, unsigned* results,
                 unsigned mask) {
  if (mask != 0) body(kind, texture, sampler, {arguments, results, mask});
}

#define METAL_FUNCTION(kind, operation, T, suffix) \
  {"metal." #kind "_" #operation "." #suffix, call<operation<T>, kind>},
#define METAL_READ(kind, T, suffix) METAL_FUNCTION(kind, read, T, suffix) METAL_FUNCTION(kind, write, T, suffix)
#define METAL_SAMPLE(kind, T, suffix)     \
  METAL_FUNCTION(kind, sample, T, suffix) \
  METAL_FUNCTION(kind, sample_gradient, T, suffix) METAL_FUNCTION(kind, gather, T, suffix)
#define METAL_COMPARE(kind)                        \
  METAL_FUNCTION(kind, sample_compare, float, f32) \
  METAL_FUNCTION(kind, sample_compare_gradient, float, f32) METAL_FUNCTION(kind, gather_compare, float, f32)

static constexpr TextureFunction functions[] = {METAL_EACH_KIND(METAL_EACH_32_BIT, METAL_READ) METAL_EACH_SAMPLED(
    METAL_EACH_32_BIT, METAL_SAMPLE) METAL_COMPARE(texture_2d) METAL_COMPARE(texture_2d_array)
                                                    METAL_COMPARE(texture_cube) METAL_COMPARE(texture_cube_array)};

extern "C" TextureFunctions METAL_TEXTURE_FUNCTIONS() {
  return {functions, sizeof functions / sizeof functions[0]};
}

}  // namespace metalloid::builtins

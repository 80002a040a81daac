// Sampling against a plain reference in double: for each axis the texels that take part with their weights, all of them
// multiplied out.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "device/sampler.hpp"
#include "invoke.hpp"
#include "test_texture.hpp"

namespace metalloid::builtins {
namespace {

using device::AddressMode;
using device::BorderColor;
using device::Compare;
using device::Filter;
using device::MipFilter;
using device::Reduction;
using device::Sampler;

struct Kind {
  const char* name;
  unsigned dimensions;
  Shape shape;
};

const Kind kinds[] = {
    {"texture_1d", 1, {Form::line, 13, 1, 1, 1, 4}},  {"texture_1d_array", 1, {Form::line_array, 13, 1, 1, 3, 1}},
    {"texture_2d", 2, {Form::plane, 13, 6, 1, 1, 4}}, {"texture_2d_array", 2, {Form::plane_array, 7, 9, 1, 3, 3}},
    {"texture_3d", 3, {Form::volume, 7, 5, 6, 1, 3}},
};

using Double4 = std::array<double, 4>;

struct Tap {
  long texel;  // -1: zero, -2: border
  double weight;
};

long wrapped(long i, long size, AddressMode mode) {
  const auto modulo = [](long a, long b) { return ((a % b) + b) % b; };
  switch (mode) {
    case AddressMode::clamp_to_edge:
      return std::clamp(i, 0l, size - 1);
    case AddressMode::mirror_clamp_to_edge:
      return std::min(i < 0 ? -i - 1 : i, size - 1);
    case AddressMode::repeat:
      return modulo(i, size);
    case AddressMode::mirror_repeat:
      return modulo(i, 2 * size) < size ? modulo(i, 2 * size) : 2 * size - 1 - modulo(i, 2 * size);
    case AddressMode::clamp_to_zero:
      return i < 0 || i >= size ? -1 : i;
    case AddressMode::clamp_to_border:
      return i < 0 || i >= size ? -2 : i;
  }
  return 0;
}

std::vector<Tap> taps(double coordinate, long size, int offset, AddressMode mode, bool pixels, bool linear) {
  const double at = (pixels ? coordinate : coordinate * static_cast<double>(size)) + offset;
  if (!linear) return {{wrapped(std::lround(std::floor(at)), size, mode), 1}};
  const long first = std::lround(std::floor(at - 0.5));
  const double second = at - 0.5 - static_cast<double>(first);
  return {{wrapped(first, size, mode), 1 - second}, {wrapped(first + 1, size, mode), second}};
}

struct Call {
  std::array<float, 3> at;
  unsigned slice = 0;
  std::array<int, 3> offset = {};
};

Double4 texel_of(TestTexture& texture, const Sampler& sampler, long x, long y, long z, unsigned slice, unsigned level) {
  const double white = sampler.border == BorderColor::opaque_white;
  const double opaque = sampler.border != BorderColor::transparent_black;
  if (x == -2 || y == -2 || z == -2) return {white, white, white, opaque};
  if (x == -1 || y == -1 || z == -1) return {};
  const Float4 color =
      texture.get<Float4>(static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z) + slice, level);
  return {color[0], color[1], color[2], color[3]};
}

Double4 on_level(TestTexture& texture, const Kind& kind, const Sampler& sampler, const Call& call, unsigned level,
                 bool linear) {
  const auto axis = [&](unsigned i, unsigned size) {
    if (i >= kind.dimensions) return std::vector<Tap>{{0, 1}};
    return taps(call.at[i], size, call.offset[i], sampler.address[i], sampler.pixel_coordinates, linear);
  };
  Double4 sum = {};
  const unsigned slice = std::min(call.slice, kind.shape.slices - 1);
  for (const Tap& z : axis(2, texture.depth(level)))
    for (const Tap& y : axis(1, texture.height(level)))
      for (const Tap& x : axis(0, texture.width(level))) {
        const Double4 texel = texel_of(texture, sampler, x.texel, y.texel, z.texel, slice, level);
        for (unsigned i = 0; i < 4; ++i) sum[i] += x.weight * y.weight * z.weight * texel[i];
      }
  return sum;
}

Double4 reference(TestTexture& texture, const Kind& kind, const Sampler& sampler, const Call& call, double lod,
                  double min_lod) {
  double level = std::max(std::clamp<double>(lod, sampler.min_level, sampler.max_level), min_lod);
  const bool linear = (level > 0 ? sampler.minification : sampler.magnification) != Filter::nearest;
  level = std::clamp(level, 0.0, kind.shape.levels - 1.0);
  if (sampler.mip == MipFilter::none) return on_level(texture, kind, sampler, call, 0, linear);
  if (sampler.mip == MipFilter::nearest)
    return on_level(texture, kind, sampler, call, static_cast<unsigned>(level + 0.5), linear);
  const unsigned lower = static_cast<unsigned>(level), upper = std::min(lower + 1, kind.shape.levels - 1);
  const Double4 a = on_level(texture, kind, sampler, call, lower, linear);
  const Double4 b = on_level(texture, kind, sampler, call, upper, linear);
  Double4 mixed;
  for (unsigned i = 0; i < 4; ++i) mixed[i] = a[i] + (b[i] - a[i]) * (level - lower);
  return mixed;
}

class TextureSample : public testing::Test {
 protected:
  float number(float least, float most) { return std::uniform_real_distribution<float>(least, most)(random_); }
  unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }

  TestTexture random_texture(const Shape& shape) {
    TestTexture texture(rgba32_float, shape);
    texture.for_each_texel([&](unsigned x, unsigned y, unsigned image, unsigned level) {
      texture.set(Float4{number(-1, 1), number(-1, 1), number(-1, 1), number(-1, 1)}, x, y, image, level);
    });
    return texture;
  }

  Sampler random_sampler() {
    Sampler sampler;
    for (AddressMode& mode : sampler.address) mode = static_cast<AddressMode>(below(6));
    sampler.magnification = static_cast<Filter>(below(2));
    sampler.minification = static_cast<Filter>(below(2));
    sampler.mip = static_cast<MipFilter>(below(3));
    sampler.border = static_cast<BorderColor>(below(3));
    sampler.pixel_coordinates = below(4) == 0;
    if (below(4) == 0) sampler.min_level = 0.5f, sampler.max_level = 1.25f;
    return sampler;
  }

  // Coordinates far from where a nearest filter changes its mind, in the texels of any level.
  Call random_call(const Kind& kind, const Sampler& sampler) {
    Call call;
    const unsigned sizes[] = {kind.shape.width, kind.shape.height, kind.shape.depth};
    for (unsigned i = 0; i < 3; ++i) {
      call.at[i] = number(-2.6f, 3.6f) * (sampler.pixel_coordinates ? static_cast<float>(sizes[i]) : 1);
      call.offset[i] = below(2) == 0 ? 0 : static_cast<int>(below(16)) - 8;
    }
    call.slice = below(5);
    return call;
  }

  Float4 sample(const Kind& kind, const TestTexture& texture, const Sampler& sampler, const Call& call, float lod,
                float min_lod) {
    return invoke<Float4>("metal." + std::string(kind.name) + "_sample.f32", texture.handle(), device::pack(sampler),
                          call.at[0], call.at[1], call.at[2], call.slice, call.offset[0], call.offset[1],
                          call.offset[2], lod, min_lod);
  }

  std::mt19937 random_{5};
};

bool near_a_step(const Kind& kind, const Sampler& sampler, const Call& call) {
  const unsigned sizes[] = {kind.shape.width, kind.shape.height, kind.shape.depth};
  for (unsigned level = 0; level < kind.shape.levels; ++level)
    for (unsigned i = 0; i < kind.dimensions; ++i) {
      const double at = sampler.pixel_coordinates ? call.at[i] : call.at[i] * TestTexture::size(sizes[i], level);
      if (std::abs(at - std::round(at)) < 1e-4) return true;
    }
  return false;
}

TEST_F(TextureSample, AgreesWithTheReferenceForAllFiltersModesAndLevels) {
  for (const Kind& kind : kinds) {
    TestTexture texture = random_texture(kind.shape);
    for (int n = 0; n < 20000; ++n) {
      const Sampler sampler = random_sampler();
      const Call call = random_call(kind, sampler);
      const float lod = number(-1, 4), min_lod = below(4) == 0 ? number(0, 2) : 0;
      const bool nearest = sampler.magnification == Filter::nearest || sampler.minification == Filter::nearest;
      if (nearest && near_a_step(kind, sampler, call)) continue;
      const Float4 color = sample(kind, texture, sampler, call, lod, min_lod);
      const Double4 expected = reference(texture, kind, sampler, call, lod, min_lod);
      // Coordinates of up to 4 times 13 texels carry an error of 2^-19 texels, between texels that differ by up to 2.
      for (unsigned i = 0; i < 4; ++i)
        ASSERT_NEAR(color[i], expected[i], 5e-5) << kind.name << " " << call.at[0] << " " << call.at[1] << " " << lod;
    }
  }
}

TEST_F(TextureSample, TheCentreOfATexelIsTheTexel) {
  TestTexture texture = random_texture({Form::plane, 8, 4, 1, 1, 1});
  texture.set(Float4{INFINITY, NAN, 0, 0}, 3, 2);
  Sampler linear;
  linear.magnification = Filter::linear;
  for (unsigned y = 0; y < 4; ++y)
    for (unsigned x = 0; x < 8; ++x) {
      if (x == 3 && y == 2) continue;
      const Call call = {{(static_cast<float>(x) + 0.5f) / 8, (static_cast<float>(y) + 0.5f) / 4, 0}};
      EXPECT_EQ(sample(kinds[2], texture, linear, call, 0, 0), texture.get<Float4>(x, y)) << x << " " << y;
    }
}

TEST_F(TextureSample, CoordinatesThatAreNoPlaceGiveSomeTexelOfTheTexture) {
  TestTexture texture(rgba32_float, {Form::plane, 8, 4});
  texture.for_each_texel([&](unsigned x, unsigned y, unsigned image, unsigned level) {
    texture.set(Float4{0.5f, 0.5f, 0.5f, 0.5f}, x, y, image, level);
  });
  for (const float at : {NAN, INFINITY, -INFINITY, 1e30f, -1e30f, 3e38f})
    for (unsigned mode = 0; mode < 4; ++mode)
      for (unsigned filter = 0; filter < 3; ++filter) {
        Sampler sampler;
        sampler.address[0] = sampler.address[1] = static_cast<AddressMode>(mode);
        sampler.magnification = static_cast<Filter>(filter);
        EXPECT_EQ(sample(kinds[2], texture, sampler, {{at, at, at}}, 0, 0), (Float4{0.5f, 0.5f, 0.5f, 0.5f}))
            << at << " " << mode;
      }
}

TEST_F(TextureSample, ClampToZeroIsOpaqueForAFormatWithoutAlpha) {
  TestTexture texture(r32_float, {Form::plane, 2, 2});
  Sampler sampler;
  sampler.address[0] = sampler.address[1] = AddressMode::clamp_to_zero;
  EXPECT_EQ(sample(kinds[2], texture, sampler, {{-0.5f, 0.5f, 0}}, 0, 0), (Float4{0, 0, 0, 1}));
}

TEST_F(TextureSample, TheSwizzleAppliesAfterTheFilter) {
  TestTexture texture = random_texture({Form::plane, 1, 1});
  texture.set(Float4{0.1f, 0.2f, 0.3f, 0.4f}, 0);
  const unsigned char swizzle[4] = {4, 1, 2, 0};  // blue, one, red, zero
  std::copy(swizzle, swizzle + 4, texture.description().swizzle);
  EXPECT_EQ(sample(kinds[2], texture, {}, {{0.5f, 0.5f, 0}}, 0, 0), (Float4{0.3f, 1, 0.1f, 0}));
}

TEST_F(TextureSample, ReductionsTakeTheLeastOrGreatestTexel) {
  TestTexture texture(rgba32_float, {Form::plane, 2, 2});
  for (unsigned i = 0; i < 4; ++i) texture.set(Float4{float(i), -float(i), 1, 0}, i & 1, i >> 1);
  Sampler sampler;
  sampler.magnification = Filter::linear;
  sampler.reduction = Reduction::minimum;
  EXPECT_EQ(sample(kinds[2], texture, sampler, {{0.5f, 0.5f, 0}}, 0, 0), (Float4{0, -3, 1, 0}));
  sampler.reduction = Reduction::maximum;
  EXPECT_EQ(sample(kinds[2], texture, sampler, {{0.5f, 0.5f, 0}}, 0, 0), (Float4{3, 0, 1, 0}));
}

TEST_F(TextureSample, IntegersAreTakenFromTheNearestTexelAndLevel) {
  TestTexture texture(rgba32_sint, {Form::plane, 8, 8, 1, 1, 3});
  texture.for_each_texel([&](unsigned x, unsigned y, unsigned, unsigned level) {
    texture.set(Int4{int(x), int(y), int(level), -7}, x, y, 0, level);
  });
  Sampler sampler;
  sampler.magnification = sampler.minification = Filter::linear;
  sampler.mip = MipFilter::linear;
  const auto sample_at = [&](const char* type, float x, float y, float lod) {
    return invoke<Int4>(std::string("metal.texture_2d_sample.") + type, texture.handle(), device::pack(sampler), x, y,
                        0.0f, 0u, 0, 0, 0, lod, 0.0f);
  };
  EXPECT_EQ(sample_at("i32", 0.3f, 0.9f, 0), (Int4{2, 7, 0, -7}));
  EXPECT_EQ(sample_at("i32", 0.3f, 0.9f, 1.2f), (Int4{1, 3, 1, -7}));
  EXPECT_EQ(sample_at("u32", 0.3f, 0.9f, 9), (Int4{0, 1, 2, -7}));
}

TEST_F(TextureSample, AGradientGivesTheLevelOfItsLongerSide) {
  const Shape shape = {Form::plane, 64, 32, 1, 1, 6};
  TestTexture texture(rgba32_float, shape);
  texture.for_each_texel([&](unsigned x, unsigned y, unsigned image, unsigned level) {
    texture.set(Float4{static_cast<float>(level)}, x, y, image, level);
  });
  Sampler sampler;
  sampler.mip = MipFilter::linear;
  const auto level_of = [&](float dx_x, float dx_y, float dy_x, float dy_y, float min_lod = 0) {
    return invoke<Float4>("metal.texture_2d_sample_gradient.f32", texture.handle(), device::pack(sampler), 0.5f, 0.5f,
                          0.0f, 0u, 0, 0, 0, dx_x, dx_y, 0.0f, dy_x, dy_y, 0.0f, min_lod)[0];
  };
  EXPECT_NEAR(level_of(4 / 64.0f, 0, 0, 1 / 32.0f), 2, 1e-5);
  EXPECT_NEAR(level_of(0, 0, 3 / 64.0f, 4 / 32.0f), std::log2(5.0), 1e-5);
  EXPECT_NEAR(level_of(6 / 64.0f, 0, 0, 0), std::log2(6.0), 1e-5);
  EXPECT_EQ(level_of(0, 0, 0, 0), 0);
  EXPECT_EQ(level_of(0, 0, 0, 0, 1.5f), 1.5f);
  EXPECT_EQ(level_of(100, 0, 0, 0), 5);
}

TEST_F(TextureSample, GatherGivesTheFourTexelsInMetalsOrder) {
  TestTexture texture(rgba32_float, {Form::plane_array, 4, 4, 1, 2});
  texture.for_each_texel([&](unsigned x, unsigned y, unsigned image, unsigned) {
    texture.set(Float4{static_cast<float>(x), static_cast<float>(y), static_cast<float>(image), 9}, x, y, image);
  });
  const auto gather = [&](unsigned component, int offset_x) {
    return invoke<Float4>("metal.texture_2d_array_gather.f32", texture.handle(), device::pack(Sampler()), 0.5f, 0.5f,
                          0.0f, 1u, offset_x, 0, 0, component);
  };
  EXPECT_EQ(gather(0, 0), (Float4{1, 2, 2, 1}));
  EXPECT_EQ(gather(1, 0), (Float4{2, 2, 1, 1}));
  EXPECT_EQ(gather(2, 0), (Float4{1, 1, 1, 1}));
  EXPECT_EQ(gather(0, 1), (Float4{2, 3, 3, 2}));
  EXPECT_EQ(gather(0, 2), (Float4{3, 3, 3, 3}));
}

TEST_F(TextureSample, ComparisonsAreFilteredAfterTheyAreMade) {
  TestTexture texture(depth32_float, {Form::plane, 2, 2});
  const float depths[4] = {0.1f, 0.4f, 0.6f, 0.9f};
  for (unsigned i = 0; i < 4; ++i) texture.set(depths[i], i & 1, i >> 1);
  const auto holds = [](Compare function, float a, float b) {
    switch (function) {
      case Compare::never:
        return false;
      case Compare::less:
        return a < b;
      case Compare::equal:
        return a == b;
      case Compare::less_equal:
        return a <= b;
      case Compare::greater:
        return a > b;
      case Compare::not_equal:
        return a != b;
      case Compare::greater_equal:
        return a >= b;
      case Compare::always:
        return true;
    }
    return false;
  };
  Sampler sampler;
  sampler.magnification = Filter::linear;
  for (unsigned function = 0; function < 8; ++function) {
    sampler.compare = static_cast<Compare>(function);
    const float weights[4] = {0.75f * 0.5f, 0.25f * 0.5f, 0.75f * 0.5f, 0.25f * 0.5f};
    for (const float value : {0.0f, 0.1f, 0.5f, 0.6f, 1.0f}) {
      float expected = 0;
      Float4 gathered;
      const unsigned order[4] = {2, 3, 1, 0};
      for (unsigned i = 0; i < 4; ++i) {
        expected += holds(sampler.compare, value, depths[i]) ? weights[i] : 0;
        gathered[i] = holds(sampler.compare, value, depths[order[i]]) ? 1.0f : 0.0f;
      }
      EXPECT_FLOAT_EQ(invoke<float>("metal.texture_2d_sample_compare.f32", texture.handle(), device::pack(sampler),
                                    0.375f, 0.5f, 0.0f, 0u, value, 0, 0, 0, 0.0f, 0.0f),
                      expected)
          << function << " " << value;
      EXPECT_EQ(invoke<Float4>("metal.texture_2d_gather_compare.f32", texture.handle(), device::pack(sampler), 0.375f,
                               0.5f, 0.0f, 0u, value, 0, 0, 0),
                gathered)
          << function << " " << value;
    }
  }
}

TEST_F(TextureSample, AFixedPointDepthIsComparedWithinItsRange) {
  TestTexture texture(depth16_unorm, {});
  texture.set(uint16_t{0xFFFF}, 0);
  Sampler sampler;
  sampler.compare = Compare::less_equal;
  EXPECT_EQ(invoke<float>("metal.texture_2d_sample_compare.f32", texture.handle(), device::pack(sampler), 0.5f, 0.5f,
                          0.0f, 0u, 1.5f, 0, 0, 0, 0.0f, 0.0f),
            1);
}

// Where a direction meets the cube: on which face, and where on it. From the faces' corners in space: s runs along
// `right`, t along `down`.
struct CubeFace {
  std::array<int, 3> forward, right, down;
};
constexpr CubeFace faces[6] = {{{1, 0, 0}, {0, 0, -1}, {0, -1, 0}}, {{-1, 0, 0}, {0, 0, 1}, {0, -1, 0}},
                               {{0, 1, 0}, {1, 0, 0}, {0, 0, 1}},   {{0, -1, 0}, {1, 0, 0}, {0, 0, -1}},
                               {{0, 0, 1}, {1, 0, 0}, {0, -1, 0}},  {{0, 0, -1}, {-1, 0, 0}, {0, -1, 0}}};

TEST_F(TextureSample, ADirectionMeetsTheFaceItPointsAt) {
  TestTexture texture(rgba32_float, {Form::cube_array, 8, 8, 1, 12});
  texture.for_each_texel([&](unsigned x, unsigned y, unsigned image, unsigned) {
    texture.set(Float4{static_cast<float>(x), static_cast<float>(y), static_cast<float>(image), 1}, x, y, image);
  });
  for (unsigned face = 0; face < 6; ++face)
    for (unsigned y = 0; y < 8; ++y)
      for (unsigned x = 0; x < 8; ++x) {
        const float s = (static_cast<float>(x) + 0.5f) / 4 - 1, t = (static_cast<float>(y) + 0.5f) / 4 - 1;
        float direction[3];
        for (unsigned i = 0; i < 3; ++i)
          direction[i] =
              3 * (static_cast<float>(faces[face].forward[i]) + s * static_cast<float>(faces[face].right[i]) +
                   t * static_cast<float>(faces[face].down[i]));
        const Float4 color =
            invoke<Float4>("metal.texture_cube_array_sample.f32", texture.handle(), device::pack(Sampler()),
                           direction[0], direction[1], direction[2], 1u, 0, 0, 0, 0.0f, 0.0f);
        EXPECT_EQ(color, (Float4{static_cast<float>(x), static_cast<float>(y), static_cast<float>(6 + face), 1}));
        const Float4 alone = invoke<Float4>("metal.texture_cube_gather.f32", texture.handle(), device::pack(Sampler()),
                                            direction[0], direction[1], direction[2], 0u, 0, 0, 0, 2u);
        EXPECT_EQ(alone, (Float4{float(face), float(face), float(face), float(face)}));
      }
}

TEST_F(TextureSample, AGradientOfADirectionIsMeasuredOnTheFace) {
  TestTexture texture(rgba32_float, {Form::cube, 64, 64, 1, 6, 7});
  texture.for_each_texel([&](unsigned x, unsigned y, unsigned image, unsigned level) {
    texture.set(Float4{static_cast<float>(level)}, x, y, image, level);
  });
  Sampler sampler;
  sampler.mip = MipFilter::linear;
  // On a face of 64 texels, 2 units wide, at distance 2: a step of 1/4 is 1/8 on the face, which is 4 texels.
  const float level = invoke<Float4>("metal.texture_cube_sample_gradient.f32", texture.handle(), device::pack(sampler),
                                     0.0f, 0.0f, 2.0f, 0u, 0, 0, 0, 0.25f, 0.0f, 0.0f, 0.0f, 0.0f, 0.3f, 0.0f)[0];
  EXPECT_NEAR(level, 2, 1e-5);
}

TEST_F(TextureSample, WithoutATextureThereAreZeros) {
  EXPECT_EQ((invoke<Float4>("metal.texture_2d_sample.f32", uint64_t{0}, device::pack(Sampler()), 0.0f, 0.0f, 0.0f, 0u,
                            0, 0, 0, 0.0f, 0.0f)),
            Float4{});
}

TEST_F(TextureSample, APackedSamplerIsUnpackedAsItWas) {
  Sampler sampler;
  sampler.min_level = 1.5f, sampler.max_level = 7;
  sampler.pixel_coordinates = true;
  sampler.address[0] = AddressMode::clamp_to_border, sampler.address[1] = AddressMode::mirror_repeat;
  sampler.address[2] = AddressMode::repeat;
  sampler.magnification = Filter::bicubic, sampler.minification = Filter::linear, sampler.mip = MipFilter::linear;
  sampler.compare = Compare::greater_equal, sampler.max_anisotropy = 16;
  sampler.border = BorderColor::opaque_white, sampler.reduction = Reduction::maximum;
  constexpr uint64_t documented = 1ull << 63 | 0x3E00 | 0x4700ull << 16 | 1ull << 32 | 5ull << 33 | 3ull << 36 |
                                  2ull << 39 | 2ull << 42 | 1ull << 44 | 2ull << 46 | 6ull << 48 | 15ull << 52 |
                                  2ull << 56 | 2ull << 58;
  EXPECT_EQ(device::pack(sampler), documented);
  EXPECT_EQ(device::pack(device::unpack_sampler(documented)), documented);
  // What metal::sampler() is in Metal source.
  EXPECT_EQ(device::pack(Sampler()), 1ull << 63 | 0x7C00ull << 16);
}

}  // namespace
}  // namespace metalloid::builtins

// Single texels of every kind of texture: which one is meant, what lies outside, atomics, sizes; and tables of visible
// functions.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "invoke.hpp"
#include "test_texture.hpp"

namespace metalloid::builtins {
namespace {

// Every texel says where it is.
uint32_t number_of(unsigned x, unsigned y, unsigned image, unsigned level) {
  return x | y << 8 | image << 16 | level << 24;
}

TestTexture numbered(const Shape& shape) {
  TestTexture texture(r32_uint, shape);
  texture.for_each_texel([&](unsigned x, unsigned y, unsigned image, unsigned level) {
    texture.set(number_of(x, y, image, level), x, y, image, level);
  });
  return texture;
}

uint32_t read(const std::string& kind, const TestTexture& texture, unsigned x, unsigned y, unsigned z, unsigned slice,
              unsigned level) {
  return invoke<Uint4>("metal." + kind + "_read.u32", texture.handle(), x, y, z, slice, level)[0];
}

TEST(TextureRead, EachKindFindsItsTexels) {
  const TestTexture line = numbered({Form::line, 7, 1, 1, 1, 3});
  EXPECT_EQ(read("texture_1d", line, 2, 0, 0, 0, 1), number_of(2, 0, 0, 1));
  const TestTexture lines = numbered({Form::line_array, 7, 1, 1, 4, 1});
  EXPECT_EQ(read("texture_1d_array", lines, 6, 0, 0, 3, 0), number_of(6, 0, 3, 0));
  const TestTexture plane = numbered({Form::plane, 9, 5, 1, 1, 4});
  EXPECT_EQ(read("texture_2d", plane, 8, 4, 0, 0, 0), number_of(8, 4, 0, 0));
  EXPECT_EQ(read("texture_2d", plane, 1, 0, 0, 0, 2), number_of(1, 0, 0, 2));
  EXPECT_EQ(read("texture_2d", plane, 0, 0, 0, 0, 3), number_of(0, 0, 0, 3));
  const TestTexture planes = numbered({Form::plane_array, 4, 4, 1, 3, 2});
  EXPECT_EQ(read("texture_2d_array", planes, 1, 1, 0, 2, 1), number_of(1, 1, 2, 1));
  const TestTexture volume = numbered({Form::volume, 4, 6, 8, 1, 3});
  EXPECT_EQ(read("texture_3d", volume, 3, 5, 7, 0, 0), number_of(3, 5, 7, 0));
  EXPECT_EQ(read("texture_3d", volume, 0, 2, 3, 0, 1), number_of(0, 2, 3, 1));
  const TestTexture cube = numbered({Form::cube, 4, 4, 1, 6, 2});
  EXPECT_EQ(read("texture_cube", cube, 3, 2, 5, 0, 0), number_of(3, 2, 5, 0));
  const TestTexture cubes = numbered({Form::cube_array, 4, 4, 1, 12, 1});
  EXPECT_EQ(read("texture_cube_array", cubes, 1, 2, 3, 1, 0), number_of(1, 2, 9, 0));
  const TestTexture buffer = numbered({Form::line, 200});
  EXPECT_EQ(read("texture_buffer", buffer, 199, 0, 0, 0, 0), number_of(199, 0, 0, 0));
}

TEST(TextureRead, SamplesOfATexelLieSideBySide) {
  TestTexture texture(r32_uint, {Form::multisample, 3, 2, 1, 2, 1, 4});
  texture.set(77u, 2, 1, 0, 0, 3);
  texture.set(78u, 2, 1, 1, 0, 2);
  EXPECT_EQ(read("texture_2d_ms", texture, 2, 1, 0, 0, 3), 77u);
  EXPECT_EQ(read("texture_2d_ms_array", texture, 2, 1, 0, 1, 2), 78u);
  EXPECT_EQ(read("texture_2d_ms", texture, 2, 1, 0, 0, 4), 0u);
}

TEST(TextureRead, OutsideAreZerosAndTheAlphaOfTheFormat) {
  const TestTexture opaque = numbered({Form::plane, 4, 4, 1, 1, 2});
  const auto read4 = [](const TestTexture& texture, unsigned x, unsigned y, unsigned level) {
    return invoke<Uint4>("metal.texture_2d_read.u32", texture.handle(), x, y, 0u, 0u, level);
  };
  for (const auto& [x, y, level] :
       {std::array{4u, 0u, 0u}, {0u, 4u, 0u}, {~0u, 0u, 0u}, {2u, 0u, 1u}, {0u, 0u, 2u}, {0u, 0u, ~0u}})
    EXPECT_EQ(read4(opaque, x, y, level), (Uint4{0, 0, 0, 1})) << x << " " << y << " " << level;
  const TestTexture with_alpha(rgba8_uint, {Form::plane, 4, 4});
  EXPECT_EQ(read4(with_alpha, 4, 0, 0), (Uint4{0, 0, 0, 0}));
  const TestTexture cube = numbered({Form::cube_array, 4, 4, 1, 12});
  EXPECT_EQ(read("texture_cube_array", cube, 0, 0, 6, 0, 0), 0u);
  EXPECT_EQ(read("texture_cube_array", cube, 0, 0, 0, 2, 0), 0u);
  EXPECT_EQ(read("texture_cube_array", cube, 0, 0, 1, 0xFFFFFFFF / 6 + 1, 0), 0u);
  EXPECT_EQ((invoke<Uint4>("metal.texture_2d_read.u32", uint64_t{0}, 0u, 0u, 0u, 0u, 0u)), Uint4{});
}

TEST(TextureRead, TheSwizzleChangesWhatIsReadAndNotWhatIsWritten) {
  TestTexture texture(rgba8_uint, {});
  const unsigned char swizzle[4] = {5, 1, 0, 2};  // alpha, one, zero, red
  std::copy(swizzle, swizzle + 4, texture.description().swizzle);
  invoke<char>("metal.texture_2d_write.u32", texture.handle(), Uint4{10, 20, 30, 40}, 0u, 0u, 0u, 0u, 0u);
  EXPECT_EQ(texture.get<uint32_t>(0), 0x281E140Au);
  EXPECT_EQ((invoke<Uint4>("metal.texture_2d_read.u32", texture.handle(), 0u, 0u, 0u, 0u, 0u)), (Uint4{40, 1, 0, 10}));
}

TEST(TextureWrite, ChangesOneTexelAndNothingOutside) {
  TestTexture volume = numbered({Form::volume, 5, 4, 3, 1, 2});
  TestTexture expected = volume;
  expected.set(0xABCDu, 1, 1, 0, 1);
  const auto write = [&](unsigned x, unsigned y, unsigned z, unsigned slice, unsigned level) {
    invoke<char>("metal.texture_3d_write.u32", volume.handle(), Uint4{0xABCD, 1, 2, 3}, x, y, z, slice, level);
  };
  write(1, 1, 0, 0, 1);
  EXPECT_TRUE(volume == expected);
  write(2, 0, 0, 0, 1), write(0, 2, 0, 0, 1), write(0, 0, 1, 0, 1), write(0, 0, 0, 1, 0), write(0, 0, 0, 0, 2);
  write(5, 0, 0, 0, 0), write(~0u, ~0u, ~0u, ~0u, 0);
  EXPECT_TRUE(volume == expected);
  invoke<char>("metal.texture_3d_write.u32", uint64_t{0}, Uint4{}, 0u, 0u, 0u, 0u, 0u);
}

TEST(TextureWrite, ReachesEveryTexelOfEveryKind) {
  struct {
    const char* kind;
    Shape shape;
  } kinds[] = {{"texture_1d", {Form::line, 5, 1, 1, 1, 3}},
               {"texture_1d_array", {Form::line_array, 5, 1, 1, 3, 1}},
               {"texture_2d", {Form::plane, 5, 3, 1, 1, 3}},
               {"texture_2d_array", {Form::plane_array, 5, 3, 1, 4, 2}},
               {"texture_3d", {Form::volume, 5, 3, 4, 1, 2}},
               {"texture_cube", {Form::cube, 4, 4, 1, 6, 3}},
               {"texture_cube_array", {Form::cube_array, 2, 2, 1, 18, 2}},
               {"texture_buffer", {Form::line, 31}}};
  for (const auto& [kind, shape] : kinds) {
    TestTexture expected = numbered(shape), texture(r32_uint, shape);
    const bool cube = std::string(kind).find("cube") != std::string::npos, volume = shape.type == Form::volume;
    expected.for_each_texel([&, kind = kind](unsigned x, unsigned y, unsigned image, unsigned level) {
      const unsigned z = volume ? image : cube ? image % 6 : 0, slice = volume ? 0 : cube ? image / 6 : image;
      const Uint4 color = {number_of(x, y, image, level)};
      invoke<char>("metal." + std::string(kind) + "_write.u32", texture.handle(), color, x, y, z, slice, level);
    });
    EXPECT_TRUE(texture == expected) << kind;
  }
}

template <class T>
void expect_atomics(const char* type, unsigned format, T start, T operand) {
  TestTexture texture(format, {Form::plane, 3, 3});
  const std::string prefix = "metal.texture_2d_atomic_", suffix = std::string(".") + type;
  const auto apply = [&](const char* operation) {
    texture.set(start, 1, 2);
    EXPECT_EQ(invoke<T>(prefix + operation + suffix, texture.handle(), 1u, 2u, 0u, 0u, operand), start) << operation;
    return texture.get<T>(1, 2);
  };
  EXPECT_EQ(apply("exchange"), operand);
  EXPECT_EQ(apply("fetch_add"), static_cast<T>(start + operand));
  EXPECT_EQ(apply("fetch_sub"), static_cast<T>(start - operand));
  EXPECT_EQ(apply("fetch_min"), std::min(start, operand));
  EXPECT_EQ(apply("fetch_max"), std::max(start, operand));
  EXPECT_EQ(apply("fetch_and"), start & operand);
  EXPECT_EQ(apply("fetch_or"), start | operand);
  EXPECT_EQ(apply("fetch_xor"), start ^ operand);

  invoke<char>(prefix + "store" + suffix, texture.handle(), 1u, 2u, 0u, 0u, operand);
  EXPECT_EQ(invoke<T>(prefix + "load" + suffix, texture.handle(), 1u, 2u, 0u, 0u), operand);
  const auto exchange = [&](T expected) {
    return invoke<T>(prefix + "compare_exchange" + suffix, texture.handle(), 1u, 2u, 0u, 0u, expected, start);
  };
  EXPECT_EQ(exchange(operand + 1), operand);
  EXPECT_EQ(texture.get<T>(1, 2), operand);
  EXPECT_EQ(exchange(operand), operand);
  EXPECT_EQ(texture.get<T>(1, 2), start);

  const TestTexture before = texture;
  EXPECT_EQ(invoke<T>(prefix + "fetch_add" + suffix, texture.handle(), 3u, 0u, 0u, 0u, operand), T(0));
  invoke<char>(prefix + "store" + suffix, texture.handle(), 0u, 3u, 0u, 0u, operand);
  EXPECT_TRUE(texture == before);
  EXPECT_EQ(invoke<T>(prefix + "load" + suffix, uint64_t{0}, 0u, 0u, 0u, 0u), T(0));
}

TEST(TextureAtomic, OperationsGiveTheOldValueAndLeaveTheNew) {
  expect_atomics<int32_t>("i32", r32_sint, -5, 3);
  expect_atomics<uint32_t>("u32", r32_uint, 0xFFFFFFF0, 0x11);
  expect_atomics<uint64_t>("u64", rg32_uint, 0xFFFFFFFFFFFFFFF0, 0x100000011);
}

TEST(TextureAtomic, A64BitOperationNeedsA64BitTexel) {
  TestTexture texture(r32_uint, {Form::plane, 3, 3});
  const TestTexture before = texture;
  EXPECT_EQ(invoke<uint64_t>("metal.texture_2d_atomic_fetch_add.u64", texture.handle(), 2u, 2u, 0u, 0u, uint64_t{1}),
            0u);
  EXPECT_TRUE(texture == before);
}

TEST(TextureAtomic, ThreadsThatAddTogetherLoseNothing) {
  TestTexture texture(r32_uint, {Form::cube_array, 2, 2, 1, 12});
  texture.set(0u, 1, 1, 6 + 4);
  const auto add = [&] {
    for (int i = 0; i < 20000; ++i)
      invoke<uint32_t>("metal.texture_cube_array_atomic_fetch_add.u32", texture.handle(), 1u, 1u, 4u, 1u, 1u);
  };
  invocation("metal.texture_cube_array_atomic_fetch_add.u32", 6);  // compiled before threads share it
  std::thread other(add);
  add();
  other.join();
  EXPECT_EQ(texture.get<uint32_t>(1, 1, 6 + 4), 40000u);
}

TEST(TextureQuery, SizesHalveWithTheLevel) {
  TestTexture texture(r8_unorm, {Form::volume, 20, 5, 3, 1, 5});
  const auto ask = [&](const char* what, unsigned level) {
    return invoke<uint32_t>(std::string("metal.texture_") + what, texture.handle(), level);
  };
  EXPECT_EQ(ask("width", 0), 20u);
  EXPECT_EQ(ask("width", 2), 5u);
  EXPECT_EQ(ask("height", 1), 2u);
  EXPECT_EQ(ask("height", 4), 1u);
  EXPECT_EQ(ask("depth", 1), 1u);
  EXPECT_EQ(ask("width", 5), 0u);
  EXPECT_EQ(invoke<uint32_t>("metal.texture_num_mip_levels", texture.handle()), 5u);
  EXPECT_EQ(invoke<uint32_t>("metal.texture_width", uint64_t{0}, 0u), 0u);
}

TEST(TextureQuery, TheArraySizeOfCubesCountsCubes) {
  const auto slices = [](const Shape& shape) {
    TestTexture texture(r8_unorm, shape);
    return invoke<uint32_t>("metal.texture_array_size", texture.handle());
  };
  EXPECT_EQ(slices({Form::cube_array, 4, 4, 1, 18}), 3u);
  EXPECT_EQ(slices({Form::cube, 4, 4, 1, 6}), 1u);
  EXPECT_EQ(slices({Form::plane_array, 4, 4, 1, 18}), 18u);
  TestTexture samples(r8_unorm, {Form::multisample, 4, 4, 1, 1, 1, 8});
  EXPECT_EQ(invoke<uint32_t>("metal.texture_num_samples", samples.handle()), 8u);
}

TEST(VisibleFunctionTable, GivesItsEntriesAndNothingBeyond) {
  const uint64_t table[] = {3, 0x1000, 0, 0x3000, 0xBAD};
  const uint64_t handle = reinterpret_cast<uint64_t>(table);
  EXPECT_EQ(invoke<uint32_t>("metal.visible_function_table_size", handle), 3u);
  const auto entry = [&](uint64_t of, unsigned i) {
    return invoke<uint64_t>("metal.visible_function_table_entry", of, i);
  };
  EXPECT_EQ(entry(handle, 0), 0x1000u);
  EXPECT_EQ(entry(handle, 1), 0u);
  EXPECT_EQ(entry(handle, 2), 0x3000u);
  EXPECT_EQ(entry(handle, 3), 0u);
  EXPECT_EQ(entry(0, 0), 0u);
  EXPECT_EQ(invoke<uint32_t>("metal.visible_function_table_size", uint64_t{0}), 0u);
}

}  // namespace
}  // namespace metalloid::builtins

// A texture in the test's own memory, as the API lays one out: rows and images with gaps between them, so that a body
// that mistakes a stride for a size reads something else.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "device/pixel_format.hpp"
#include "device/texture.hpp"

namespace metalloid::builtins {

// MTLPixelFormat and MTLTextureType, as far as tests name them.
enum : unsigned {
  r8_unorm = 10,
  r8_uint = 13,
  r32_uint = 53,
  r32_sint = 54,
  r32_float = 55,
  rgba8_unorm = 70,
  rgba8_uint = 73,
  rgba8_sint = 74,
  rg32_uint = 103,
  rgba16_sint = 114,
  rgba32_uint = 123,
  rgba32_sint = 124,
  rgba32_float = 125,
  depth16_unorm = 250,
  depth32_float = 252
};
enum class Form : unsigned { line, line_array, plane, plane_array, multisample, cube, cube_array, volume };

struct Shape {
  Form type = Form::plane;
  unsigned width = 1, height = 1, depth = 1, slices = 1, levels = 1, samples = 1;
};

class TestTexture {
 public:
  TestTexture(unsigned pixel_format, const Shape& shape) {
    description_.pixel_format = pixel_format;
    description_.type = static_cast<unsigned>(shape.type);
    description_.width = shape.width;
    description_.height = shape.height;
    description_.depth = shape.depth;
    description_.slices = shape.slices;
    description_.levels = shape.levels;
    description_.samples = shape.samples;
    for (unsigned char i = 0; i < 4; ++i) description_.swizzle[i] = static_cast<unsigned char>(2 + i);
    description_.bytes_per_texel = device::pixel_format(pixel_format).bytes;
    uint64_t bytes = 48;
    for (unsigned i = 0; i < shape.levels; ++i) {
      device::TextureLevel& level = description_.level[i];
      level.offset = bytes;
      level.row_bytes = uint64_t{size(shape.width, i)} * shape.samples * description_.bytes_per_texel + 16;
      level.image_bytes = size(shape.height, i) * level.row_bytes + 32;
      bytes += size(shape.depth, i) * shape.slices * level.image_bytes + 64;
    }
    bytes_.assign(bytes / 8 + 2, 0xEEEEEEEEEEEEEEEE);
    description_.base = reinterpret_cast<uint64_t>(bytes_.data());
  }
  TestTexture(const TestTexture& other) : description_(other.description_), bytes_(other.bytes_) {
    description_.base = reinterpret_cast<uint64_t>(bytes_.data());
  }
  TestTexture(TestTexture&&) = default;

  uint64_t handle() const { return reinterpret_cast<uint64_t>(&description_); }
  device::TextureDescription& description() { return description_; }

  static unsigned size(unsigned base, unsigned level) { return std::max(base >> level, 1u); }
  unsigned width(unsigned level) const { return size(description_.width, level); }
  unsigned height(unsigned level) const { return size(description_.height, level); }
  unsigned depth(unsigned level) const { return size(description_.depth, level); }

  // An image is a slice, a face or a plane.
  unsigned char* texel(unsigned x, unsigned y = 0, unsigned image = 0, unsigned level = 0, unsigned sample = 0) {
    const device::TextureLevel& at = description_.level[level];
    return reinterpret_cast<unsigned char*>(bytes_.data()) + at.offset + image * at.image_bytes + y * at.row_bytes +
           (uint64_t{x} * description_.samples + sample) * description_.bytes_per_texel;
  }

  template <class T>
  void set(const T& value, unsigned x, unsigned y = 0, unsigned image = 0, unsigned level = 0, unsigned sample = 0) {
    std::memcpy(texel(x, y, image, level, sample), &value, sizeof value);
  }
  template <class T>
  T get(unsigned x, unsigned y = 0, unsigned image = 0, unsigned level = 0, unsigned sample = 0) {
    T value;
    std::memcpy(&value, texel(x, y, image, level, sample), sizeof value);
    return value;
  }

  // Calls body(x, y, image, level) for every texel.
  template <class Body>
  void for_each_texel(Body body) {
    for (unsigned level = 0; level < description_.levels; ++level)
      for (unsigned image = 0; image < depth(level) * description_.slices; ++image)
        for (unsigned y = 0; y < height(level); ++y)
          for (unsigned x = 0; x < width(level); ++x) body(x, y, image, level);
  }

  bool operator==(const TestTexture& other) const { return bytes_ == other.bytes_; }

 private:
  device::TextureDescription description_ = {};
  std::vector<uint64_t> bytes_;
};

using Float4 = std::array<float, 4>;
using Int4 = std::array<int32_t, 4>;
using Uint4 = std::array<uint32_t, 4>;
using Ulong4 = std::array<uint64_t, 4>;

}  // namespace metalloid::builtins

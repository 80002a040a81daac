#include "metal/texture_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "device/pixel_format.hpp"
#include "metal/align.hpp"

namespace metalloid::metal {

namespace {

constexpr uint64_t level_alignment = 16;

// The largest sizes on Apple's GPUs.
constexpr NS::UInteger max_side = 16384, max_side_3d = 2048, max_array_length = 2048;
constexpr NS::UInteger max_texture_buffer_width = NS::UInteger(1) << 28;

bool is_multisample(MTL::TextureType type) {
  return type == MTL::TextureType2DMultisample || type == MTL::TextureType2DMultisampleArray;
}

bool is_1d(MTL::TextureType type) {
  return type == MTL::TextureType1D || type == MTL::TextureType1DArray;
}

bool is_depth_or_stencil(MTL::PixelFormat format) {
  return format >= MTL::PixelFormatDepth16Unorm && format <= MTL::PixelFormatX24_Stencil8;
}

// What two types must have in common for one to be a view of the other.
int view_class(MTL::TextureType type) {
  if (is_1d(type)) return 1;
  if (is_multisample(type)) return 4;
  if (type == MTL::TextureType3D) return 3;
  if (type == MTL::TextureTypeTextureBuffer) return 5;
  return 2;
}

Result<device::PixelFormat> check_format(MTL::PixelFormat code) {
  const device::PixelFormat format = device::pixel_format(static_cast<unsigned>(code));
  if (format.valid()) return format;
  if (code == MTL::PixelFormatInvalid) return Error{"the pixel format is MTLPixelFormatInvalid"};
  return Error{
      fmt::format("pixel format {} is not supported: compressed and 4:2:2 formats are not, nor unknown numbers",
                  static_cast<NS::UInteger>(code))};
}

Status check_side(const char* name, NS::UInteger value, NS::UInteger limit) {
  if (value >= 1 && value <= limit) return success();
  return Error{fmt::format("{} is {}; it must be from 1 to {}", name, value, limit)};
}

Status check(const TextureProperties& asked) {
  const MTL::TextureType type = asked.textureType;
  if (type > MTL::TextureTypeTextureBuffer) return Error{fmt::format("texture type {} is unknown", NS::UInteger(type))};
  const bool is_3d = type == MTL::TextureType3D, is_buffer = type == MTL::TextureTypeTextureBuffer;
  const NS::UInteger limit = is_3d ? max_side_3d : max_side;
  const struct {
    const char* name;
    NS::UInteger value, limit;
  } sides[] = {
      {"width", asked.width, is_buffer ? max_texture_buffer_width : limit},
      {"height", asked.height, is_1d(type) || is_buffer ? 1 : limit},
      {"depth", asked.depth, is_3d ? limit : 1},
      {"arrayLength", asked.arrayLength, is_array(type) ? max_array_length : 1},
  };
  for (const auto& side : sides)
    if (auto status = check_side(side.name, side.value, side.limit); !status) return status;
  if (is_cube(type) && asked.width != asked.height)
    return Error{fmt::format("a cube's width ({}) and height ({}) must be equal", asked.width, asked.height)};

  const bool one_level = is_1d(type) || is_buffer || is_multisample(type);
  const NS::UInteger largest = std::max({asked.width, asked.height, asked.depth});
  const NS::UInteger most_levels = one_level ? 1 : std::bit_width(largest);
  if (auto status = check_side("mipmapLevelCount", asked.mipmapLevelCount, most_levels); !status) return status;

  const NS::UInteger samples = asked.sampleCount;
  if (is_multisample(type) ? samples != 2 && samples != 4 && samples != 8 : samples != 1)
    return Error{fmt::format("sampleCount is {}; it must be {}", samples,
                             is_multisample(type) ? "2, 4 or 8 for a multisample texture"
                                                  : "1 for a texture that is not a multisample one")};
  if (is_depth_or_stencil(asked.pixelFormat) && (is_1d(type) || is_3d || is_buffer))
    return Error{"depth and stencil formats need a two-dimensional, cube or multisample texture"};
  if (asked.storageMode == MTL::StorageModeMemoryless)
    return Error{"MTLStorageModeMemoryless is for render targets; kernels need memory"};
  if (asked.storageMode > MTL::StorageModeMemoryless)
    return Error{fmt::format("storage mode {} is unknown", static_cast<NS::UInteger>(asked.storageMode))};
  return success();
}

void put_swizzle(device::TextureDescription& texture, MTL::TextureSwizzleChannels swizzle) {
  const MTL::TextureSwizzle channels[4] = {swizzle.red, swizzle.green, swizzle.blue, swizzle.alpha};
  std::ranges::copy(channels, texture.swizzle);
}

// Everything but the levels.
Result<device::TextureDescription> describe(const TextureProperties& asked) {
  const auto format = check_format(asked.pixelFormat);
  if (!format) return Error{format.error()};
  if (auto status = check(asked); !status) return Error{status.error()};
  device::TextureDescription texture = {};
  texture.pixel_format = static_cast<unsigned>(asked.pixelFormat);
  texture.type = static_cast<unsigned>(asked.textureType);
  texture.width = static_cast<unsigned>(asked.width);
  texture.height = static_cast<unsigned>(asked.height);
  texture.depth = static_cast<unsigned>(asked.depth);
  texture.slices = static_cast<unsigned>(asked.arrayLength * (is_cube(asked.textureType) ? 6 : 1));
  texture.levels = static_cast<unsigned>(asked.mipmapLevelCount);
  texture.samples = static_cast<unsigned>(asked.sampleCount);
  texture.bytes_per_texel = format->bytes;
  put_swizzle(texture, asked.swizzle);
  return texture;
}

// What a channel of a view shows: a channel of the parent, as the parent shows it.
unsigned char compose(const unsigned char* parent, MTL::TextureSwizzle view) {
  return view >= MTL::TextureSwizzleRed && view <= MTL::TextureSwizzleAlpha ? parent[view - MTL::TextureSwizzleRed]
                                                                            : static_cast<unsigned char>(view);
}

// One depth and stencil texture may be seen as its stencil alone.
bool is_stencil_of(MTL::PixelFormat view, MTL::PixelFormat parent) {
  return (view == MTL::PixelFormatX32_Stencil8 && parent == MTL::PixelFormatDepth32Float_Stencil8) ||
         (view == MTL::PixelFormatX24_Stencil8 && parent == MTL::PixelFormatDepth24Unorm_Stencil8);
}

Status check_view(const device::TextureDescription& parent, const TextureViewProperties& asked) {
  const auto format = check_format(asked.pixelFormat);
  if (!format) return Error{format.error()};
  const auto parent_format = static_cast<MTL::PixelFormat>(parent.pixel_format);
  if (format->bytes != parent.bytes_per_texel)
    return Error{fmt::format("a view's texels ({} bytes) must be as large as the texture's ({} bytes)", format->bytes,
                             parent.bytes_per_texel)};
  if (asked.pixelFormat != parent_format && !is_stencil_of(asked.pixelFormat, parent_format) &&
      (is_depth_or_stencil(asked.pixelFormat) || is_depth_or_stencil(parent_format)))
    return Error{"a view cannot change a depth or stencil format"};
  if (asked.textureType > MTL::TextureTypeTextureBuffer ||
      view_class(asked.textureType) != view_class(static_cast<MTL::TextureType>(parent.type)))
    return Error{fmt::format("a texture of type {} cannot be a view of one of type {}",
                             static_cast<NS::UInteger>(asked.textureType), parent.type)};
  const auto within = [](NS::Range range, NS::UInteger count) {
    return range.length >= 1 && range.location < count && range.length <= count - range.location;
  };
  if (!within(asked.levelRange, parent.levels))
    return Error{fmt::format("levels {} to {} are not all in a texture of {} levels", asked.levelRange.location,
                             asked.levelRange.location + asked.levelRange.length, parent.levels)};
  if (!within(asked.sliceRange, parent.slices))
    return Error{fmt::format("slices {} to {} are not all in a texture of {} slices", asked.sliceRange.location,
                             asked.sliceRange.location + asked.sliceRange.length, parent.slices)};
  const NS::UInteger slices = asked.sliceRange.length;
  if (is_cube(asked.textureType) && (slices % 6 != 0 || parent.width != parent.height))
    return Error{
        fmt::format("a cube is made of 6 square slices, not {} of {} x {}", slices, parent.width, parent.height)};
  const NS::UInteger expected = is_cube(asked.textureType) ? 6 : 1;
  if (!is_array(asked.textureType) && slices != expected)
    return Error{fmt::format("the view's type has {} slices, not {}", expected, slices)};
  return success();
}

}  // namespace

Result<TextureLayout> lay_out(const TextureProperties& asked) {
  auto described = describe(asked);
  if (!described) return Error{described.error()};
  TextureLayout layout{*described};
  for (unsigned i = 0; i < layout.description.levels; ++i) {
    const MTL::Size size = level_size(layout.description, i);
    device::TextureLevel& level = layout.description.level[i];
    level.offset = align(layout.bytes, level_alignment);
    level.row_bytes = uint64_t{layout.description.bytes_per_texel} * layout.description.samples * size.width;
    level.image_bytes = level.row_bytes * size.height;
    layout.bytes = level.offset + level.image_bytes * size.depth * layout.description.slices;
  }
  return layout;
}

Result<TextureLayout> lay_out_linear(const TextureProperties& asked, uint64_t bytes_per_row) {
  if (asked.textureType != MTL::TextureType2D && asked.textureType != MTL::TextureTypeTextureBuffer)
    return Error{"a texture in a buffer must be of type MTLTextureType2D or MTLTextureTypeTextureBuffer"};
  if (asked.mipmapLevelCount != 1) return Error{"a texture in a buffer has one mipmap level"};
  if (is_depth_or_stencil(asked.pixelFormat)) return Error{"a texture in a buffer has no depth or stencil format"};
  auto described = describe(asked);
  if (!described) return Error{described.error()};
  TextureLayout layout{*described};
  const uint64_t row = uint64_t{described->width} * described->bytes_per_texel;
  const bool one_row = asked.textureType == MTL::TextureTypeTextureBuffer && bytes_per_row == 0;
  if (one_row) bytes_per_row = align(row, linear_texture_alignment);
  if (bytes_per_row < row)
    return Error{fmt::format("bytesPerRow ({}) is less than a row's {} bytes", bytes_per_row, row)};
  if (bytes_per_row % linear_texture_alignment != 0)
    return Error{fmt::format("bytesPerRow ({}) must be a multiple of minimumLinearTextureAlignmentForPixelFormat ({})",
                             bytes_per_row, linear_texture_alignment)};
  layout.bytes = bytes_per_row * (described->height - 1) + row;
  layout.description.level[0] = {0, bytes_per_row, bytes_per_row * described->height};
  return layout;
}

Result<device::TextureDescription> lay_out_view(const device::TextureDescription& parent,
                                                const TextureViewProperties& asked) {
  if (auto status = check_view(parent, asked); !status) return Error{status.error()};
  device::TextureDescription view = parent;
  const MTL::Size size = level_size(parent, asked.levelRange.location);
  view.pixel_format = static_cast<unsigned>(asked.pixelFormat);
  view.type = static_cast<unsigned>(asked.textureType);
  view.width = static_cast<unsigned>(size.width);
  view.height = static_cast<unsigned>(size.height);
  view.depth = static_cast<unsigned>(size.depth);
  view.levels = static_cast<unsigned>(asked.levelRange.length);
  view.slices = static_cast<unsigned>(asked.sliceRange.length);
  const MTL::TextureSwizzle swizzle[4] = {asked.swizzle.red, asked.swizzle.green, asked.swizzle.blue,
                                          asked.swizzle.alpha};
  for (unsigned channel = 0; channel < 4; ++channel) view.swizzle[channel] = compose(parent.swizzle, swizzle[channel]);
  for (unsigned i = 0; i < view.levels; ++i) {
    view.level[i] = parent.level[asked.levelRange.location + i];
    view.level[i].offset += asked.sliceRange.location * view.level[i].image_bytes;
  }
  return view;
}

bool is_array(MTL::TextureType type) {
  return type == MTL::TextureType1DArray || type == MTL::TextureType2DArray || type == MTL::TextureTypeCubeArray ||
         type == MTL::TextureType2DMultisampleArray;
}

bool is_cube(MTL::TextureType type) {
  return type == MTL::TextureTypeCube || type == MTL::TextureTypeCubeArray;
}

MTL::Size level_size(const device::TextureDescription& texture, NS::UInteger level) {
  const auto at_level = [level](unsigned size) { return NS::UInteger{std::max(1u, size >> level)}; };
  return {at_level(texture.width), at_level(texture.height), at_level(texture.depth)};
}

}  // namespace metalloid::metal

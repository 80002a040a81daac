// What a texture is to a kernel: a description in memory that a device can read, whose address is the texture's handle.
// Texels are laid out row after row, so every device reads them with the same code (src/builtins); the same header is
// compiled for devices, hence no library types in it.
#pragma once

#ifndef __cplusplus
#error "C++ only"
#endif

namespace metalloid::device {

struct TextureLevel {
  unsigned long long offset;       // from the texture's first byte
  unsigned long long row_bytes;    // from a row to the next
  unsigned long long image_bytes;  // from a slice, face or depth plane to the next
};

constexpr unsigned max_texture_levels = 16;

struct TextureDescription {
  unsigned long long base;  // where kernels see the first byte
  unsigned pixel_format;    // MTLPixelFormat
  unsigned type;            // MTLTextureType
  unsigned width, height, depth;
  unsigned slices;  // of an array; faces count as slices: 6 times the cubes
  unsigned levels;
  unsigned samples;          // samples of a texel lie side by side
  unsigned char swizzle[4];  // of red, green, blue, alpha: MTLTextureSwizzle
  unsigned bytes_per_texel;  // of one sample
  TextureLevel level[max_texture_levels];
};

// A table of visible functions, in memory that a device can read; its address is the table's handle.
struct FunctionTable {
  unsigned long long size;
  unsigned long long entries[1];  // `size` of them
};

}  // namespace metalloid::device

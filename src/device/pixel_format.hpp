// The pixel formats that kernels read and write, in one table: the API takes their sizes from it, and devices how a
// texel's bits become numbers. Compiled for devices as well, hence no library types.
//
// A format's fields are written from the lowest bit to the highest, each a channel (X: unused) and its width, which is
// how Metal names its packed formats. Compressed and 4:2:2 formats have no entry.
#pragma once

namespace metalloid::device {

enum class Numbers : unsigned char {
  none,                 // no such format
  unorm,                // 0 … 1
  snorm,                // -1 … 1, two patterns for -1
  unsigned_integer,     //
  signed_integer,       //
  floating,             // float; with 16 bits half, with 10 or 11 without a sign
  srgb,                 // 0 … 1 with sRGB's gamma, but for alpha
  shared_exponent,      // RGB9E5
  extended_range,       // (x - 384) / 510
  extended_range_srgb,  // with sRGB's gamma, but for alpha
};

struct PixelFormat {
  Numbers numbers = Numbers::none;
  unsigned char bytes = 0;      // of a texel
  unsigned char shift[4] = {};  // of red, green, blue, alpha: the lowest bit
  unsigned char width[4] = {};  // in bits; 0 if the format has no such channel

  constexpr bool valid() const { return numbers != Numbers::none; }
  constexpr bool integer() const { return numbers == Numbers::unsigned_integer || numbers == Numbers::signed_integer; }
  constexpr unsigned channels() const {
    unsigned count = 0;
    for (const unsigned bits : width) count += bits != 0;
    return count;
  }
};

constexpr PixelFormat describe(Numbers numbers, const char* fields) {
  PixelFormat format;
  format.numbers = numbers;
  unsigned bit = 0;
  while (*fields != 0) {
    const char channel = *fields++;
    unsigned width = 0;
    while (*fields >= '0' && *fields <= '9') width = width * 10 + static_cast<unsigned>(*fields++ - '0');
    for (unsigned i = 0; i < 4; ++i) {
      if ("RGBA"[i] != channel) continue;
      format.shift[i] = static_cast<unsigned char>(bit);
      format.width[i] = static_cast<unsigned char>(width);
    }
    bit += width;
  }
  format.bytes = static_cast<unsigned char>(bit / 8);
  return format;
}

struct NumberedPixelFormat {
  unsigned code;  // MTLPixelFormat
  PixelFormat format;
};

constexpr NumberedPixelFormat pixel_formats[] = {
    {1, describe(Numbers::unorm, "A8")},
    {10, describe(Numbers::unorm, "R8")},
    {11, describe(Numbers::srgb, "R8")},
    {12, describe(Numbers::snorm, "R8")},
    {13, describe(Numbers::unsigned_integer, "R8")},
    {14, describe(Numbers::signed_integer, "R8")},
    {20, describe(Numbers::unorm, "R16")},
    {22, describe(Numbers::snorm, "R16")},
    {23, describe(Numbers::unsigned_integer, "R16")},
    {24, describe(Numbers::signed_integer, "R16")},
    {25, describe(Numbers::floating, "R16")},
    {30, describe(Numbers::unorm, "R8G8")},
    {31, describe(Numbers::srgb, "R8G8")},
    {32, describe(Numbers::snorm, "R8G8")},
    {33, describe(Numbers::unsigned_integer, "R8G8")},
    {34, describe(Numbers::signed_integer, "R8G8")},
    {40, describe(Numbers::unorm, "B5G6R5")},
    {41, describe(Numbers::unorm, "A1B5G5R5")},
    {42, describe(Numbers::unorm, "A4B4G4R4")},
    {43, describe(Numbers::unorm, "B5G5R5A1")},
    {53, describe(Numbers::unsigned_integer, "R32")},
    {54, describe(Numbers::signed_integer, "R32")},
    {55, describe(Numbers::floating, "R32")},
    {60, describe(Numbers::unorm, "R16G16")},
    {62, describe(Numbers::snorm, "R16G16")},
    {63, describe(Numbers::unsigned_integer, "R16G16")},
    {64, describe(Numbers::signed_integer, "R16G16")},
    {65, describe(Numbers::floating, "R16G16")},
    {70, describe(Numbers::unorm, "R8G8B8A8")},
    {71, describe(Numbers::srgb, "R8G8B8A8")},
    {72, describe(Numbers::snorm, "R8G8B8A8")},
    {73, describe(Numbers::unsigned_integer, "R8G8B8A8")},
    {74, describe(Numbers::signed_integer, "R8G8B8A8")},
    {80, describe(Numbers::unorm, "B8G8R8A8")},
    {81, describe(Numbers::srgb, "B8G8R8A8")},
    {90, describe(Numbers::unorm, "R10G10B10A2")},
    {91, describe(Numbers::unsigned_integer, "R10G10B10A2")},
    {92, describe(Numbers::floating, "R11G11B10")},
    {93, describe(Numbers::shared_exponent, "R9G9B9X5")},
    {94, describe(Numbers::unorm, "B10G10R10A2")},
    {103, describe(Numbers::unsigned_integer, "R32G32")},
    {104, describe(Numbers::signed_integer, "R32G32")},
    {105, describe(Numbers::floating, "R32G32")},
    {110, describe(Numbers::unorm, "R16G16B16A16")},
    {112, describe(Numbers::snorm, "R16G16B16A16")},
    {113, describe(Numbers::unsigned_integer, "R16G16B16A16")},
    {114, describe(Numbers::signed_integer, "R16G16B16A16")},
    {115, describe(Numbers::floating, "R16G16B16A16")},
    {123, describe(Numbers::unsigned_integer, "R32G32B32A32")},
    {124, describe(Numbers::signed_integer, "R32G32B32A32")},
    {125, describe(Numbers::floating, "R32G32B32A32")},
    {250, describe(Numbers::unorm, "R16")},                  // Depth16Unorm
    {252, describe(Numbers::floating, "R32")},               // Depth32Float
    {253, describe(Numbers::unsigned_integer, "R8")},        // Stencil8
    {255, describe(Numbers::unorm, "R24X8")},                // Depth24Unorm_Stencil8
    {260, describe(Numbers::floating, "R32X32")},            // Depth32Float_Stencil8
    {261, describe(Numbers::unsigned_integer, "X32R8X24")},  // X32_Stencil8
    {262, describe(Numbers::unsigned_integer, "X24R8")},     // X24_Stencil8
    {552, describe(Numbers::extended_range, "X6B10X6G10X6R10X6A10")},
    {553, describe(Numbers::extended_range_srgb, "X6B10X6G10X6R10X6A10")},
    {554, describe(Numbers::extended_range, "B10G10R10X2")},
    {555, describe(Numbers::extended_range_srgb, "B10G10R10X2")},
};

constexpr unsigned pixel_format_codes = 556;

struct PixelFormatsByCode {
  PixelFormat format[pixel_format_codes];
};

constexpr PixelFormatsByCode pixel_formats_by_code = [] {
  PixelFormatsByCode table;
  for (const NumberedPixelFormat& entry : pixel_formats) table.format[entry.code] = entry.format;
  return table;
}();

// The format with the number that MTLPixelFormat gives it; one that is not valid() if kernels cannot use it.
constexpr PixelFormat pixel_format(unsigned code) {
  return code < pixel_format_codes ? pixel_formats_by_code.format[code] : PixelFormat();
}

}  // namespace metalloid::device

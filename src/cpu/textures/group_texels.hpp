// Texels of all lanes of a group, each at a place of its own in one texture: loaded and decoded, encoded and stored.
// The loops over lanes that are worth it are compiled for a format each, and have no branches then.
#pragma once

#include "builtins/texture.hpp"
#include "cpu/textures/group.hpp"

namespace metalloid::builtins {

// Formats that have code of their own, and any other. Gamma is applied apart.
template <unsigned code>
struct KnownFormat {
  static constexpr PixelFormat format = device::pixel_format(code);
};
struct AnyFormat {
  PixelFormat format;
};

inline bool has_gamma(Texture texture) {
  const Numbers numbers = device::pixel_format(texture->pixel_format).numbers;
  return without_gamma(numbers) != numbers;
}

// Calls body(format) with the texture's format; for floats, without its gamma.
template <class T, class Body>
void with_format(Texture texture, Body body) {
  if constexpr (__is_same(T, float)) {
#define METAL_KNOWN(code) \
  case code:              \
    return body(KnownFormat<code>{});
#define METAL_WITH_SRGB(code, srgb) \
  case srgb:                        \
    METAL_KNOWN(code)
    switch (texture->pixel_format) {
      METAL_WITH_SRGB(10, 11)  // R8Unorm
      METAL_KNOWN(25)          // R16Float
      METAL_WITH_SRGB(30, 31)  // RG8Unorm
      METAL_KNOWN(55)          // R32Float
      METAL_KNOWN(65)          // RG16Float
      METAL_WITH_SRGB(70, 71)  // RGBA8Unorm
      METAL_WITH_SRGB(80, 81)  // BGRA8Unorm
      METAL_KNOWN(105)         // RG32Float
      METAL_KNOWN(115)         // RGBA16Float
      METAL_KNOWN(125)         // RGBA32Float
      default:
        break;
    }
#undef METAL_WITH_SRGB
#undef METAL_KNOWN
  }
  PixelFormat format = device::pixel_format(texture->pixel_format);
  if constexpr (__is_same(T, float)) format.numbers = without_gamma(format.numbers);
  body(AnyFormat{format});
}

// The bits of texels, and their numbers: of each word and channel those of all lanes in a row.
struct Texels {
  unsigned word[4][most_lanes];

  TexelBits bits(unsigned lane) const { return {{word[0][lane], word[1][lane], word[2][lane], word[3][lane]}}; }
  void set(unsigned lane, const TexelBits& bits) {
    for (unsigned i = 0; i < 4; ++i) word[i][lane] = bits.word[i];
  }
};
template <class T>
using Colors = T[4][most_lanes];

template <class T, class Format>
[[gnu::flatten]] void decode_texels(const Format& format, const Texels& texels, Colors<T>& colors) {
  for (unsigned lane = 0; lane < most_lanes; ++lane) {
    const Color<T> color = decode<T>(format.format, texels.bits(lane));
    for (unsigned i = 0; i < 4; ++i) colors[i][lane] = color[i];
  }
}

template <class T, class Format>
[[gnu::flatten]] void encode_texels(const Format& format, const Colors<T>& colors, Texels& texels) {
  for (unsigned lane = 0; lane < most_lanes; ++lane)
    texels.set(lane,
               encode<T>(format.format, Color<T>{colors[0][lane], colors[1][lane], colors[2][lane], colors[3][lane]}));
}

[[gnu::flatten]] inline void remove_gamma(Colors<float>& colors) {
  for (unsigned i = 0; i < 3; ++i)
    for (unsigned lane = 0; lane < most_lanes; ++lane) colors[i][lane] = srgb_to_linear(colors[i][lane]);
}
[[gnu::flatten]] inline void apply_gamma(Colors<float>& colors) {
  for (unsigned i = 0; i < 3; ++i)
    for (unsigned lane = 0; lane < most_lanes; ++lane) colors[i][lane] = linear_to_srgb(colors[i][lane]);
}

// Where the texels are.
struct Places {
  unsigned long long row[most_lanes];  // the address of the row's first texel
  unsigned x[most_lanes];
  unsigned are_there;  // a bit for each lane

  bool is_there(unsigned lane) const { return (are_there >> lane & 1) != 0; }

  METAL_DEVICE char* address(unsigned lane, unsigned bytes) const {
    return reinterpret_cast<METAL_DEVICE char*>(row[lane] + static_cast<unsigned long long>(x[lane]) * bytes);
  }

  // A bit for each lane whose successor's texel is the one to the right.
  unsigned are_before_next() const {
    unsigned lanes = 0;
    for (unsigned lane = 0; lane + 1 < most_lanes; ++lane)
      lanes |= static_cast<unsigned>(row[lane] == row[lane + 1] & x[lane] + 1 == x[lane + 1]) << lane;
    return lanes;
  }
};

// Calls all(first) for eight lanes side by side, and one(lane) for others.
constexpr unsigned neighbours = 8;
template <class All, class One>
void for_each_place(const Places& places, All all, One one) {
  const unsigned before_next = places.are_before_next();
  for (unsigned first = 0; first < most_lanes; first += neighbours)
    if ((places.are_there >> first & 0xFF) == 0xFF && (before_next >> first & 0x7F) == 0x7F)
      all(first);
    else
      for (unsigned lane = first; lane < first + neighbours; ++lane) one(lane);
}

// Texels of lanes side by side, from `first` on.
template <class Word>
void load_row(const METAL_DEVICE char* from, unsigned first, unsigned words, Texels& texels) {
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned lane = 0; lane < neighbours; ++lane)
      texels.word[i][first + lane] = i < words ? reinterpret_cast<const METAL_DEVICE Word*>(from)[lane * words + i] : 0;
}
template <class Word>
void store_row(METAL_DEVICE char* to, unsigned first, unsigned words, const Texels& texels) {
  for (unsigned i = 0; i < words; ++i)
    for (unsigned lane = 0; lane < neighbours; ++lane)
      reinterpret_cast<METAL_DEVICE Word*>(to)[lane * words + i] = static_cast<Word>(texels.word[i][first + lane]);
}

// Where there is none, its bits are 0.
template <class Format>
void load_texels(const Format& format, const Places& places, Texels& texels) {
  const unsigned bytes = format.format.bytes;
  for_each_place(
      places,
      [&](unsigned first) {
        const METAL_DEVICE char* from = places.address(first, bytes);
        if (bytes == 1) return load_row<unsigned char>(from, first, 1, texels);
        if (bytes == 2) return load_row<unsigned short>(from, first, 1, texels);
        load_row<unsigned>(from, first, bytes / 4, texels);
      },
      [&](unsigned lane) {
        texels.set(lane, places.is_there(lane) ? load_bits(places.address(lane, bytes), bytes) : TexelBits{});
      });
}

// Of lanes in one place, the last one's stays.
template <class Format>
void store_texels(const Format& format, const Places& places, const Texels& texels) {
  const unsigned bytes = format.format.bytes;
  for_each_place(
      places,
      [&](unsigned first) {
        METAL_DEVICE char* to = places.address(first, bytes);
        if (bytes == 1) return store_row<unsigned char>(to, first, 1, texels);
        if (bytes == 2) return store_row<unsigned short>(to, first, 1, texels);
        store_row<unsigned>(to, first, bytes / 4, texels);
      },
      [&](unsigned lane) {
        if (places.is_there(lane)) store_bits(places.address(lane, bytes), bytes, texels.bits(lane));
      });
}

template <class T>
void load_colors(Texture texture, const Places& places, Colors<T>& colors) {
  with_format<T>(texture, [&](const auto& format) {
    Texels texels;
    load_texels(format, places, texels);
    decode_texels<T>(format, texels, colors);
  });
  if constexpr (__is_same(T, float))
    if (has_gamma(texture)) remove_gamma(colors);
}

// Changes the colors.
template <class T>
void store_colors(Texture texture, const Places& places, Colors<T>& colors) {
  if constexpr (__is_same(T, float))
    if (has_gamma(texture)) apply_gamma(colors);
  with_format<T>(texture, [&](const auto& format) {
    Texels texels;
    encode_texels<T>(format, colors, texels);
    store_texels(format, places, texels);
  });
}

}  // namespace metalloid::builtins

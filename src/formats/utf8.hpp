// UTF-8 by hand, for text that may not be any: a byte that is no part of a character counts as one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace metalloid::formats {

// The bytes of the character that begins at `begin`.
inline size_t utf8_length(std::string_view text, size_t begin) {
  const auto first = static_cast<uint8_t>(text[begin]);
  const size_t length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF8 ? 4 : 1;
  if (begin + length > text.size()) return 1;
  for (size_t i = 1; i < length; ++i)
    if ((static_cast<uint8_t>(text[begin + i]) & 0xC0) != 0x80) return 1;
  return length;
}

// Of code points below 0x800, which is all we need.
inline std::string utf8_of(uint32_t code_point) {
  if (code_point < 0x80) return {static_cast<char>(code_point)};
  return {static_cast<char>(0xC0 | code_point >> 6), static_cast<char>(0x80 | (code_point & 0x3F))};
}

}  // namespace metalloid::formats

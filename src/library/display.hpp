// Text from a file, made fit for a terminal: what takes which width, with nothing in it that a terminal would obey.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace metalloid {

// One character as it is shown.
struct Glyph {
  std::string text;   // a tab is spaces, a control character is <U+001B>, a byte that is no UTF-8 is <FF>
  size_t width = 0;   // in columns
  size_t offset = 0;  // of its first byte in the original
};

std::vector<Glyph> glyphs(std::string_view text);

std::string printable(std::string_view text);
size_t display_width(std::string_view text);

}  // namespace metalloid

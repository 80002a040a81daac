#include "library/display.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace metalloid {
namespace {

constexpr size_t tab_width = 8;

struct Character {
  uint32_t code_point = 0;
  size_t length = 0;  // in bytes; 0 if the bytes are no UTF-8
};

Character decode(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0}; };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4) return {};
  uint32_t code_point = lead & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code_point = code_point << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code_point >= 0xd800 && code_point < 0xe000;
  if (code_point < least[length] || code_point > 0x10ffff || surrogate) return {};
  return {code_point, length};
}

struct Range {
  uint32_t first, last;
};

// The blocks whose characters take no column, and two; single exceptions inside blocks are not worth their table.
constexpr Range combining[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},
                               {0x64b, 0x65f},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff},
                               {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
constexpr Range wide[] = {{0x1100, 0x115f},  {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xa960, 0xa97f},
                          {0xac00, 0xd7a3},  {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                          {0xffe0, 0xffe6},  {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff},
                          {0x20000, 0x3fffd}};

template <size_t N>
bool within(const Range (&ranges)[N], uint32_t code_point) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [&](Range range) { return code_point >= range.first && code_point <= range.last; });
}

// Also the marks that turn the direction of writing: source must not look like what it is not.
bool is_control(uint32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0) ||
         (code_point >= 0x200b && code_point <= 0x200f) || (code_point >= 0x2028 && code_point <= 0x202e) ||
         (code_point >= 0x2060 && code_point <= 0x206f) || code_point == 0xfeff;
}

}  // namespace

std::vector<Glyph> glyphs(std::string_view text) {
  std::vector<Glyph> result;
  size_t column = 0;
  for (size_t offset = 0; offset < text.size();) {
    const auto [code_point, length] = decode(text.substr(offset));
    Glyph glyph{{}, 1, offset};
    if (length == 0) {
      glyph.text = fmt::format("<{:02X}>", static_cast<uint8_t>(text[offset]));
      glyph.width = glyph.text.size();
    } else if (code_point == '\t') {
      glyph.width = tab_width - column % tab_width;
      glyph.text.assign(glyph.width, ' ');
    } else if (is_control(code_point)) {
      glyph.text = fmt::format("<U+{:04X}>", code_point);
      glyph.width = glyph.text.size();
    } else {
      glyph.text = text.substr(offset, length);
      if (code_point >= 0x300) glyph.width = within(combining, code_point) ? 0 : within(wide, code_point) ? 2 : 1;
    }
    column += glyph.width;
    offset += std::max<size_t>(length, 1);
    result.push_back(std::move(glyph));
  }
  return result;
}

std::string printable(std::string_view text) {
  std::string result;
  for (const Glyph& glyph : glyphs(text)) result += glyph.text;
  return result;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (const Glyph& glyph : glyphs(text)) width += glyph.width;
  return width;
}

}  // namespace metalloid

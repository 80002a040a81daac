// Diagnostics as compilers print them. Columns count bytes, the caret counts what the terminal shows: tabs, wide
// characters and bytes that are no text take the room they take. Of a very long line, only the part around the caret
// is shown.
#include <fmt/format.h>

#include <algorithm>
#include <metalloid/diagnostic.hpp>

#include "library/colour.hpp"
#include "library/display.hpp"
#include "library/enum_names.hpp"

namespace metalloid {
namespace {

constexpr size_t widest_line = 160;
constexpr std::string_view cut = "...";

Ink ink_of(Severity severity) {
  return severity == Severity::error ? Ink::red : severity == Severity::warning ? Ink::magenta : Ink::grey;
}

std::string place_of(const Diagnostic& diagnostic) {
  std::string place = printable(diagnostic.file);
  if (place.empty()) return place;
  if (diagnostic.line > 0) place += fmt::format(":{}", diagnostic.line);
  if (diagnostic.line > 0 && diagnostic.column > 0) place += fmt::format(":{}", diagnostic.column);
  return place + ": ";
}

// Its line ends are ours; anything else that is no text came from the source.
std::string message_of(const Diagnostic& diagnostic) {
  std::string result;
  std::string_view rest = diagnostic.message;
  for (size_t end = rest.find('\n'); end != rest.npos; end = rest.find('\n')) {
    result += printable(rest.substr(0, end)) + "\n";
    rest.remove_prefix(end + 1);
  }
  return result + printable(rest);
}

std::string source_with_caret(const Diagnostic& diagnostic, const Palette& palette) {
  std::string_view line = diagnostic.source_line;
  line = line.substr(0, line.find_last_not_of("\r\n") + 1);
  const std::vector<Glyph> shown = glyphs(line);
  const size_t caret_offset = diagnostic.column > 0 ? diagnostic.column - 1 : 0;

  size_t caret_column = 0, width = 0;
  for (const Glyph& glyph : shown) {
    if (glyph.offset <= caret_offset) caret_column = width;
    width += glyph.width;
  }
  if (caret_offset >= line.size()) caret_column = width;

  const size_t first = caret_column > widest_line / 2 && width > widest_line ? caret_column - widest_line / 2 : 0;
  std::string text(first > 0 ? cut : "");
  size_t column = 0, caret = 0;
  bool ended_early = false;
  size_t room = text.size();
  for (const Glyph& glyph : shown) {
    const size_t start = column;
    column += glyph.width;
    if (start < first) continue;
    if (start == caret_column) caret = room;
    ended_early = start - first + glyph.width > widest_line;
    if (ended_early) break;
    text += glyph.text;
    room += glyph.width;
  }
  if (caret_column == width) caret = room;
  if (ended_early) text += cut;

  std::string result = text + "\n";
  if (diagnostic.column > 0) result += std::string(caret, ' ') + palette(Ink::green, "^") + "\n";
  return result;
}

}  // namespace

bool has_errors(const std::vector<Diagnostic>& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& diagnostic) { return diagnostic.severity == Severity::error; });
}

std::string format(const Diagnostic& diagnostic, bool colour) {
  const Palette palette(colour);
  const std::string severity = fmt::format("{}: ", enum_name(diagnostic.severity));
  std::string result = palette(Ink::bold, place_of(diagnostic)) + palette(ink_of(diagnostic.severity), severity) +
                       palette(Ink::bold, message_of(diagnostic)) + "\n";
  if (!diagnostic.source_line.empty()) result += source_with_caret(diagnostic, palette);
  return result;
}

std::string format(const std::vector<Diagnostic>& diagnostics, bool colour) {
  std::string result;
  for (const Diagnostic& diagnostic : diagnostics) result += format(diagnostic, colour);
  return result;
}

}  // namespace metalloid

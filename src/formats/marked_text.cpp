#include "formats/marked_text.hpp"

#include <charconv>

namespace metalloid::formats {

std::string text_of_marked(std::string_view spelling) {
  if (spelling.size() == 6 && spelling.starts_with("<0x") && spelling.ends_with('>')) {
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(&spelling[3], &spelling[5], byte, 16);
    if (error == std::errc{} && end == &spelling[5]) return {static_cast<char>(byte)};
  }
  std::string text;
  for (size_t at = 0; at < spelling.size();) {
    const bool is_space = spelling.substr(at).starts_with(sentencepiece_space);
    text += is_space ? ' ' : spelling[at];
    at += is_space ? sentencepiece_space.size() : 1;
  }
  return text;
}

}  // namespace metalloid::formats

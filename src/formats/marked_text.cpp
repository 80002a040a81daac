#include "formats/marked_text.hpp"

#include <charconv>

namespace metalloid::formats {

std::string text_of_marked(std::string_view spelling) {
  if (spelling.size() == 6 && spelling.starts_with("<0x") && spelling.ends_with('>')) {
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(&spelling[3], &spelling[5], byte, 16);
    if (error == std::errc{} && end == &spelling[5]) return {static_cast<char>(byte)};
  }
  std::string text(spelling);
  for (size_t at = 0; (at = text.find(sentencepiece_space, at)) != std::string::npos; ++at)
    text.replace(at, sentencepiece_space.size(), " ");
  return text;
}

}  // namespace metalloid::formats

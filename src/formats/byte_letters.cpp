#include "formats/byte_letters.hpp"

#include <array>
#include <unordered_map>

#include "formats/utf8.hpp"

namespace metalloid::formats {
namespace {

const std::array<std::string, 256>& letters() {
  static const auto table = [] {
    std::array<std::string, 256> made;
    uint32_t next = 0x100;
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const bool is_printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
      made[byte] = utf8_of(is_printable ? byte : next++);
    }
    return made;
  }();
  return table;
}

}  // namespace

std::string letters_of_bytes(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += letters()[static_cast<uint8_t>(byte)];
  return text;
}

std::string bytes_of_letters(std::string_view text) {
  static const auto bytes = [] {
    std::unordered_map<std::string_view, char> made;
    for (size_t byte = 0; byte < 256; ++byte) made.emplace(letters()[byte], static_cast<char>(byte));
    return made;
  }();
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const std::string_view letter = text.substr(at, utf8_length(text, at));
    const auto found = bytes.find(letter);
    if (found == bytes.end())
      result += letter;
    else
      result += found->second;
    at += letter.size();
  }
  return result;
}

}  // namespace metalloid::formats

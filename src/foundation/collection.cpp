#include "foundation/collection.hpp"

#include <algorithm>
#include <cctype>

#include "foundation/string.hpp"

namespace metalloid::foundation {

std::string described_element(const NS::Object* object) {
  const std::string_view text = text_of(object->description());
  std::string out;
  if (dynamic_cast<const NS::String*>(object)) {
    const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
      return std::isalnum(c) || c == '_' || c == '.' || c == '/' || c == '$' || c == ':';
    });
    if (plain) return std::string(text);
    out = '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    return out + '"';
  }
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "    ";
  }
  return out;
}

}  // namespace metalloid::foundation

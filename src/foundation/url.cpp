// A URL is kept as its text, and as a path if it is a file's. Text without a scheme is read as a path.
#include <Foundation/NSURL.hpp>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>

#include "foundation/misuse.hpp"
#include "foundation/object.hpp"
#include "foundation/string.hpp"

namespace metalloid::foundation {
namespace {

class URLObject final : public NS::URL {
 public:
  std::string text;
  std::optional<std::string> path;

  const char* className() const override { return "NSURL"; }
  NS::UInteger contentHash() const override { return std::hash<std::string>()(text); }
  bool contentEquals(const NS::Object& other) const override;
  NS::String* contentDescription() const override { return autoreleased_string(text); }
};

const URLObject* body(const NS::URL* url) {
  return static_cast<const URLObject*>(url);
}
URLObject* body(NS::URL* url) {
  return static_cast<URLObject*>(url);
}

bool URLObject::contentEquals(const NS::Object& other) const {
  const auto* url = dynamic_cast<const NS::URL*>(&other);
  return url && text == body(url)->text;
}

bool is_unreserved(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) ||
         std::string_view("-._~/!$&'()*+,=:@").find(c) != std::string_view::npos;
}

std::string percent_encoded(std::string_view path) {
  std::string out;
  for (const char c : path) {
    char escape[4];
    std::snprintf(escape, sizeof escape, "%%%02X", static_cast<unsigned char>(c));
    if (is_unreserved(c))
      out += c;
    else
      out += escape;
  }
  return out;
}

std::string percent_decoded(std::string_view text) {
  const auto digit = [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) ? c - '0' : (c | 0x20) - 'a' + 10;
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size() &&
                        std::isxdigit(static_cast<unsigned char>(text[i + 1])) &&
                        std::isxdigit(static_cast<unsigned char>(text[i + 2]));
    out += escape ? static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2])) : text[i];
    if (escape) i += 2;
  }
  return out;
}

std::string_view scheme_of(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || !std::isalpha(static_cast<unsigned char>(text[0]))) return {};
  for (const char c : text.substr(0, colon))
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '+' && c != '-' && c != '.') return {};
  return text.substr(0, colon);
}

std::string without_trailing_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string path_of_file_url(std::string_view text) {
  std::string_view rest = text.substr(text.find(':') + 1);
  if (rest.starts_with("//")) {  // then a host, which is us
    const std::size_t slash = rest.find('/', 2);
    rest = slash == std::string_view::npos ? "/" : rest.substr(slash);
  }
  rest = rest.substr(0, rest.find_first_of("?#"));
  return without_trailing_slash(percent_decoded(rest));
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace
}  // namespace metalloid::foundation

namespace NS {

using namespace metalloid::foundation;

URL* URL::fileURLWithPath(const String* path) {
  return autoreleased(alloc()->initFileURLWithPath(path));
}

URL* URL::alloc() {
  return new URLObject;
}

URL* URL::init() {
  return this;
}

URL* URL::init(const String* string) {
  if (!string || string->length() == 0) return failed_init(this);
  URLObject* self = body(this);
  self->text = text_of(string);
  const std::string_view scheme = scheme_of(self->text);
  if (scheme.empty())
    self->path = without_trailing_slash(percent_decoded(self->text));
  else if (equals_ignoring_case(scheme, "file"))
    self->path = path_of_file_url(self->text);
  return this;
}

URL* URL::initFileURLWithPath(const String* path) {
  if (!path) {
    report_misuse("-[NSURL initFileURLWithPath:]", "nil string parameter");
    return failed_init(this);
  }
  std::error_code no_working_directory;
  const auto absolute = std::filesystem::absolute(std::filesystem::path(text_of(path).empty() ? "." : text_of(path)),
                                                  no_working_directory);
  if (no_working_directory) return failed_init(this);
  body(this)->path =
      without_trailing_slash(text_of(path).empty() ? absolute.lexically_normal().string() : absolute.string());
  body(this)->text = "file://" + percent_encoded(*body(this)->path);
  return this;
}

const char* URL::fileSystemRepresentation() const {
  const URLObject* self = body(this);
  return self && self->path ? self->path->c_str() : nullptr;
}

}  // namespace NS

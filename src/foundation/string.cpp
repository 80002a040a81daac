#include "foundation/string.hpp"

#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "foundation/data.hpp"
#include "foundation/encoding.hpp"
#include "foundation/misuse.hpp"
#include "foundation/object.hpp"

namespace metalloid::foundation {

void StringObject::assign(std::string_view utf8) {
  storage_ = std::make_unique<std::string>(utf8);
  text_ = storage_->c_str();
  size_ = utf8.size();
  const bool ascii = std::all_of(text_, text_ + size_, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  units_ = ascii ? nullptr : std::make_unique<std::u16string>(units_from_utf8(text()));
  well_formed_ = ascii || is_valid_utf8(text());
}

StringObject* StringObject::make_immortal(std::string_view utf8) {
  auto* string = new StringObject(Lifetime::Immortal);
  string->assign(utf8);
  return string;
}

std::u16string StringObject::units() const {
  return units_ ? *units_ : std::u16string(text_, text_ + size_);
}

NS::UInteger StringObject::contentHash() const {
  return std::hash<std::string_view>()(text());
}

bool StringObject::contentEquals(const NS::Object& other) const {
  const auto* string = dynamic_cast<const NS::String*>(&other);
  return string && text() == body(string)->text();
}

NS::String* StringObject::contentDescription() const {
  return const_cast<StringObject*>(this)->retain()->autorelease();
}

NS::String* new_string(std::string_view utf8) {
  return new StringObject(utf8);
}

NS::String* autoreleased_string(std::string_view utf8) {
  return new_string(utf8)->autorelease();
}

namespace {

std::size_t bytes_before_terminator(const char* bytes, NS::StringEncoding encoding) {
  const std::size_t step = terminator_size(encoding);
  static constexpr char zeros[4] = {};
  std::size_t size = 0;
  while (std::memcmp(bytes + size, zeros, step) != 0) size += step;
  return size;
}

// Both letters of a pair become the same. The C.UTF-8 locale knows Unicode's simple case mappings; without it, ASCII's.
char16_t fold_case(char16_t unit) {
  static const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (unit < 0x80 || !unicode) return unit >= 'A' && unit <= 'Z' ? unit + ('a' - 'A') : unit;
  return static_cast<char16_t>(towlower_l(towupper_l(unit, unicode), unicode));
}

std::u16string folded(std::u16string units) {
  std::transform(units.begin(), units.end(), units.begin(), fold_case);
  return units;
}

}  // namespace
}  // namespace metalloid::foundation

namespace NS {

using namespace metalloid::foundation;

String* Private::constantString(const char* text, std::size_t length) {
  static std::mutex mutex;
  static auto& constants = *new std::map<std::string, StringObject*, std::less<>>;
  const std::lock_guard lock(mutex);
  const std::string_view key(text, length);
  const auto found = constants.find(key);
  if (found != constants.end()) return found->second;
  return constants.emplace(key, StringObject::make_immortal(key)).first->second;
}

String* String::string() {
  return autoreleased_string("");
}

String* String::string(const String* string) {
  return autoreleased(alloc()->init(string));
}

String* String::string(const char* text, StringEncoding encoding) {
  return autoreleased(alloc()->init(text, encoding));
}

String* String::alloc() {
  return new StringObject;
}

String* String::init() {
  return this;
}

String* String::init(const String* string) {
  if (!string) {
    report_misuse("-[NSString initWithString:]", "nil argument");
    return failed_init(this);
  }
  body(this)->assign(text_of(string));
  return this;
}

String* String::init(const char* text, StringEncoding encoding) {
  if (!text) {
    report_misuse("-[NSString initWithCString:encoding:]", "NULL cString");
    return failed_init(this);
  }
  return init(const_cast<char*>(text), bytes_before_terminator(text, encoding), encoding, false);
}

String* String::init(void* bytes, UInteger size, StringEncoding encoding, bool free_buffer) {
  const auto text = bytes || size == 0 ? decode({static_cast<const char*>(bytes), size}, encoding) : std::nullopt;
  if (!text) return failed_init(this);
  body(this)->assign(*text);
  if (free_buffer) std::free(bytes);
  return this;
}

unichar String::character(UInteger index) const {
  const StringObject* self = body(this);
  if (!self) return 0;
  if (index < self->length()) return self->unit(index);
  report_misuse("-[NSString characterAtIndex:]", "index out of bounds");
  return 0;
}

UInteger String::length() const {
  const StringObject* self = body(this);
  return self ? self->length() : 0;
}

const char* String::cString(StringEncoding encoding) const {
  const StringObject* self = body(this);
  if (!self) return nullptr;
  const bool as_kept =
      encoding == UTF8StringEncoding ? self->is_well_formed() : encoding == ASCIIStringEncoding && self->is_ascii();
  if (as_kept) return self->c_str();
  auto bytes = encode(self->text(), encoding);
  if (!bytes) return nullptr;
  bytes->append(terminator_size(encoding), '\0');
  return static_cast<const char*>(autoreleased_data(std::move(*bytes))->bytes());
}

const char* String::utf8String() const {
  return cString(UTF8StringEncoding);
}

UInteger String::maximumLengthOfBytes(StringEncoding encoding) const {
  return length() * most_bytes_per_unit(encoding);
}

UInteger String::lengthOfBytes(StringEncoding encoding) const {
  const auto bytes = encode(text_of(this), encoding);
  return bytes ? bytes->size() : 0;
}

bool String::isEqualToString(const String* string) const {
  return isEqual(string);
}

Range String::rangeOfString(const String* string, StringCompareOptions options) const {
  const Range nowhere(NotFound, 0);
  const StringObject* self = body(this);
  if (!self) return Range(0, 0);
  if (!string) {
    report_misuse("-[NSString rangeOfString:options:]", "nil argument");
    return nowhere;
  }
  if (string->length() == 0 || (options & RegularExpressionSearch)) return nowhere;
  std::u16string text = self->units(), sought = body(string)->units();
  if (options & CaseInsensitiveSearch) {
    text = folded(std::move(text));
    sought = folded(std::move(sought));
  }
  if (sought.size() > text.size()) return nowhere;
  std::size_t at;
  if (options & AnchoredSearch) {
    at = options & BackwardsSearch ? text.size() - sought.size() : 0;
    if (text.compare(at, sought.size(), sought) != 0) return nowhere;
  } else {
    at = options & BackwardsSearch ? text.rfind(sought) : text.find(sought);
    if (at == std::u16string::npos) return nowhere;
  }
  return Range(at, sought.size());
}

const char* String::fileSystemRepresentation() const {
  return utf8String();
}

String* String::stringByAppendingString(const String* string) const {
  if (!body(this)) return nullptr;
  if (!string) {
    report_misuse("-[NSString stringByAppendingString:]", "nil argument");
    return nullptr;
  }
  // Through the units: an unpaired surrogate may find its other half.
  if (body(this)->is_well_formed() || body(string)->is_well_formed())
    return autoreleased_string(std::string(text_of(this)).append(text_of(string)));
  return autoreleased_string(utf8_from_units(body(this)->units() + body(string)->units()));
}

ComparisonResult String::caseInsensitiveCompare(const String* string) const {
  if (!body(this)) return OrderedSame;
  const int order = folded(body(this)->units()).compare(string ? folded(body(string)->units()) : std::u16string());
  return order < 0 ? OrderedAscending : order > 0 ? OrderedDescending : OrderedSame;
}

}  // namespace NS

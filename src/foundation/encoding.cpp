#include "foundation/encoding.hpp"

#include <iconv.h>

#include <bit>
#include <charconv>
#include <cstdio>

namespace metalloid::foundation {
namespace {

constexpr bool is_high_surrogate(char32_t c) {
  return c >= 0xD800 && c < 0xDC00;
}
constexpr bool is_low_surrogate(char32_t c) {
  return c >= 0xDC00 && c < 0xE000;
}
constexpr bool is_surrogate(char32_t c) {
  return c >= 0xD800 && c < 0xE000;
}

void append_utf8(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
  } else if (c < 0x10000) {
    out += {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3F)),
            static_cast<char>(0x80 | (c & 0x3F))};
  } else {
    out += {static_cast<char>(0xF0 | c >> 18), static_cast<char>(0x80 | (c >> 12 & 0x3F)),
            static_cast<char>(0x80 | (c >> 6 & 0x3F)), static_cast<char>(0x80 | (c & 0x3F))};
  }
}

// The next code point, surrogates included, moving `at` past it; nothing at a malformed or overlong sequence.
std::optional<char32_t> next_code_point(std::string_view bytes, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(bytes[at]);
  const int size = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (size == 0 || bytes.size() - at < static_cast<std::size_t>(size)) return std::nullopt;
  char32_t c = size == 1 ? lead : lead & (0x7F >> size);
  for (int i = 1; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[at + i]);
    if ((byte & 0xC0) != 0x80) return std::nullopt;
    c = c << 6 | (byte & 0x3F);
  }
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (c < smallest[size] || c > 0x10FFFF) return std::nullopt;
  at += size;
  return c;
}

bool is_big_endian(NS::StringEncoding encoding, bool host_is_big = std::endian::native == std::endian::big) {
  switch (encoding) {
    case NS::UTF16BigEndianStringEncoding:
    case NS::UTF32BigEndianStringEncoding:
      return true;
    case NS::UTF16LittleEndianStringEncoding:
    case NS::UTF32LittleEndianStringEncoding:
      return false;
    default:
      return host_is_big;
  }
}

bool is_utf16(NS::StringEncoding encoding) {
  return encoding == NS::UTF16StringEncoding || encoding == NS::UTF16BigEndianStringEncoding ||
         encoding == NS::UTF16LittleEndianStringEncoding;
}

bool is_utf32(NS::StringEncoding encoding) {
  return encoding == NS::UTF32StringEncoding || encoding == NS::UTF32BigEndianStringEncoding ||
         encoding == NS::UTF32LittleEndianStringEncoding;
}

template <class Unit>
std::basic_string<Unit> read_units(std::string_view bytes, NS::StringEncoding encoding) {
  constexpr std::size_t size = sizeof(Unit);
  const auto read = [&](std::size_t at, bool big) {
    char32_t unit = 0;
    for (std::size_t i = 0; i < size; ++i)
      unit |= static_cast<char32_t>(static_cast<unsigned char>(bytes[at + i])) << 8 * (big ? size - 1 - i : i);
    return static_cast<Unit>(unit);
  };
  bool big = is_big_endian(encoding);
  std::size_t at = 0;
  // Only the encodings that leave the order open are marked with it.
  const bool open = encoding == NS::UTF16StringEncoding || encoding == NS::UTF32StringEncoding;
  if (open && bytes.size() >= size && (read(0, false) == 0xFEFF || read(0, true) == 0xFEFF)) {
    big = read(0, true) == 0xFEFF;
    at = size;
  }
  std::basic_string<Unit> units;
  for (; at + size <= bytes.size(); at += size) units += read(at, big);
  return units;
}

template <class Unit>
void write_unit(std::string& out, Unit unit, bool big) {
  constexpr std::size_t size = sizeof(Unit);
  for (std::size_t i = 0; i < size; ++i) out += static_cast<char>(unit >> 8 * (big ? size - 1 - i : i));
}

// ASCII in which every other unit is \uXXXX, Latin-1 ones \ooo, and a backslash is doubled.
std::string non_lossy_ascii(std::string_view utf8) {
  std::string out;
  for (const char16_t unit : units_from_utf8(utf8)) {
    char escape[8];
    if (unit == '\\')
      out += "\\\\";
    else if (unit < 0x80)
      out += static_cast<char>(unit);
    else {
      std::snprintf(escape, sizeof escape, unit < 0x100 ? "\\%03o" : "\\u%04x", static_cast<unsigned>(unit));
      out += escape;
    }
  }
  return out;
}

std::optional<std::string> from_non_lossy_ascii(std::string_view bytes) {
  const auto number = [](std::string_view digits, int base) -> std::optional<unsigned> {
    unsigned value = 0;
    const char* end = digits.data() + digits.size();
    return std::from_chars(digits.data(), end, value, base).ptr == end ? std::optional(value) : std::nullopt;
  };
  std::u16string units;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::string_view rest = bytes.substr(at);
    if (static_cast<unsigned char>(rest[0]) >= 0x80) return std::nullopt;
    if (rest[0] != '\\') {
      units += rest[0];
      ++at;
    } else if (rest.size() >= 2 && rest[1] == '\\') {
      units += u'\\';
      at += 2;
    } else if (rest.size() >= 6 && rest[1] == 'u') {
      const auto unit = number(rest.substr(2, 4), 16);
      if (!unit) return std::nullopt;
      units += static_cast<char16_t>(*unit);
      at += 6;
    } else if (rest.size() >= 4) {
      const auto unit = number(rest.substr(1, 3), 8);
      if (!unit || *unit > 0xFF) return std::nullopt;
      units += static_cast<char16_t>(*unit);
      at += 4;
    } else {
      return std::nullopt;
    }
  }
  return utf8_from_units(units);
}

const char* iconv_name(NS::StringEncoding encoding) {
  switch (encoding) {
    case NS::JapaneseEUCStringEncoding:
      return "EUC-JP";
    case NS::ShiftJISStringEncoding:
      return "CP932";
    case NS::ISOLatin2StringEncoding:
      return "ISO-8859-2";
    case NS::WindowsCP1250StringEncoding:
      return "CP1250";
    case NS::WindowsCP1251StringEncoding:
      return "CP1251";
    case NS::WindowsCP1252StringEncoding:
      return "CP1252";
    case NS::WindowsCP1253StringEncoding:
      return "CP1253";
    case NS::WindowsCP1254StringEncoding:
      return "CP1254";
    case NS::ISO2022JPStringEncoding:
      return "ISO-2022-JP";
    case NS::MacOSRomanStringEncoding:
      return "MACINTOSH";
    default:
      return nullptr;
  }
}

std::optional<std::string> convert(std::string_view bytes, const char* from, const char* to) {
  if (!from || !to) return std::nullopt;
  const iconv_t converter = iconv_open(to, from);
  if (converter == reinterpret_cast<iconv_t>(-1)) return std::nullopt;
  std::string out(bytes.size() * 4 + 16, '\0');  // no encoding here needs more for a byte
  char* in = const_cast<char*>(bytes.data());
  char* end = out.data();
  std::size_t in_left = bytes.size(), out_left = out.size();
  const bool converted =
      iconv(converter, &in, &in_left, &end, &out_left) == 0 && iconv(converter, nullptr, nullptr, &end, &out_left) == 0;
  iconv_close(converter);
  if (!converted) return std::nullopt;
  out.resize(end - out.data());
  return out;
}

}  // namespace

std::string utf8_from_units(std::u16string_view units) {
  std::string out;
  for (std::size_t i = 0; i < units.size(); ++i) {
    char32_t c = units[i];
    if (is_high_surrogate(c) && i + 1 < units.size() && is_low_surrogate(units[i + 1]))
      c = 0x10000 + ((c - 0xD800) << 10) + (units[++i] - 0xDC00);
    append_utf8(out, c);
  }
  return out;
}

std::u16string units_from_utf8(std::string_view utf8) {
  std::u16string units;
  for (std::size_t at = 0; at < utf8.size();) {
    const auto c = next_code_point(utf8, at);
    if (!c) break;
    if (*c < 0x10000) {
      units += static_cast<char16_t>(*c);
    } else {
      units += static_cast<char16_t>(0xD800 + ((*c - 0x10000) >> 10));
      units += static_cast<char16_t>(0xDC00 + ((*c - 0x10000) & 0x3FF));
    }
  }
  return units;
}

bool is_valid_utf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const auto c = next_code_point(bytes, at);
    if (!c || is_surrogate(*c)) return false;
  }
  return true;
}

std::optional<std::string> decode(std::string_view bytes, NS::StringEncoding encoding) {
  if (encoding == NS::UTF8StringEncoding)
    return is_valid_utf8(bytes) ? std::optional<std::string>(bytes) : std::nullopt;
  if (encoding == NS::NonLossyASCIIStringEncoding) return from_non_lossy_ascii(bytes);
  std::string out;
  // A Mac takes what is not ASCII for Latin-1, so that Metal source with a © in a comment may be passed as ASCII.
  if (encoding == NS::ISOLatin1StringEncoding || encoding == NS::ASCIIStringEncoding) {
    for (const char c : bytes) append_utf8(out, static_cast<unsigned char>(c));
    return out;
  }
  if (is_utf16(encoding)) {
    if (bytes.size() % 2 != 0) return std::nullopt;
    return utf8_from_units(read_units<char16_t>(bytes, encoding));
  }
  if (is_utf32(encoding)) {
    if (bytes.size() % 4 != 0) return std::nullopt;
    for (const char32_t c : read_units<char32_t>(bytes, encoding)) {
      if (c > 0x10FFFF || is_surrogate(c)) return std::nullopt;
      append_utf8(out, c);
    }
    return out;
  }
  return convert(bytes, iconv_name(encoding), "UTF-8");
}

std::optional<std::string> encode(std::string_view utf8, NS::StringEncoding encoding) {
  std::string out;
  if (is_utf16(encoding)) {
    for (const char16_t unit : units_from_utf8(utf8)) write_unit(out, unit, is_big_endian(encoding));
    return out;
  }
  if (encoding == NS::NonLossyASCIIStringEncoding) return non_lossy_ascii(utf8);
  if (!is_valid_utf8(utf8)) return std::nullopt;
  if (encoding == NS::UTF8StringEncoding) return std::string(utf8);
  if (encoding == NS::ASCIIStringEncoding || encoding == NS::ISOLatin1StringEncoding || is_utf32(encoding)) {
    const char32_t end = encoding == NS::ASCIIStringEncoding ? 0x80 : 0x100;
    for (std::size_t at = 0; at < utf8.size();) {
      const char32_t c = *next_code_point(utf8, at);
      if (is_utf32(encoding))
        write_unit(out, c, is_big_endian(encoding));
      else if (c < end)
        out += static_cast<char>(c);
      else
        return std::nullopt;
    }
    return out;
  }
  return convert(utf8, "UTF-8", iconv_name(encoding));
}

std::size_t terminator_size(NS::StringEncoding encoding) {
  return is_utf32(encoding) ? 4 : is_utf16(encoding) ? 2 : 1;
}

std::size_t most_bytes_per_unit(NS::StringEncoding encoding) {
  if (is_utf32(encoding)) return 4;
  if (is_utf16(encoding)) return 2;
  switch (encoding) {
    case NS::UTF8StringEncoding:
    case NS::JapaneseEUCStringEncoding:
      return 3;
    case NS::NonLossyASCIIStringEncoding:
      return 6;
    case NS::ShiftJISStringEncoding:
      return 2;
    case NS::ISO2022JPStringEncoding:
      return 8;
    default:
      return 1;
  }
}

}  // namespace metalloid::foundation

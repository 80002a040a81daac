#include "device/log_format.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace metalloid::device {
namespace {

constexpr std::string_view missing = "<missing>", unreadable = "<unreadable>";
constexpr size_t longest_string = 65536;
constexpr int widest = 4096;  // of fields and precisions: a format cannot ask for gigabytes

class Slots {
 public:
  Slots(const uint64_t* slots, uint32_t bytes) : next_(slots), end_(slots + (slots == nullptr ? 0 : bytes / 8)) {}

  bool empty() const { return next_ == end_; }
  uint64_t take() { return *next_++; }

 private:
  const uint64_t* next_;
  const uint64_t* end_;
};

// One conversion of a format: %[flags][width][.precision][vector][length]letter.
struct Conversion {
  std::string flags;
  int width = -1, precision = -1;  // -1: none
  bool width_from_slot = false, precision_from_slot = false;
  int components = 1;
  std::string length;
  char letter = 0;
};

// Reads a number that stands in a format; -1 if there is none.
int take_number(const char*& at) {
  if (*at < '0' || *at > '9') return -1;
  int number = 0;
  for (; *at >= '0' && *at <= '9'; ++at) number = std::min(number * 10 + (*at - '0'), widest);
  return number;
}

bool is_one_of(char letter, std::string_view letters) {
  return letter != 0 && letters.find(letter) != letters.npos;
}

// Parses what follows a '%' and moves past it; a conversion with letter 0 if it is none.
Conversion take_conversion(const char*& at) {
  Conversion conversion;
  if (*at == '{') {
    const char* end = std::strchr(at, '}');
    if (end == nullptr) return conversion;
    at = end + 1;
  }
  while (is_one_of(*at, "-+ #0")) {
    if (!is_one_of(*at, conversion.flags)) conversion.flags += *at;
    ++at;
  }
  if (*at == '*')
    conversion.width_from_slot = true, ++at;
  else
    conversion.width = take_number(at);
  if (*at == '.') {
    ++at;
    if (*at == '*')
      conversion.precision_from_slot = true, ++at;
    else
      conversion.precision = std::max(take_number(at), 0);
  }
  if (*at == 'v') {
    ++at;
    conversion.components = take_number(at);
    if (!(conversion.components >= 2 && conversion.components <= 4)) return conversion;
  }
  while (is_one_of(*at, "hljztLq")) conversion.length += *at++;
  if (is_one_of(*at, "diouxXcspfFeEgGaA%")) conversion.letter = *at++;
  return conversion;
}

// Bits of an integer argument that a length modifier means; OpenCL's "hl" is a vector's 32-bit component.
unsigned bits_of(const std::string& length) {
  if (length == "hh") return 8;
  if (length == "h") return 16;
  if (length.empty() || length == "hl") return 32;
  return 64;
}

template <class... Values>
std::string print(const std::string& specification, Values... values) {
  const int size = std::snprintf(nullptr, 0, specification.c_str(), values...);
  if (size <= 0) return {};
  std::string text(static_cast<size_t>(size) + 1, '\0');
  std::snprintf(text.data(), text.size(), specification.c_str(), values...);
  text.pop_back();
  return text;
}

// The bytes from an address to the next page's start, copied by the system: it says so if they cannot be read, where
// this process would end. False if so.
bool append_readable(uint64_t address, size_t bytes, std::string& text) {
  std::string copy(bytes, '\0');
  iovec to = {copy.data(), bytes}, from = {reinterpret_cast<void*>(address), bytes};
  if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) < 0) {
    if (errno == EFAULT) return false;
    std::memcpy(copy.data(), from.iov_base, bytes);  // a system without this call
  }
  text += copy;
  return true;
}

// The string at an address that a kernel made, which can be any.
std::string string_at(uint64_t address, size_t longest) {
  constexpr size_t page = 4096;
  if (address == 0) return "(null)";
  std::string text;
  while (text.size() < longest) {
    const uint64_t next = address + text.size();
    const size_t searched = text.size();
    if (!append_readable(next, page - next % page, text)) return std::string(unreadable);
    if (const size_t end = text.find('\0', searched); end != text.npos) {
      text.resize(end);
      break;
    }
  }
  return text.substr(0, longest);
}

std::string text_of(const Conversion& conversion, uint64_t slot) {
  std::string specification = "%" + conversion.flags;
  if (conversion.width >= 0) specification += std::to_string(conversion.width);
  if (conversion.precision >= 0) specification += "." + std::to_string(conversion.precision);
  const unsigned unused = 64 - bits_of(conversion.length);
  switch (conversion.letter) {
    case 'd':
    case 'i':
      return print(specification + "lld", static_cast<long long>(slot << unused) >> unused);
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      return print(specification + "ll" + conversion.letter, static_cast<unsigned long long>(slot << unused >> unused));
    case 'c':
      return print(specification + "c", static_cast<int>(static_cast<unsigned char>(slot)));
    case 'p':
      return print(specification + "p", reinterpret_cast<const void*>(slot));
    case 's': {
      const size_t longest = conversion.precision < 0 ? longest_string : static_cast<size_t>(conversion.precision);
      return print(specification + "s", string_at(slot, longest).c_str());
    }
    default:
      return print(specification + conversion.letter,
                   static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(slot))));
  }
}

std::string text_of(Conversion conversion, Slots& slots) {
  if (conversion.letter == '%') return "%";
  if (conversion.width_from_slot) {
    if (slots.empty()) return std::string(missing);
    const int width = static_cast<int>(slots.take());
    if (width < 0) conversion.flags += '-';
    conversion.width = static_cast<int>(std::min<long long>(std::abs(static_cast<long long>(width)), widest));
  }
  if (conversion.precision_from_slot) {
    if (slots.empty()) return std::string(missing);
    conversion.precision = std::clamp(static_cast<int>(slots.take()), -1, widest);
  }
  std::string text;
  for (int i = 0; i < conversion.components; ++i) {
    if (i > 0) text += ',';
    text += slots.empty() ? std::string(missing) : text_of(conversion, slots.take());
  }
  return text;
}

}  // namespace

std::string format_log(const char* format, const uint64_t* slots, uint32_t bytes) {
  if (format == nullptr) return "(null)";
  Slots arguments(slots, bytes);
  std::string text;
  for (const char* at = format; *at != 0;) {
    if (*at != '%') {
      text += *at++;
      continue;
    }
    const char* start = at++;
    const Conversion conversion = take_conversion(at);
    if (conversion.letter == 0)
      text.append(start, at);
    else
      text += text_of(conversion, arguments);
  }
  return text;
}

std::vector<uint32_t> string_slots(const char* format) {
  std::vector<uint32_t> slots;
  uint32_t next = 0;
  for (const char* at = format; at != nullptr && *at != 0;) {
    if (*at++ != '%') continue;
    const Conversion conversion = take_conversion(at);
    if (conversion.letter == 0 || conversion.letter == '%') continue;
    next += static_cast<uint32_t>(conversion.width_from_slot) + static_cast<uint32_t>(conversion.precision_from_slot);
    for (int i = 0; i < conversion.components; ++i, ++next)
      if (conversion.letter == 's') slots.push_back(next);
  }
  return slots;
}

}  // namespace metalloid::device

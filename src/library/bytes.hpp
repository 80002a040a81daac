// Numbers and text as little-endian bytes, and back. The reader never runs past its end: the first read that would
// marks it as failed, and from then on every read gives zero, so decoding code asks once, when it is done.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace metalloid {

using Bytes = std::span<const uint8_t>;

class ByteWriter {
 public:
  void fixed32(uint32_t value) { fixed(value, 4); }
  void fixed64(uint64_t value) { fixed(value, 8); }

  // Seven bits a byte, lowest first; the top bit says that more follow.
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<uint8_t>(value) | 0x80);
    bytes_.push_back(static_cast<uint8_t>(value));
  }

  void append(Bytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }

  // The text in a field of `width` bytes: cut, or filled up with zeros.
  void padded_text(std::string_view text, size_t width) {
    for (size_t i = 0; i < width; ++i) bytes_.push_back(i < text.size() ? static_cast<uint8_t>(text[i]) : 0);
  }

  size_t size() const { return bytes_.size(); }
  const std::vector<uint8_t>& bytes() const { return bytes_; }
  std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  void fixed(uint64_t value, int width) {
    for (int i = 0; i < width; ++i) bytes_.push_back(static_cast<uint8_t>(value >> (8 * i)));
  }

  std::vector<uint8_t> bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(Bytes bytes) : rest_(bytes) {}

  uint8_t fixed8() { return static_cast<uint8_t>(fixed(1)); }
  uint16_t fixed16() { return static_cast<uint16_t>(fixed(2)); }
  uint32_t fixed32() { return static_cast<uint32_t>(fixed(4)); }
  uint64_t fixed64() { return fixed(8); }

  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint64_t byte = fixed(1);
      if (shift == 63 && byte > 1) break;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    fail();
    return 0;
  }

  Bytes bytes(uint64_t count) {
    if (count > rest_.size()) {
      fail();
      return {};
    }
    const Bytes taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

  std::string_view text(uint64_t length) {
    const Bytes taken = bytes(length);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

  std::string_view padded_text(size_t width) {
    const std::string_view field = text(width);
    return field.substr(0, field.find('\0'));
  }

  // The number of things that follow; each takes at least a byte, so a number that the rest cannot hold is damage.
  size_t count() {
    const uint64_t value = varint();
    if (value <= rest_.size()) return value;
    fail();
    return 0;
  }

  void fail() {
    failed_ = true;
    rest_ = {};
  }
  bool failed() const { return failed_; }
  bool at_end() const { return rest_.empty(); }
  size_t remaining() const { return rest_.size(); }

 private:
  uint64_t fixed(size_t width) {
    uint64_t value = 0;
    const Bytes taken = bytes(width);
    for (size_t i = 0; i < taken.size(); ++i) value |= uint64_t{taken[i]} << (8 * i);
    return value;
  }

  Bytes rest_;
  bool failed_ = false;
};

}  // namespace metalloid

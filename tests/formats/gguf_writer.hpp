// Writes GGUF files, for tests: entries and tensors in the order in which they are given.
#pragma once

#include <bit>
#include <metalloid/safetensors.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "library/bytes.hpp"

namespace metalloid {

class GgufWriter {
 public:
  void integer(std::string_view key, uint32_t value) {
    entry(key, 4);
    entries_.fixed32(value);
  }
  void number(std::string_view key, float value) {
    entry(key, 6);
    entries_.fixed32(std::bit_cast<uint32_t>(value));
  }
  void flag(std::string_view key, bool value) {
    entry(key, 7);
    byte(value);
  }
  void text(std::string_view key, std::string_view value) {
    entry(key, 8);
    text(entries_, value);
  }
  void texts(std::string_view key, const std::vector<std::string>& values) {
    array(key, 8, values.size());
    for (const std::string& value : values) text(entries_, value);
  }
  void numbers(std::string_view key, const std::vector<float>& values) {
    array(key, 6, values.size());
    for (const float value : values) entries_.fixed32(std::bit_cast<uint32_t>(value));
  }
  void integers(std::string_view key, const std::vector<int32_t>& values) {
    array(key, 5, values.size());
    for (const int32_t value : values) entries_.fixed32(static_cast<uint32_t>(value));
  }

  // The numbers of the types that the file may have, or any other.
  static uint32_t number_of(TensorType type) {
    return type == TensorType::f32    ? 0
           : type == TensorType::f16  ? 1
           : type == TensorType::bf16 ? 30
           : type == TensorType::q8_0 ? 8
                                      : 24;
  }
  void tensor(const TensorView& view) { tensor(view, number_of(view.type)); }
  void tensor(const TensorView& view, uint32_t type_number) {
    ++tensor_count_;
    text(tensors_, view.name);
    tensors_.fixed32(static_cast<uint32_t>(view.shape.size()));
    for (size_t i = view.shape.size(); i > 0; --i) tensors_.fixed64(view.shape[i - 1]);
    tensors_.fixed32(type_number);
    data_.resize((data_.size() + alignment - 1) / alignment * alignment);
    tensors_.fixed64(data_.size());
    data_.append(static_cast<const char*>(view.data), view.bytes);
  }

  std::string file(uint32_t version = 3) const {
    ByteWriter header;
    header.fixed32(0x46554747);
    header.fixed32(version);
    header.fixed64(tensor_count_);
    header.fixed64(entry_count_);
    header.append(entries_.bytes());
    header.append(tensors_.bytes());
    std::string whole(header.bytes().begin(), header.bytes().end());
    whole.resize((whole.size() + alignment - 1) / alignment * alignment);
    return whole + data_;
  }

  size_t alignment = 32;  // an entry must say so, too, if it is another

 private:
  void byte(uint8_t value) { entries_.append({&value, 1}); }
  void entry(std::string_view key, uint32_t type) {
    ++entry_count_;
    text(entries_, key);
    entries_.fixed32(type);
  }
  void array(std::string_view key, uint32_t type, size_t count) {
    entry(key, 9);
    entries_.fixed32(type);
    entries_.fixed64(count);
  }
  static void text(ByteWriter& writer, std::string_view value) {
    writer.fixed64(value.size());
    writer.append({reinterpret_cast<const uint8_t*>(value.data()), value.size()});
  }

  ByteWriter entries_, tensors_;
  std::string data_;
  uint64_t entry_count_ = 0, tensor_count_ = 0;
};

}  // namespace metalloid

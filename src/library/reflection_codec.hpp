// Reflection as bytes. Each code_*() names the fields of one struct in their order in the file, once for both
// directions: with an Encoder they are written, with a Decoder they are read and checked.
#pragma once

#include <metalloid/reflection.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "library/bytes.hpp"
#include "library/enum_names.hpp"
#include "library/format.hpp"

namespace metalloid {

class StringTable {
 public:
  size_t add(std::string_view text) {
    const auto [place, is_new] = numbers_.try_emplace(std::string(text), strings_.size());
    if (is_new) strings_.push_back(place->first);
    return place->second;
  }
  const std::vector<std::string_view>& strings() const { return strings_; }

 private:
  std::unordered_map<std::string, size_t> numbers_;  // its keys stay where they are
  std::vector<std::string_view> strings_;
};

class Encoder {
 public:
  Encoder(ByteWriter& out, StringTable& strings) : out_(out), strings_(strings) {}

  void number(uint64_t value) { out_.varint(value); }
  void flag(bool value) { out_.varint(value); }
  void text(const std::string& value) { out_.varint(strings_.add(value)); }
  template <class Enum>
  void choice(Enum value) {
    out_.varint(static_cast<uint64_t>(value));
  }
  template <class T, class Each>
  void list(const std::vector<T>& values, Each each) {
    out_.varint(values.size());
    for (const T& value : values) each(value);
  }

  bool enter() {
    ++reflected_;
    if (++depth_ > format::deepest_type) too_deep_ = true;
    return !too_deep_;
  }
  void leave() { --depth_; }

  uint64_t reflected() const { return reflected_; }
  bool too_deep() const { return too_deep_; }

 private:
  ByteWriter& out_;
  StringTable& strings_;
  uint64_t reflected_ = 0;
  unsigned depth_ = 0;
  bool too_deep_ = false;
};

class Decoder {
 public:
  Decoder(ByteReader& in, const std::vector<std::string_view>& strings) : in_(in), strings_(strings) {}

  template <class Number>
  void number(Number& value) {
    const uint64_t read = in_.varint();
    value = static_cast<Number>(read);
    if (value != read) in_.fail();
  }
  void flag(bool& value) {
    const uint64_t read = in_.varint();
    value = read == 1;
    if (read > 1) in_.fail();
  }
  void text(std::string& value) { value = view(); }
  std::string_view view() {
    const uint64_t number = in_.varint();
    if (number < strings_.size()) return strings_[number];
    in_.fail();
    return {};
  }
  template <class Enum>
  void choice(Enum& value) {
    const uint64_t read = in_.varint();
    value = static_cast<Enum>(read);
    if (read >= 128 || enum_name<Enum, 128>(value).empty()) in_.fail();
  }
  template <class T, class Each>
  void list(std::vector<T>& values, Each each) {
    for (size_t left = in_.count(); left > 0 && !in_.failed(); --left) each(values.emplace_back());
  }

  bool enter() {
    ++reflected_;
    if (++depth_ > format::deepest_type) in_.fail();
    return !in_.failed();
  }
  void leave() { --depth_; }

  uint64_t reflected() const { return reflected_; }

 private:
  ByteReader& in_;
  const std::vector<std::string_view>& strings_;
  uint64_t reflected_ = 0;
  unsigned depth_ = 0;
};

template <class Codec, class AType>
  requires std::is_same_v<std::remove_const_t<AType>, Type>
void code_type(Codec& codec, AType& type) {
  if (codec.enter()) {
    codec.choice(type.data_type);
    codec.number(type.size);
    codec.number(type.alignment);
    codec.text(type.name);
    codec.list(type.members, [&](auto& member) {
      codec.text(member.name);
      codec.number(member.offset);
      codec.number(member.argument_index);
      code_type(codec, member.type);
    });
    codec.list(type.element, [&](auto& element) { code_type(codec, element); });
    codec.number(type.array_length);
    codec.choice(type.access);
    codec.choice(type.texture_type);
    codec.choice(type.texture_data_type);
  }
  codec.leave();
}

template <class Codec, class Parameters>
void code_parameters(Codec& codec, Parameters& parameters) {
  codec.list(parameters, [&](auto& parameter) {
    codec.text(parameter.name);
    codec.choice(parameter.kind);
    codec.choice(parameter.grid_value);
    codec.number(parameter.index);
    codec.number(parameter.array_length);
    codec.flag(parameter.constant_memory);
    codec.choice(parameter.access);
    code_type(codec, parameter.type);
    codec.text(parameter.function_constant);
    codec.number(parameter.function_constant_index);
  });
}

template <class Codec, class Constants>
void code_constants(Codec& codec, Constants& constants) {
  codec.list(constants, [&](auto& constant) {
    codec.text(constant.name);
    codec.number(constant.index);
    codec.choice(constant.data_type);
    codec.flag(constant.required);
  });
}

// What the index keeps of a function. The lists, and the bitcode, are kept elsewhere and shared.
struct FunctionRecord {
  uint32_t name = 0, source_name = 0, file = 0, entry = 0;  // strings
  FunctionKind kind = FunctionKind::kernel;
  uint32_t line = 0, column = 0;
  bool has_max_threads = false;
  uint32_t max_threads = 0;
  uint32_t parameters = 0;          // which parameter list
  uint32_t constants = 0;           // which list of function constants
  std::vector<uint32_t> undefined;  // strings
  uint32_t chunk = 0;
  uint64_t offset = 0, size = 0;  // of the module in the uncompressed chunk
  uint64_t static_threadgroup_memory = 0;
};

template <class Codec, class Record>
void code_function(Codec& codec, Record& record) {
  codec.number(record.name);
  codec.number(record.source_name);
  codec.number(record.file);
  codec.number(record.entry);
  codec.choice(record.kind);
  codec.number(record.line);
  codec.number(record.column);
  codec.flag(record.has_max_threads);
  codec.number(record.max_threads);
  codec.number(record.parameters);
  codec.number(record.constants);
  codec.list(record.undefined, [&](auto& symbol) { codec.number(symbol); });
  codec.number(record.chunk);
  codec.number(record.offset);
  codec.number(record.size);
  codec.number(record.static_threadgroup_memory);
}

struct Chunk {
  uint64_t compressed_size = 0, size = 0, checksum = 0;
};

template <class Codec, class AChunk>
void code_chunk(Codec& codec, AChunk& chunk) {
  codec.number(chunk.compressed_size);
  codec.number(chunk.size);
  codec.number(chunk.checksum);
}

}  // namespace metalloid

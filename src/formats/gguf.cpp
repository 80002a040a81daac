#include "formats/gguf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "formats/tensor_size.hpp"

namespace metalloid::formats {

namespace {

constexpr uint32_t magic = 0x46554747;  // "GGUF"
constexpr size_t default_alignment = 32;
constexpr uint32_t most_dimensions = 4;

enum ValueType : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, text, array, u64, i64, f64 };

// The types by their numbers in the file; those that we do not have are there for their names.
struct GgmlType {
  uint32_t number;
  std::string_view name;
  std::optional<TensorType> type = std::nullopt;
};
constexpr GgmlType ggml_types[] = {
    {0, "F32", TensorType::f32},
    {1, "F16", TensorType::f16},
    {2, "Q4_0"},
    {3, "Q4_1"},
    {6, "Q5_0"},
    {7, "Q5_1"},
    {8, "Q8_0", TensorType::q8_0},
    {9, "Q8_1"},
    {10, "Q2_K"},
    {11, "Q3_K"},
    {12, "Q4_K"},
    {13, "Q5_K"},
    {14, "Q6_K"},
    {15, "Q8_K"},
    {16, "IQ2_XXS"},
    {17, "IQ2_XS"},
    {18, "IQ3_XXS"},
    {19, "IQ1_S"},
    {20, "IQ4_NL"},
    {21, "IQ3_S"},
    {22, "IQ2_S"},
    {23, "IQ4_XS"},
    {24, "I8", TensorType::i8},
    {25, "I16", TensorType::i16},
    {26, "I32", TensorType::i32},
    {27, "I64", TensorType::i64},
    {28, "F64", TensorType::f64},
    {29, "IQ1_M"},
    {30, "BF16", TensorType::bf16},
    {34, "TQ1_0"},
    {35, "TQ2_0"},
    {39, "MXFP4"},
};

}  // namespace

class GgufReader {
 public:
  explicit GgufReader(Gguf& gguf) : gguf_(gguf), reader_(gguf.file_.bytes) {}

  Status read() {
    if (gguf_.file_.bytes.size() < 4 || reader_.fixed32() != magic) return error("it is not a GGUF file");
    const uint32_t version = reader_.fixed32();
    if (version != 2 && version != 3)
      return error(fmt::format("it is of GGUF's version {}; versions 2 and 3 are supported", version));
    const uint64_t tensor_count = reader_.fixed64(), entry_count = reader_.fixed64();
    // The least that a tensor's description and an entry take.
    if (reader_.failed() || tensor_count > reader_.remaining() / 24 || entry_count > reader_.remaining() / 13)
      return cut();
    for (uint64_t i = 0; i < entry_count; ++i)
      if (const Status entry = read_entry(); !entry) return entry;
    std::vector<uint64_t> offsets;
    for (uint64_t i = 0; i < tensor_count; ++i)
      if (const Status tensor = read_tensor(offsets); !tensor) return tensor;
    return place_tensors(offsets);
  }

 private:
  Error error(const std::string& what) const { return Error{fmt::format("cannot read '{}': {}", gguf_.path_, what)}; }
  Error error(const TensorView& tensor, const std::string& what) const {
    return error(fmt::format("tensor '{}' {}", tensor.name, what));
  }
  Error cut() const { return error("it is damaged, or was cut: its header goes beyond its end"); }

  std::string_view text() { return reader_.text(reader_.fixed64()); }

  Status read_entry() {
    const std::string key(text());
    const uint32_t type = reader_.fixed32();
    if (reader_.failed()) return cut();
    auto value = type == ValueType::array ? array_value() : single_value(type);
    if (reader_.failed()) return cut();
    if (!value) return error(fmt::format("its entry '{}' is of a type that is not supported", key));
    if (!gguf_.metadata_.emplace(key, std::move(*value)).second)
      return error(fmt::format("its entry '{}' is there twice", key));
    return success();
  }

  std::optional<Gguf::Value> single_value(uint32_t type) {
    switch (type) {
      case ValueType::u8:
        return uint64_t{reader_.fixed8()};
      case ValueType::i8:
        return int64_t{static_cast<int8_t>(reader_.fixed8())};
      case ValueType::u16:
        return uint64_t{reader_.fixed16()};
      case ValueType::i16:
        return int64_t{static_cast<int16_t>(reader_.fixed16())};
      case ValueType::u32:
        return uint64_t{reader_.fixed32()};
      case ValueType::i32:
        return int64_t{static_cast<int32_t>(reader_.fixed32())};
      case ValueType::f32:
        return double{std::bit_cast<float>(reader_.fixed32())};
      case ValueType::boolean:
        return reader_.fixed8() != 0;
      case ValueType::text:
        return text();
      case ValueType::u64:
        return reader_.fixed64();
      case ValueType::i64:
        return static_cast<int64_t>(reader_.fixed64());
      case ValueType::f64:
        return std::bit_cast<double>(reader_.fixed64());
    }
    return std::nullopt;
  }

  std::optional<Gguf::Value> array_value() {
    const uint32_t type = reader_.fixed32();
    const uint64_t count = reader_.fixed64();
    if (type == ValueType::array) return std::nullopt;
    if (count > reader_.remaining()) {
      reader_.fail();
      return std::nullopt;
    }
    if (type == ValueType::text) {
      std::vector<std::string_view> texts;
      for (uint64_t i = 0; i < count && !reader_.failed(); ++i) texts.push_back(text());
      return texts;
    }
    if (type == ValueType::f32 || type == ValueType::f64) {
      std::vector<double> numbers;
      for (uint64_t i = 0; i < count && !reader_.failed(); ++i)
        numbers.push_back(std::get<double>(*single_value(type)));
      return numbers;
    }
    std::vector<int64_t> integers;
    for (uint64_t i = 0; i < count && !reader_.failed(); ++i) {
      const auto value = single_value(type);
      if (!value) return std::nullopt;
      if (const auto* is_true = std::get_if<bool>(&*value))
        integers.push_back(*is_true);
      else if (const auto* is_unsigned = std::get_if<uint64_t>(&*value))
        integers.push_back(static_cast<int64_t>(*is_unsigned));
      else
        integers.push_back(std::get<int64_t>(*value));
    }
    return integers;
  }

  Status read_tensor(std::vector<uint64_t>& offsets) {
    TensorView tensor;
    tensor.name = text();
    const uint32_t dimensions = reader_.fixed32();
    if (dimensions > most_dimensions) return error(tensor, fmt::format("has {} dimensions", dimensions));
    for (uint32_t i = 0; i < dimensions; ++i) tensor.shape.push_back(reader_.fixed64());
    std::reverse(tensor.shape.begin(), tensor.shape.end());  // the file has the row's length first
    const uint32_t number = reader_.fixed32();
    offsets.push_back(reader_.fixed64());
    if (reader_.failed()) return cut();
    const auto* known = std::find_if(std::begin(ggml_types), std::end(ggml_types),
                                     [&](const GgmlType& type) { return type.number == number; });
    if (known == std::end(ggml_types) || !known->type)
      return error(tensor, fmt::format("is of the type {}, which is not supported; F32, F16, BF16 and Q8_0 are",
                                       known == std::end(ggml_types) ? std::to_string(number) : known->name));
    tensor.type = *known->type;
    gguf_.tensors_.push_back(std::move(tensor));
    return success();
  }

  Status place_tensors(const std::vector<uint64_t>& offsets) {
    const uint64_t alignment = gguf_.integer("general.alignment").value_or(default_alignment);
    if (!std::has_single_bit(alignment) || alignment < 8 || alignment > (1u << 30))
      return error(fmt::format("its alignment is {}; it must be a power of two, at least 8", alignment));
    const Bytes file = gguf_.file_.bytes;
    const size_t header = file.size() - reader_.remaining();
    const size_t begin = (header + alignment - 1) / alignment * alignment;
    const Bytes data = begin < file.size() ? file.subspan(begin) : Bytes{};

    std::set<std::string_view> names;
    for (size_t i = 0; i < offsets.size(); ++i) {
      TensorView& tensor = gguf_.tensors_[i];
      if (!names.insert(tensor.name).second) return error(tensor, "is there twice");
      const auto bytes = size_in_bytes(tensor.type, tensor.shape);
      if (!bytes)
        return error(tensor, fmt::format("of the type {} cannot have the shape [{}]", name_of(tensor.type),
                                         fmt::join(tensor.shape, ", ")));
      if (offsets[i] % alignment != 0) return error(tensor, fmt::format("lies at the odd place {}", offsets[i]));
      if (offsets[i] > data.size() || *bytes > data.size() - offsets[i])
        return error(tensor, "goes beyond the file's end: the file was cut");
      tensor.data = data.data() + offsets[i];
      tensor.bytes = *bytes;
    }
    return success();
  }

  Gguf& gguf_;
  ByteReader reader_;
};

Result<Gguf> Gguf::open(const std::string& path) {
  Result<SharedBytes> mapped = map_file(path);
  if (!mapped) return Error{mapped.error()};
  Gguf gguf;
  gguf.path_ = path;
  gguf.file_ = std::move(*mapped);
  if (const Status read = GgufReader(gguf).read(); !read) return Error{read.error()};
  return gguf;
}

const Gguf::Value* Gguf::find(const std::string& key) const {
  const auto found = metadata_.find(key);
  return found == metadata_.end() ? nullptr : &found->second;
}

template <class T>
const T* Gguf::find_as(const std::string& key) const {
  const Value* value = find(key);
  return value == nullptr ? nullptr : std::get_if<T>(value);
}

std::optional<uint64_t> Gguf::integer(const std::string& key) const {
  if (const auto* value = find_as<uint64_t>(key)) return *value;
  if (const auto* value = find_as<int64_t>(key); value != nullptr && *value >= 0) return static_cast<uint64_t>(*value);
  return std::nullopt;
}

std::optional<double> Gguf::number(const std::string& key) const {
  if (const auto* value = find_as<double>(key)) return *value;
  if (const auto value = integer(key)) return static_cast<double>(*value);
  return std::nullopt;
}

std::optional<bool> Gguf::flag(const std::string& key) const {
  const auto* value = find_as<bool>(key);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<std::string_view> Gguf::text(const std::string& key) const {
  const auto* value = find_as<std::string_view>(key);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

const std::vector<int64_t>* Gguf::integers(const std::string& key) const {
  return find_as<std::vector<int64_t>>(key);
}

const std::vector<double>* Gguf::numbers(const std::string& key) const {
  return find_as<std::vector<double>>(key);
}

const std::vector<std::string_view>* Gguf::texts(const std::string& key) const {
  return find_as<std::vector<std::string_view>>(key);
}

}  // namespace metalloid::formats

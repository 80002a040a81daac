// Reads a safetensors file: parses the header and checks it against the file, so that whoever has a tensor's view need
// check nothing. As in the format's reference implementation, tensors lie one after the other without holes, from the
// header's end to the file's; so nothing is hidden in between, and a file that was cut is known as such.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <metalloid/safetensors.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "formats/safetensors_types.hpp"
#include "formats/tensor_size.hpp"
#include "library/file.hpp"

namespace metalloid {

struct Safetensors::File {
  SharedBytes mapped;
  std::vector<std::vector<uint64_t>> aligned;  // copies of tensors that lie where the processor cannot read their type
  std::vector<TensorView> tensors;
  std::unordered_map<std::string, size_t> index;
  std::map<std::string, std::string> metadata;
};

namespace formats {

std::optional<TensorType> safetensors_type(std::string_view name) {
  for (int i = 0; i < static_cast<int>(TensorType::q8_0); ++i)
    if (const auto type = static_cast<TensorType>(i); name_of(type) == name) return type;
  return std::nullopt;
}

namespace {

using Json = nlohmann::json;

class HeaderReader {
 public:
  HeaderReader(const std::string& path, Bytes file) : path_(path), file_(file) {}

  Status read() {
    if (const auto split = split_file(); !split) return split;
    Result<Json> header = parse();
    if (!header) return Error{header.error()};
    for (const auto& [name, value] : header->items()) {
      const Status added = name == safetensors_metadata_key ? read_metadata(value) : read_tensor(name, value);
      if (!added) return added;
    }
    return check_places();
  }

  std::vector<TensorView> tensors;
  std::map<std::string, std::string> metadata;

 private:
  Error error(const std::string& what) const { return Error{fmt::format("cannot read '{}': {}", path_, what)}; }
  Error error(const std::string& name, const std::string& what) const {
    return error(fmt::format("tensor '{}' {}", name, what));
  }

  Status split_file() {
    if (file_.size() < safetensors_length_bytes)
      return error(fmt::format("it has {} bytes, too few for a safetensors file", file_.size()));
    ByteReader reader(file_);
    const uint64_t length = reader.fixed64();
    if (length > safetensors_largest_header)
      return error(fmt::format("it is not a safetensors file (its header would have {} bytes)", length));
    if (length > file_.size() - safetensors_length_bytes)
      return error(fmt::format("its header has {} bytes, but only {} are there: the file was cut", length,
                               file_.size() - safetensors_length_bytes));
    header_ = reader.text(length);
    data_ = file_.subspan(safetensors_length_bytes + length);
    return success();
  }

  Result<Json> parse() const {
    std::set<std::string> names;
    std::string twice;
    const auto watch = [&](int depth, Json::parse_event_t event, const Json& parsed) {
      if (event == Json::parse_event_t::key && depth == 1 && !names.insert(parsed.get<std::string>()).second)
        twice = parsed.get<std::string>();
      return true;
    };
    try {
      Json header = Json::parse(header_.begin(), header_.end(), watch);
      if (!twice.empty()) return error(twice, "is there twice");
      if (!header.is_object()) return error("its header is not a JSON object");
      return header;
    } catch (const Json::exception& exception) {
      return error(fmt::format("its header is not JSON: {}", exception.what()));
    }
  }

  Status read_metadata(const Json& value) {
    if (!value.is_object()) return error("its metadata is not a JSON object");
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) return error(fmt::format("its metadata '{}' is not text", key));
      metadata[key] = text.get<std::string>();
    }
    return success();
  }

  Status read_tensor(const std::string& name, const Json& value) {
    const auto field = [&](const char* key) { return value.is_object() ? value.value(key, Json()) : Json(); };
    const Json type_name = field("dtype"), shape = field("shape"), offsets = field("data_offsets");
    if (!type_name.is_string() || !shape.is_array() || !offsets.is_array() || offsets.size() != 2)
      return error(name, "has no dtype, shape and pair of data_offsets");
    const auto type = safetensors_type(type_name.get<std::string>());
    if (!type)
      return error(name, fmt::format("is of the type {}, which is not supported; convert it to F32, F16 or BF16",
                                     type_name.get<std::string>()));

    TensorView tensor{.name = name, .type = *type, .shape = {}};
    for (const Json& extent : shape) {
      if (!extent.is_number_unsigned()) return error(name, fmt::format("has the shape {}", shape.dump()));
      tensor.shape.push_back(extent.get<size_t>());
    }
    if (!offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned())
      return error(name, fmt::format("has the data_offsets {}", offsets.dump()));
    const auto begin = offsets[0].get<size_t>(), end = offsets[1].get<size_t>();
    if (begin > end || end > data_.size())
      return error(name, fmt::format("lies at the bytes {} to {}, but the file has {} bytes of tensors", begin, end,
                                     data_.size()));
    const auto bytes = size_in_bytes(*type, tensor.shape);
    if (!bytes || *bytes != end - begin)
      return error(
          name, fmt::format("of the type {} and the shape {} has {} bytes", name_of(*type), shape.dump(), end - begin));
    tensor.data = data_.data() + begin;
    tensor.bytes = *bytes;
    tensors.push_back(std::move(tensor));
    return success();
  }

  // Sorts the tensors by their places, too.
  Status check_places() {
    std::stable_sort(tensors.begin(), tensors.end(), [](const TensorView& a, const TensorView& b) {
      return a.data != b.data ? a.data < b.data : a.bytes < b.bytes;
    });
    const uint8_t* end = data_.data();
    for (const TensorView& tensor : tensors) {
      if (tensor.data < end) return error(tensor.name, "overlaps another one");
      if (tensor.data > end) return error(tensor.name, "has bytes before it that belong to no tensor");
      end += tensor.bytes;
    }
    const size_t rest = static_cast<size_t>(data_.data() + data_.size() - end);
    if (rest != 0) return error(fmt::format("its last {} bytes belong to no tensor", rest));
    return success();
  }

  const std::string& path_;
  const Bytes file_;
  std::string_view header_;
  Bytes data_;
};

}  // namespace
}  // namespace formats

Result<Safetensors> Safetensors::open(const std::string& path) {
  Result<SharedBytes> mapped = map_file(path);
  if (!mapped) return Error{mapped.error()};
  formats::HeaderReader header(path, mapped->bytes);
  if (const Status read = header.read(); !read) return Error{read.error()};

  auto file = std::make_shared<File>();
  file->mapped = std::move(*mapped);
  file->tensors = std::move(header.tensors);
  file->metadata = std::move(header.metadata);
  for (TensorView& tensor : file->tensors) {
    file->index.emplace(tensor.name, file->index.size());
    if (reinterpret_cast<uintptr_t>(tensor.data) % formats::alignment_of(tensor.type) == 0) continue;
    auto& copy = file->aligned.emplace_back(tensor.bytes / sizeof(uint64_t) + 1);
    std::memcpy(copy.data(), tensor.data, tensor.bytes);
    tensor.data = copy.data();
  }
  return Safetensors(std::move(file));
}

Safetensors::Safetensors(std::shared_ptr<const File> file) : file_(std::move(file)) {}

const std::vector<TensorView>& Safetensors::tensors() const {
  return file_->tensors;
}

const TensorView* Safetensors::find(const std::string& name) const {
  const auto found = file_->index.find(name);
  return found == file_->index.end() ? nullptr : &file_->tensors[found->second];
}

const std::map<std::string, std::string>& Safetensors::metadata() const {
  return file_->metadata;
}

}  // namespace metalloid

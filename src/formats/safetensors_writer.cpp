// Writes a safetensors file. Tensors of the widest numbers come first and the header is filled up with spaces, so that
// everything lies aligned to its own size and can be used where a reader maps it.
#include <fmt/format.h>

#include <algorithm>
#include <metalloid/safetensors.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "formats/safetensors_types.hpp"
#include "formats/tensor_size.hpp"
#include "library/file.hpp"

namespace metalloid {
namespace {

using Json = nlohmann::ordered_json;

Error error(const std::string& path, const std::string& what) {
  return Error{fmt::format("cannot write '{}': {}", path, what)};
}

Status check(const std::string& path, const std::vector<TensorView>& tensors) {
  std::set<std::string> names = {formats::safetensors_metadata_key};
  for (const TensorView& tensor : tensors) {
    if (!names.insert(tensor.name).second)
      return error(path, fmt::format("'{}' cannot be the name of one more tensor", tensor.name));
    if (!formats::safetensors_type(name_of(tensor.type)))
      return error(path, fmt::format("tensor '{}' is of the type {}, which safetensors files cannot hold", tensor.name,
                                     name_of(tensor.type)));
    const auto bytes = formats::size_in_bytes(tensor.type, tensor.shape);
    if (!bytes || *bytes != tensor.bytes || (tensor.bytes != 0 && tensor.data == nullptr))
      return error(path, fmt::format("tensor '{}' of the type {} has {} bytes, which its shape [{}] has not",
                                     tensor.name, name_of(tensor.type), tensor.bytes, fmt::join(tensor.shape, ", ")));
  }
  return success();
}

std::string header_of(const std::vector<TensorView>& tensors, const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header[formats::safetensors_metadata_key] = metadata;
  size_t end = 0;
  for (const TensorView& tensor : tensors) {
    const size_t begin = end;
    end += tensor.bytes;
    header[tensor.name] = {{"dtype", name_of(tensor.type)}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

Status write_safetensors(const std::string& path, const std::vector<TensorView>& tensors,
                         const std::map<std::string, std::string>& metadata) {
  if (const Status checked = check(path, tensors); !checked) return checked;
  std::vector<TensorView> sorted = tensors;
  std::stable_sort(sorted.begin(), sorted.end(), [](const TensorView& a, const TensorView& b) {
    return formats::alignment_of(a.type) > formats::alignment_of(b.type);
  });

  std::string header;
  try {
    header = header_of(sorted, metadata);
  } catch (const Json::exception&) {
    return error(path, "a tensor's name or the metadata is not UTF-8 text");
  }
  if (header.size() > formats::safetensors_largest_header) return error(path, "its header would be too long");

  ByteWriter length;
  length.fixed64(header.size());
  std::vector<Bytes> pieces = {length.bytes(), {reinterpret_cast<const uint8_t*>(header.data()), header.size()}};
  for (const TensorView& tensor : sorted) pieces.emplace_back(static_cast<const uint8_t*>(tensor.data), tensor.bytes);
  return replace_file(path, pieces, Durability::on_disk);
}

}  // namespace metalloid

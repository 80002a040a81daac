#include "formats/llama2c.hpp"

#include <fmt/format.h>

#include "formats/tensor_size.hpp"

namespace metalloid::formats {
namespace {

constexpr size_t header_bytes = 7 * sizeof(int32_t);
constexpr uint32_t versioned_magic = 0x616B3432;  // later files of llama2.c begin with "ak42"

class Llama2cReader {
 public:
  Llama2cReader(const std::string& path, SharedBytes file) : path_(path) { model_.file = std::move(file); }

  Result<Llama2c> read() {
    if (const Status header = read_header(); !header) return Error{header.error()};
    for (const bool counting : {true, false}) {
      counting_ = counting;
      end_ = header_bytes;
      if (!place_tensors()) return error("its header says sizes that no file can have");
      if (counting && end_ != model_.file.bytes.size())
        return error(fmt::format("by its header it has {} bytes, but it has {}: it is no llama2.c model, or was cut",
                                 end_, model_.file.bytes.size()));
    }
    return std::move(model_);
  }

 private:
  Error error(const std::string& what) const { return Error{fmt::format("cannot read '{}': {}", path_, what)}; }

  Status read_header() {
    ByteReader reader(model_.file.bytes);
    int64_t values[7];
    for (int64_t& value : values) value = static_cast<int32_t>(reader.fixed32());
    if (reader.failed())
      return error(fmt::format("it has {} bytes, too few for a llama2.c model", model_.file.bytes.size()));
    if (values[0] == versioned_magic)
      return error("it is a llama2.c file with a version; export it as version 0 (legacy float32)");
    shared_classifier_ = values[5] > 0;
    values[5] = values[5] < 0 ? -values[5] : values[5];
    size_t* const fields[] = {&model_.dimensions, &model_.hidden,     &model_.layers,  &model_.heads,
                              &model_.kv_heads,   &model_.vocabulary, &model_.sequence};
    for (int i = 0; i < 7; ++i) {
      if (values[i] <= 0)
        return error(fmt::format("it is no llama2.c model: number {} of its header is {}", i + 1, values[i]));
      *fields[i] = static_cast<size_t>(values[i]);
    }
    if (model_.dimensions % model_.heads != 0 || model_.dimensions / model_.heads % 2 != 0 ||
        model_.kv_heads > model_.heads || model_.heads % model_.kv_heads != 0)
      return error(fmt::format("it is no llama2.c model: {} heads and {} key/value heads do not share {} dimensions",
                               model_.heads, model_.kv_heads, model_.dimensions));
    return success();
  }

  // In the file's order; false if the sizes are more than 64 bits can say.
  bool place_tensors() {
    const size_t dim = model_.dimensions, hidden = model_.hidden, vocabulary = model_.vocabulary;
    const size_t head = dim / model_.heads, kv = head * model_.kv_heads;
    const bool placed = add("token_embd.weight", {vocabulary, dim}) && add_layers("attn_norm", {dim}) &&
                        add_layers("attn_q", {dim, dim}) && add_layers("attn_k", {kv, dim}) &&
                        add_layers("attn_v", {kv, dim}) && add_layers("attn_output", {dim, dim}) &&
                        add_layers("ffn_norm", {dim}) && add_layers("ffn_gate", {hidden, dim}) &&
                        add_layers("ffn_down", {dim, hidden}) && add_layers("ffn_up", {hidden, dim}) &&
                        add("output_norm.weight", {dim});
    // Two tables of angles that later programs compute.
    if (!placed || !advance({model_.sequence, head / 2}) || !advance({model_.sequence, head / 2})) return false;
    return shared_classifier_ || add("output.weight", {vocabulary, dim});
  }

  bool add_layers(const char* name, const std::vector<size_t>& shape) {
    if (counting_) {
      std::vector<size_t> all = shape;
      all.insert(all.begin(), model_.layers);
      return advance(all);
    }
    for (size_t layer = 0; layer < model_.layers; ++layer)
      if (!add(fmt::format("blk.{}.{}.weight", layer, name), shape)) return false;
    return true;
  }

  bool add(std::string name, std::vector<size_t> shape) {
    const size_t begin = end_;
    if (!advance(shape)) return false;
    if (!counting_)
      model_.tensors.push_back(
          {std::move(name), TensorType::f32, std::move(shape), model_.file.bytes.data() + begin, end_ - begin});
    return true;
  }

  bool advance(const std::vector<size_t>& shape) {
    const auto bytes = size_in_bytes(TensorType::f32, shape);
    return bytes && !__builtin_add_overflow(end_, *bytes, &end_);
  }

  const std::string& path_;
  Llama2c model_;
  bool shared_classifier_ = false;
  bool counting_ = true;  // first the size of all, which says whether the header is right; then the tensors
  size_t end_ = 0;
};

}  // namespace

Result<Llama2c> Llama2c::open(const std::string& path) {
  Result<SharedBytes> mapped = map_file(path);
  if (!mapped) return Error{mapped.error()};
  return Llama2cReader(path, std::move(*mapped)).read();
}

}  // namespace metalloid::formats

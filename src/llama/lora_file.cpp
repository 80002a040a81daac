#include "llama/lora_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <metalloid/safetensors.hpp>

#include "formats/json.hpp"
#include "library/file.hpp"

namespace metalloid::llama {

namespace {

class LoraReader {
 public:
  LoraReader(const std::string& path, const LlamaConfig& config, const Weights& weights, Backend& backend)
      : path_(path), config_(config), weights_(weights), backend_(backend) {}

  Result<LoraAdapter> read() {
    const Result<Safetensors> file = Safetensors::open(path_);
    if (!file) return Error{file.error()};
    LoraAdapter adapter;
    std::map<std::pair<size_t, size_t>, std::map<char, const TensorView*>> found;
    for (const TensorView& tensor : file->tensors()) {
      const std::optional<LoraTensorPlace> place = lora_tensor_place(tensor.name);
      if (!place) return error("tensor '{}' is none of an adapter of a Llama's projections", tensor.name);
      if (place->layer >= config_.layers)
        return error("tensor '{}' does not fit the model, which has {} layers", tensor.name, config_.layers);
      found[{place->layer, place->target}][place->matrix] = &tensor;
    }
    if (found.empty()) return error("there are no tensors in it");
    for (const auto& [place, pair] : found) {
      Result<LoraMatrices> matrices = read_matrices(place.first, place.second, pair);
      if (!matrices) return Error{matrices.error()};
      adapter.each.push_back(std::move(*matrices));
    }
    const Result<float> alpha = read_alpha(*file);
    if (!alpha) return Error{alpha.error()};
    adapter.alpha = *alpha;
    return adapter;
  }

 private:
  template <class... Arguments>
  Error error(fmt::format_string<Arguments...> sentence, Arguments&&... arguments) const {
    return Error{fmt::format("cannot use the adapter '{}': {}", path_,
                             fmt::format(sentence, std::forward<Arguments>(arguments)...))};
  }

  Result<LoraMatrices> read_matrices(size_t layer, size_t target, const std::map<char, const TensorView*>& pair) {
    for (const char matrix : {'A', 'B'})
      if (!pair.contains(matrix)) return error("tensor '{}' is missing", lora_tensor_name(layer, target, matrix));
    const TensorView &a = *pair.at('A'), &b = *pair.at('B');
    const Tensor& projection = weights_.layers[layer].*lora_targets[target].weights;
    const size_t rank = a.shape.empty() ? 0 : a.shape[0];
    for (const auto& [view, shape] :
         {std::pair{&a, std::vector{rank, projection.columns()}}, std::pair{&b, std::vector{projection.rows(), rank}}})
      if (rank == 0 || view->shape != shape)
        return error("tensor '{}' has the shape [{}], and the model needs [{}]; was it made for another model?",
                     view->name, fmt::join(view->shape, ", "), fmt::join(shape, ", "));
    const Result<std::vector<float>> left = floats_of(a), right = floats_of(b);
    if (!left) return Error{left.error()};
    if (!right) return Error{right.error()};
    return LoraMatrices{layer, target, rank, *left, reorder_rows(*right, rank, target, config_, RowOrder::of_model)};
  }

  Result<std::vector<float>> floats_of(const TensorView& view) {
    if (view.type != TensorType::f32 && view.type != TensorType::f16 && view.type != TensorType::bf16)
      return error("tensor '{}' is of the type {}, and F32, F16 or BF16 is needed", view.name, name_of(view.type));
    const Result<Tensor> mapped = backend_.wrap(view.type, view.shape, view.data);
    const Result<Tensor> resident = mapped ? backend_.resident(*mapped) : mapped;
    if (!resident) return error("{}", resident.error());
    const Tensor wide = backend_.tensor(TensorType::f32, view.shape);
    backend_.copy(*resident, wide);
    std::vector<float> numbers(resident->count());
    if (const Status read = backend_.read(wide, numbers.data()); !read) return error("{}", read.error());
    for (const float number : numbers)
      if (!std::isfinite(number)) return error("tensor '{}' has numbers that are infinite or none", view.name);
    return numbers;
  }

  Result<float> read_alpha(const Safetensors& file) const {
    if (const auto entry = file.metadata().find("alpha"); entry != file.metadata().end()) {
      float alpha = 0;
      const std::string& text = entry->second;
      const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), alpha);
      if (problem != std::errc() || !std::isfinite(alpha)) return error("its alpha is '{}'", text);
      return alpha;
    }
    const auto config_path = std::filesystem::path(path_).replace_filename("adapter_config.json");
    const Result<SharedBytes> mapped = map_file(config_path);
    if (!mapped) return error("neither its metadata nor an adapter_config.json beside it says alpha");
    const Result<formats::Json> json =
        formats::parse_json({reinterpret_cast<const char*>(mapped->bytes.data()), mapped->bytes.size()});
    if (!json) return error("of adapter_config.json beside it, {}", json.error());
    if (!json->is_object() || !json->contains("lora_alpha") || !(*json)["lora_alpha"].is_number())
      return error("adapter_config.json beside it does not say lora_alpha");
    return (*json)["lora_alpha"].get<float>();
  }

  const std::string& path_;
  const LlamaConfig& config_;
  const Weights& weights_;
  Backend& backend_;
};

}  // namespace

Result<LoraAdapter> read_lora(const std::string& path, const LlamaConfig& config, const Weights& weights,
                              Backend& backend) {
  return LoraReader(path, config, weights, backend).read();
}

Status write_lora(const std::string& path, const LoraAdapter& adapter, const LlamaConfig& config,
                  const Weights& weights) {
  std::vector<std::vector<float>> reordered;
  std::vector<TensorView> views;
  for (const LoraMatrices& matrices : adapter.each)
    reordered.push_back(reorder_rows(matrices.b, matrices.rank, matrices.target, config, RowOrder::of_file));
  for (size_t i = 0; i < adapter.each.size(); ++i) {
    const auto& [layer, target, rank, a, b] = adapter.each[i];
    const Tensor& projection = weights.layers[layer].*lora_targets[target].weights;
    views.push_back({lora_tensor_name(layer, target, 'A'),
                     TensorType::f32,
                     {rank, projection.columns()},
                     a.data(),
                     a.size() * sizeof(float)});
    views.push_back({lora_tensor_name(layer, target, 'B'),
                     TensorType::f32,
                     {projection.rows(), rank},
                     reordered[i].data(),
                     b.size() * sizeof(float)});
  }
  const size_t rank = adapter.each.empty() ? 0 : adapter.each[0].rank;
  return write_safetensors(
      path, views, {{"format", "pt"}, {"rank", fmt::format("{}", rank)}, {"alpha", fmt::format("{}", adapter.alpha)}});
}

}  // namespace metalloid::llama

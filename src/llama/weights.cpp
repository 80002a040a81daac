#include "llama/weights.hpp"

#include <fmt/format.h>

#include <set>

namespace metalloid::llama {
namespace {

class WeightsLoader {
 public:
  WeightsLoader(const ModelFile& model, Backend& backend) : model_(model), backend_(backend) {}

  Result<Weights> load() {
    const LlamaConfig& config = model_.config;
    const size_t dim = config.dimensions, queries = config.heads * config.head_size,
                 keys = config.kv_heads * config.head_size;
    Weights weights;
    weights.embedding = matrix("token_embd.weight", config.vocabulary, dim);
    weights.final_norm = norm("output_norm.weight", dim);
    weights.classifier =
        model_.tensors.contains("output.weight") ? matrix("output.weight", config.vocabulary, dim) : weights.embedding;
    for (size_t i = 0; i < config.layers && problem_.empty(); ++i) {
      const auto name = [&](const char* part) { return fmt::format("blk.{}.{}.weight", i, part); };
      Layer layer;
      layer.attention_norm = norm(name("attn_norm"), dim);
      layer.queries = matrix(name("attn_q"), queries, dim);
      layer.keys = matrix(name("attn_k"), keys, dim);
      layer.values = matrix(name("attn_v"), keys, dim);
      layer.attention_output = matrix(name("attn_output"), dim, queries);
      layer.feed_forward_norm = norm(name("ffn_norm"), dim);
      layer.gate = matrix(name("ffn_gate"), config.hidden, dim);
      layer.up = matrix(name("ffn_up"), config.hidden, dim);
      layer.down = matrix(name("ffn_down"), dim, config.hidden);
      weights.layers.push_back(std::move(layer));
    }
    used_.insert("rope_freqs.weight");  // is in the configuration
    for (const auto& [name, tensor] : model_.tensors)
      if (problem_.empty() && !used_.contains(name)) problem_ = fmt::format("tensor '{}' is none that it needs", name);
    if (!problem_.empty()) return model_.error(problem_);
    if (const Status done = backend_.finish(); !done) return model_.error(done.error());
    return weights;
  }

 private:
  Tensor matrix(const std::string& name, size_t rows, size_t columns) { return tensor(name, {rows, columns}); }

  // Norms are small, and f32 everywhere.
  Tensor norm(const std::string& name, size_t count) {
    const Tensor stored = tensor(name, {count});
    if (!stored || stored.type() == TensorType::f32) return stored;
    const Tensor wide = backend_.tensor(TensorType::f32, {count});
    backend_.copy(stored, wide);
    return wide;
  }

  Tensor tensor(const std::string& name, const std::vector<size_t>& shape) {
    if (!problem_.empty()) return {};
    const auto found = model_.tensors.find(name);
    if (found == model_.tensors.end()) {
      problem_ = fmt::format("it has no tensor '{}'", name);
      return {};
    }
    used_.insert(name);
    const TensorView& view = found->second;
    if (view.shape != shape) {
      problem_ = fmt::format("its tensor '{}' has the shape [{}] and not [{}]", view.name, fmt::join(view.shape, ", "),
                             fmt::join(shape, ", "));
      return {};
    }
    if (view.type != TensorType::f32 && view.type != TensorType::f16 && view.type != TensorType::bf16 &&
        view.type != TensorType::q8_0) {
      problem_ = fmt::format("its tensor '{}' is of the type {}", view.name, name_of(view.type));
      return {};
    }
    const Result<Tensor> mapped = backend_.wrap(view.type, shape, view.data, model_.owner);
    const Result<Tensor> resident = mapped ? backend_.resident(*mapped) : mapped;
    if (resident) return *resident;
    problem_ = resident.error();
    return {};
  }

  const ModelFile& model_;
  Backend& backend_;
  std::set<std::string> used_;
  std::string problem_;  // the first
};

}  // namespace

Result<Weights> load_weights(const ModelFile& model, Backend& backend) {
  return WeightsLoader(model, backend).load();
}

}  // namespace metalloid::llama

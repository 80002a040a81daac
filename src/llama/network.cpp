#include "llama/network.hpp"

#include <algorithm>

namespace metalloid::llama {

namespace {

constexpr size_t most_tokens_at_once = 2048;
constexpr size_t least_capacity = 256;

}  // namespace

Result<Network> Network::make(const LlamaConfig& config, Weights weights, std::shared_ptr<Backend> backend) {
  Network network(config, std::move(weights), std::move(backend));
  Backend& on = *network.backend_;
  network.frequencies_ = on.tensor(TensorType::f32, {config.rope_frequencies.size()});
  if (const Status written = on.write(network.frequencies_, config.rope_frequencies.data()); !written)
    return Error{written.error()};
  network.caches_.resize(config.layers);
  return network;
}

void Network::reserve(size_t tokens) {
  if (tokens <= capacity_) return;
  const size_t capacity =
      std::min(std::max({tokens, 2 * capacity_, least_capacity}), std::max(tokens, config_.context));
  const auto grow = [&](Tensor& cache) {
    const Tensor grown = backend_->tensor(TensorType::f32, {capacity, config_.kv_heads, config_.head_size});
    if (cache) backend_->copy(cache, grown.slice(0, capacity_));
    cache = grown;
  };
  for (Cache& cache : caches_) {
    grow(cache.keys);
    grow(cache.values);
  }
  capacity_ = capacity;
}

Tensor Network::forward(const std::vector<int>& tokens, size_t position) {
  const Tensor all = backend_->tensor(TensorType::i32, {tokens.size()});
  if (!all || !backend_->write(all, tokens.data())) return {};
  return forward(all, position);
}

Tensor Network::forward(const Tensor& tokens, size_t position) {
  const size_t count = tokens.count();
  reserve(position + count);
  Tensor x;
  for (size_t begin = 0; begin < count; begin += most_tokens_at_once)
    x = run_layers(tokens.slice(begin, std::min(most_tokens_at_once, count - begin)), position + begin);
  const Tensor logits = backend_->tensor(TensorType::f32, {1, config_.vocabulary});
  backend_->matmul_each(x.slice(x.rows() - 1, 1), {{weights_.classifier, logits}},
                        {weights_.final_norm, config_.norm_epsilon});
  return logits;
}

Tensor Network::run_layers(const Tensor& tokens, size_t position) {
  const size_t count = tokens.count();
  const Tensor x = backend_->tensor(TensorType::f32, {count, config_.dimensions});
  const Tensor hidden = backend_->tensor(TensorType::f32, {count, config_.hidden});
  backend_->embed(weights_.embedding, tokens, x);
  for (size_t i = 0; i < config_.layers; ++i) {
    const Layer& layer = weights_.layers[i];
    attend(layer, caches_[i], position, x);
    backend_->matmul_silu_mul(x, layer.gate, layer.up, hidden, {layer.feed_forward_norm, config_.norm_epsilon});
    backend_->matmul(hidden, layer.down, x, {.add = true});
  }
  return x;
}

// x += attention of x's norm, after its keys and values went into the cache.
void Network::attend(const Layer& layer, const Cache& cache, size_t position, const Tensor& x) {
  const size_t count = x.rows();
  const Tensor queries = backend_->tensor(TensorType::f32, {count, config_.heads, config_.head_size});
  const Tensor attended = backend_->tensor(TensorType::f32, {count, config_.heads, config_.head_size});
  const Tensor keys = cache.keys.slice(position, count), values = cache.values.slice(position, count);
  const auto rows = [count](const Tensor& heads) { return heads.reshape({count, heads.count() / count}); };

  backend_->matmul_each(x, {{layer.queries, rows(queries)}, {layer.keys, rows(keys)}, {layer.values, rows(values)}},
                        {layer.attention_norm, config_.norm_epsilon},
                        {frequencies_, position, config_.rope_pairs, config_.head_size});
  backend_->flash_attention(queries, cache.keys, cache.values, position, attended);
  backend_->matmul(rows(attended), layer.attention_output, x, {.add = true});
}

}  // namespace metalloid::llama

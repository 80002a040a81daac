#include "llama/lora_network.hpp"

namespace metalloid::llama {

namespace {

enum Target : size_t { queries, keys, values, attention_output, gate, up, down };
static_assert(lora_targets[queries].weights == &Layer::queries && lora_targets[down].weights == &Layer::down);

// The weights as products can take them from the left: Q8_0 cannot be read by columns.
Tensor unpacked(const Tensor& weights, Backend& backend) {
  if (weights.type() != TensorType::q8_0) return weights;
  const Tensor wide = backend.tensor(TensorType::f32, weights.shape());
  backend.copy(weights, wide);
  return wide;
}

Tensor text(const Tensor& rows, size_t index, size_t texts, size_t heads) {
  const size_t length = rows.rows() / texts;
  return rows.slice(index * length, length).reshape({length, heads, rows.columns() / heads});
}

}  // namespace

// What a layer computed, all [tokens][...]; queries and keys are turned.
struct LoraNetwork::Kept {
  Tensor x, normed, queries, keys, values, attended;
  Tensor middle, middle_normed, gate, up, gated;
  Tensor low[lora_targets.size()];  // x Aᵀ of each adapter
};

LoraNetwork::LoraNetwork(const LlamaConfig& config, Weights weights, std::shared_ptr<Backend> backend,
                         LoraParameters parameters, float scale)
    : config_(config),
      weights_(std::move(weights)),
      backend_(std::move(backend)),
      parameters_(std::move(parameters)),
      scale_(scale) {}

Result<LoraNetwork> LoraNetwork::make(const LlamaConfig& config, Weights weights, std::shared_ptr<Backend> backend,
                                      LoraParameters parameters, float scale) {
  LoraNetwork network(config, std::move(weights), std::move(backend), std::move(parameters), scale);
  std::vector<float> frequencies = config.rope_frequencies;
  for (Tensor* tensor : {&network.frequencies_, &network.negative_frequencies_}) {
    *tensor = network.backend_->tensor(TensorType::f32, {frequencies.size()});
    if (const Status written = network.backend_->write(*tensor, frequencies.data()); !written)
      return Error{written.error()};
    for (float& frequency : frequencies) frequency = -frequency;
  }
  return network;
}

Tensor LoraNetwork::floats(size_t rows, size_t columns) const {
  return backend_->tensor(TensorType::f32, {rows, columns});
}

Tensor LoraNetwork::losses(const Tensor& tokens, const Tensor& targets) const {
  Tensor x = floats(tokens.count(), config_.dimensions);
  backend_->embed(weights_.embedding, tokens, x);
  for (size_t layer = 0; layer < config_.layers; ++layer) {
    Kept kept;
    x = forward(layer, x, tokens.rows(), kept);
  }
  const Tensor losses = backend_->tensor(TensorType::f32, {tokens.count()});
  backend_->cross_entropy(logits(x), targets, losses);
  return losses;
}

Tensor LoraNetwork::losses_with_gradients(const Tensor& tokens, const Tensor& targets, float factor) const {
  Tensor x = floats(tokens.count(), config_.dimensions);
  backend_->embed(weights_.embedding, tokens, x);
  std::vector<Kept> kept(config_.layers);
  for (size_t layer = 0; layer < config_.layers; ++layer) x = forward(layer, x, tokens.rows(), kept[layer]);

  const Tensor losses = backend_->tensor(TensorType::f32, {tokens.count()});
  const Tensor gradient = floats(tokens.count(), config_.dimensions);
  {
    const Tensor of_logits = logits(x);
    backend_->cross_entropy(of_logits, targets, losses, of_logits, factor);
    backend_->matmul(of_logits, unpacked(weights_.classifier, *backend_), gradient, {.transpose_right = false});
    backend_->rmsnorm_gradient(x, weights_.final_norm, config_.norm_epsilon, gradient, gradient);
  }
  for (size_t layer = config_.layers; layer-- > 0; kept.pop_back())
    backward(layer, kept[layer], tokens.rows(), gradient);
  return losses;
}

Tensor LoraNetwork::logits(const Tensor& x) const {
  const Tensor logits = floats(x.rows(), config_.vocabulary);
  backend_->matmul_each(x, {{weights_.classifier, logits}}, {weights_.final_norm, config_.norm_epsilon});
  return logits;
}

Tensor LoraNetwork::forward(size_t index, const Tensor& x, size_t texts, Kept& kept) const {
  const Layer& layer = weights_.layers[index];
  const size_t rows = x.rows(), of_queries = layer.queries.rows(), of_keys = layer.keys.rows();
  kept.x = x;
  kept.normed = floats(rows, config_.dimensions);
  kept.queries = floats(rows, of_queries);
  kept.keys = floats(rows, of_keys);
  kept.values = floats(rows, of_keys);
  kept.attended = floats(rows, of_queries);
  backend_->rmsnorm(x, layer.attention_norm, config_.norm_epsilon, kept.normed);
  project(index, queries, kept.normed, kept.queries, kept);
  project(index, keys, kept.normed, kept.keys, kept);
  project(index, values, kept.normed, kept.values, kept);
  for (size_t i = 0; i < texts; ++i) {
    const Tensor q = text(kept.queries, i, texts, config_.heads), k = text(kept.keys, i, texts, config_.kv_heads);
    backend_->rope({q, k}, 0, frequencies_, config_.rope_pairs);
    backend_->flash_attention(q, k, text(kept.values, i, texts, config_.kv_heads), 0,
                              text(kept.attended, i, texts, config_.heads));
  }
  kept.middle = floats(rows, config_.dimensions);
  backend_->copy(x, kept.middle);
  project(index, attention_output, kept.attended, kept.middle, kept, true);

  kept.middle_normed = floats(rows, config_.dimensions);
  kept.gate = floats(rows, config_.hidden);
  kept.up = floats(rows, config_.hidden);
  kept.gated = floats(rows, config_.hidden);
  backend_->rmsnorm(kept.middle, layer.feed_forward_norm, config_.norm_epsilon, kept.middle_normed);
  project(index, gate, kept.middle_normed, kept.gate, kept);
  project(index, up, kept.middle_normed, kept.up, kept);
  backend_->fused_silu_mul(kept.gate, kept.up, kept.gated);
  const Tensor result = floats(rows, config_.dimensions);
  backend_->copy(kept.middle, result);
  project(index, down, kept.gated, result, kept, true);
  return result;
}

void LoraNetwork::backward(size_t index, const Kept& kept, size_t texts, const Tensor& gradient) const {
  const Layer& layer = weights_.layers[index];
  const size_t rows = kept.x.rows();
  Kept gradients;
  gradients.gated = floats(rows, config_.hidden);
  gradients.gate = floats(rows, config_.hidden);
  gradients.up = floats(rows, config_.hidden);
  gradients.normed = floats(rows, config_.dimensions);
  project_backward(index, down, kept.gated, kept, gradient, gradients.gated);
  backend_->fused_silu_mul_gradient(kept.gate, kept.up, gradients.gated, gradients.gate, gradients.up);
  project_backward(index, gate, kept.middle_normed, kept, gradients.gate, gradients.normed);
  project_backward(index, up, kept.middle_normed, kept, gradients.up, gradients.normed, true);
  backend_->rmsnorm_gradient(kept.middle, layer.feed_forward_norm, config_.norm_epsilon, gradients.normed, gradient,
                             true);

  gradients.attended = floats(rows, kept.attended.columns());
  gradients.queries = floats(rows, kept.queries.columns());
  gradients.keys = floats(rows, kept.keys.columns());
  gradients.values = floats(rows, kept.values.columns());
  project_backward(index, attention_output, kept.attended, kept, gradient, gradients.attended);
  for (size_t i = 0; i < texts; ++i) {
    const auto of_queries = [&](const Tensor& rows) { return text(rows, i, texts, config_.heads); };
    const auto of_keys = [&](const Tensor& rows) { return text(rows, i, texts, config_.kv_heads); };
    const Tensor q = of_queries(gradients.queries), k = of_keys(gradients.keys);
    backend_->attention_gradient(of_queries(kept.queries), of_keys(kept.keys), of_keys(kept.values), 0,
                                 of_queries(gradients.attended), q, k, of_keys(gradients.values));
    backend_->rope({q, k}, 0, negative_frequencies_, config_.rope_pairs);
  }
  project_backward(index, queries, kept.normed, kept, gradients.queries, gradients.normed);
  project_backward(index, keys, kept.normed, kept, gradients.keys, gradients.normed, true);
  project_backward(index, values, kept.normed, kept, gradients.values, gradients.normed, true);
  backend_->rmsnorm_gradient(kept.x, layer.attention_norm, config_.norm_epsilon, gradients.normed, gradient, true);
}

void LoraNetwork::project(size_t layer, size_t target, const Tensor& x, const Tensor& result, Kept& kept,
                          bool add) const {
  backend_->matmul(x, weights_.layers[layer].*lora_targets[target].weights, result, {.add = add});
  const TrainedAdapter& adapter = parameters_.adapter(layer, target);
  if (!adapter) return;
  kept.low[target] = floats(x.rows(), parameters_.rank());
  backend_->matmul(x, adapter.a, kept.low[target]);
  backend_->matmul(kept.low[target], adapter.b, result, {.add = true, .scale = scale_});
}

void LoraNetwork::project_backward(size_t layer, size_t target, const Tensor& x, const Kept& kept,
                                   const Tensor& gradient, const Tensor& x_gradient, bool add) const {
  backend_->matmul(gradient, unpacked(weights_.layers[layer].*lora_targets[target].weights, *backend_), x_gradient,
                   {.transpose_right = false, .add = add});
  const TrainedAdapter& adapter = parameters_.adapter(layer, target);
  if (!adapter) return;
  const Tensor low_gradient = floats(x.rows(), parameters_.rank());
  backend_->matmul(gradient, adapter.b, low_gradient, {.transpose_right = false, .scale = scale_});
  backend_->matmul(low_gradient, adapter.a, x_gradient, {.transpose_right = false, .add = true});
  backend_->matmul(gradient, kept.low[target], adapter.b_gradient,
                   {.transpose_left = true, .transpose_right = false, .scale = scale_});
  backend_->matmul(low_gradient, x, adapter.a_gradient, {.transpose_left = true, .transpose_right = false});
}

}  // namespace metalloid::llama

#include "llama/lora_file.hpp"

namespace metalloid::llama {

namespace {

// The weights in memory of their own, so that what a file or another tensor has stays.
Tensor copy_as(TensorType type, const Tensor& weights, Backend& backend) {
  const Tensor copy = backend.tensor(type, weights.shape());
  backend.copy(weights, copy);
  return copy;
}

void merge(const LoraMatrices& matrices, float scale, Backend& backend, Tensor& weights) {
  const TensorType type = weights.type() == TensorType::q8_0 ? TensorType::f16 : weights.type();
  const Tensor wide = copy_as(TensorType::f32, weights, backend);
  const Tensor a = backend.tensor(TensorType::f32, {matrices.rank, weights.columns()}),
               b = backend.tensor(TensorType::f32, {weights.rows(), matrices.rank});
  if (!backend.write(a, matrices.a.data()) || !backend.write(b, matrices.b.data())) return;
  backend.matmul(b, a, wide, {.transpose_right = false, .add = true, .scale = scale});
  weights = type == TensorType::f32 ? wide : copy_as(type, wide, backend);
}

}  // namespace

Status merge_lora(const LoraAdapter& adapter, float scale, Backend& backend, Weights& weights) {
  for (const LoraMatrices& matrices : adapter.each)
    merge(matrices, scale * adapter.alpha / float(matrices.rank), backend,
          weights.layers[matrices.layer].*lora_targets[matrices.target].weights);
  return backend.finish();
}

}  // namespace metalloid::llama

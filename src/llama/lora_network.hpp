// A Llama as training sees it: whole texts side by side go through all layers at once, what the way back needs is kept,
// and gradients come back to the adapters. The weights themselves are frozen.
#pragma once

#include <vector>

#include "llama/lora_parameters.hpp"

namespace metalloid::llama {

class LoraNetwork {
 public:
  static Result<LoraNetwork> make(const LlamaConfig& config, Weights weights, std::shared_ptr<Backend> backend,
                                  LoraParameters parameters, float scale);

  const LoraParameters& parameters() const { return parameters_; }
  const Weights& weights() const { return weights_; }

  // Encodes all layers for [texts][length] tokens, i32. The result is the loss of each token by what is to follow it.
  Tensor losses(const Tensor& tokens, const Tensor& targets) const;
  // Also leaves the gradients of the sum of all losses times `factor` in the parameters' array.
  Tensor losses_with_gradients(const Tensor& tokens, const Tensor& targets, float factor) const;

 private:
  struct Kept;  // of one layer

  LoraNetwork(const LlamaConfig& config, Weights weights, std::shared_ptr<Backend> backend, LoraParameters parameters,
              float scale);
  Tensor floats(size_t rows, size_t columns) const;
  Tensor logits(const Tensor& x) const;

  // Of one layer; x is what goes in.
  Tensor forward(size_t layer, const Tensor& x, size_t texts, Kept& kept) const;
  // The gradient of what came out becomes that of what went in.
  void backward(size_t layer, const Kept& kept, size_t texts, const Tensor& gradient) const;

  // result = x Wᵀ + scale (x Aᵀ) Bᵀ, or that is added to it, and the gradient of x.
  void project(size_t layer, size_t target, const Tensor& x, const Tensor& result, Kept& kept, bool add = false) const;
  void project_backward(size_t layer, size_t target, const Tensor& x, const Kept& kept, const Tensor& gradient,
                        const Tensor& x_gradient, bool add = false) const;

  LlamaConfig config_;
  Weights weights_;
  std::shared_ptr<Backend> backend_;
  LoraParameters parameters_;
  float scale_;
  Tensor frequencies_, negative_frequencies_;
};

}  // namespace metalloid::llama

// The layers of a Llama, and the keys and values of the tokens it has seen. A prompt goes through in one pass, or in a
// few where it is so long that its activations would need much memory.
#pragma once

#include <metalloid/backend.hpp>
#include <metalloid/llama.hpp>

#include "llama/weights.hpp"

namespace metalloid::llama {

class Network {
 public:
  static Result<Network> make(const LlamaConfig& config, Weights weights, std::shared_ptr<Backend> backend);

  // Those that forward() will use.
  Weights& weights() { return weights_; }

  // Room for the keys and values of so many tokens; those that are there stay.
  void reserve(size_t tokens);

  // Encodes all layers for tokens at `position` and following; the result is [1][vocabulary], what may follow the last.
  Tensor forward(const std::vector<int>& tokens, size_t position);
  Tensor forward(const Tensor& tokens, size_t position);

 private:
  struct Cache {
    Tensor keys, values;  // [capacity][key/value heads][size]
  };

  Network(const LlamaConfig& config, Weights weights, std::shared_ptr<Backend> backend)
      : config_(config), weights_(std::move(weights)), backend_(std::move(backend)) {}
  Tensor run_layers(const Tensor& tokens, size_t position);
  void attend(const Layer& layer, const Cache& cache, size_t position, const Tensor& x);

  LlamaConfig config_;
  Weights weights_;
  std::shared_ptr<Backend> backend_;
  Tensor frequencies_;
  std::vector<Cache> caches_;
  size_t capacity_ = 0;
};

}  // namespace metalloid::llama

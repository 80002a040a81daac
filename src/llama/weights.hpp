// The weights of a Llama as tensors of a backend, each checked to have the shape that the model's sizes ask for.
#pragma once

#include <metalloid/backend.hpp>
#include <vector>

#include "llama/model_file.hpp"

namespace metalloid::llama {

struct Layer {
  Tensor attention_norm, queries, keys, values, attention_output;
  Tensor feed_forward_norm, gate, up, down;
};

struct Weights {
  Tensor embedding, final_norm, classifier;
  std::vector<Layer> layers;
};

// Where host and device share memory, what the file has is used where it is. Tensors that no Llama has are an error:
// without them the model would say something else than it was taught.
Result<Weights> load_weights(const ModelFile& model, Backend& backend);

}  // namespace metalloid::llama

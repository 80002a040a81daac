// Files of adapters, as PEFT writes them: lora_A and lora_B of projections by name. Where the metadata does not say
// alpha, adapter_config.json beside the file does.
#pragma once

#include <string>
#include <vector>

#include "llama/lora_targets.hpp"

namespace metalloid::llama {

// Rows are in the model's order.
struct LoraMatrices {
  size_t layer, target, rank;
  std::vector<float> a, b;  // [rank][in], [out][rank]
};

struct LoraAdapter {
  float alpha;
  std::vector<LoraMatrices> each;
};

// The error names the tensor that does not fit the model.
Result<LoraAdapter> read_lora(const std::string& path, const LlamaConfig& config, const Weights& weights,
                              Backend& backend);
Status write_lora(const std::string& path, const LoraAdapter& adapter, const LlamaConfig& config,
                  const Weights& weights);

// Adds the adapter to the weights, for good: scale * (alpha / rank) * B A. Weights that are quantised become f16.
Status merge_lora(const LoraAdapter& adapter, float scale, Backend& backend, Weights& weights);

}  // namespace metalloid::llama

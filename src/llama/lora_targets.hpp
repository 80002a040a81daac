// The projections of a layer that adapters can be learnt for: what people call them, where the weights are, and how
// files of adapters name them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "llama/weights.hpp"

namespace metalloid::llama {

struct LoraTarget {
  const char* word;  // in a list of targets
  const char* name;  // in a layer of Hugging Face
  Tensor Layer::* weights;
  size_t LlamaConfig::* turned_heads;  // of what RoPE turns, else null
};

inline constexpr std::array<LoraTarget, 7> lora_targets = {{
    {"q", "self_attn.q_proj", &Layer::queries, &LlamaConfig::heads},
    {"k", "self_attn.k_proj", &Layer::keys, &LlamaConfig::kv_heads},
    {"v", "self_attn.v_proj", &Layer::values, nullptr},
    {"o", "self_attn.o_proj", &Layer::attention_output, nullptr},
    {"gate", "mlp.gate_proj", &Layer::gate, nullptr},
    {"up", "mlp.up_proj", &Layer::up, nullptr},
    {"down", "mlp.down_proj", &Layer::down, nullptr},
}};

// Which of them "q,v" or "all" means, in the order of the table.
Result<std::vector<size_t>> targets_in(const std::string& words);

// "base_model.model.model.layers.3.self_attn.q_proj.lora_A.weight"; the matrix is A or B.
std::string lora_tensor_name(size_t layer, size_t target, char matrix);

struct LoraTensorPlace {
  size_t layer, target;
  char matrix;
};
std::optional<LoraTensorPlace> lora_tensor_place(std::string_view name);

// Rows [out] of what RoPE turns are in another order where the model turns neighbours: a file has the first numbers of
// a head's pairs and then the second ones. `rows` has `columns` numbers each.
enum class RowOrder { of_file, of_model };
std::vector<float> reorder_rows(const std::vector<float>& rows, size_t columns, size_t target,
                                const LlamaConfig& config, RowOrder wanted);

}  // namespace metalloid::llama

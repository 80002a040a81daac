// A Llama of random weights, small enough to follow by hand, in every kind of file.
#pragma once

#include <cmath>
#include <cstring>
#include <map>
#include <metalloid/safetensors.hpp>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "../formats/gguf_writer.hpp"
#include "../support/temporary_folder.hpp"
#include "device/small_float.hpp"

namespace metalloid {

struct NamedNumbers {
  std::vector<size_t> shape;
  std::vector<float> numbers;
};

// What a type keeps of numbers, as bytes and as numbers.
struct Rounded {
  std::string bytes;
  std::vector<float> numbers;
};

inline Rounded round_to(TensorType type, const std::vector<float>& numbers) {
  using namespace device;
  Rounded rounded;
  const auto append = [&](const auto& value) {
    rounded.bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  if (type == TensorType::q8_0) {
    for (size_t begin = 0; begin < numbers.size(); begin += q8_0_block) {
      float largest = 0;
      for (size_t i = 0; i < q8_0_block; ++i) largest = std::max(largest, std::abs(numbers[begin + i]));
      const auto scale_bits = static_cast<uint16_t>(to_half(largest / 127));
      const float scale = from_half(scale_bits);
      append(scale_bits);
      for (size_t i = 0; i < q8_0_block; ++i) {
        const auto quantum = static_cast<int8_t>(std::lround(scale == 0 ? 0 : numbers[begin + i] / scale));
        append(quantum);
        rounded.numbers.push_back(static_cast<float>(quantum) * scale);
      }
    }
    return rounded;
  }
  for (const float number : numbers) {
    if (type == TensorType::f32) {
      append(number);
      rounded.numbers.push_back(number);
      continue;
    }
    const auto bits = static_cast<uint16_t>(type == TensorType::f16 ? to_half(number) : to_bfloat(number));
    append(bits);
    rounded.numbers.push_back(type == TensorType::f16 ? from_half(bits) : from_bfloat(bits));
  }
  return rounded;
}

struct TinyModel {
  size_t dimensions = 64, hidden = 96, layers = 2, heads = 4, kv_heads = 2, vocabulary = 262, context = 40;
  double epsilon = 1e-5, rope_base = 10000;
  bool has_classifier = true;
  std::map<std::string, NamedNumbers> tensors;  // by GGUF's names

  size_t head_size() const { return dimensions / heads; }

  void fill(unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    const auto add = [&](const std::string& name, std::vector<size_t> shape, float mean, float deviation) {
      NamedNumbers made{std::move(shape), {}};
      size_t count = 1;
      for (const size_t extent : made.shape) count *= extent;
      for (size_t i = 0; i < count; ++i) made.numbers.push_back(mean + deviation * normal(random));
      tensors[name] = std::move(made);
    };
    const size_t kv = kv_heads * head_size();
    add("token_embd.weight", {vocabulary, dimensions}, 0, 1);
    add("output_norm.weight", {dimensions}, 1, 0.1f);
    if (has_classifier) add("output.weight", {vocabulary, dimensions}, 0, 0.2f);
    for (size_t i = 0; i < layers; ++i) {
      const std::string layer = "blk." + std::to_string(i) + ".";
      add(layer + "attn_norm.weight", {dimensions}, 1, 0.1f);
      add(layer + "attn_q.weight", {dimensions, dimensions}, 0, 0.2f);
      add(layer + "attn_k.weight", {kv, dimensions}, 0, 0.2f);
      add(layer + "attn_v.weight", {kv, dimensions}, 0, 0.2f);
      add(layer + "attn_output.weight", {dimensions, dimensions}, 0, 0.2f);
      add(layer + "ffn_norm.weight", {dimensions}, 1, 0.1f);
      add(layer + "ffn_gate.weight", {hidden, dimensions}, 0, 0.2f);
      add(layer + "ffn_up.weight", {hidden, dimensions}, 0, 0.2f);
      add(layer + "ffn_down.weight", {dimensions, hidden}, 0, 0.2f);
    }
  }

  // Matrices of another type, as they are rounded to it.
  TinyModel rounded_to(TensorType type) const {
    TinyModel rounded = *this;
    for (auto& [name, tensor] : rounded.tensors)
      if (tensor.shape.size() == 2) tensor.numbers = round_to(type, tensor.numbers).numbers;
    return rounded;
  }

  std::vector<std::string> spellings() const {
    std::vector<std::string> all = {"<unk>", "<s>", "</s>"};
    for (int byte = 0; byte < 256; ++byte) {
      char spelling[8];
      std::snprintf(spelling, sizeof spelling, "<0x%02X>", byte);
      all.push_back(spelling);
    }
    for (size_t i = all.size(); i < vocabulary; ++i) all.push_back("\u2581" + std::to_string(i));
    return all;
  }

  std::string write_llama2c(const TemporaryFolder& folder) const {
    std::string file;
    const auto append = [&](const auto& value) { file.append(reinterpret_cast<const char*>(&value), sizeof value); };
    const auto numbers = [&](const std::string& name) {
      for (const float number : tensors.at(name).numbers) append(number);
    };
    const auto signed_vocabulary = static_cast<int32_t>(vocabulary) * (has_classifier ? -1 : 1);
    for (const size_t size : {dimensions, hidden, layers, heads, kv_heads}) append(static_cast<int32_t>(size));
    append(signed_vocabulary);
    append(static_cast<int32_t>(context));
    numbers("token_embd.weight");
    for (const char* name :
         {"attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_down", "ffn_up"})
      for (size_t i = 0; i < layers; ++i) numbers("blk." + std::to_string(i) + "." + name + ".weight");
    numbers("output_norm.weight");
    for (size_t i = 0; i < context * head_size(); ++i) append(0.0f);
    if (has_classifier) numbers("output.weight");

    std::string tokenizer;
    const auto append_token = [&](const auto& value) {
      tokenizer.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    append_token(int32_t{16});
    for (std::string spelling : spellings()) {
      if (spelling.starts_with("\u2581")) spelling.replace(0, 3, " ");
      append_token(0.0f);
      append_token(static_cast<int32_t>(spelling.size()));
      tokenizer += spelling;
    }
    folder.write("tokenizer.bin", tokenizer);
    return folder.write("model.bin", file);
  }

  std::string write_gguf(const TemporaryFolder& folder, TensorType type) const {
    GgufWriter writer;
    writer.text("general.architecture", "llama");
    writer.integer("llama.embedding_length", static_cast<uint32_t>(dimensions));
    writer.integer("llama.feed_forward_length", static_cast<uint32_t>(hidden));
    writer.integer("llama.block_count", static_cast<uint32_t>(layers));
    writer.integer("llama.attention.head_count", static_cast<uint32_t>(heads));
    writer.integer("llama.attention.head_count_kv", static_cast<uint32_t>(kv_heads));
    writer.integer("llama.context_length", static_cast<uint32_t>(context));
    writer.number("llama.attention.layer_norm_rms_epsilon", static_cast<float>(epsilon));
    writer.number("llama.rope.freq_base", static_cast<float>(rope_base));
    writer.text("tokenizer.ggml.model", "llama");
    writer.texts("tokenizer.ggml.tokens", spellings());
    writer.numbers("tokenizer.ggml.scores", std::vector<float>(vocabulary));
    for (const auto& [name, tensor] : tensors) {
      const TensorType stored = tensor.shape.size() == 2 ? type : TensorType::f32;
      const std::string bytes = round_to(stored, tensor.numbers).bytes;
      writer.tensor({name, stored, tensor.shape, bytes.data(), bytes.size()});
    }
    return folder.write("model.gguf", writer.file());
  }

  // In `shards` files with an index, or one without. Everything is of one type, norms too.
  std::string write_huggingface(const TemporaryFolder& folder, TensorType type, size_t shards = 1) const {
    using nlohmann::json;
    json config = {{"model_type", "llama"},
                   {"hidden_size", dimensions},
                   {"intermediate_size", hidden},
                   {"num_hidden_layers", layers},
                   {"num_attention_heads", heads},
                   {"num_key_value_heads", kv_heads},
                   {"vocab_size", vocabulary},
                   {"max_position_embeddings", context},
                   {"rms_norm_eps", epsilon},
                   {"rope_theta", rope_base},
                   {"eos_token_id", 2},
                   {"rope_scaling", nullptr}};
    folder.write("config.json", config.dump());
    json tokens;
    const auto all = spellings();
    for (size_t i = 0; i < all.size(); ++i) tokens[all[i]] = i;
    json tokenizer;
    tokenizer["model"] = {{"type", "BPE"}, {"vocab", tokens}, {"merges", json::array()}, {"byte_fallback", true}};
    tokenizer["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"split", false}};
    folder.write("tokenizer.json", tokenizer.dump());

    std::vector<std::vector<TensorView>> files(shards);
    std::vector<std::string> bytes;
    bytes.reserve(tensors.size());
    json index;
    for (const auto& [name, tensor] : tensors) {
      const bool is_turned = name.find("attn_q") != std::string::npos || name.find("attn_k") != std::string::npos;
      bytes.push_back(round_to(type, is_turned ? halves(tensor) : tensor.numbers).bytes);
      const size_t shard = bytes.size() % shards;
      files[shard].push_back({huggingface_name(name), type, tensor.shape, bytes.back().data(), bytes.back().size()});
      index["weight_map"][huggingface_name(name)] = "part" + std::to_string(shard) + ".safetensors";
    }
    for (size_t i = 0; i < shards; ++i)
      if (!write_safetensors(folder.file("part" + std::to_string(i) + ".safetensors"), files[i])) return "";
    if (shards > 1) folder.write("model.safetensors.index.json", index.dump());
    return folder.path().string();
  }

 private:
  // Rows of queries and keys in the order of Hugging Face: first the even ones of a head, then the odd ones.
  std::vector<float> halves(const NamedNumbers& tensor) const {
    const size_t row = tensor.shape[1], half = head_size() / 2;
    std::vector<float> sorted;
    for (size_t to = 0; to < tensor.shape[0]; ++to) {
      const size_t head = to / head_size() * head_size(), i = to % head_size();
      const size_t from = head + (i < half ? 2 * i : 2 * (i - half) + 1);
      sorted.insert(sorted.end(), tensor.numbers.begin() + static_cast<ptrdiff_t>(from * row),
                    tensor.numbers.begin() + static_cast<ptrdiff_t>((from + 1) * row));
    }
    return sorted;
  }

  static std::string huggingface_name(const std::string& name) {
    static const std::map<std::string, std::string> names = {{"token_embd.weight", "model.embed_tokens.weight"},
                                                             {"output_norm.weight", "model.norm.weight"},
                                                             {"output.weight", "lm_head.weight"},
                                                             {"attn_norm.weight", "input_layernorm.weight"},
                                                             {"attn_q.weight", "self_attn.q_proj.weight"},
                                                             {"attn_k.weight", "self_attn.k_proj.weight"},
                                                             {"attn_v.weight", "self_attn.v_proj.weight"},
                                                             {"attn_output.weight", "self_attn.o_proj.weight"},
                                                             {"ffn_norm.weight", "post_attention_layernorm.weight"},
                                                             {"ffn_gate.weight", "mlp.gate_proj.weight"},
                                                             {"ffn_up.weight", "mlp.up_proj.weight"},
                                                             {"ffn_down.weight", "mlp.down_proj.weight"}};
    if (!name.starts_with("blk.")) return names.at(name);
    const size_t dot = name.find('.', 4);
    return "model.layers." + name.substr(4, dot - 4) + "." + names.at(name.substr(dot + 1));
  }
};

}  // namespace metalloid

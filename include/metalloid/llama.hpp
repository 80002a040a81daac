// Models of the Llama architecture on a transformer backend: files of llama2.c, folders of Hugging Face (config.json,
// safetensors, tokenizer.json) and GGUF files.
//
//   std::shared_ptr<Backend> backend = *init_backend();
//   auto llama = *Llama::load("stories260K.bin", backend);
//   llama->generate("Once upon a time", {}, [](const std::string& text) { return std::cout << text << std::flush, true;
//   });
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <metalloid/backend.hpp>
#include <metalloid/result.hpp>
#include <string>
#include <vector>

namespace metalloid {

struct LlamaConfig {
  size_t dimensions = 0, hidden = 0, layers = 0, heads = 0, kv_heads = 0, head_size = 0, vocabulary = 0;
  size_t context = 0;  // the most tokens that the model can look back on
  float norm_epsilon = 1e-5f;
  RopePairs rope_pairs = RopePairs::Neighbours;
  std::vector<float> rope_frequencies;  // of the pairs of a head
};

struct SamplingOptions {
  float temperature = 0;  // 0: always the likeliest token
  size_t top_k = 0;       // of the likeliest tokens only; 0: of all
  float top_p = 1;        // of the likeliest that together have this probability
  uint64_t seed = 0;      // the same seed gives the same tokens
};

struct GenerateOptions {
  size_t tokens = 256;  // at most
  SamplingOptions sampling;
  std::vector<std::string> stop;  // generation ends before any of these
};

struct Generation {
  std::string text;
  std::vector<int> tokens;  // without the prompt's
  size_t prompt_tokens = 0;
  double prompt_seconds = 0, seconds = 0;  // until the first token could be chosen, and from then on
};

class Llama {
 public:
  // The tokenizer is the model's own: in the GGUF file or the folder; of llama2.c, tokenizer.bin or tok<size>.bin
  // beside the model. Weights are mapped, and stay in the file where the device shares the host's memory.
  static Result<std::unique_ptr<Llama>> load(const std::string& path, std::shared_ptr<Backend> backend,
                                             const std::string& tokenizer_path = "");
  ~Llama();

  // Adds an adapter (metalloid/lora.hpp) to the weights for good. The error names the tensor that does not fit.
  Status add_lora(const std::string& path, float scale = 1);

  const LlamaConfig& config() const;
  Backend& backend() const;

  // Tokens of a text, with the one that begins every text, and the bytes of a token behind another (-1: the first).
  Result<std::vector<int>> tokenize(const std::string& text) const;
  std::string text_of(int token, int previous) const;

  // What may follow those tokens, one number for each of the vocabulary. The first one is at `position`, and what lies
  // before is remembered from earlier calls.
  Result<std::vector<float>> logits(const std::vector<int>& tokens, size_t position = 0);

  // `stream` is given the text as it comes, and ends it with false.
  Result<Generation> generate(const std::string& prompt, const GenerateOptions& options = {},
                              const std::function<bool(const std::string& text)>& stream = nullptr);

 private:
  struct Parts;
  explicit Llama(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace metalloid

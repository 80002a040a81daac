// Low-rank adapters of Llama models (LoRA): beside the frozen weights of a projection, x Wᵀ, a small one is learnt,
// (alpha / rank) (x Aᵀ) Bᵀ. A text teaches it, a file keeps it, Llama::add_lora() applies it.
//
//   auto trainer = *LoraTrainer::make("stories260K.bin", text, backend, options);
//   for (size_t i = 0; i < 3 * trainer->steps_per_epoch(); ++i) {
//     Result<LoraStep> step = trainer->step();
//     if (!step) ...                                                   // says why; what was learnt so far is there
//   }
//   Status saved = trainer->save("adapter.safetensors");
#pragma once

#include <cstdint>
#include <memory>
#include <metalloid/backend.hpp>
#include <metalloid/result.hpp>
#include <string>
#include <string_view>

namespace metalloid {

// What decides, with the model and the text, about every number of a training.
struct LoraOptions {
  size_t rank = 8;
  float alpha = 16;
  std::string targets = "q,v";  // of q, k, v, o, gate, up, down; or "all"
  float rate = 1e-3f;
  size_t length = 128, batch = 4;  // a step learns from `batch` pieces of the text of `length` tokens each
  float largest_norm = 1;          // of gradients, which are made as short as this
  uint64_t seed = 1;
};

struct LoraStep {
  size_t number = 0;  // from 1
  double loss = 0;    // the mean of -log(probability) of its tokens, before the step
  double norm = 0;    // of the gradients, before they were clipped
  size_t tokens = 0;
};

class LoraTrainer {
 public:
  // The last tenth of the text is held out. The error says what is wrong with the model, the text or an option.
  static Result<std::unique_ptr<LoraTrainer>> make(const std::string& model_path, std::string_view text,
                                                   std::shared_ptr<Backend> backend, const LoraOptions& options,
                                                   const std::string& tokenizer_path = "");
  ~LoraTrainer();

  size_t parameters() const;  // how many numbers are learnt
  size_t training_tokens() const;
  size_t held_out_tokens() const;
  size_t steps_per_epoch() const;
  size_t steps_done() const;

  // Forward, backward, and a step of Adam. After an error nothing has changed.
  Result<LoraStep> step();
  // The mean loss on the part of the text that is never learnt from, or on its first 64 pieces.
  Result<double> held_out_loss();

  // The adapter, in a safetensors file as PEFT writes them, with rank and alpha in its metadata. The order of rows is
  // that of Hugging Face, whatever the model's, so that it fits the same model in other formats.
  Status save(const std::string& path);

  // All that is needed to go on, as if there had been no interruption: the model, the text and the options are to be
  // the same but for the rate.
  Status save_state(const std::string& path);
  Status resume(const std::string& path);

 private:
  struct Parts;
  explicit LoraTrainer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// The options of a training that save_state() saved.
Result<LoraOptions> lora_options_of_state(const std::string& path);

}  // namespace metalloid

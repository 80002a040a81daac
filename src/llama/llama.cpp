#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <metalloid/llama.hpp>

#include "llama/greedy_tokens.hpp"
#include "llama/lora_file.hpp"
#include "llama/model_file.hpp"
#include "llama/network.hpp"
#include "llama/sampler.hpp"
#include "llama/stop_strings.hpp"

namespace metalloid {

struct Llama::Parts {
  LlamaConfig config;
  std::shared_ptr<Backend> backend;
  std::shared_ptr<const formats::Tokenizer> tokenizer;
  llama::Network network;

  Status check(const std::vector<int>& tokens, size_t position) const;
  Result<std::vector<float>> logits(const std::vector<int>& tokens, size_t position);
};

Result<std::unique_ptr<Llama>> Llama::load(const std::string& path, std::shared_ptr<Backend> backend,
                                           const std::string& tokenizer_path) {
  Result<llama::ModelFile> model = llama::open_model(path, tokenizer_path);
  if (!model) return Error{model.error()};
  Result<llama::Weights> weights = llama::load_weights(*model, *backend);
  if (!weights) return Error{weights.error()};
  Result<llama::Network> network = llama::Network::make(model->config, std::move(*weights), backend);
  if (!network) return Error{network.error()};
  return std::unique_ptr<Llama>(new Llama(std::make_unique<Parts>(
      Parts{model->config, std::move(backend), std::move(model->tokenizer), std::move(*network)})));
}

Llama::Llama(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Llama::~Llama() = default;

Status Llama::add_lora(const std::string& path, float scale) {
  llama::Weights& weights = parts_->network.weights();
  const Result<llama::LoraAdapter> adapter = llama::read_lora(path, parts_->config, weights, *parts_->backend);
  if (!adapter) return Error{adapter.error()};
  return llama::merge_lora(*adapter, scale, *parts_->backend, weights);
}

const LlamaConfig& Llama::config() const {
  return parts_->config;
}

Backend& Llama::backend() const {
  return *parts_->backend;
}

Result<std::vector<int>> Llama::tokenize(const std::string& text) const {
  return parts_->tokenizer->encode(text);
}

std::string Llama::text_of(int token, int previous) const {
  return parts_->tokenizer->decode(token, previous);
}

Result<std::vector<float>> Llama::logits(const std::vector<int>& tokens, size_t position) {
  return parts_->logits(tokens, position);
}

Result<Generation> Llama::generate(const std::string& prompt, const GenerateOptions& options,
                                   const std::function<bool(const std::string& text)>& stream) {
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  const Result<std::vector<int>> encoded = tokenize(prompt);
  if (!encoded) return Error{encoded.error()};
  std::vector<int> tokens = *encoded;
  Generation generation;
  generation.prompt_tokens = tokens.size();
  if (options.tokens == 0) return generation;
  const size_t context = parts_->config.context;
  if (const Status fits = parts_->check(tokens, 0); !fits) return Error{fits.error()};
  const size_t most = std::min(options.tokens, context - tokens.size() + 1);  // the last is never looked at
  parts_->network.reserve(std::min(tokens.size() + most, context));

  llama::Sampler sampler(options.sampling);
  llama::GreedyTokens greedy(parts_->network, *parts_->backend, tokens, most);
  llama::StopStrings stop(options.stop);
  const auto emit = [&](const std::string& text) {
    generation.text += text;
    return text.empty() || !stream || stream(text);
  };
  size_t position = 0;
  int previous = tokens.back();
  const auto sampled = [&]() -> Result<int> {
    const Result<std::vector<float>> following = parts_->logits(tokens, position);
    if (!following) return Error{following.error()};
    return sampler.choose(*following);
  };
  Clock::time_point start = Clock::now();
  while (true) {
    const Result<int> chosen = sampler.is_greedy() ? greedy.next() : sampled();
    if (!chosen) return Error{chosen.error()};
    if (*chosen < 0) return Error{"the model's results are not numbers: its weights are damaged, or too large for it"};
    if (position == 0) {
      generation.prompt_seconds = seconds_since(start);
      start = Clock::now();
    }
    if (parts_->tokenizer->is_end(*chosen)) break;
    generation.tokens.push_back(*chosen);
    if (!emit(stop.add(text_of(*chosen, previous))) || stop.is_found() || generation.tokens.size() == most) break;
    position += tokens.size();
    tokens = {*chosen};
    previous = *chosen;
  }
  generation.seconds = seconds_since(start);
  if (!stop.is_found()) emit(stop.rest());
  return generation;
}

Status Llama::Parts::check(const std::vector<int>& tokens, size_t position) const {
  if (tokens.empty()) return Error{"there are no tokens to begin with: this model needs a prompt"};
  if (position > config.context || tokens.size() > config.context - position)
    return Error{fmt::format("the model can look back on {} tokens, and these are {}", config.context,
                             position + tokens.size())};
  for (const int token : tokens)
    if (token < 0 || static_cast<size_t>(token) >= config.vocabulary)
      return Error{fmt::format("token {} is none of the {} of the model's vocabulary", token, config.vocabulary)};
  return success();
}

Result<std::vector<float>> Llama::Parts::logits(const std::vector<int>& tokens, size_t position) {
  if (const Status fits = check(tokens, position); !fits) return Error{fits.error()};
  const Tensor result = network.forward(tokens, position);
  std::vector<float> numbers(config.vocabulary);
  if (const Status read = backend->read(result, numbers.data()); !read) return Error{read.error()};
  return numbers;
}

}  // namespace metalloid

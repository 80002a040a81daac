// metalloid generate: a Llama continues a text. What it says is printed as it comes; how fast it was goes to stderr.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <metalloid/llama.hpp>

#include "backend_options.hpp"
#include "program.hpp"

namespace metalloid::tool {

namespace {

struct GenerateArguments {
  std::string model, prompt, tokenizer, lora;
  float lora_scale = 1;
  BackendOptions backend;
  GenerateOptions options;
};

volatile std::sig_atomic_t is_interrupted = 0;

void print_speed(const Llama& llama, const Generation& generation) {
  // The first of the generated tokens comes out of the prompt's pass.
  const auto per_second = [](size_t tokens, double seconds) {
    return seconds > 0 ? static_cast<double>(tokens) / seconds : 0;
  };
  const size_t following = generation.tokens.empty() ? 0 : generation.tokens.size() - 1;
  fmt::print(stderr,
             "\n{} on {}\n"
             "prompt      {:5} tokens in {:7.3f} s, {:9.1f} tokens/s\n"
             "generation  {:5} tokens in {:7.3f} s, {:9.1f} tokens/s\n",
             llama.backend().name(), llama.backend().device_name(), generation.prompt_tokens, generation.prompt_seconds,
             per_second(generation.prompt_tokens, generation.prompt_seconds), following, generation.seconds,
             per_second(following, generation.seconds));
}

void generate(const GenerateArguments& arguments) {
  const auto llama = Llama::load(arguments.model, make_backend(arguments.backend), arguments.tokenizer);
  if (!llama) throw Failure{exit_file_error, llama.error()};
  if (!arguments.lora.empty())
    if (const Status added = (*llama)->add_lora(arguments.lora, arguments.lora_scale); !added)
      throw Failure{exit_file_error, added.error()};

  fmt::print("{}", arguments.prompt);
  std::fflush(stdout);
  const auto old_handler = std::signal(SIGINT, [](int) { is_interrupted = 1; });
  const auto generation = (*llama)->generate(arguments.prompt, arguments.options, [](const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return std::fflush(stdout) == 0 && !is_interrupted;
  });
  std::signal(SIGINT, old_handler);
  fmt::print("\n");
  if (!generation) throw Failure{exit_source_error, generation.error()};
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) throw Failure{exit_file_error, "cannot write the text"};
  print_speed(**llama, *generation);
}

}  // namespace

void add_generate(CLI::App& app) {
  auto arguments = std::make_shared<GenerateArguments>();
  CLI::App* command = app.add_subcommand("generate", "Continue a text with a Llama model");
  command
      ->add_option("-m,--model", arguments->model,
                   "A .gguf file, a folder with config.json and safetensors, or a .bin of llama2.c")
      ->required();
  command->add_option("-p,--prompt", arguments->prompt, "The text to continue");
  GenerateOptions& options = arguments->options;
  SamplingOptions& sampling = options.sampling;
  command->add_option("-n,--tokens", options.tokens, "Tokens to generate, at most")->capture_default_str();
  command->add_option("-t,--temperature", sampling.temperature, "0 takes the likeliest token always")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  command->add_option("--top-k", sampling.top_k, "Choose among so many of the likeliest tokens; 0: among all")
      ->capture_default_str();
  command->add_option("--top-p", sampling.top_p, "Choose among the likeliest with this probability together")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--seed", sampling.seed, "The same seed gives the same text")->capture_default_str();
  command->add_option("--stop", options.stop, "Ends the text before it; may be given more than once")
      ->allow_extra_args(false);
  command->add_option("--tokenizer", arguments->tokenizer, "The tokenizer's file, if it is not beside the model");
  command->add_option("--lora", arguments->lora, "An adapter that the model takes, of `metalloid lora` or PEFT");
  command->add_option("--lora-scale", arguments->lora_scale, "How much of it")->capture_default_str();
  add_backend_options(*command, arguments->backend);
  command->callback([arguments] { generate(*arguments); });
}

}  // namespace metalloid::tool

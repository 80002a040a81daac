// metalloid generate: a Llama continues a text. What it says is printed as it comes; how fast it was goes to stderr.
#include <fmt/format.h>

#include <CLI/Validators.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <metalloid/llama.hpp>

#include "program.hpp"

namespace metalloid::tool {

namespace {

struct GenerateArguments {
  std::string model, prompt, tokenizer, device;
  BackendPreference backend = BackendPreference::Auto;
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
  if (!arguments.device.empty()) ::setenv("METALLOID_DEVICE", arguments.device.c_str(), 1);
  Result<std::unique_ptr<Backend>> backend = init_backend(arguments.backend);
  if (!backend) throw Failure{exit_usage_error, backend.error()};
  const auto llama = Llama::load(arguments.model, std::move(*backend), arguments.tokenizer);
  if (!llama) throw Failure{exit_file_error, llama.error()};

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
  const std::map<std::string, BackendPreference> backends = {
      {"auto", BackendPreference::Auto}, {"metal", BackendPreference::Metal}, {"cpu", BackendPreference::Cpu}};
  command->add_option("--backend", arguments->backend, "metal, cpu (plain C++), or auto")
      ->transform(CLI::CheckedTransformer(backends));
  command->add_option("--device", arguments->device, "Part of the Metal device's name, as METALLOID_DEVICE");
  command->callback([arguments] { generate(*arguments); });
}

}  // namespace metalloid::tool

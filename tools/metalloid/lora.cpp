// metalloid lora: teaches a Llama a text. The adapter is saved now and then, at the end, and when the user stops it; so
// is all that is needed to go on, in a file beside it.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <chrono>
#include <cstdlib>
#include <metalloid/lora.hpp>
#include <optional>

#include "backend_options.hpp"
#include "files.hpp"
#include "program.hpp"
#include "training/interruption.hpp"
#include "training/progress.hpp"

namespace metalloid::tool {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

struct LoraArguments {
  std::string model, tokenizer, text, output;
  BackendOptions backend;
  std::optional<size_t> rank, length, batch, epochs, steps;
  std::optional<float> alpha, rate;
  std::optional<std::string> targets;
  std::optional<uint64_t> seed;
  bool resume = false;

  std::string state() const { return output + ".training"; }
};

template <class Value>
Value value_or_fail(Result<Value> result, ExitCode code) {
  if (!result) throw Failure{code, result.error()};
  return std::move(*result);
}

void succeed_or_fail(const Status& status, ExitCode code) {
  if (!status) throw Failure{code, status.error()};
}

// Those of the training that goes on, or the defaults, but for what was asked for.
LoraOptions settle(const LoraArguments& arguments) {
  LoraOptions options;
  if (arguments.resume) options = value_or_fail(lora_options_of_state(arguments.state()), exit_file_error);
  options.rank = arguments.rank.value_or(options.rank);
  options.alpha =
      arguments.alpha.value_or(arguments.rank && !arguments.resume ? 2 * float(options.rank) : options.alpha);
  options.targets = arguments.targets.value_or(options.targets);
  options.rate = arguments.rate.value_or(options.rate);
  options.length = arguments.length.value_or(options.length);
  options.batch = arguments.batch.value_or(options.batch);
  options.seed = arguments.seed.value_or(options.seed);
  return options;
}

void save(LoraTrainer& trainer, const LoraArguments& arguments) {
  succeed_or_fail(trainer.save(arguments.output), exit_file_error);
  succeed_or_fail(trainer.save_state(arguments.state()), exit_file_error);
}

// Until so many steps are done, or the user wants to stop.
void learn(LoraTrainer& trainer, size_t steps, const LoraArguments& arguments,
           const training::Interruption& interruption) {
  constexpr auto between_saves = 30s;
  training::ProgressLine line;
  const Clock::time_point start = Clock::now();
  Clock::time_point next_save = start + between_saves;
  const size_t first = trainer.steps_done();
  size_t tokens = 0;
  double loss = 0;  // of the last dozen steps, the last ones most
  while (trainer.steps_done() < steps && !interruption.is_requested()) {
    const Result<LoraStep> step = trainer.step();
    if (!step) throw Failure{exit_source_error, fmt::format("{}; what was saved last is as it was", step.error())};
    tokens += step->tokens;
    loss = step->number == first + 1 ? step->loss : loss + (step->loss - loss) / 12;
    if (Clock::now() >= next_save) {
      save(trainer, arguments);
      next_save = Clock::now() + between_saves;
    }
    if (!line.is_due()) continue;
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const size_t done = step->number - first;
    line.show({fmt::format("epoch {}/{}", (step->number - 1) / trainer.steps_per_epoch() + 1,
                           (steps - 1) / trainer.steps_per_epoch() + 1),
               step->number, steps, loss, fmt::format("step {}/{}", step->number, steps), double(tokens) / seconds,
               "tokens", seconds / double(done) * double(steps - step->number)});
  }
  line.clear();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (tokens > 0)
    fmt::print("{} steps, {} tokens in {:.1f} s, {:.0f} tokens/s; loss of the last ones {:.4f}\n",
               trainer.steps_done() - first, tokens, seconds, double(tokens) / seconds, loss);
}

void run_lora(const LoraArguments& arguments) {
  const std::string text = read_input(arguments.text);
  const LoraOptions options = settle(arguments);
  std::shared_ptr<Backend> backend = make_backend(arguments.backend);
  const auto trainer =
      value_or_fail(LoraTrainer::make(arguments.model, text, backend, options, arguments.tokenizer), exit_source_error);
  if (arguments.resume) succeed_or_fail(trainer->resume(arguments.state()), exit_file_error);
  const size_t steps = arguments.steps.value_or(arguments.epochs.value_or(3) * trainer->steps_per_epoch());

  fmt::print("{} on {}: rank {} of {} with alpha {:g}, {} numbers to learn from {} tokens, {} held out\n",
             backend->name(), backend->device_name(), options.rank, options.targets, options.alpha,
             training::with_commas(trainer->parameters()), training::with_commas(trainer->training_tokens()),
             training::with_commas(trainer->held_out_tokens()));
  if (trainer->steps_done() > 0) fmt::print("goes on after step {}\n", trainer->steps_done());
  fmt::print("held-out loss before: {:.4f}\n", value_or_fail(trainer->held_out_loss(), exit_source_error));
  std::fflush(stdout);

  // A folder that cannot be written to is better found before the work than after it.
  succeed_or_fail(trainer->save_state(arguments.state()), exit_file_error);
  const training::Interruption interruption;
  learn(*trainer, steps, arguments, interruption);
  save(*trainer, arguments);
  if (interruption.is_requested()) {
    fmt::print("stopped after step {}; saved '{}', --resume goes on\n", trainer->steps_done(), arguments.output);
    std::fflush(stdout);
    std::_Exit(130);
  }
  fmt::print("held-out loss after:  {:.4f}\nsaved '{}'\n", value_or_fail(trainer->held_out_loss(), exit_source_error),
             arguments.output);
}

}  // namespace

void add_lora(CLI::App& app) {
  CLI::App* command = app.add_subcommand("lora", "Teach a language model a text, as a small adapter (LoRA)");
  auto arguments = std::make_shared<LoraArguments>();
  command->add_option("-m,--model", arguments->model, "A llama2.c or GGUF file, or a folder of Hugging Face")
      ->required();
  command->add_option("--tokenizer", arguments->tokenizer, "Its tokenizer, where it is not beside or in the model");
  command->add_option("-t,--text", arguments->text, "The text to learn")->required();
  command->add_option("-o,--output", arguments->output, "The adapter, a safetensors file")->required();
  const LoraOptions defaults;
  const auto number = [](auto value) { return fmt::format("{}", value); };
  command->add_option("--rank", arguments->rank, "Of the adapter's matrices")->default_str(number(defaults.rank));
  command->add_option("--alpha", arguments->alpha, "What is learnt counts alpha / rank")->default_str("2 * rank");
  command->add_option("--targets", arguments->targets, "Of q,k,v,o,gate,up,down, or all")
      ->default_str(defaults.targets);
  command->add_option("--rate", arguments->rate, "How far a step goes")->default_str(number(defaults.rate));
  command->add_option("--length", arguments->length, "Tokens of a piece of the text")
      ->default_str(number(defaults.length));
  command->add_option("--batch", arguments->batch, "Pieces that a step learns from")
      ->default_str(number(defaults.batch));
  CLI::Option* epochs =
      command->add_option("--epochs", arguments->epochs, "How often it goes through the text")->default_str("3");
  command->add_option("--steps", arguments->steps, "How many steps it makes in all, instead")->excludes(epochs);
  command->add_option("--seed", arguments->seed, "The same seed gives the same numbers")
      ->default_str(number(defaults.seed));
  command->add_flag("--resume", arguments->resume, "Go on where it stopped, with the settings of then");
  add_backend_options(*command, arguments->backend);
  command->footer(
      "Example:\n"
      "  metalloid lora -m stories260K.bin -t genesis.txt -o genesis.safetensors --targets all\n"
      "  metalloid generate -m stories260K.bin --lora genesis.safetensors -p \"In the beginning\"\n");
  command->callback([arguments] { run_lora(*arguments); });
}

}  // namespace metalloid::tool

#include "trainer.hpp"

#include <fmt/format.h>

#include <Foundation/Foundation.hpp>
#include <bit>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "adding.hpp"
#include "curves.hpp"
#include "language_model.hpp"
#include "memory_copy.hpp"
#include "sampler.hpp"
#include "training/checkpoint.hpp"
#include "training/failure.hpp"
#include "training/files.hpp"
#include "training/interruption.hpp"
#include "training/progress.hpp"
#include "training/steps_under_way.hpp"

namespace metalloid::train_rnn {

namespace {

using training::Failure;
using training::StepsUnderWay;
using Clock = std::chrono::steady_clock;

constexpr const char* trainer_name = "the recurrent network";
constexpr size_t points_of_epoch = 20;                    // of the learning curve
constexpr size_t shown_sample = 240, last_sample = 1000;  // characters

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Sums over the predictions of some steps.
struct Tally {
  double loss = 0;
  size_t predictions = 0;

  void add(const Slot& slot) {
    loss += slot.loss();
    predictions += slot.counted;
  }
  double mean() const { return predictions == 0 ? 0 : loss / double(predictions); }
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Tally, loss, predictions)

// How far a training has come: all of it that is not in the network. Goes into checkpoints.
struct State {
  Settings settings;
  size_t epoch = 0, step = 0;  // whole epochs, and steps of the next one
  Tally since_epoch, since_point;
  training::LearningCurve curve;
  std::vector<uint8_t> vocabulary;
  uint64_t fingerprint = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(State, settings, epoch, step, since_epoch, since_point, curve, vocabulary,
                                   fingerprint)

std::filesystem::path checkpoint_in(const Options& options) {
  return options.output / "checkpoint.safetensors";
}

std::unique_ptr<Task> new_task(const Settings& settings) {
  if (settings.task == "adding")
    return std::make_unique<Adding>(settings.length, settings.batch, settings.limit, settings.seed);
  return std::make_unique<LanguageModel>(
      read_text(settings.text.empty() ? text_file() : std::filesystem::path(settings.text), settings.limit),
      settings.length, settings.batch, settings.seed);
}

NetworkShape shape_of(const Settings& settings, size_t inputs, size_t outputs) {
  return {settings.cell_kind(), inputs, settings.hidden, settings.layers, outputs};
}

// Lines of a text below each other, set in, without characters that would move the cursor.
std::string set_in(const std::string& text) {
  std::string result = "  | ";
  for (const char byte : text) {
    const bool is_control = uint8_t(byte) < 0x20 || byte == 0x7F;
    result += byte == '\n' ? "\n  | " : is_control ? "?" : std::string(1, byte);
  }
  return result;
}

class Trainer {
 public:
  Trainer(const Options& options, MTL::Device* device)
      : options_(options),
        device_(device),
        queue_(NS::TransferPtr(device->newCommandQueue())),
        checkpoint_(checkpoint_in(options)) {}

  int run() {
    begin();
    const training::Interruption interruption;
    introduce();
    const Clock::time_point start = Clock::now();
    while (state_.epoch < options_.epochs) {
      if (!run_epoch(interruption)) return stop();
      test_epoch();
      save();
    }
    finish(seconds_since(start));
    return training::exit_success;
  }

 private:
  // Makes the network, or takes up one that was saved.
  void begin() {
    training::make_folder(options_.output);
    std::optional<training::Checkpoint> saved;
    if (options_.resume) {
      saved.emplace(checkpoint_, trainer_name);
      saved->get_progress(state_);
      state_.settings = settle_again(options_, state_.settings);
    } else {
      state_.settings = settle(options_);
    }
    task_ = new_task(state_.settings);
    if (saved && state_.fingerprint != task_->fingerprint())
      throw Failure(training::exit_usage_error,
                    fmt::format("the training in '{}' began with another text: name that one with --text, or begin "
                                "anew without --resume",
                                options_.output.string()));
    state_.vocabulary = task_->vocabulary();
    state_.fingerprint = task_->fingerprint();
    const NetworkShape shape = shape_of(state_.settings, task_->inputs(), task_->outputs());
    network_ = std::make_unique<Network>(device_, shape, state_.settings.seed);
    flow_ = std::make_unique<Flow>(device_, shape, task_->length(), task_->rows(), task_->is_stream());
    memory_copy_ = std::make_unique<MemoryCopy>(device_, shape, task_->rows());
    for (size_t i = 0; i < StepsUnderWay::places; ++i) slots_.push_back(task_->new_slot(device_));
    if (saved) take_up(*saved);
  }

  void take_up(const training::Checkpoint& saved) {
    saved.get_tensors(tensors());
    // A forward pass makes the states that the saved numbers go to, and is done with its slot before the first step.
    const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    StepsUnderWay under_way([](size_t) {});
    Slot& slot = slots_[under_way.free_place()];
    MTL::CommandBuffer* commands = queue_->commandBuffer();
    task_->fill(slot, state_.epoch, 0);
    task_->encode_inputs(commands, network_->kernels(), slot, *flow_);
    network_->encode_forward(commands, *flow_, memory_, {});
    memory_copy_->encode_give(commands, memory_);
    under_way.send(commands);
    under_way.finish();
    line_.say(fmt::format("going on after {} epochs and {} steps", state_.epoch, state_.step));
  }

  void introduce() {
    const Settings& settings = state_.settings;
    line_.say(fmt::format("{}; {}, {} parameters; batches of {}, length {}, rate {}, seed {}; on {}",
                          task_->description().data, layers(), training::with_commas(network_->parameters().count()),
                          settings.batch, settings.length, settings.rate, settings.seed,
                          device_->name()->utf8String()));
    for (const auto& [name, value] : task_->description().references)
      line_.say(fmt::format("to compare with: {}, {:.4g} {}", name, value, task_->description().measure));
    if (state_.epoch >= options_.epochs)
      line_.say(fmt::format("{} epochs are done already; ask for more with --epochs", state_.epoch));
  }

  // "LSTM of 256 in 2 layers"
  std::string layers() const {
    const Settings& settings = state_.settings;
    return fmt::format("{} of {}{}", settings.cell == "gru" ? "GRU" : "LSTM", settings.hidden,
                       settings.layers == 1 ? "" : fmt::format(" in {} layers", settings.layers));
  }

  std::vector<training::Tensor> tensors() {
    std::vector<training::Tensor> all = network_->parameters().tensors();
    if (!task_->is_stream()) return all;
    for (training::Tensor& tensor : memory_copy_->tensors()) all.push_back(std::move(tensor));
    return all;
  }

  size_t steps() const { return task_->steps_of_epoch(); }

  // False if it was interrupted.
  bool run_epoch(const training::Interruption& interruption) {
    const size_t first_step = state_.step, steps_of_point = std::max<size_t>(1, steps() / points_of_epoch);
    const Clock::time_point start = Clock::now();
    StepsUnderWay under_way([&](size_t place) {
      require_finite(slots_[place].loss());
      state_.since_epoch.add(slots_[place]);
      state_.since_point.add(slots_[place]);
      ++state_.step;
      if (state_.step % steps_of_point == 0) add_point();
      if (line_.is_due()) show(first_step, seconds_since(start));
    });
    for (size_t step = first_step; step < steps() && !interruption.is_requested(); ++step) {
      Slot& slot = slots_[under_way.free_place()];
      task_->fill(slot, state_.epoch, step);
      const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
      MTL::CommandBuffer* commands = queue_->commandBuffer();
      encode_training(commands, slot, step);
      under_way.send(commands);
    }
    under_way.finish();
    epoch_seconds_ = seconds_since(start);
    epoch_examples_ = (state_.step - first_step) * task_->description().examples_of_step;
    return state_.step == steps();
  }

  void encode_training(MTL::CommandBuffer* commands, const Slot& slot, size_t step) {
    const Settings& settings = state_.settings;
    const size_t number = state_.epoch * steps() + step;
    std::optional<Dropout> dropout;
    if (settings.dropout > 0) dropout = {float(1 - settings.dropout), uint32_t(random_of(settings.seed, number)())};
    if (step == 0 || !task_->is_stream()) memory_.clear();
    task_->encode_inputs(commands, network_->kernels(), slot, *flow_);
    network_->encode_forward(commands, *flow_, memory_, dropout);
    task_->encode_loss(commands, network_->kernels(), slot, *flow_);
    network_->encode_backward(commands, *flow_, dropout);
    network_->parameters().encode_update(commands, network_->kernels(), number, settings.rate_of(state_.epoch),
                                         settings.clip);
  }

  void require_finite(double loss) const {
    if (!std::isfinite(loss))
      training::fail_at_loss(state_.epoch, std::min(state_.step, steps() - 1), state_.settings.rate, checkpoint_);
  }

  void add_point() {
    const double epoch = double(state_.epoch) + double(state_.step) / double(steps());
    state_.curve.add(training_series, epoch, state_.since_point.mean() * task_->description().scale);
    state_.since_point = {};
  }

  void show(size_t first_step, double seconds) {
    const double done = double(state_.step - first_step), left = double(steps() - state_.step);
    line_.show({.stage = fmt::format("epoch {}/{}", state_.epoch + 1, options_.epochs),
                .done = state_.step,
                .total = steps(),
                .loss = state_.since_epoch.mean(),
                .measure = task_->few_words(state_.since_epoch.mean()),
                .examples_per_second = done * double(task_->description().examples_of_step) / seconds,
                .examples = task_->description().examples,
                .seconds_left = seconds / done * left});
  }

  void test_epoch() {
    held_out_loss_ = test();
    require_finite(held_out_loss_);
    ++state_.epoch;
    state_.curve.add(held_out_series, double(state_.epoch), held_out_loss_ * task_->description().scale);
    line_.say(fmt::format("epoch {}/{}  {}  held out {}  {} {}/s  {}", state_.epoch, options_.epochs,
                          task_->words(state_.since_epoch.mean()), task_->words(held_out_loss_),
                          training::with_commas(size_t(examples_per_second())), task_->description().examples,
                          training::minutes_and_seconds(epoch_seconds_)));
    if (std::has_single_bit(state_.epoch) && state_.epoch < options_.epochs) say_sample();
    state_.since_epoch = {};
    state_.step = 0;
    memory_.clear();
  }

  double test() {
    Tally tally;
    Memory memory;
    StepsUnderWay under_way([&](size_t place) { tally.add(slots_[place]); });
    for (size_t step = 0; step < task_->steps_of_test(); ++step) {
      Slot& slot = slots_[under_way.free_place()];
      task_->fill_test(slot, step);
      const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
      MTL::CommandBuffer* commands = queue_->commandBuffer();
      if (!task_->is_stream()) memory.clear();
      task_->encode_inputs(commands, network_->kernels(), slot, *flow_);
      network_->encode_forward(commands, *flow_, memory, {});
      task_->encode_loss(commands, network_->kernels(), slot, *flow_);
      under_way.send(commands);
    }
    under_way.finish();
    return tally.mean();
  }

  double examples_per_second() const { return epoch_seconds_ > 0 ? double(epoch_examples_) / epoch_seconds_ : 0; }

  // It begins one for each epoch with other random numbers.
  std::string sample(size_t characters) {
    return Sampler(*network_, queue_.get(), state_.vocabulary)
        .sample(characters, options_.temperature, random_of(state_.settings.seed, state_.epoch)());
  }

  void say_sample() {
    if (!state_.vocabulary.empty()) line_.say(set_in(sample(shown_sample)));
  }

  void save() {
    memory_copy_->take(queue_.get(), memory_);
    training::save_checkpoint(checkpoint_, trainer_name, tensors(), state_);
    const std::string device = device_->name()->utf8String();
    const nlohmann::json log = {{"trainer", trainer_name},
                                {"device", device},
                                {"settings", state_.settings},
                                {"epochs", state_.epoch},
                                {task_->description().examples + "_per_second", examples_per_second()},
                                {"curve", state_.curve}};
    training::write_file(options_.output / "log.json", log.dump(1) + "\n");
    training::write_file(options_.output / "curves.png",
                         draw_curves(state_.curve, task_->description(),
                                     fmt::format("{}, {}, on {}", layers(), task_->description().amount, device)));
  }

  int stop() {
    save();
    line_.say(fmt::format("stopped in epoch {} after {} of {} steps; go on with: {} --output {} --epochs {} --resume",
                          state_.epoch + 1, state_.step, steps(), options_.command, options_.output.string(),
                          options_.epochs));
    return training::exit_interrupted;
  }

  void finish(double seconds) {
    if (held_out_loss_ == 0) held_out_loss_ = test();
    const bool is_text = !state_.vocabulary.empty();
    if (is_text) {
      say_sample();
      training::write_file(options_.output / "sample.txt", sample(last_sample) + "\n");
    }
    line_.say(fmt::format("held out {} after {} epochs, {}; {} has the checkpoint, curves.png{} and log.json",
                          task_->words(held_out_loss_), state_.epoch, training::minutes_and_seconds(seconds),
                          options_.output.string(), is_text ? ", sample.txt" : ""));
  }

  const Options& options_;
  MTL::Device* const device_;
  const NS::SharedPtr<MTL::CommandQueue> queue_;
  const std::filesystem::path checkpoint_;
  State state_;
  std::unique_ptr<Task> task_;
  std::unique_ptr<Network> network_;
  std::unique_ptr<Flow> flow_;
  std::vector<Slot> slots_;
  Memory memory_;
  std::unique_ptr<MemoryCopy> memory_copy_;
  double held_out_loss_ = 0;
  double epoch_seconds_ = 0;
  size_t epoch_examples_ = 0;
  training::ProgressLine line_;
};

void write_sample(const Options& options, MTL::Device* device) {
  const training::Checkpoint saved(checkpoint_in(options), trainer_name);
  State state;
  saved.get_progress(state);
  const size_t symbols = state.vocabulary.size();
  if (symbols == 0)
    throw Failure(
        training::exit_usage_error,
        fmt::format("the network in '{}' learned no text: there is nothing it could write", options.output.string()));
  Network network(device, shape_of(state.settings, symbols, symbols), 0);
  saved.get_tensors(network.parameters().value_tensors());
  const auto queue = NS::TransferPtr(device->newCommandQueue());
  const std::string sample = Sampler(network, queue.get(), state.vocabulary)
                                 .sample(options.sample, options.temperature, options.seed.value_or(1));
  fmt::print("{}\n", sample);
}

}  // namespace

int train(const Options& options) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  const auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  if (!device)
    throw Failure(training::exit_failed, "there is no Metal device; `metalloid devices` says which there are");
  if (options.sample == 0) return Trainer(options, device.get()).run();
  write_sample(options, device.get());
  return training::exit_success;
}

}  // namespace metalloid::train_rnn

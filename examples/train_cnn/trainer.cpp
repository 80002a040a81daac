#include "trainer.hpp"

#include <fmt/format.h>

#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <random>

#include "batches.hpp"
#include "mnist.hpp"
#include "network.hpp"
#include "pictures.hpp"
#include "training/checkpoint.hpp"
#include "training/failure.hpp"
#include "training/files.hpp"
#include "training/interruption.hpp"
#include "training/progress.hpp"

namespace metalloid::train_cnn {

namespace {

using training::Failure;
using Clock = std::chrono::steady_clock;

constexpr const char* trainer_name = "the convolutional network on MNIST";
constexpr training::Settings defaults = {.batch = 64, .rate = 0.001, .seed = 1, .limit = 0};
constexpr size_t points_of_epoch = 50;  // of the learning curve

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Sums over the images of some batches.
struct Tally {
  double loss = 0;
  size_t right = 0, images = 0, batches = 0;

  void add(const BatchResult& result, size_t right_ones) {
    loss += result.loss;
    right += right_ones;
    images += result.indices.size();
    ++batches;
  }
  double mean_loss() const { return batches == 0 ? 0 : loss / static_cast<double>(batches); }
  double percent() const { return images == 0 ? 0 : 100.0 * static_cast<double>(right) / static_cast<double>(images); }
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Tally, loss, right, images, batches)

// How far a training has come: all of it that is not in the network. Goes into checkpoints.
struct State {
  training::Settings settings;
  size_t epoch = 0, step = 0;  // whole epochs, and steps of the next one
  Tally since_epoch, since_point;
  training::LearningCurve curve;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(State, settings, epoch, step, since_epoch, since_point, curve)

// The images in an order that follows from seed and epoch.
std::vector<uint32_t> shuffled(size_t count, uint64_t seed, size_t epoch) {
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::seed_seq seeds{uint32_t(seed), uint32_t(seed >> 32), uint32_t(epoch)};
  std::mt19937_64 random(seeds);
  for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

size_t right_ones(const Digits& digits, const BatchResult& result) {
  size_t right = 0;
  for (size_t i = 0; i < result.indices.size(); ++i)
    right += result.predictions[i].digit == digits.labels[result.indices[i]];
  return right;
}

class Trainer {
 public:
  Trainer(const Options& options, MTL::Device* device, Mnist data)
      : options_(options),
        device_(device),
        queue_(NS::TransferPtr(device->newCommandQueue())),
        data_(std::move(data)),
        checkpoint_(options.output / "checkpoint.safetensors") {}

  int run() {
    begin();
    const training::Interruption interruption;
    line_.say(fmt::format("{} training and {} test images, batches of {}, rate {}, seed {}, on {}",
                          training::with_commas(data_.training.count()), training::with_commas(data_.test.count()),
                          state_.settings.batch, state_.settings.rate, state_.settings.seed,
                          device_->name()->utf8String()));
    if (state_.epoch >= options_.epochs)
      line_.say(fmt::format("{} epochs are done already; ask for more with --epochs", state_.epoch));
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
    state_.settings = training::settle(options_, defaults);
    std::optional<training::Checkpoint> saved;
    if (options_.resume) {
      saved.emplace(checkpoint_, trainer_name);
      saved->get_progress(state_);
      state_.settings = training::settle_again(options_, state_.settings);
    }
    if (const size_t limit = state_.settings.limit; limit > 0) {
      data_.training.keep(limit);
      data_.test.keep(limit);
    }
    steps_ = data_.training.count() / std::max<size_t>(1, state_.settings.batch);
    if (steps_ == 0)
      throw Failure(training::exit_usage_error, fmt::format("--batch {} is more than the {} training images there are",
                                                            state_.settings.batch, data_.training.count()));
    network_ = std::make_unique<Network>(device_, state_.settings.batch, state_.settings.rate, state_.settings.seed);
    if (!saved) return;
    saved->get_tensors(network_->tensors());
    network_->set_step(step_number());
    line_.say(fmt::format("going on after {} epochs and {} steps", state_.epoch, state_.step));
  }

  size_t step_number() const { return state_.epoch * steps_ + state_.step; }

  // False if it was interrupted.
  bool run_epoch(const training::Interruption& interruption) {
    const std::vector<uint32_t> order = shuffled(data_.training.count(), state_.settings.seed, state_.epoch);
    const size_t batch = state_.settings.batch, first_step = state_.step;
    const size_t steps_of_point = std::max<size_t>(1, steps_ / points_of_epoch);
    const Clock::time_point start = Clock::now();
    size_t sent = state_.step;
    Batches batches(*network_, queue_.get(), [&](const BatchResult& result) {
      require_finite(result.loss);
      const size_t right = right_ones(data_.training, result);
      state_.since_epoch.add(result, right);
      state_.since_point.add(result, right);
      ++state_.step;
      if (state_.step % steps_of_point == 0) add_point();
      if (line_.is_due()) show(first_step, seconds_since(start));
    });
    while (sent < steps_ && !interruption.is_requested()) {
      batches.train(data_.training, std::span(order).subspan(sent * batch, batch), state_.epoch * steps_ + sent);
      ++sent;
    }
    batches.finish();
    epoch_seconds_ = seconds_since(start);
    epoch_images_ = (state_.step - first_step) * batch;
    return state_.step == steps_;
  }

  void require_finite(double loss) const {
    if (!std::isfinite(loss))
      training::fail_at_loss(state_.epoch, std::min(state_.step, steps_ - 1), state_.settings.rate, checkpoint_);
  }

  void add_point() {
    const double epoch = static_cast<double>(state_.epoch) + static_cast<double>(state_.step) / double(steps_);
    state_.curve.add(training_loss, epoch, state_.since_point.mean_loss());
    state_.curve.add(training_accuracy, epoch, state_.since_point.percent());
    state_.since_point = {};
  }

  void show(size_t first_step, double seconds) {
    const double done = static_cast<double>(state_.step - first_step), left = static_cast<double>(steps_ - state_.step);
    line_.show({.stage = fmt::format("epoch {}/{}", state_.epoch + 1, options_.epochs),
                .done = state_.step,
                .total = steps_,
                .loss = state_.since_epoch.mean_loss(),
                .measure = fmt::format("accuracy {:.2f}%", state_.since_epoch.percent()),
                .examples_per_second = done * double(state_.settings.batch) / seconds,
                .examples = "images",
                .seconds_left = seconds / done * left});
  }

  void test_epoch() {
    evaluation_ = evaluate();
    require_finite(evaluation_.loss);
    ++state_.epoch;
    state_.curve.add(test_loss, static_cast<double>(state_.epoch), evaluation_.loss);
    state_.curve.add(test_accuracy, static_cast<double>(state_.epoch), 100 * evaluation_.accuracy());
    line_.say(fmt::format(
        "epoch {}/{}  loss {:.4f}  accuracy {:.2f}%  test loss {:.4f}  test accuracy {:.2f}%  "
        "{} images/s  {}",
        state_.epoch, options_.epochs, state_.since_epoch.mean_loss(), state_.since_epoch.percent(), evaluation_.loss,
        100 * evaluation_.accuracy(), training::with_commas(size_t(double(epoch_images_) / epoch_seconds_)),
        training::minutes_and_seconds(epoch_seconds_)));
    state_.since_epoch = {};
    state_.step = 0;
  }

  Evaluation evaluate() {
    Evaluation evaluation;
    Tally tally;
    evaluation.predictions.resize(data_.test.count());
    Batches batches(*network_, queue_.get(), [&](const BatchResult& result) {
      tally.add(result, right_ones(data_.test, result));
      for (size_t i = 0; i < result.indices.size(); ++i)
        evaluation.predictions[result.indices[i]] = result.predictions[i];
    });
    std::vector<uint32_t> order(data_.test.count());
    std::iota(order.begin(), order.end(), 0u);
    const size_t batch = state_.settings.batch;
    for (size_t first = 0; first < order.size(); first += batch)
      batches.infer(data_.test, std::span(order).subspan(first, std::min(batch, order.size() - first)));
    batches.finish();
    evaluation.loss = tally.mean_loss();
    evaluation.right = tally.right;
    return evaluation;
  }

  void save() {
    training::save_checkpoint(checkpoint_, trainer_name, network_->tensors(), state_);
    nlohmann::json log = {{"trainer", trainer_name},
                          {"device", device_->name()->utf8String()},
                          {"settings", state_.settings},
                          {"epochs", state_.epoch},
                          {"images_per_second", epoch_seconds_ > 0 ? double(epoch_images_) / epoch_seconds_ : 0},
                          {"curve", state_.curve}};
    training::write_file(options_.output / "log.json", log.dump(1) + "\n");
    training::write_file(options_.output / "curves.png", draw_curves(state_.curve, device_->name()->utf8String()));
  }

  int stop() {
    save();
    line_.say(fmt::format("stopped in epoch {} after {} of {} steps; go on with: {} --output {} --epochs {} --resume",
                          state_.epoch + 1, state_.step, steps_, options_.command, options_.output.string(),
                          options_.epochs));
    return training::exit_interrupted;
  }

  void finish(double seconds) {
    if (evaluation_.predictions.empty()) evaluation_ = evaluate();
    training::write_file(options_.output / "misclassified.png", draw_misclassified(data_.test, evaluation_));
    training::write_file(options_.output / "confusion.png", draw_confusion(data_.test, evaluation_));
    line_.say(fmt::format(
        "test accuracy {:.2f}% after {} epochs, {}; {} has the checkpoint, curves.png, "
        "misclassified.png, confusion.png and log.json",
        100 * evaluation_.accuracy(), state_.epoch, training::minutes_and_seconds(seconds), options_.output.string()));
  }

  const Options& options_;
  MTL::Device* const device_;
  const NS::SharedPtr<MTL::CommandQueue> queue_;
  Mnist data_;
  const std::filesystem::path checkpoint_;
  std::unique_ptr<Network> network_;
  State state_;
  size_t steps_ = 0;  // of an epoch; images that fill no batch wait for the next, which has them in another order
  Evaluation evaluation_;
  double epoch_seconds_ = 0;
  size_t epoch_images_ = 0;
  training::ProgressLine line_;
};

}  // namespace

void add_options(CLI::App& app, Options& options) {
  options.output = "cnn";
  options.epochs = 5;
  training::add_options(app, options, defaults, "images");
  app.add_option("--data", options.data, "The folder with MNIST's four .gz files [those that came with the program]");
}

int train(const Options& options) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  const auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  if (!device)
    throw Failure(training::exit_failed, "there is no Metal device; `metalloid devices` says which there are");
  return Trainer(options, device.get(),
                 read_mnist(options.data.empty() ? training::data_folder("mnist") : options.data))
      .run();
}

}  // namespace metalloid::train_cnn

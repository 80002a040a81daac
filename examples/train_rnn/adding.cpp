#include "adding.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "training/failure.hpp"

namespace metalloid::train_rnn {

namespace {

constexpr size_t test_sequences = 1024;
constexpr size_t test_epoch = SIZE_MAX;        // whose sequences no training sees
constexpr double error_of_guessing = 1.0 / 6;  // the variance of the sum of two numbers

float uniform(std::mt19937_64& random) {
  return float(random() >> 40) * 0x1p-24f;
}

}  // namespace

Adding::Adding(size_t length, size_t rows, size_t sequences, uint64_t seed)
    : Task(length, rows), seed_(seed), steps_(std::max<size_t>(1, sequences / rows)) {
  if (length < 2)
    throw training::Failure(training::exit_usage_error,
                            fmt::format("--length {} has no room for two numbers to add: take 2 or more", length));
  description_ = {
      .title = "A recurrent network learns to add",
      .data = fmt::format("sequences of {} numbers", length),
      .amount = fmt::format("sequences of {}", length),
      .examples = "sequences",
      .examples_of_step = rows,
      .measure = "mean squared error",
      .scale = 1,
      .is_logarithmic = true,
      .references = {{"guessing the mean", error_of_guessing}, {"20 times better", error_of_guessing / 20}}};
}

size_t Adding::steps_of_test() const {
  return (test_sequences + rows() - 1) / rows();
}

Slot Adding::new_slot(MTL::Device* device) const {
  return Task::new_slot(device, length() * rows() * inputs() * sizeof(float), rows() * sizeof(float), rows());
}

void Adding::fill(Slot& slot, size_t epoch, size_t step) const {
  fill(slot, random_of(seed_, epoch, step));
}

void Adding::fill_test(Slot& slot, size_t step) const {
  fill(slot, random_of(0, test_epoch, step));
}

void Adding::fill(Slot& slot, std::mt19937_64 random) const {
  struct Input {
    float number, mark;
  };
  auto* inputs = static_cast<Input*>(slot.inputs->contents());
  auto* targets = static_cast<float*>(slot.targets->contents());
  for (size_t row = 0; row < rows(); ++row) {
    const size_t first = random() % (length() / 2), second = length() / 2 + random() % (length() - length() / 2);
    targets[row] = 0;
    for (size_t step = 0; step < length(); ++step) {
      const bool is_marked = step == first || step == second;
      const float number = uniform(random);
      inputs[step * rows() + row] = {number, is_marked ? 1.0f : 0.0f};
      if (is_marked) targets[row] += number;
    }
  }
  slot.counted = rows();
}

void Adding::encode_inputs(MTL::CommandBuffer* commands, const Kernels&, const Slot& slot, const Flow& flow) const {
  MTL::BlitCommandEncoder* copy = commands->blitCommandEncoder();
  copy->copyFromBuffer(slot.inputs.get(), 0, flow.inputs.buffer(), 0, slot.inputs->length());
  copy->endEncoding();
}

void Adding::encode_loss(MTL::CommandBuffer* commands, const Kernels& kernels, const Slot& slot,
                         const Flow& flow) const {
  kernels.squared_error(commands, flow.output_buffer.get(), slot.targets.get(), slot.losses.get(), rows(),
                        1 / float(rows()));
}

std::string Adding::words(double loss) const {
  return few_words(loss) + " than guessing";
}

std::string Adding::few_words(double loss) const {
  return fmt::format("{:.1f} times better", error_of_guessing / std::max(loss, 1e-12));
}

}  // namespace metalloid::train_rnn

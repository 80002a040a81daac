#include "language_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>

#include "training/failure.hpp"
#include "training/progress.hpp"

namespace metalloid::train_rnn {

namespace {

constexpr uint16_t no_target = UINT16_MAX;

}  // namespace

LanguageModel::LanguageModel(Text text, size_t length, size_t rows, uint64_t seed)
    : Task(length, rows),
      text_(std::move(text)),
      seed_(seed),
      boundary_(text_.symbols.size() - text_.symbols.size() / 10) {
  // Streams begin up to a chunk later than they could, and the last one's last character has one that follows it.
  const size_t characters = text_.symbols.size(), needed = length * (rows + 1) + 1;
  if (boundary_ < needed || held_out() == 0)
    throw training::Failure(
        training::exit_usage_error,
        fmt::format("the text has {} characters, of which a tenth is held out, and {} sequences of {} need {}: name a "
                    "longer one, or take a smaller --batch or --length",
                    training::with_commas(characters), rows, length, training::with_commas((needed * 10 + 8) / 9)));
  stream_ = (boundary_ - 1 - length) / rows;
  steps_ = stream_ / length;
  description_ = {.title = "A recurrent network learns to write",
                  .data = fmt::format("a text of {} characters, {} different ones, of which the last {} are held out",
                                      training::with_commas(characters), text_.vocabulary.size(),
                                      training::with_commas(held_out())),
                  .amount = fmt::format("{} characters", training::with_commas(characters)),
                  .examples = "characters",
                  .examples_of_step = rows * length,
                  .measure = "bits per character",
                  .scale = 1 / std::numbers::ln2,
                  .is_logarithmic = false,
                  .references = {{"entropy of order 2", text_.entropy(2)}}};
}

size_t LanguageModel::steps_of_test() const {
  return (test_stream() + 2 * length() - 2) / length();
}

Slot LanguageModel::new_slot(MTL::Device* device) const {
  const size_t predictions = length() * rows();
  return Task::new_slot(device, predictions * sizeof(uint16_t), predictions * sizeof(uint16_t), predictions);
}

void LanguageModel::fill(Slot& slot, size_t epoch, size_t step) const {
  auto* inputs = static_cast<uint16_t*>(slot.inputs->contents());
  auto* targets = static_cast<uint16_t*>(slot.targets->contents());
  // Chunks of another epoch begin elsewhere.
  const size_t first = random_of(seed_, epoch)() % length() + step * length();
  for (size_t i = 0; i < length(); ++i)
    for (size_t row = 0; row < rows(); ++row) {
      const size_t place = first + row * stream_ + i;
      inputs[i * rows() + row] = text_.symbols[place];
      targets[i * rows() + row] = text_.symbols[place + 1];
    }
  slot.counted = length() * rows();
}

// A stream begins a chunk before its first target, so that the network has read something.
void LanguageModel::fill_test(Slot& slot, size_t step) const {
  auto* inputs = static_cast<uint16_t*>(slot.inputs->contents());
  auto* targets = static_cast<uint16_t*>(slot.targets->contents());
  slot.counted = 0;
  for (size_t i = 0; i < length(); ++i)
    for (size_t row = 0; row < rows(); ++row) {
      const size_t begin = boundary_ + row * test_stream(), end = std::min(begin + test_stream(), text_.symbols.size());
      const size_t place = begin - length() + step * length() + i;
      const bool counts = place + 1 >= begin && place + 1 < end;
      inputs[i * rows() + row] = place < text_.symbols.size() ? text_.symbols[place] : 0;
      targets[i * rows() + row] = counts ? text_.symbols[place + 1] : no_target;
      slot.counted += counts;
    }
}

void LanguageModel::encode_inputs(MTL::CommandBuffer* commands, const Kernels& kernels, const Slot& slot,
                                  const Flow& flow) const {
  kernels.one_hot(commands, flow.inputs.buffer(), slot.inputs.get(), length() * rows(), inputs());
}

void LanguageModel::encode_loss(MTL::CommandBuffer* commands, const Kernels& kernels, const Slot& slot,
                                const Flow& flow) const {
  kernels.cross_entropy(commands, flow.output_buffer.get(), slot.targets.get(), slot.losses.get(), length() * rows(),
                        outputs(), 1 / float(length() * rows()));
}

std::string LanguageModel::words(double loss) const {
  return few_words(loss) + " per character";
}

std::string LanguageModel::few_words(double loss) const {
  return fmt::format("{:.3f} bits", loss / std::numbers::ln2);
}

}  // namespace metalloid::train_rnn

// A language model of characters: from each character and what it remembers, a network is to say which one comes next.
//
// The text but for its end, which is held out, is cut into as many streams as sequences run side by side; a step takes
// the next chunk of each stream, and gradients reach back to the chunk's beginning.
#pragma once

#include "task.hpp"
#include "text.hpp"

namespace metalloid::train_rnn {

class LanguageModel : public Task {
 public:
  // Throws a training::Failure if the text is too short.
  LanguageModel(Text text, size_t length, size_t rows, uint64_t seed);

  const Description& description() const override { return description_; }
  size_t inputs() const override { return text_.vocabulary.size(); }
  size_t outputs() const override { return text_.vocabulary.size(); }
  bool is_stream() const override { return true; }
  size_t steps_of_epoch() const override { return steps_; }
  size_t steps_of_test() const override;

  Slot new_slot(MTL::Device* device) const override;
  void fill(Slot& slot, size_t epoch, size_t step) const override;
  void fill_test(Slot& slot, size_t step) const override;
  void encode_inputs(MTL::CommandBuffer* commands, const Kernels& kernels, const Slot& slot,
                     const Flow& flow) const override;
  void encode_loss(MTL::CommandBuffer* commands, const Kernels& kernels, const Slot& slot,
                   const Flow& flow) const override;
  std::string words(double loss) const override;
  std::string few_words(double loss) const override;
  std::vector<uint8_t> vocabulary() const override { return text_.vocabulary; }
  uint64_t fingerprint() const override { return text_.fingerprint; }

 private:
  size_t held_out() const { return text_.symbols.size() - boundary_; }
  size_t test_stream() const { return (held_out() + rows() - 1) / rows(); }

  const Text text_;
  const uint64_t seed_;
  const size_t boundary_;  // where the held out part begins
  size_t stream_ = 0;      // characters of a stream
  size_t steps_ = 0;
  Description description_;
};

}  // namespace metalloid::train_rnn

// The adding problem (Hochreiter and Schmidhuber, 1997): each step of a sequence has a random number and a mark; two
// steps are marked, and after the last one the network is to say the sum of their numbers. Nothing but remembering
// helps.
#pragma once

#include "task.hpp"

namespace metalloid::train_rnn {

class Adding : public Task {
 public:
  // An epoch has so many sequences, which are other ones in each epoch.
  Adding(size_t length, size_t rows, size_t sequences, uint64_t seed);

  const Description& description() const override { return description_; }
  size_t inputs() const override { return 2; }
  size_t outputs() const override { return 1; }
  bool is_stream() const override { return false; }
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

 private:
  void fill(Slot& slot, std::mt19937_64 random) const;

  const uint64_t seed_;
  const size_t steps_;
  Description description_;
};

}  // namespace metalloid::train_rnn

// What a network learns: where its inputs and targets come from, what its loss is, and how people read it.
#pragma once

#include <string>
#include <vector>

#include "network.hpp"

namespace metalloid::train_rnn {

// What the host writes and reads of a step.
struct Slot {
  NS::SharedPtr<MTL::Buffer> inputs, targets, losses;
  size_t counted = 0;  // of the predictions, those that have a target

  // When the work is done: the sum over all predictions.
  double loss() const;
};

struct Description {
  std::string title;     // "A recurrent network learns to add"
  std::string data;      // "a text of 197,000 characters, of which the last 19,700 are held out"
  std::string amount;    // "197,000 characters"
  std::string examples;  // "characters"
  size_t examples_of_step;
  std::string measure;  // what curves show: "bits per character"
  double scale;         // of the loss, to give the measure
  bool is_logarithmic;  // the scale of curves
  struct Reference {
    std::string name;
    double value;
  };
  std::vector<Reference> references;  // to compare the measure with
};

class Task {
 public:
  // Steps take `rows` sequences of `length` each.
  Task(size_t length, size_t rows) : length_(length), rows_(rows) {}
  virtual ~Task() = default;

  virtual const Description& description() const = 0;
  virtual size_t inputs() const = 0;
  virtual size_t outputs() const = 0;
  // Whether each step of time has a prediction, and chunks of an epoch go on where those before them ended; else the
  // last step has one, and each chunk is for itself.
  virtual bool is_stream() const = 0;
  virtual size_t steps_of_epoch() const = 0;
  virtual size_t steps_of_test() const = 0;

  virtual Slot new_slot(MTL::Device* device) const = 0;
  virtual void fill(Slot& slot, size_t epoch, size_t step) const = 0;
  virtual void fill_test(Slot& slot, size_t step) const = 0;
  virtual void encode_inputs(MTL::CommandBuffer* commands, const Kernels& kernels, const Slot& slot,
                             const Flow& flow) const = 0;
  // Replaces the flow's outputs by their gradient.
  virtual void encode_loss(MTL::CommandBuffer* commands, const Kernels& kernels, const Slot& slot,
                           const Flow& flow) const = 0;
  // A loss in words, and in few of them.
  virtual std::string words(double loss) const = 0;
  virtual std::string few_words(double loss) const = 0;
  // The bytes that outputs stand for, if they do.
  virtual std::vector<uint8_t> vocabulary() const { return {}; }
  // Data that differ have others.
  virtual uint64_t fingerprint() const { return 0; }

  size_t length() const { return length_; }
  size_t rows() const { return rows_; }

 protected:
  Slot new_slot(MTL::Device* device, size_t input_bytes, size_t target_bytes, size_t predictions) const;

 private:
  const size_t length_, rows_;
};

// Random numbers of their own for each part of a training, so that it can go on anywhere with the same ones.
std::mt19937_64 random_of(uint64_t seed, size_t epoch, size_t step = 0);

}  // namespace metalloid::train_rnn

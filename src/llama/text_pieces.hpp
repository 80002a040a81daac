// A text as training goes through it: its last tenth is held out, and the rest is cut into pieces of equal length,
// which come in another order in every epoch. All of that follows from the seed and the number of the step, so that a
// training that was interrupted goes on with the right piece.
#pragma once

#include <cstdint>
#include <metalloid/result.hpp>
#include <vector>

namespace metalloid::llama {

// Texts of one length side by side, and what is to follow each of their tokens.
struct TextBatch {
  size_t texts = 0, length = 0;
  std::vector<int32_t> tokens, targets;
};

class TextPieces {
 public:
  // The error says how long a text has to be.
  static Result<TextPieces> make(std::vector<int> tokens, size_t length, size_t batch, uint64_t seed);

  size_t training_tokens() const { return training_; }
  size_t held_out_tokens() const { return tokens_.size() - training_; }
  size_t steps_per_epoch() const { return (pieces() + batch_ - 1) / batch_; }

  TextBatch training(size_t step) const;  // from 0 on
  std::vector<TextBatch> held_out() const;

 private:
  TextPieces() = default;
  size_t pieces() const { return (training_ - 1) / length_; }
  void add_piece(TextBatch& batch, size_t first) const;

  std::vector<int> tokens_;
  size_t training_ = 0, length_ = 0, batch_ = 0;
  uint64_t seed_ = 0;
};

}  // namespace metalloid::llama

#include "llama/text_pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace metalloid::llama {

namespace {

constexpr size_t least_held_out = 2;  // one token, and what follows it
constexpr size_t most_held_out_pieces = 64;

}  // namespace

Result<TextPieces> TextPieces::make(std::vector<int> tokens, size_t length, size_t batch, uint64_t seed) {
  TextPieces made;
  made.training_ = tokens.size() - std::min(tokens.size(), std::max(tokens.size() / 10, least_held_out));
  if (made.training_ < length + 1)
    return Error{
        fmt::format("the text has {} tokens, of which {} are held out, and one piece to learn from needs {}; "
                    "take a longer text, or shorter pieces",
                    tokens.size(), tokens.size() - made.training_, length + 1)};
  made.tokens_ = std::move(tokens);
  made.length_ = length;
  made.batch_ = batch;
  made.seed_ = seed;
  return made;
}

TextBatch TextPieces::training(size_t step) const {
  const size_t epoch = step / steps_per_epoch(), first = step % steps_per_epoch() * batch_;
  std::mt19937_64 generator(seed_ + 0x9e3779b97f4a7c15 * (epoch + 1));
  const size_t shift = generator() % (training_ - 1 - pieces() * length_ + 1);
  std::vector<size_t> order(pieces());
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[generator() % i]);

  TextBatch batch{0, length_, {}, {}};
  for (size_t i = first; i < std::min(first + batch_, order.size()); ++i) add_piece(batch, shift + order[i] * length_);
  return batch;
}

std::vector<TextBatch> TextPieces::held_out() const {
  std::vector<TextBatch> batches;
  const size_t last = tokens_.size() - 1;  // has nothing behind it
  size_t pieces = 0;
  for (size_t first = training_; first < last && pieces < most_held_out_pieces; first += length_, ++pieces) {
    const size_t length = std::min(length_, last - first);
    if (batches.empty() || batches.back().texts == batch_ || batches.back().length != length)
      batches.push_back({0, length, {}, {}});
    add_piece(batches.back(), first);
  }
  return batches;
}

void TextPieces::add_piece(TextBatch& batch, size_t first) const {
  const auto begin = tokens_.begin() + ptrdiff_t(first), end = begin + ptrdiff_t(batch.length);
  batch.tokens.insert(batch.tokens.end(), begin, end);
  batch.targets.insert(batch.targets.end(), begin + 1, end + 1);
  ++batch.texts;
}

}  // namespace metalloid::llama

#include "llama/greedy_tokens.hpp"

#include <utility>

namespace metalloid::llama {

GreedyTokens::GreedyTokens(Network& network, Backend& backend, std::vector<int> prompt, size_t most)
    : network_(network), backend_(backend), prompt_(std::move(prompt)), left_(most) {}

Result<int> GreedyTokens::next() {
  if (!reading_) encode();
  const auto reading = std::exchange(reading_, nullptr);
  if (--left_ > 0 && backend_.is_asynchronous()) encode();
  int32_t token = -1;
  if (const Status read = reading(&token); !read) return Error{read.error()};
  return token;
}

void GreedyTokens::encode() {
  const Tensor logits = likeliest_ ? network_.forward(likeliest_, position_) : network_.forward(prompt_, position_);
  position_ += likeliest_ ? 1 : prompt_.size();
  likeliest_ = backend_.tensor(TensorType::i32, {1});
  backend_.argmax(logits, likeliest_);
  reading_ = backend_.read_later(likeliest_);
}

}  // namespace metalloid::llama

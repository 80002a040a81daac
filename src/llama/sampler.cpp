#include "llama/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace metalloid::llama {

int Sampler::choose(const std::vector<float>& logits) {
  if (std::any_of(logits.begin(), logits.end(), [](float logit) { return std::isnan(logit); })) return -1;
  if (is_greedy()) return static_cast<int>(std::max_element(logits.begin(), logits.end()) - logits.begin());

  // The candidates, the likeliest first. Among equals the order is the tokens', so that a seed means one text.
  std::vector<int> tokens(logits.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  const size_t count = options_.top_k == 0 ? tokens.size() : std::min(options_.top_k, tokens.size());
  std::partial_sort(tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(count), tokens.end(),
                    [&](int a, int b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; });
  std::vector<double> weights(count);
  double sum = 0;
  for (size_t i = 0; i < count; ++i) {
    // Of infinite ones, all are the likeliest.
    const double distance = logits[tokens[i]] == logits[tokens[0]] ? 0 : double{logits[tokens[i]]} - logits[tokens[0]];
    sum += weights[i] = std::exp(distance / options_.temperature);
  }
  if (options_.top_p < 1) {
    const double share = options_.top_p * sum;
    double kept = 0;
    size_t most = 0;
    while (most < count && (most == 0 || kept < share)) kept += weights[most++];
    weights.resize(most);
    sum = kept;
  }
  double rest = sum * static_cast<double>(random_() >> 11) * 0x1p-53;
  for (size_t i = 0; i < weights.size(); ++i) {
    rest -= weights[i];
    if (rest < 0) return tokens[i];
  }
  return tokens[weights.size() - 1];
}

}  // namespace metalloid::llama

// Joins neighbours of a sequence, the pair of the lowest rank first, of equals the leftmost, until no pair can be
// joined. Pairs wait in a queue, so that a text of n symbols takes n log n steps.
#pragma once

#include <cstddef>
#include <optional>
#include <queue>
#include <vector>

namespace metalloid::formats {

// A part of the text, from `begin`, and what it stands for.
template <class Meaning>
struct Symbol {
  size_t begin, length;
  Meaning meaning;
};

template <class Meaning>
struct Joined {
  float rank;
  Meaning meaning;
};

// `join(left, right)` gives std::optional<Joined<Meaning>>.
template <class Meaning, class Join>
std::vector<Symbol<Meaning>> join_symbols(std::vector<Symbol<Meaning>> symbols, const Join& join) {
  struct Pair {
    Joined<Meaning> joined;
    size_t left, right, length;

    // The queue's top is the greatest.
    bool operator<(const Pair& other) const {
      return joined.rank != other.joined.rank ? joined.rank > other.joined.rank : left > other.left;
    }
  };
  const size_t none = symbols.size();
  std::vector<size_t> before(symbols.size()), after(symbols.size());
  std::priority_queue<Pair> pairs;
  const auto propose = [&](size_t left, size_t right) {
    if (left == none || right == none) return;
    if (const auto joined = join(symbols[left], symbols[right]))
      pairs.push({*joined, left, right, symbols[left].length + symbols[right].length});
  };
  for (size_t i = 0; i < symbols.size(); ++i) {
    before[i] = i == 0 ? none : i - 1;
    after[i] = i + 1;
  }
  for (size_t i = 0; i + 1 < symbols.size(); ++i) propose(i, i + 1);

  while (!pairs.empty()) {
    const Pair pair = pairs.top();
    pairs.pop();
    auto &left = symbols[pair.left], &right = symbols[pair.right];
    // One of the two was joined with another since; a symbol that is gone has no length.
    if (left.length == 0 || right.length == 0 || left.length + right.length != pair.length) continue;
    left = {left.begin, pair.length, pair.joined.meaning};
    right.length = 0;
    after[pair.left] = after[pair.right];
    if (after[pair.left] != none) before[after[pair.left]] = pair.left;
    propose(before[pair.left], pair.left);
    propose(pair.left, after[pair.left]);
  }
  std::erase_if(symbols, [](const auto& symbol) { return symbol.length == 0; });
  return symbols;
}

}  // namespace metalloid::formats

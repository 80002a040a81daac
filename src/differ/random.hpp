// Random numbers that are the same everywhere for the same seed, which the standard library's distributions are not.
#pragma once

#include <cstddef>
#include <cstdint>

namespace metalloid::differ {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t bits() {  // SplitMix64
    uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }
  uint32_t below(uint32_t limit) { return static_cast<uint32_t>((bits() >> 32) * limit >> 32); }
  bool chance(uint32_t percent) { return below(100) < percent; }
  double between(double low, double high) { return low + (high - low) * static_cast<double>(bits() >> 11) * 0x1p-53; }

  template <class T, size_t n>
  const T& one_of(const T (&values)[n]) {
    return values[below(n)];
  }

 private:
  uint64_t state_;
};

}  // namespace metalloid::differ

// Operands to try functions with: numbers of all sizes, numbers of a range, and those where something special happens.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "functions.hpp"

namespace metalloid::builtins {

inline std::vector<float> special_floats() {
  std::vector<float> values;
  for (const float size : {0.0f,
                           0x1p-149f,
                           0x1.8p-140f,
                           0x1.fffffcp-127f,
                           0x1p-126f,
                           0x1p-64f,
                           0x1p-24f,
                           0.25f,
                           0.5f,
                           0.75f,
                           0x1.fffffep-1f,
                           1.0f,
                           0x1.000002p0f,
                           1.5f,
                           2.0f,
                           2.5f,
                           3.0f,
                           10.0f,
                           100.0f,
                           1000.0f,
                           0x1p15f,
                           65504.0f,
                           0x1p17f,
                           0x1.fffffep22f,
                           0x1p23f,
                           0x1.fffffep23f,
                           0x1p24f,
                           0x1p31f,
                           0x1p64f,
                           0x1p126f,
                           0x1p127f,
                           std::numeric_limits<float>::max(),
                           std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::quiet_NaN()}) {
    values.push_back(size);
    values.push_back(-size);
  }
  return values;
}

inline std::vector<float> random_floats(std::mt19937& random, size_t count) {
  std::vector<float> values(count);
  for (float& value : values) value = std::bit_cast<float>(static_cast<uint32_t>(random()));
  return values;
}

inline std::vector<float> floats_in(std::mt19937& random, Range range, size_t count) {
  std::uniform_real_distribution<float> inside(range.low, range.high);
  std::vector<float> values(count);
  for (float& value : values) value = inside(random);
  return values;
}

inline std::vector<uint16_t> all_halves() {
  std::vector<uint16_t> values(65536);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint16_t>(i);
  return values;
}

}  // namespace metalloid::builtins

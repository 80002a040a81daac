// The lanes of a group, and what they ask a texture for (texture_function.hpp).
#pragma once

#include "builtins/texel.hpp"

namespace metalloid::builtins {

constexpr unsigned most_lanes = 32;

template <class To, class From>
To as(From value) {
  return __builtin_bit_cast(To, value);
}

struct Group {
  const unsigned* __restrict arguments;
  unsigned* __restrict results;
  unsigned mask;

  unsigned first() const { return static_cast<unsigned>(__builtin_ctz(mask)); }
  bool is_one_lane() const { return (mask & (mask - 1)) == 0; }

  unsigned natural(unsigned argument, unsigned lane) const { return arguments[argument * most_lanes + lane]; }
  int integer(unsigned argument, unsigned lane) const { return as<int>(natural(argument, lane)); }
  float number(unsigned argument, unsigned lane) const { return as<float>(natural(argument, lane)); }

  template <class T>
  Color<T> color(unsigned argument, unsigned lane) const {
    return {as<T>(natural(argument, lane)), as<T>(natural(argument + 1, lane)), as<T>(natural(argument + 2, lane)),
            as<T>(natural(argument + 3, lane))};
  }

  template <class T>
  void give(unsigned lane, const Color<T>& color) const {
    for (unsigned i = 0; i < 4; ++i) results[i * most_lanes + lane] = as<unsigned>(color[i]);
  }
  void give(unsigned lane, float value) const { results[lane] = as<unsigned>(value); }

  bool all_agree(unsigned argument) const {
    const unsigned expected = natural(argument, first());
    unsigned differ = 0;
    for (unsigned lane = 0; lane < most_lanes; ++lane)
      differ |= (natural(argument, lane) ^ expected) & -(mask >> lane & 1);
    return differ == 0;
  }
};

template <class Body>
void for_each_lane(const Group& group, Body body) {
  for (unsigned left = group.mask; left != 0; left &= left - 1) body(static_cast<unsigned>(__builtin_ctz(left)));
}

}  // namespace metalloid::builtins

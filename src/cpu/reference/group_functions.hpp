// The bodies of metal.simd_*, metal.quad_* and the simdgroup matrices (docs/builtins.md): each is a Combine, which sees
// the operands of all lanes that came to a call and writes their results. One file holds one idea; each adds its
// functions under the symbols that kernels call.
//
// What Metal leaves undefined is 0 here: a value taken from a lane that is inactive or does not exist.
#pragma once

#include <cstdint>
#include <string>

#include "cpu/reference/meeting.hpp"
#include "cpu/runtime_symbols.hpp"
#include "device/small_float.hpp"

namespace metalloid::cpu::reference {

void add_reductions(RuntimeSymbols& symbols);
void add_shuffles(RuntimeSymbols& symbols);
void add_votes(RuntimeSymbols& symbols);
void add_matrices(RuntimeSymbols& symbols);

// Numbers that hosts need not know: their bits, and float for all arithmetic.
struct Half {
  uint16_t bits;

  Half() = default;
  explicit Half(float value) : bits(static_cast<uint16_t>(device::to_half(value))) {}
  operator float() const { return device::from_half(bits); }
};

struct Bfloat {
  uint16_t bits;

  Bfloat() = default;
  explicit Bfloat(float value) : bits(static_cast<uint16_t>(device::to_bfloat(value))) {}
  operator float() const { return device::from_bfloat(bits); }
};

// The names of the two groups, with their sizes.
constexpr uint32_t simd = lanes_per_simdgroup, quad = 4;

template <uint32_t size>
std::string symbol(const std::string& name) {
  return (size == simd ? "metal.simd_" : "metal.quad_") + name;
}

// Calls body(first lane, active lanes of the group, lowest bit for the first) for each group that has some.
template <uint32_t size, class Body>
void for_each_group(const Meeting& meeting, Body body) {
  for (uint32_t first = 0; first < lanes_per_simdgroup; first += size) {
    const uint32_t active = meeting.active >> first & (size == 32 ? ~0u : (1u << size) - 1);
    if (active != 0) body(first, active);
  }
}

// Calls body(lane) for each bit, from the lowest.
template <class Body>
void for_each_lane(uint32_t lanes, Body body) {
  for (; lanes != 0; lanes &= lanes - 1) body(static_cast<uint32_t>(__builtin_ctz(lanes)));
}

}  // namespace metalloid::cpu::reference

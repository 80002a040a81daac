// Where the lanes of a SIMD-group meet. A group function (metal.simd_*, metal.quad_*, simdgroup matrices) has one body,
// a Combine: it is called once for all lanes that are at the same call, sees the operands of each and writes the result
// of each. The engine does the rest: code compiled for a kernel packs a call's operands into a struct, and its fiber
// waits until the others that take part have come (meetings_pass.hpp, Engine::meet).
//
// Operands are packed as a C struct of the builtin's parameters in order: simd_shuffle.f32 has
// `struct { float value; uint16_t lane; }`. A bool is a byte, 0 or 1; a half or bfloat two bytes; a vector of two has
// the alignment of its size; pointers are plain pointers. A function without parameters has no operands, one without
// result no results: those pointers are not to be used.
//
// Quad-groups meet as part of their SIMD-group: the body looks at the four lanes of each quad in turn.
#pragma once

#include <cstddef>
#include <cstdint>

namespace metalloid::cpu::reference {

constexpr uint32_t lanes_per_simdgroup = 32;

struct Meeting {
  uint32_t active = 0;  // bit l: lane l takes part; never 0
  const void* operands[lanes_per_simdgroup];
  void* results[lanes_per_simdgroup];

  // Of active lanes only.
  template <class T>
  const T& operand(uint32_t lane) const {
    return *static_cast<const T*>(operands[lane]);
  }
  template <class T>
  T& result(uint32_t lane) const {
    return *static_cast<T*>(results[lane]);
  }
};

// Takes no locks and throws nothing: a fault in it (a matrix loaded from a bad address) abandons the threadgroup.
using Combine = void (*)(const Meeting&);

}  // namespace metalloid::cpu::reference

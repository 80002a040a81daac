// Calls a builtin of the embedded bitcode, whatever its signature: the body that ships, compiled for this machine.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace metalloid::builtins {

// Compiled code that takes its operands from slots and leaves its result in another. Throws std::runtime_error if there
// is no such builtin, or it has another number of operands.
constexpr size_t slot_bytes = 32;
using Slot = std::array<unsigned char, slot_bytes>;
using Invocation = void (*)(const Slot* operands, Slot* result);
Invocation invocation(std::string_view symbol, size_t operands);

// The names of all functions that the bitcode defines for kernels to call.
std::vector<std::string> defined_functions();

template <class T>
Slot slot_of(const T& value) {
  static_assert(sizeof(T) <= slot_bytes);
  Slot slot = {};
  std::memcpy(slot.data(), &value, sizeof value);
  return slot;
}

// invoke<std::array<float, 4>>("metal.texture_2d_read.f32", handle, x, y, z, slice, level): operands and result are of
// the builtin's types, a vector being an array.
template <class Result, class... Operands>
Result invoke(std::string_view symbol, const Operands&... operands) {
  const std::array<Slot, sizeof...(Operands)> slots = {slot_of(operands)...};
  Slot result = {};
  invocation(symbol, slots.size())(slots.data(), &result);
  Result value;
  static_assert(sizeof value <= slot_bytes);
  std::memcpy(&value, result.data(), sizeof value);
  return value;
}

}  // namespace metalloid::builtins

// A place in a buffer, as kernels and libraries are given it.
#pragma once

#include <Metal/Metal.hpp>

namespace metalloid::mps {

struct Operand {
  MTL::Buffer* buffer = nullptr;
  size_t offset = 0;  // bytes

  bool operator==(const Operand&) const = default;
};

inline Operand operator+(Operand operand, size_t bytes) {
  return {operand.buffer, operand.offset + bytes};
}

// The largest power of two, up to `most`, that all these addresses are multiples of.
inline size_t common_alignment(std::initializer_list<Operand> operands, size_t most) {
  size_t together = most;
  for (const Operand& operand : operands) together |= operand.buffer->gpuAddress() + operand.offset;
  return together & -together;
}

// Runs of bytes that have none in common.
inline bool are_apart(const Operand& a, size_t a_bytes, const Operand& b, size_t b_bytes) {
  return a.buffer != b.buffer || a.offset + a_bytes <= b.offset || b.offset + b_bytes <= a.offset;
}
// Those that come again after every `period` bytes, such as columns of one matrix.
inline bool take_turns(const Operand& a, size_t a_bytes, const Operand& b, size_t b_bytes, size_t period) {
  if (a.buffer != b.buffer) return true;
  if (period == 0) return false;
  const size_t distance = (b.offset % period + period - a.offset % period) % period;
  return a_bytes <= distance && b_bytes <= period - distance;
}

}  // namespace metalloid::mps

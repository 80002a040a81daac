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

}  // namespace metalloid::mps

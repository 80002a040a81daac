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

}  // namespace metalloid::mps

// Types of numbers: how large they are, and what kernels and errors call them.
#pragma once

#include <MetalPerformanceShaders/MPSCoreTypes.hpp>
#include <string>

namespace metalloid::mps {

constexpr size_t bits_of(MPS::DataType type) {
  return (type & 0xffff) * (type & MPS::DataTypeComplexBit ? 2 : 1);
}

// Of a run of numbers; those of less than a byte share bytes.
constexpr size_t bytes_of(MPS::DataType type, size_t count) {
  return (bits_of(type) * count + 7) / 8;
}

constexpr bool is_floating_point(MPS::DataType type) {
  return type & MPS::DataTypeFloatBit;
}

bool is_known(MPS::DataType type);

// "Float32"; what is not known by its number.
std::string name_of(MPS::DataType type);

// The type in Metal's language ("float", "half", "bfloat", "char"), which our kernels have in their names; null for
// types that no kernel has.
const char* metal_name_of(MPS::DataType type);

}  // namespace metalloid::mps

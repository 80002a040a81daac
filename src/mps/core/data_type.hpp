// Types of numbers: how large they are, and what kernels and errors call them.
#pragma once

#include <MetalPerformanceShaders/MPSCoreTypes.hpp>
#include <cstdint>
#include <string>

namespace metalloid::mps {

constexpr size_t bits_of(MPS::DataType type) {
  return (type & 0xffff) * (type & MPS::DataTypeComplexBit ? 2 : 1);
}

// Sizes that programs describe may be beyond all memory: these end at the largest number where others begin anew at 0.
constexpr size_t times(size_t a, size_t b) {
  size_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}
constexpr size_t plus(size_t a, size_t b) {
  size_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

// Of a run of numbers; those of less than a byte share bytes.
constexpr size_t bytes_of(MPS::DataType type, size_t count) {
  return plus(times(bits_of(type), count), 7) / 8;
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

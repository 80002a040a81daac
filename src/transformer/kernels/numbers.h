// The types of weights: those of activations (METAL_EACH_FLOAT), and blocks of bytes with a scale.
#pragma once

#include "../../mps/kernels/rows.h"

// Q8_0 of GGUF: 32 numbers.
struct q8_0 {
  half scale;
  char numbers[32];
};

// Gives X(weights, activations, name), the name as host programs put it behind a kernel's: once if both are the same.
#define METAL_EACH_PRODUCT(X)                                                                       \
  X(float, float, float) X(half, half, half) X(bfloat, bfloat, bfloat)                              \
  X(half, float, half_float) X(bfloat, float, bfloat_float) X(q8_0, float, q8_0_float)              \
  X(float, half, float_half) X(bfloat, half, bfloat_half) X(q8_0, half, q8_0_half)                  \
  X(float, bfloat, float_bfloat) X(half, bfloat, half_bfloat) X(q8_0, bfloat, q8_0_bfloat)

// The number in column 32 * step + lane of a row, as a SIMD-group reads it: neighbouring threads, neighbouring numbers.
template <typename W>
float weight_at(device const W* weights, uint columns, uint row, uint step, uint lane) {
  return float(weights[ulong(row) * columns + step * 32 + lane]);
}
inline float weight_at(device const q8_0* weights, uint columns, uint row, uint step, uint lane) {
  device const q8_0& block = weights[ulong(row) * (columns / 32) + step];
  return float(block.scale) * float(block.numbers[lane]);
}

inline float silu_of(float x) {
  return x / (1 + exp(-x));
}

// The types of weights: those of activations (METAL_EACH_FLOAT), and blocks of bytes with a scale.
#pragma once

#include "../../mps/kernels/rows.h"
#include "../../mps/kernels/streaming.h"

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

// A row of weights as a SIMD-group reads it, neighbouring threads neighbouring numbers: the one in column 32 * step + lane.
// What is fetched may belong to the rows behind, or lie behind the last.
template <typename W>
struct WeightRow {
  device const W* own;

  WeightRow() = default;
  WeightRow(device const W* weights, uint columns, uint row, uint lane) : own(weights + ulong(row) * columns + lane) {}
  float at(uint step) const { return float(own[ulong(step) * 32]); }
  void fetch(uint step, uint bytes) const { fetch_ahead(own + (ulong(step) * 32 + bytes / sizeof(W))); }
};
template <>
struct WeightRow<q8_0> {
  device const q8_0* blocks;
  uint lane;

  WeightRow() = default;
  WeightRow(device const q8_0* weights, uint columns, uint row, uint lane)
      : blocks(weights + ulong(row) * (columns / 32)), lane(lane) {}
  // The bits of a half, moved to the places of a float's, are its value times 2^-112. Converted as a half, the scale would
  // have to wait for the sums on x86, whose instruction for it keeps a part of the register it goes to.
  float at(uint step) const {
    device const q8_0& block = blocks[ulong(step)];
    const uint bits = as_type<ushort>(block.scale);
    const float scale = as_type<float>((bits & 0x8000) << 16 | (bits & 0x7FFF) << 13) * 0x1p112f;
    return scale * float(block.numbers[lane]);
  }
  void fetch(uint step, uint bytes) const { fetch_ahead(blocks + (step + bytes / sizeof(q8_0))); }
};

inline float silu_of(float x) {
  return x / (1 + exp(-x));
}

// A low-rank update, y = scale * (x A) B, where A has few columns, in one kernel: x A never leaves the registers.
#include <metal_stdlib>

using namespace metal;

constant constexpr uint rank = 8;

struct Shape {
  uint inputs, outputs;
  float scale;
};

// A SIMD-group has a row of x: first the `rank` dot products with A's columns, then the row of y.
template <typename T>
void lora_row(device const T* x, device const T* a, device const T* b, device T* y, constant Shape& shape, uint row,
              uint lane) {
  x += ulong(row) * shape.inputs;
  y += ulong(row) * shape.outputs;

  float low[rank] = {};
  for (uint i = lane; i < shape.inputs; i += 32) {
    const float value = x[i];
    for (uint r = 0; r < rank; ++r) low[r] += value * float(a[i * rank + r]);
  }
  for (uint r = 0; r < rank; ++r) low[r] = shape.scale * simd_sum(low[r]);

  for (uint j = lane; j < shape.outputs; j += 32) {
    float sum = 0;
    for (uint r = 0; r < rank; ++r) sum += low[r] * float(b[r * shape.outputs + j]);
    y[j] = T(sum);
  }
}

#define LORA(T)                                                                                                       \
  [[host_name("lora_" #T)]] kernel void lora_##T(                                                                     \
      device const T* x [[buffer(0)]], device const T* a [[buffer(1)]], device const T* b [[buffer(2)]],              \
      device T* y [[buffer(3)]], constant Shape& shape [[buffer(4)]], uint row [[threadgroup_position_in_grid]],      \
      uint lane [[thread_index_in_simdgroup]]) {                                                                      \
    lora_row(x, a, b, y, shape, row, lane);                                                                           \
  }
LORA(float)
LORA(half)
LORA(bfloat)

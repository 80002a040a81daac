// One number each: silu(x) = x / (1 + exp(-x)), silu(gate) * up of a feed-forward layer and its gradient, the addition
// of residuals, conversions, and rows of an embedding table.
#include "numbers.h"

template <typename T>
kernel void silu_kernel(device const T* x [[buffer(0)]], device T* result [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
  result[i] = T(silu_of(float(x[i])));
}

template <typename T>
kernel void fused_silu_mul_kernel(device const T* gate [[buffer(0)]], device const T* up [[buffer(1)]],
                                  device T* result [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  result[i] = T(silu_of(float(gate[i])) * float(up[i]));
}

template <typename T>
kernel void add_kernel(device const T* x [[buffer(0)]], device const T* y [[buffer(1)]],
                       device T* result [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  result[i] = T(float(x[i]) + float(y[i]));
}

// Both gradients may lie where gate and up are.
template <typename T>
kernel void fused_silu_mul_gradient_kernel(device const T* gate [[buffer(0)]], device const T* up [[buffer(1)]],
                                           device const T* gradient [[buffer(2)]],
                                           device T* gate_gradient [[buffer(3)]], device T* up_gradient [[buffer(4)]],
                                           uint i [[thread_position_in_grid]]) {
  const float g = float(gate[i]), u = float(up[i]), from = float(gradient[i]);
  const float sigmoid = 1 / (1 + exp(-g)), silu = g * sigmoid;
  gate_gradient[i] = T(from * u * (sigmoid + silu * (1 - sigmoid)));
  up_gradient[i] = T(from * silu);
}

#define ELEMENTWISE(T)                                                                                                \
  template [[host_name("silu_kernel_" #T)]] kernel void silu_kernel<T>(device const T*, device T*, uint);             \
  template [[host_name("fused_silu_mul_kernel_" #T)]] kernel void fused_silu_mul_kernel<T>(                           \
      device const T*, device const T*, device T*, uint);                                                             \
  template [[host_name("fused_silu_mul_gradient_kernel_" #T)]] kernel void fused_silu_mul_gradient_kernel<T>(         \
      device const T*, device const T*, device const T*, device T*, device T*, uint);                                 \
  template [[host_name("add_kernel_" #T)]] kernel void add_kernel<T>(device const T*, device const T*, device T*, uint);
METAL_EACH_FLOAT(ELEMENTWISE)

template <typename W>
float number_at(device const W* numbers, ulong i) {
  return float(numbers[i]);
}
inline float number_at(device const q8_0* numbers, ulong i) {
  return float(numbers[i / 32].scale) * float(numbers[i / 32].numbers[i % 32]);
}

template <typename T, typename W>
kernel void copy_kernel(device const W* x [[buffer(0)]], device T* result [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
  result[i] = T(number_at(x, i));
}

// A little, from the host or for it, where it does not see tensors.
kernel void put_kernel(device uint* result [[buffer(0)]], constant uint* words [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
  result[i] = words[i];
}

struct Table {
  uint rows, columns;
};

template <typename T, typename W>
kernel void embed_kernel(device const W* table [[buffer(0)]], device const int* tokens [[buffer(1)]],
                         device T* result [[buffer(2)]], constant Table& shape [[buffer(3)]],
                         uint2 place [[thread_position_in_grid]]) {
  const uint row = min(uint(tokens[place.y]), shape.rows - 1);
  result[ulong(place.y) * shape.columns + place.x] = T(number_at(table, ulong(row) * shape.columns + place.x));
}

#define CONVERSION(W, T, name)                                                                                   \
  template [[host_name("copy_kernel_" #name)]] kernel void copy_kernel<T, W>(device const W*, device T*, uint);  \
  template [[host_name("embed_kernel_" #name)]] kernel void embed_kernel<T, W>(                                  \
      device const W*, device const int*, device T*, constant Table&, uint2);
METAL_EACH_PRODUCT(CONVERSION)

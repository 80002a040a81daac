// One thread per element.
#include <metal_stdlib>
using namespace metal;

kernel void add(device const float* x, device const float* y, device float* out, uint i [[thread_position_in_grid]]) {
  out[i] = x[i] + y[i];
}

kernel void exponential(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {
  out[i] = exp(x[i]);
}

template <typename T>
kernel void gelu(device const T* x, device T* out, uint i [[thread_position_in_grid]]) {
  const float value = x[i];
  const float inner = 0.7978845608f * value * (1.0f + 0.044715f * value * value);
  out[i] = T(0.5f * value * (1.0f + precise::tanh(inner)));
}

template [[host_name("gelu_float")]] kernel void gelu(device const float*, device float*, uint);
template [[host_name("gelu_half")]] kernel void gelu(device const half*, device half*, uint);

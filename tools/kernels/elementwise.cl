// One work-item per element. Halves are loaded and stored as OpenCL without cl_khr_fp16 does it.
__kernel void add(__global const float* restrict x, __global const float* restrict y, __global float* restrict out) {
  const size_t i = get_global_id(0);
  out[i] = x[i] + y[i];
}

__kernel void exponential(__global const float* restrict x, __global float* restrict out) {
  const size_t i = get_global_id(0);
  out[i] = exp(x[i]);
}

float gelu(float x) { return 0.5f * x * (1.0f + tanh(0.7978845608f * x * (1.0f + 0.044715f * x * x))); }

__kernel void gelu_float(__global const float* restrict x, __global float* restrict out) {
  const size_t i = get_global_id(0);
  out[i] = gelu(x[i]);
}

__kernel void gelu_half(__global const half* restrict x, __global half* restrict out) {
  const size_t i = get_global_id(0);
  vstore_half(gelu(vload_half(i, x)), i, out);
}

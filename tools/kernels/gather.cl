// Reading from, and writing to, places that an array of indices names.
__kernel void gather(__global const float* restrict table, __global const uint* restrict indices,
                     __global float* restrict out) {
  const size_t i = get_global_id(0);
  out[i] = table[indices[i]];
}

__kernel void scatter(__global const float* restrict x, __global const uint* restrict indices,
                      __global float* restrict out) {
  const size_t i = get_global_id(0);
  out[indices[i]] = x[i];
}

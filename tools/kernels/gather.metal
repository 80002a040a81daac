// Reading from, and writing to, places that an array of indices names.
#include <metal_stdlib>
using namespace metal;

kernel void gather(device const float* table, device const uint* indices, device float* out,
                   uint i [[thread_position_in_grid]]) {
  out[i] = table[indices[i]];
}

kernel void scatter(device const float* x, device const uint* indices, device float* out,
                    uint i [[thread_position_in_grid]]) {
  out[indices[i]] = x[i];
}

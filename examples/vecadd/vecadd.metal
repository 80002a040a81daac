#include <metal_stdlib>
using namespace metal;

// One thread adds one pair of elements. The grid has exactly as many threads as there are elements, so no thread needs
// to check its position.
kernel void add(device const float* a [[buffer(0)]],
                device const float* b [[buffer(1)]],
                device float* sum     [[buffer(2)]],
                uint i                [[thread_position_in_grid]]) {
  sum[i] = a[i] + b[i];
}

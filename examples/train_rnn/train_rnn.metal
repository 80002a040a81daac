// What training a recurrent network needs besides Metal Performance Shaders: inputs, losses, dropout, and the clipping of
// gradients by the norm of all of them. A SIMD-group works on a row, or on a strip of a long vector.
#include <metal_stdlib>
using namespace metal;

// A row for each symbol: a one in its column, and zeros.
kernel void one_hot(device float* rows [[buffer(0)]], device const ushort* symbols [[buffer(1)]],
                    constant uint& columns [[buffer(2)]], uint2 at [[thread_position_in_grid]]) {
  rows[at.y * columns + at.x] = symbols[at.y] == at.x ? 1.0f : 0.0f;
}

// The cross-entropy of each row's softmax with its target, in nats, and in place of the row its gradient, times `weight`.
// Rows whose target is no column have neither.
kernel void cross_entropy(device float* rows [[buffer(0)]], device const ushort* targets [[buffer(1)]],
                          device float* losses [[buffer(2)]], constant uint& columns [[buffer(3)]],
                          constant float& weight [[buffer(4)]], uint row [[threadgroup_position_in_grid]],
                          uint lane [[thread_index_in_simdgroup]], uint lanes [[threads_per_simdgroup]]) {
  device float* own = rows + row * columns;
  const uint target = targets[row];
  const bool counts = target < columns;
  const float of_target = counts ? own[target] : 0.0f;
  float largest = -INFINITY;
  for (uint i = lane; i < columns; i += lanes) largest = max(largest, own[i]);
  largest = simd_max(largest);
  float sum = 0;
  for (uint i = lane; i < columns; i += lanes) sum += exp(own[i] - largest);
  sum = simd_sum(sum);
  simdgroup_barrier(mem_flags::mem_device);
  for (uint i = lane; i < columns; i += lanes)
    own[i] = counts ? weight * (exp(own[i] - largest) / sum - (i == target ? 1.0f : 0.0f)) : 0.0f;
  if (lane == 0) losses[row] = counts ? log(sum) + largest - of_target : 0.0f;
}

// The square of what each number is wrong by, and in its place the gradient, times `weight`.
kernel void squared_error(device float* numbers [[buffer(0)]], device const float* targets [[buffer(1)]],
                          device float* losses [[buffer(2)]], constant float& weight [[buffer(3)]],
                          uint index [[thread_position_in_grid]]) {
  const float error = numbers[index] - targets[index];
  losses[index] = error * error;
  numbers[index] = 2 * weight * error;
}

struct Dropout {
  uint seed;
  float keep;
};

// Zero for some numbers, which follow from the seed, and more of the others to make up for it. The gradient of this is
// the same again.
kernel void dropout(device float* numbers [[buffer(0)]], constant Dropout& dropout [[buffer(1)]],
                    uint index [[thread_position_in_grid]]) {
  uint bits = index * 0x9E3779B9u ^ dropout.seed;  // mixed as in MurmurHash3
  bits = (bits ^ bits >> 16) * 0x85EBCA6Bu;
  bits = (bits ^ bits >> 13) * 0xC2B2AE35u;
  bits ^= bits >> 16;
  const bool is_kept = float(bits >> 8) * 0x1p-24f < dropout.keep;
  numbers[index] = is_kept ? numbers[index] / dropout.keep : 0.0f;
}

struct Strips {
  uint count, length;  // numbers in all, and in a strip
  float limit;
};

// The sum of the squares of each strip.
kernel void sum_squares(device const float* numbers [[buffer(0)]], device float* sums [[buffer(1)]],
                        constant Strips& strips [[buffer(2)]], uint strip [[threadgroup_position_in_grid]],
                        uint lane [[thread_index_in_simdgroup]], uint lanes [[threads_per_simdgroup]]) {
  const uint end = min(strips.count, (strip + 1) * strips.length);
  float sum = 0;
  for (uint i = strip * strips.length + lane; i < end; i += lanes) sum = fma(numbers[i], numbers[i], sum);
  sum = simd_sum(sum);
  if (lane == 0) sums[strip] = sum;
}

// Makes numbers whose norm is above the limit smaller by a common factor, so that it is the limit.
kernel void clip_to_norm(device float* numbers [[buffer(0)]], device const float* sums [[buffer(1)]],
                         constant Strips& strips [[buffer(2)]], uint strip [[threadgroup_position_in_grid]],
                         uint all_strips [[threadgroups_per_grid]], uint lane [[thread_index_in_simdgroup]],
                         uint lanes [[threads_per_simdgroup]]) {
  float sum = 0;
  for (uint i = lane; i < all_strips; i += lanes) sum += sums[i];
  const float norm = sqrt(simd_sum(sum));
  if (norm <= strips.limit) return;
  const float factor = strips.limit / norm;
  const uint end = min(strips.count, (strip + 1) * strips.length);
  for (uint i = strip * strips.length + lane; i < end; i += lanes) numbers[i] *= factor;
}

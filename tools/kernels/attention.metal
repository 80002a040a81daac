// Attention of one head with 64 numbers per query, key and value: one SIMD-group per query keeps a running maximum and
// sum over the keys, each lane two numbers of the query and of the output.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint depth = 64, per_lane = depth / 32;

kernel void attention(device const float* queries, device const float* keys, device const float* values,
                      device float* out, constant uint& length, constant float& scale,
                      uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                      uint simdgroup [[simdgroup_index_in_threadgroup]],
                      uint simdgroups [[simdgroups_per_threadgroup]]) {
  const uint query = group * simdgroups + simdgroup;
  float q[per_lane], sums[per_lane] = {0};
  for (uint j = 0; j < per_lane; ++j) q[j] = scale * queries[query * depth + lane * per_lane + j];
  float largest = -INFINITY, total = 0;
  for (uint i = 0; i < length; ++i) {
    device const float* key = keys + i * depth + lane * per_lane;
    device const float* value = values + i * depth + lane * per_lane;
    float score = 0;
    for (uint j = 0; j < per_lane; ++j) score += q[j] * key[j];
    score = simd_sum(score);
    const float new_largest = max(largest, score);
    const float factor = fast::exp(largest - new_largest), weight = fast::exp(score - new_largest);
    largest = new_largest;
    total = total * factor + weight;
    for (uint j = 0; j < per_lane; ++j) sums[j] = sums[j] * factor + weight * value[j];
  }
  for (uint j = 0; j < per_lane; ++j) out[query * depth + lane * per_lane + j] = sums[j] / total;
}

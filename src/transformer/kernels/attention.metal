// Attention step by step, with all scores in memory: scores here, softmax.metal, weighted sum here, and its gradient.
#include "attention.h"

// scores[head][token][i] = scale * query · key i, where i is not behind the token; a SIMD-group for each 32 keys, one
// after the other, of which each thread keeps one score.
template <typename T>
kernel void attention_scores_kernel(device const T* queries [[buffer(0)]], device const T* keys [[buffer(1)]],
                                    device T* scores [[buffer(2)]], constant Attention& shape [[buffer(3)]],
                                    uint3 group [[threadgroup_position_in_grid]],
                                    uint lane [[thread_index_in_simdgroup]]) {
  const uint first = group.x * 32, token = group.y, head = group.z, length = shape.position + shape.tokens;
  device const T* query = queries + (ulong(token) * shape.heads + head) * shape.size;
  float score = -INFINITY;
  for (uint i = first; i < min(first + 32, shape.position + token + 1); ++i) {
    device const T* key = keys + (ulong(i) * shape.kv_heads + kv_head_of(shape, head)) * shape.size;
    float sum = 0;
    for (uint j = lane; j < shape.size; j += 32) sum += float(query[j]) * float(key[j]);
    sum = simd_sum(sum);
    if (lane == i - first) score = sum * shape.scale;
  }
  if (first + lane < length) scores[(ulong(head) * shape.tokens + token) * length + first + lane] = T(score);
}

// result[token][head] = the sum of values by scores[head][token]; a thread for each number of a head.
template <typename T>
kernel void weighted_sum_kernel(device const T* scores [[buffer(0)]], device const T* values [[buffer(1)]],
                                device T* result [[buffer(2)]], constant Attention& shape [[buffer(3)]],
                                uint3 place [[thread_position_in_grid]]) {
  const uint token = place.y, head = place.z, length = shape.position + shape.tokens;
  scores += (ulong(head) * shape.tokens + token) * length;
  values += kv_head_of(shape, head) * shape.size + place.x;
  float sum = 0;
  for (uint i = 0; i < length; ++i) sum += float(scores[i]) * float(values[ulong(i) * shape.kv_heads * shape.size]);
  result[(ulong(token) * shape.heads + head) * shape.size + place.x] = T(sum);
}

// What goes back from the sums to the values: result[i][kv head] = the sum of gradient[token][head] by
// scores[head][token][i], over the heads that share it and the tokens that saw it; a thread for each number of a head.
template <typename T>
kernel void weighted_sum_gradient_kernel(device const T* scores [[buffer(0)]], device const T* gradient [[buffer(1)]],
                                         device T* result [[buffer(2)]], constant Attention& shape [[buffer(3)]],
                                         uint3 place [[thread_position_in_grid]]) {
  const uint i = place.y, kv_head = place.z, length = shape.position + shape.tokens;
  const uint group = shape.heads / shape.kv_heads, first = i > shape.position ? i - shape.position : 0;
  float sum = 0;
  for (uint head = kv_head * group; head < (kv_head + 1) * group; ++head)
    for (uint token = first; token < shape.tokens; ++token)
      sum += float(scores[(ulong(head) * shape.tokens + token) * length + i]) *
             float(gradient[(ulong(token) * shape.heads + head) * shape.size + place.x]);
  result[(ulong(i) * shape.kv_heads + kv_head) * shape.size + place.x] = T(sum);
}

#define ATTENTION(T)                                                                                              \
  template [[host_name("weighted_sum_gradient_kernel_" #T)]] kernel void weighted_sum_gradient_kernel<T>(         \
      device const T*, device const T*, device T*, constant Attention&, uint3);                                   \
  template [[host_name("attention_scores_kernel_" #T)]] kernel void attention_scores_kernel<T>(                   \
      device const T*, device const T*, device T*, constant Attention&, uint3, uint);                             \
  template [[host_name("weighted_sum_kernel_" #T)]] kernel void weighted_sum_kernel<T>(device const T*,           \
                                                                                       device const T*, device T*, \
                                                                                       constant Attention&, uint3);
METAL_EACH_FLOAT(ATTENTION)

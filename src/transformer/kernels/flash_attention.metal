// Attention without all scores in memory. Keys and values are read once; the largest score so far, the total of
// exponentials and the weighted sum of values go along, and are scaled down when a larger score comes.
//
// A SIMD-group has the numbers of a head spread over its threads, `parts` for each, so that everything that is read lies
// side by side.
#include "attention.h"

constant uint parts [[function_constant(0)]];  // of 32 numbers, rounded up

constant constexpr uint most_parts = 8;

template <typename T>
float part_of(device const T* head, uint part, uint lane, uint size) {
  const uint i = part * 32 + lane;
  return i < size ? float(head[i]) : 0;
}

template <typename T>
void fetch_head(device const T* head, uint lane) {
  #pragma unroll
  for (uint p = 0; p < most_parts; ++p)
    if (p < parts) fetch_ahead(head + p * 32 + lane);
}

// For one query.
struct Sums {
  float largest = -INFINITY, total = 0;
  float values[most_parts] = {};

  // For scores up to this one.
  void make_room(float score) {
    const float larger = max(largest, score), factor = exp(largest - larger);
    largest = larger;
    total *= factor;
    #pragma unroll
    for (uint p = 0; p < most_parts; ++p)
      if (p < parts) values[p] *= factor;
  }
};

// Single tokens: a threadgroup has a head, and its SIMD-groups take turns with blocks of keys. The scores of a block end up
// in a thread each, so that exponentials are taken of all at once. Of a short block, as GPUs have it, all keys and values
// are read before anything waits for them. CPUs ask memory for a block's values while they go through its keys, and for
// the next one's keys while they go through its values: single heads lie too far apart for them to guess.
constant uint block [[function_constant(1)]];  // 32 at most
constant constexpr uint most_groups = 16, most_ahead = 8;
constant const bool reads_ahead = block <= most_ahead;

// A block of keys or values; the last is there again where it has fewer.
template <typename T>
struct Ahead {
  T numbers[most_ahead][most_parts];

  Ahead() = default;
  Ahead(device const T* heads, uint first, uint there, uint stride, uint size, uint lane) {
    #pragma unroll
    for (uint i = 0; i < most_ahead; ++i) {
      device const T* head = heads + ulong(first + min(i, there - 1)) * stride;
      #pragma unroll
      for (uint p = 0; p < most_parts; ++p)
        if (p < parts) numbers[i][p] = p * 32 + lane < size ? head[p * 32 + lane] : T(0);
    }
  }
};

template <typename T>
kernel void flash_attention_vec_kernel(device const T* queries [[buffer(0)]], device const T* keys [[buffer(1)]],
                                       device const T* all_values [[buffer(2)]], device T* result [[buffer(3)]],
                                       constant Attention& shape [[buffer(4)]],
                                       uint head [[threadgroup_position_in_grid]],
                                       uint lane [[thread_index_in_simdgroup]],
                                       uint simdgroup [[simdgroup_index_in_threadgroup]],
                                       uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float shared[most_groups][most_parts * 32 + 2];
  const uint size = shape.size, length = shape.position + 1, stride = shape.kv_heads * size;
  queries += head * size;
  keys += kv_head_of(shape, head) * size;
  all_values += kv_head_of(shape, head) * size;
  float query[most_parts];
  #pragma unroll
  for (uint p = 0; p < most_parts; ++p)
    if (p < parts) query[p] = part_of(queries, p, lane, size) * shape.scale;

  Sums sums;
  for (uint first = simdgroup * block; first < length; first += simdgroups * block) {
    const uint there = min(length - first, block);
    Ahead<T> values_ahead;
    float score = -INFINITY;
    if (reads_ahead) {
      const Ahead<T> keys_ahead(keys, first, there, stride, size, lane);
      values_ahead = Ahead<T>(all_values, first, there, stride, size, lane);
      #pragma unroll
      for (uint i = 0; i < most_ahead; ++i) {
        float sum = 0;
        #pragma unroll
        for (uint p = 0; p < most_parts; ++p)
          if (p < parts) sum += query[p] * float(keys_ahead.numbers[i][p]);
        sum = simd_sum(sum);
        if (lane == i && i < there) score = sum;
      }
    } else {
      for (uint i = 0; i < there; ++i) {
        device const T* key = keys + ulong(first + i) * stride;
        fetch_head(all_values + ulong(first + i) * stride, lane);
        float sum = 0;
        #pragma unroll
        for (uint p = 0; p < most_parts; ++p)
          if (p < parts) sum += query[p] * part_of(key, p, lane, size);
        sum = simd_sum(sum);
        if (lane == i) score = sum;
      }
    }
    sums.make_room(simd_max(score));
    const float weight = exp(score - sums.largest);
    sums.total += simd_sum(weight);
    if (reads_ahead) {
      #pragma unroll
      for (uint i = 0; i < most_ahead; ++i) {
        const float own_weight = simd_shuffle(weight, ushort(i));
        #pragma unroll
        for (uint p = 0; p < most_parts; ++p)
          if (p < parts) sums.values[p] += own_weight * float(values_ahead.numbers[i][p]);
      }
    } else {
      for (uint i = 0; i < there; ++i) {
        const float own_weight = simd_shuffle(weight, ushort(i));
        device const T* value = all_values + ulong(first + i) * stride;
        fetch_head(keys + ulong(first + block + i) * stride, lane);
        #pragma unroll
        for (uint p = 0; p < most_parts; ++p)
          if (p < parts) sums.values[p] += own_weight * part_of(value, p, lane, size);
      }
    }
  }

  if (simdgroups > 1) {
    threadgroup float* own = shared[simdgroup];
    #pragma unroll
    for (uint p = 0; p < most_parts; ++p)
      if (p < parts) own[p * 32 + lane] = sums.values[p];
    if (lane == 0) {
      own[most_parts * 32] = sums.largest;
      own[most_parts * 32 + 1] = sums.total;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simdgroup != 0) return;
    const bool is_theirs = lane < simdgroups;
    const float largest = is_theirs ? shared[lane][most_parts * 32] : -INFINITY;
    const float weight = exp(largest - simd_max(largest));
    Sums all;
    all.total = simd_sum(is_theirs ? weight * shared[lane][most_parts * 32 + 1] : 0);
    for (uint other = 0; other < simdgroups; ++other) {
      const float their_weight = simd_shuffle(weight, ushort(other));
      #pragma unroll
      for (uint p = 0; p < most_parts; ++p)
        if (p < parts) all.values[p] += their_weight * shared[other][p * 32 + lane];
    }
    sums = all;
  }
  #pragma unroll
  for (uint p = 0; p < most_parts; ++p)
    if (p < parts && p * 32 + lane < size) result[head * size + p * 32 + lane] = T(sums.values[p] / sums.total);
}

// Prompts: a SIMD-group has a few queries that share a head of keys, neighbours among [token][head of the group], and 32
// keys at a time, of which each thread has one.
constant constexpr uint rows = 4;

template <typename T>
kernel void flash_attention_kernel(device const T* queries [[buffer(0)]], device const T* keys [[buffer(1)]],
                                   device const T* all_values [[buffer(2)]], device T* result [[buffer(3)]],
                                   constant Attention& shape [[buffer(4)]],
                                   uint2 group [[threadgroup_position_in_grid]],
                                   uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float query[rows][most_parts * 32];
  threadgroup float weights[rows][32];
  const uint size = shape.size, stride = shape.kv_heads * size, in_group = shape.heads / shape.kv_heads;
  const uint last = shape.tokens * in_group - 1;
  keys += group.y * size;
  all_values += group.y * size;
  uint tokens[rows];
  ulong places[rows];
  #pragma unroll
  for (uint r = 0; r < rows; ++r) {
    const uint row = min(group.x * rows + r, last);
    tokens[r] = row / in_group;
    places[r] = (ulong(tokens[r]) * shape.heads + group.y * in_group + row % in_group) * size;
    for (uint i = lane; i < size; i += 32) query[r][i] = float(queries[places[r] + i]) * shape.scale;
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);

  Sums sums[rows];
  const uint length = shape.position + tokens[rows - 1] + 1;
  for (uint first = 0; first < length; first += 32) {
    device const T* key = keys + ulong(min(first + lane, length - 1)) * stride;
    float scores[rows] = {};
    for (uint i = 0; i < size; ++i) {
      const float number = float(key[i]);
      #pragma unroll
      for (uint r = 0; r < rows; ++r) scores[r] += query[r][i] * number;
    }
    #pragma unroll
    for (uint r = 0; r < rows; ++r) {
      if (first + lane > shape.position + tokens[r]) scores[r] = -INFINITY;
      sums[r].make_room(simd_max(scores[r]));
      const float weight = exp(scores[r] - sums[r].largest);
      sums[r].total += simd_sum(weight);
      weights[r][lane] = weight;
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    const uint there = min(length - first, 32u);
    for (uint i = 0; i < there; ++i) {
      device const T* value = all_values + ulong(first + i) * stride;
      #pragma unroll
      for (uint p = 0; p < most_parts; ++p) {
        if (p >= parts) continue;
        const float number = part_of(value, p, lane, size);
        #pragma unroll
        for (uint r = 0; r < rows; ++r) sums[r].values[p] += weights[r][i] * number;
      }
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
  #pragma unroll
  for (uint r = 0; r < rows; ++r)
    #pragma unroll
    for (uint p = 0; p < most_parts; ++p)
      if (p < parts && p * 32 + lane < size && group.x * rows + r <= last)
        result[places[r] + p * 32 + lane] = T(sums[r].values[p] / sums[r].total);
}

#define FLASH_ATTENTION(T)                                                                                         \
  template [[host_name("flash_attention_vec_kernel_" #T)]] kernel void flash_attention_vec_kernel<T>(              \
      device const T*, device const T*, device const T*, device T*, constant Attention&, uint, uint, uint, uint);  \
  template [[host_name("flash_attention_kernel_" #T)]] kernel void flash_attention_kernel<T>(                      \
      device const T*, device const T*, device const T*, device T*, constant Attention&, uint2, uint);
METAL_EACH_FLOAT(FLASH_ATTENTION)

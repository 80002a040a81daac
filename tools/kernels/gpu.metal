// Kernels as one writes them for a GPU: four numbers in each access, a row of 4096 in a threadgroup's registers,
// products of simdgroup matrices from tiles in threadgroup memory.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

kernel void gpu_add(device const float4* x, device const float4* y, device float4* out,
                    uint i [[thread_position_in_grid]]) {
  out[i] = x[i] + y[i];
}

constant constexpr uint row_threads = 512, row_simdgroups = row_threads / 32;

// What the SIMD-groups of a threadgroup found, combined.
template <uint simdgroups, typename Combine>
static float over_threadgroup(float of_simdgroup, threadgroup float* partial, uint lane, uint simdgroup,
                              float nothing, Combine combine) {
  if (lane == 0) partial[simdgroup] = of_simdgroup;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return combine(lane < simdgroups ? partial[lane] : nothing);
}

static float largest_of(float4 values) {
  return max(max(values.x, values.y), max(values.z, values.w));
}
static float sum_of(float4 values) {
  return values.x + values.y + values.z + values.w;
}

// Rows of 8 * 512 numbers, one threadgroup each.
kernel void gpu_softmax(device const float4* x, device float4* out, uint row [[threadgroup_position_in_grid]],
                        uint i [[thread_position_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                        uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float largest_ones[row_simdgroups], sums[row_simdgroups];
  const uint first = row * 2 * row_threads + i, second = first + row_threads;
  const float4 a = x[first], b = x[second];
  const float largest =
      over_threadgroup<row_simdgroups>(simd_max(max(largest_of(a), largest_of(b))), largest_ones, lane, simdgroup,
                                       -INFINITY, [](float value) { return simd_max(value); });
  const float4 powers_a = exp(a - largest), powers_b = exp(b - largest);
  const float scale =
      1.0f / over_threadgroup<row_simdgroups>(simd_sum(sum_of(powers_a) + sum_of(powers_b)), sums, lane, simdgroup, 0,
                                              [](float value) { return simd_sum(value); });
  out[first] = powers_a * scale;
  out[second] = powers_b * scale;
}

kernel void gpu_rms_norm(device const float4* x, device const float4* weight, device float4* out,
                         uint row [[threadgroup_position_in_grid]], uint i [[thread_position_in_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float partial[row_simdgroups];
  const uint first = row * 2 * row_threads + i, second = first + row_threads;
  const float4 a = x[first], b = x[second];
  const float sum = over_threadgroup<row_simdgroups>(simd_sum(dot(a, a) + dot(b, b)), partial, lane, simdgroup, 0,
                                                     [](float value) { return simd_sum(value); });
  const float scale = rsqrt(sum / (8 * row_threads) + 1e-5f);
  out[first] = a * weight[i] * scale;
  out[second] = b * weight[i + row_threads] * scale;
}

// A threadgroup of 512 threads has a row of the matrix, of a multiple of 4096 numbers.
constant constexpr uint matvec_threads = 512, matvec_simdgroups = matvec_threads / 32;

// Known when it is compiled, so that no thread waits for it before it reads.
constant uint width_of_matrix [[function_constant(0)]];

kernel void gpu_matvec(device const float4* matrix, device const float4* vector, device float* out,
                       uint row [[threadgroup_position_in_grid]],
                       uint i [[thread_position_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                       uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float partial[matvec_simdgroups];
  device const float4* numbers = matrix + ulong(row) * (width_of_matrix / 4);
  float4 sums = 0;
  for (uint j = i; j < width_of_matrix / 4; j += 2 * matvec_threads) {
    const float4 first = numbers[j], second = numbers[j + matvec_threads];
    sums = fma(first, vector[j], sums);
    sums = fma(second, vector[j + matvec_threads], sums);
  }
  const float sum = over_threadgroup<matvec_simdgroups>(simd_sum(sum_of(sums)), partial, lane, simdgroup, 0,
                                                        [](float value) { return simd_sum(value); });
  if (i == 0) out[row] = sum;
}

// C = A B, row by row in memory, sizes multiples of a tile's. A threadgroup of two by four SIMD-groups has a tile of C,
// each of them 64 rows of it and 64 columns of halves or 32 of floats, which take more registers.
constant constexpr uint depth = 32, padding = 8, tile_threads = 256;
constant constexpr uint own_rows = 64, tile_rows = 2 * own_rows, parts_down = own_rows / 8;

// A thread's share of a tile, on its way from device memory to threadgroup memory.
template <typename T, uint rows, uint columns>
struct Share {
  static constant constexpr uint in_row = columns / 4, count = rows * in_row / tile_threads;
  vec<T, 4> parts[count];

  void load(device const T* from, uint stride, uint i) {
    #pragma unroll
    for (uint k = 0; k < count; ++k) {
      const uint place = i + k * tile_threads;
      parts[k] = *(device const vec<T, 4>*)(from + ulong(place / in_row) * stride + place % in_row * 4);
    }
  }
  void store(threadgroup T* to, uint row_length, uint i) const {
    #pragma unroll
    for (uint k = 0; k < count; ++k) {
      const uint place = i + k * tile_threads;
      *(threadgroup vec<T, 4>*)(to + place / in_row * row_length + place % in_row * 4) = parts[k];
    }
  }
};

template <typename T, uint own_columns>
kernel void gpu_matmul(device const T* a, device const T* b, device T* c, constant uint& n, constant uint& k,
                       uint2 group [[threadgroup_position_in_grid]], uint i [[thread_index_in_threadgroup]],
                       uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  constexpr uint tile_columns = 4 * own_columns, parts_across = own_columns / 8;
  threadgroup T tile_of_a[tile_rows * (depth + padding)], tile_of_b[depth * (tile_columns + padding)];
  const uint row = simdgroup / 4 * own_rows, column = simdgroup % 4 * own_columns;
  simdgroup_float8x8 sums[parts_down][parts_across];
  for (uint y = 0; y < parts_down; ++y)
    for (uint x = 0; x < parts_across; ++x) sums[y][x] = simdgroup_float8x8(0);
  Share<T, tile_rows, depth> of_tile_a;
  Share<T, depth, tile_columns> of_tile_b;
  a += ulong(group.y) * tile_rows * k;
  b += group.x * tile_columns;
  of_tile_a.load(a, k, i);
  of_tile_b.load(b, n, i);
  for (uint start = 0; start < k; start += depth) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    of_tile_a.store(tile_of_a, depth + padding, i);
    of_tile_b.store(tile_of_b, tile_columns + padding, i);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (start + depth < k) {
      of_tile_a.load(a + start + depth, k, i);
      of_tile_b.load(b + ulong(start + depth) * n, n, i);
    }
    #pragma unroll
    for (uint inner = 0; inner < depth; inner += 8) {
      simdgroup_matrix<T, 8, 8> of_a[parts_down], of_b[parts_across];
      #pragma unroll
      for (uint y = 0; y < parts_down; ++y)
        simdgroup_load(of_a[y], tile_of_a + (row + y * 8) * (depth + padding) + inner, depth + padding);
      #pragma unroll
      for (uint x = 0; x < parts_across; ++x)
        simdgroup_load(of_b[x], tile_of_b + inner * (tile_columns + padding) + column + x * 8, tile_columns + padding);
      #pragma unroll
      for (uint y = 0; y < parts_down; ++y)
        #pragma unroll
        for (uint x = 0; x < parts_across; ++x)
          simdgroup_multiply_accumulate(sums[y][x], of_a[y], of_b[x], sums[y][x]);
    }
  }
  device T* out = c + (ulong(group.y) * tile_rows + row) * n + group.x * tile_columns + column;
  #pragma unroll
  for (uint y = 0; y < parts_down; ++y)
    #pragma unroll
    for (uint x = 0; x < parts_across; ++x) {
      simdgroup_matrix<T, 8, 8> rounded;
      rounded.thread_elements()[0] = T(sums[y][x].thread_elements()[0]);
      rounded.thread_elements()[1] = T(sums[y][x].thread_elements()[1]);
      simdgroup_store(rounded, out + ulong(y) * 8 * n + x * 8, n);
    }
}

template [[host_name("gpu_matmul_float")]] kernel void gpu_matmul<float, 32>(device const float*, device const float*,
                                                                             device float*, constant uint&,
                                                                             constant uint&, uint2, uint, uint);
template [[host_name("gpu_matmul_half")]] kernel void gpu_matmul<half, 64>(device const half*, device const half*,
                                                                           device half*, constant uint&,
                                                                           constant uint&, uint2, uint, uint);

// Sums of products of simdgroup matrices, which are rows of numbers while nobody looks at the elements of lanes; and
// those that cannot be.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

#define GROUP uint group [[threadgroup_position_in_grid]]
#define LANE uint lane [[thread_index_in_simdgroup]]

// Of a threadgroup, `rows` x `columns` matrices of which one SIMD-group has all sums; the factors' rows and columns
// are where the four strides say.
template <uint rows, uint columns, class T>
void product(device const T* a, uint4 strides, device const T* b, device float* out, uint depth) {
  simdgroup_float8x8 sums[rows][columns];
  for (uint i = 0; i < rows; ++i)
    for (uint j = 0; j < columns; ++j) sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.5f);
  for (uint k = 0; k < depth; k += 8) {
    simdgroup_matrix<T, 8, 8> left[rows], right[columns];
    for (uint i = 0; i < rows; ++i)
      simdgroup_load(left[i], a + 8 * i * strides.x + k * strides.y, max(strides.x, strides.y), ulong2(0),
                     strides.x < strides.y);
    for (uint j = 0; j < columns; ++j)
      simdgroup_load(right[j], b + k * strides.z + 8 * j * strides.w, max(strides.z, strides.w), ulong2(0),
                     strides.z < strides.w);
    for (uint i = 0; i < rows; ++i)
      for (uint j = 0; j < columns; ++j) simdgroup_multiply_accumulate(sums[i][j], left[i], right[j], sums[i][j]);
  }
  for (uint i = 0; i < rows; ++i)
    for (uint j = 0; j < columns; ++j) simdgroup_store(sums[i][j], out + 8 * i * 8 * columns + 8 * j, 8 * columns);
}

//@ buffer float random 6000
//@ buffer float zeros 12N
//@ bytes uint 24
//@ grid 128 group 32
//@ tolerance 1e-4
kernel void rows_of_three(device const float* in, device float* out, constant uint& depth, GROUP) {
  product<2, 3>(in + group * 16, uint4(100, 1, 30, 1), in + 2000, out + group * 384, depth);
}

//@ buffer half random 6000
//@ buffer float zeros 32N
//@ bytes uint 24
//@ grid 128 group 32
//@ tolerance 1e-3
kernel void rows_of_four_and_a_left_factor_by_columns(device const half* in, device float* out, constant uint& depth,
                                                      GROUP) {
  product<4, 4>(in + group * 16, uint4(1, 40, 33, 1), in + 2000, out + group * 1024, depth);
}

//@ buffer bfloat random 6000
//@ buffer float zeros 24N
//@ bytes uint 16
//@ grid 128 group 32
//@ tolerance 1e-3
kernel void rows_of_six_by_columns(device const bfloat* in, device float* out, constant uint& depth, GROUP) {
  product<2, 6>(in + group * 16, uint4(40, 1, 1, 50), in + 2000, out + group * 768, depth);
}

//@ buffer float random 6000
//@ buffer float zeros 10N
//@ bytes uint 16
//@ grid 128 group 32
//@ tolerance 1e-4
kernel void rows_of_five_both_by_columns(device const float* in, device float* out, constant uint& depth, GROUP) {
  product<1, 5>(in + group * 16, uint4(1, 20, 1, 41), in + 2000, out + group * 320, depth);
}

// Nothing is multiplied: sums are what they began as.
//@ buffer float random 6000
//@ buffer float zeros 8N
//@ bytes uint 0
//@ grid 64 group 32
kernel void rows_of_an_empty_sum(device const float* in, device float* out, constant uint& depth, GROUP) {
  product<2, 2>(in, uint4(16, 1, 16, 1), in, out + group * 256, depth);
}

// The length of rows is not known before.
//@ buffer float random 6000
//@ buffer float random 8N
//@ bytes uint 41
//@ bytes uint 32
//@ grid 128 group 32
//@ tolerance 1e-4
kernel void rows_of_sums_from_memory(device const float* in, device float* out, constant uint& length,
                                     constant uint& depth, GROUP) {
  simdgroup_float8x8 sums[4], a, b;
  for (uint j = 0; j < 4; ++j) simdgroup_load(sums[j], out + group * 256 + 8 * j, 32);
  for (uint k = 0; k < depth; k += 8) {
    simdgroup_load(a, in + 8 * group * length + k, length, ulong2(0), true);
    for (uint j = 0; j < 4; ++j) {
      simdgroup_load(b, in + 3000 + k * length + 8 * j, length);
      simdgroup_multiply_accumulate(sums[j], a, b, sums[j]);
    }
  }
  for (uint j = 0; j < 4; ++j) simdgroup_store(sums[j], out + group * 256 + 8 * j, 32);
}

// Rows that are 36 numbers apart in threadgroup memory, of the right factor its columns if `transposed`; each lane
// loads its two elements and stores those of sums.
template <bool transposed, class T, class U>
void by_elements(device const T* in, device float* out, threadgroup T* shared, uint lane, short depth, U as_float) {
  for (short i = lane; i < 36 * 64; i += 32) shared[i] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const short quad = lane / 4, row = (quad & 4) + (lane / 2) % 4, column = (quad & 2) * 2 + (lane % 2) * 2;
  const threadgroup T* a = shared + row * 36 + column;
  const threadgroup T* b = shared + 32 * 36 + (transposed ? column * 36 + row : row * 36 + column);
  float2 sums[2][4] = {};
  for (short k = 0; k < depth; k += 8) {
    float2 left[2], right[4];
    simdgroup_barrier(mem_flags::mem_none);
    for (short i = 0; i < 2; ++i)
      for (short e = 0; e < 2; ++e) left[i][e] = as_float(a[i * 16 * 36 + k + e]);
    simdgroup_barrier(mem_flags::mem_none);
    for (short j = 0; j < 4; ++j)
      for (short e = 0; e < 2; ++e) right[j][e] = as_float(transposed ? b[(8 * j + e) * 36 + k] : b[k * 36 + 8 * j + e]);
    simdgroup_barrier(mem_flags::mem_none);
    for (short i = 0; i < 2; ++i)
      for (short j = 0; j < 4; ++j) {
        const short serpentine = i % 2 ? 3 - j : j;
        simdgroup_float8x8 x, y, sum;
        reinterpret_cast<thread float2&>(x.thread_elements()) = left[i];
        reinterpret_cast<thread float2&>(y.thread_elements()) = right[serpentine];
        reinterpret_cast<thread float2&>(sum.thread_elements()) = sums[i][serpentine];
        simdgroup_multiply_accumulate(sum, x, y, sum);
        sums[i][serpentine] = reinterpret_cast<thread float2&>(sum.thread_elements());
      }
  }
  for (short i = 0; i < 2; ++i)
    for (short j = 0; j < 4; ++j)
      for (short e = 0; e < 2; ++e) out[(i * 8 + row) * 32 + j * 8 + column + e] = sums[i][j][e] * 2;
}

//@ buffer float random 4000
//@ buffer float zeros 16N
//@ bytes short 32
//@ grid 128 group 32
//@ tolerance 1e-4
kernel void rows_of_elements(device const float* in, device float* out, constant short& depth, GROUP, LANE) {
  threadgroup float shared[36 * 64];
  by_elements<false>(in + 100 * group, out + group * 512, shared, lane, depth, [](float x) { return x; });
}

//@ buffer half random 4000
//@ buffer float zeros 16N
//@ bytes short 24
//@ grid 128 group 32
//@ tolerance 1e-3
kernel void rows_of_elements_of_halves(device const half* in, device float* out, constant short& depth, GROUP, LANE) {
  threadgroup half shared[36 * 64];
  by_elements<true>(in + 100 * group, out + group * 512, shared, lane, depth, [](half x) { return float(x); });
}

//@ buffer bfloat random 4000
//@ buffer float zeros 16N
//@ bytes short 32
//@ grid 128 group 32
//@ tolerance 1e-3
kernel void rows_of_elements_of_bfloats(device const bfloat* in, device float* out, constant short& depth, GROUP,
                                        LANE) {
  threadgroup bfloat shared[36 * 64];
  by_elements<false>(in + 100 * group, out + group * 512, shared, lane, depth, [](bfloat x) { return float(x); });
}

// In each iteration the lanes scale what they have: rows would go to and fro.
//@ buffer float random 6000
//@ buffer float zeros 8N
//@ bytes uint 32
//@ grid 128 group 32
//@ tolerance 1e-4
kernel void rows_that_lanes_scale(device const float* in, device float* out, constant uint& depth, GROUP, LANE) {
  simdgroup_float8x8 sums[4], a, b;
  for (uint j = 0; j < 4; ++j) sums[j] = make_filled_simdgroup_matrix<float, 8, 8>(0);
  for (uint k = 0; k < depth; k += 8) {
    simdgroup_load(a, in + 400 * group + k, 32);
    for (uint j = 0; j < 4; ++j) {
      simdgroup_load(b, in + 3000 + k * 32 + 8 * j, 32);
      simdgroup_multiply_accumulate(sums[j], a, b, sums[j]);
      sums[j].thread_elements()[lane & 1] *= 0.5f;
    }
  }
  for (uint j = 0; j < 4; ++j) simdgroup_store(sums[j], out + group * 256 + 8 * j, 32);
}

// The inner loop's sums are rows, which lanes scale outside of it, and a second one goes on with them.
//@ buffer float random 6000
//@ buffer float zeros 8N
//@ bytes uint 3
//@ bytes uint 32
//@ grid 128 group 32
//@ tolerance 1e-4
kernel void rows_between_loops(device const float* in, device float* out, constant uint& turns, constant uint& depth,
                               GROUP) {
  simdgroup_float8x8 sums[4], a, b;
  for (uint j = 0; j < 4; ++j) sums[j] = make_filled_simdgroup_matrix<float, 8, 8>(0);
  for (uint turn = 0; turn < turns; ++turn) {
    for (uint k = 0; k < depth; k += 8) {
      simdgroup_load(a, in + 400 * group + k + turn, 32);
      for (uint j = 0; j < 4; ++j) {
        simdgroup_load(b, in + 3000 + k * 32 + 8 * j, 32);
        simdgroup_multiply_accumulate(sums[j], a, b, sums[j]);
      }
    }
    for (uint j = 0; j < 4; ++j) sums[j].thread_elements()[0] *= 0.5f;
    for (uint k = 0; k < depth / 2; k += 8) {
      simdgroup_load(a, in + 200 * group + k, 16);
      for (uint j = 4; j-- > 0;) {
        simdgroup_load(b, in + 4000 + k * 32 + 8 * j, 32);
        simdgroup_multiply_accumulate(sums[j], a, b, sums[j]);
      }
    }
  }
  for (uint j = 0; j < 4; ++j) simdgroup_store(sums[j], out + group * 256 + 8 * j, 32);
}

// Sums change places: none is side by side with the same others all the time.
//@ buffer float random 6000
//@ buffer float zeros 8N
//@ bytes uint 24
//@ grid 128 group 32
//@ tolerance 1e-4
kernel void rows_that_change_places(device const float* in, device float* out, constant uint& depth, GROUP) {
  simdgroup_float8x8 sums[4], a, b;
  for (uint j = 0; j < 4; ++j) sums[j] = make_filled_simdgroup_matrix<float, 8, 8>(float(j));
  for (uint k = 0; k < depth; k += 8) {
    simdgroup_load(a, in + 400 * group + k, 32);
    for (uint j = 0; j < 4; ++j) {
      simdgroup_load(b, in + 3000 + k * 32 + 8 * j, 32);
      simdgroup_multiply_accumulate(sums[j], a, b, sums[j]);
    }
    const simdgroup_float8x8 first = sums[0];
    sums[0] = sums[1], sums[1] = sums[2], sums[2] = sums[3], sums[3] = first;
  }
  for (uint j = 0; j < 4; ++j) simdgroup_store(sums[j], out + group * 256 + 8 * j, 32);
}

// What was loaded is no longer there when products are made.
//@ buffer float random 3N+1000
//@ buffer float zeros 8N
//@ bytes uint 3
//@ grid 128 group 32
//@ tolerance 1e-4
kernel void rows_of_what_has_changed(device float* in, device float* out, constant uint& turns, GROUP, LANE) {
  simdgroup_float8x8 sums[4], a, b[4];
  device float* own = in + 96 * group;
  for (uint j = 0; j < 4; ++j) sums[j] = make_filled_simdgroup_matrix<float, 8, 8>(0);
  for (uint k = 0; k < turns; ++k) {
    simdgroup_load(a, own, 8);
    for (uint j = 0; j < 4; ++j) simdgroup_load(b[j], in + 3 * 128 + 8 * j, 32);
    own[lane] = own[lane + 32] + 1;
    simdgroup_barrier(mem_flags::mem_device);
    for (uint j = 0; j < 4; ++j) simdgroup_multiply_accumulate(sums[j], a, b[j], sums[j]);
  }
  for (uint j = 0; j < 4; ++j) simdgroup_store(sums[j], out + group * 256 + 8 * j, 32);
}

// Only some threadgroups multiply, and one leaves early.
//@ buffer float random 6000
//@ buffer float zeros 8N
//@ bytes uint 2
//@ bytes uint 32
//@ grid 160 group 32
//@ tolerance 1e-4
kernel void rows_in_branches(device const float* in, device float* out, constant uint& limit, constant uint& depth,
                             GROUP) {
  simdgroup_float8x8 sums[4], a, b;
  for (uint j = 0; j < 4; ++j) sums[j] = make_filled_simdgroup_matrix<float, 8, 8>(1);
  for (uint k = 0; k < depth; k += 8) {
    if (in[k] > 0.5f || group > limit) {
      simdgroup_load(a, in + 400 * group + k, 32);
      for (uint j = 0; j < 4; ++j) {
        simdgroup_load(b, in + 3000 + k * 32 + 8 * j, 32);
        simdgroup_multiply_accumulate(sums[j], a, b, sums[j]);
      }
    } else if (group == limit) {
      break;
    }
  }
  for (uint j = 0; j < 4; ++j) simdgroup_store(sums[j], out + group * 256 + 8 * j, 32);
}

// Products of sums: an element's sum is a factor of the next. A sum is used twice.
//@ buffer float random 6000
//@ buffer float zeros 16N
//@ bytes uint 24
//@ grid 128 group 32
//@ tolerance 1e-3
kernel void rows_that_are_factors(device const float* in, device float* out, constant uint& depth, GROUP) {
  simdgroup_float8x8 sums[4], copies[4], a, b[4];
  for (uint j = 0; j < 4; ++j) sums[j] = copies[j] = make_filled_simdgroup_matrix<float, 8, 8>(0.1f);
  for (uint k = 0; k < depth; k += 8) {
    simdgroup_load(a, in + 400 * group + k, 32);
    for (uint j = 0; j < 4; ++j) {
      simdgroup_load(b[j], in + 3000 + k * 32 + 8 * j, 32);
      simdgroup_multiply_accumulate(copies[j], a, b[j], sums[j]);
      simdgroup_multiply_accumulate(sums[j], a, b[j], copies[j]);
    }
    if (k == 8)
      for (uint j = 0; j < 4; ++j) simdgroup_multiply(sums[j], sums[j], b[3 - j]);
  }
  for (uint j = 0; j < 4; ++j) {
    simdgroup_store(sums[j], out + group * 512 + 8 * j, 32);
    simdgroup_store(copies[j], out + group * 512 + 256 + 8 * j, 32);
  }
}

// Two products of one left factor, the second of which adds to the first.
//@ buffer float random 6000
//@ buffer float zeros 8N
//@ bytes uint 24
//@ grid 128 group 32
//@ tolerance 1e-4
kernel void rows_that_are_added_to_twice(device const float* in, device float* out, constant uint& depth, GROUP) {
  simdgroup_float8x8 sums[4], a, b[4], c[4];
  for (uint j = 0; j < 4; ++j) sums[j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  for (uint k = 0; k < depth; k += 8) {
    simdgroup_load(a, in + 400 * group + k, 32);
    for (uint j = 0; j < 4; ++j) {
      simdgroup_load(b[j], in + 3000 + k * 32 + 8 * j, 32);
      simdgroup_load(c[j], in + 4000 + k * 32 + 8 * j, 32);
    }
    simdgroup_multiply_accumulate(sums[0], a, b[0], sums[0]);
    simdgroup_multiply_accumulate(sums[0], a, c[0], sums[0]);
    simdgroup_multiply_accumulate(sums[1], a, b[1], sums[1]);
    simdgroup_multiply_accumulate(sums[2], a, b[2], sums[2]);
    simdgroup_multiply_accumulate(sums[3], a, b[3], sums[3]);
    simdgroup_multiply_accumulate(sums[1], a, c[1], sums[1]);
    simdgroup_multiply_accumulate(sums[3], a, c[3], sums[3]);
    simdgroup_multiply_accumulate(sums[2], a, c[2], sums[2]);
  }
  for (uint j = 0; j < 4; ++j) simdgroup_store(sums[j], out + group * 256 + 8 * j, 32);
}

// One row x times weights [out][in], for up to three matrices at once. What is fused, by function constants: RMSNorm of
// x (on GPUs), silu(first) * second, addition to what is there, and the turning of the first two results (on GPUs).
#pragma once

#include "numbers.h"

constant uint norm_weights [[function_constant(0)]];  // 0: no norm; 1: float; 2: of x's type
constant uint gated [[function_constant(1)]];
constant uint adds [[function_constant(2)]];

struct VectorProducts {
  uint columns;
  uint rows[3];
  uint first_group[3];  // of the threadgroups that have a matrix; the last ones' are beyond all where there are fewer
  float epsilon;
};

// A threadgroup's matrix, and its first row of it.
template <typename T, typename W>
struct Share {
  device const W* weights;
  device const W* other;  // gated, what is multiplied with silu of the first
  device T* result;
  uint rows, group;
  bool is_third;

  Share(device const W* weights_0, device const W* weights_1, device const W* weights_2, device T* result_0,
        device T* result_1, device T* result_2, VectorProducts products, uint threadgroup_index) {
    const bool is_second = !gated && threadgroup_index >= products.first_group[1];
    is_third = !gated && threadgroup_index >= products.first_group[2];
    weights = is_third ? weights_2 : is_second ? weights_1 : weights_0;
    result = is_third ? result_2 : is_second ? result_1 : result_0;
    other = gated ? weights_1 : weights;
    // Without an index that is not known: the numbers stay in registers.
    rows = is_third ? products.rows[2] : is_second ? products.rows[1] : products.rows[0];
    group = threadgroup_index - (is_third    ? products.first_group[2]
                                 : is_second ? products.first_group[1]
                                             : products.first_group[0]);
  }

  void put(uint row, float sum) const {
    if (adds) sum += float(result[row]);
    result[row] = T(sum);
  }
};

#define MATMUL_VEC_AS(kernel_name, W, T, name, ...)                                                                        \
  template [[host_name(#kernel_name "_" #name)]] kernel void kernel_name<T, W>(                                       \
      device const T*, device const void*, device const W*, device const W*, device const W*, device T*, device T*,   \
      device T*, __VA_ARGS__);

#include "workloads.hpp"

namespace metalloid::tool {

std::span<const WorkloadEntry> all_workloads() {
  static constexpr WorkloadEntry entries[] = {
      {"add", make_add},
      {"exp", make_exp},
      {"gelu", make_gelu},
      {"gelu_half", make_gelu_half},
      {"matmul_naive", make_matmul_naive},
      {"matmul_tiled", make_matmul_tiled},
      {"matmul_simdgroup", make_matmul_simdgroup},
      {"softmax_tree", make_softmax_tree},
      {"softmax_simd", make_softmax_simd},
      {"rms_norm", make_rms_norm},
      {"layer_norm", make_layer_norm},
      {"reduction", make_reduction},
      {"scan", make_scan},
      {"sort", make_sort},
      {"transpose", make_transpose},
      {"convolution_naive", make_convolution_naive},
      {"convolution_tiled", make_convolution_tiled},
      {"matvec", make_matvec},
      {"matvec_q4", make_matvec_q4},
      {"attention", make_attention},
      {"mandelbrot", make_mandelbrot},
      {"histogram", make_histogram},
      {"gather", make_gather},
      {"scatter", make_scatter},
  };
  return entries;
}

}  // namespace metalloid::tool

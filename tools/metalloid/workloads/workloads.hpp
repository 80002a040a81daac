// The workloads of `metalloid bench kernels`; those of one idea are in the file that its kernels are named after.
#pragma once

#include "bench_workload.hpp"

namespace metalloid::tool {

Workload make_add(bool quick);
Workload make_exp(bool quick);
Workload make_gelu(bool quick);
Workload make_gelu_half(bool quick);
Workload make_matmul_naive(bool quick);
Workload make_matmul_tiled(bool quick);
Workload make_matmul_simdgroup(bool quick);
Workload make_softmax_tree(bool quick);
Workload make_softmax_simd(bool quick);
Workload make_rms_norm(bool quick);
Workload make_layer_norm(bool quick);
Workload make_reduction(bool quick);
Workload make_scan(bool quick);
Workload make_sort(bool quick);
Workload make_transpose(bool quick);
Workload make_convolution_naive(bool quick);
Workload make_convolution_tiled(bool quick);
Workload make_matvec(bool quick);
Workload make_matvec_q4(bool quick);
Workload make_attention(bool quick);
Workload make_mandelbrot(bool quick);
Workload make_histogram(bool quick);
Workload make_gather(bool quick);
Workload make_scatter(bool quick);

}  // namespace metalloid::tool

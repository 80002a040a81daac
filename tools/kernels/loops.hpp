// The benchmark's kernels as a C++ programmer writes them without a GPU in mind: loops, with OpenMP over the outer
// ones. Compiled with -O3 -march=native; where tiling is a kernel's point, the loop is the untiled one.
#pragma once

#include <cstdint>

namespace metalloid::kernels {

using Half = _Float16;

void add(const float* x, const float* y, float* out, uint32_t size);
void exponential(const float* x, float* out, uint32_t size);
void gelu_float(const float* x, float* out, uint32_t size);
void gelu_half(const Half* x, Half* out, uint32_t size);

void matmul(const float* a, const float* b, float* c, uint32_t m, uint32_t n, uint32_t k);

void softmax(const float* x, float* out, uint32_t rows, uint32_t size);
void rms_norm(const float* x, const float* weight, float* out, uint32_t rows, uint32_t size, float epsilon);
void layer_norm(const float* x, const float* weight, const float* bias, float* out, uint32_t rows, uint32_t size,
                float epsilon);

void reduction(const float* x, float* out, uint32_t size);
void scan(const uint32_t* x, uint32_t* out, uint32_t size);
void sort(uint32_t* keys, uint32_t size);
void histogram(const uint8_t* bytes, uint32_t* counts, uint32_t size);

void transpose(const float* x, float* out, uint32_t width, uint32_t height);
void convolution(const float* image, const float* filter, float* out, int width, int height);
void mandelbrot(uint32_t* steps, uint32_t width, uint32_t height, uint32_t limit);

struct Block {
  Half scale;
  uint8_t quants[16];
};

void matvec(const float* matrix, const float* vector, float* out, uint32_t rows, uint32_t width);
void matvec_q4(const Block* matrix, const float* vector, float* out, uint32_t rows, uint32_t width);
void attention(const float* queries, const float* keys, const float* values, float* out, uint32_t length, float scale);

void gather(const float* table, const uint32_t* indices, float* out, uint32_t size);
void scatter(const float* x, const uint32_t* indices, float* out, uint32_t size);

// What the machine can do at most: copying with ordinary stores and with ones that bypass the caches, and
// multiply-adds, of which a step is 2^20 (to within a few).
void copy(const float* x, float* out, uint32_t size);
void copy_streaming(const float* x, float* out, uint32_t size);
void multiply_add(float* out, uint32_t steps);

// The same product from OpenBLAS, and what OpenBLAS says about itself; throw std::runtime_error if it is not installed.
void openblas_config(char* text, uint32_t size);
void sgemm(const float* a, const float* b, float* c, uint32_t m, uint32_t n, uint32_t k);

}  // namespace metalloid::kernels

// The loops in the order that walks along rows; and OpenBLAS, opened at run time so that nothing needs it.
#include <dlfcn.h>

#include <cstring>
#include <stdexcept>

#include "loops.hpp"

namespace metalloid::kernels {

void matmul(const float* __restrict a, const float* __restrict b, float* __restrict c, uint32_t m, uint32_t n,
            uint32_t k) {
#pragma omp parallel for
  for (uint32_t row = 0; row < m; ++row) {
    float* c_row = c + row * n;
    for (uint32_t column = 0; column < n; ++column) c_row[column] = 0;
    for (uint32_t i = 0; i < k; ++i) {
      const float factor = a[row * k + i];
      const float* b_row = b + i * n;
#pragma omp simd
      for (uint32_t column = 0; column < n; ++column) c_row[column] += factor * b_row[column];
    }
  }
}

namespace {

template <class Function>
Function find_in_openblas(const char* name) {
  static void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  void* symbol = library ? dlsym(library, name) : nullptr;
  if (!symbol) throw std::runtime_error("OpenBLAS is not installed (Debian: libopenblas0)");
  return reinterpret_cast<Function>(symbol);
}

}  // namespace

void openblas_config(char* text, uint32_t size) {
  std::strncpy(text, find_in_openblas<const char* (*)()>("openblas_get_config")(), size - 1);
  text[size - 1] = '\0';
}

void sgemm(const float* a, const float* b, float* c, uint32_t m, uint32_t n, uint32_t k) {
  using Sgemm = void (*)(int order, int a_form, int b_form, int m, int n, int k, float alpha, const float* a, int lda,
                         const float* b, int ldb, float beta, float* c, int ldc);
  static const auto function = find_in_openblas<Sgemm>("cblas_sgemm");
  constexpr int row_major = 101, as_it_is = 111;
  function(row_major, as_it_is, as_it_is, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), 1.0f, a,
           static_cast<int>(k), b, static_cast<int>(n), 0.0f, c, static_cast<int>(n));
}

}  // namespace metalloid::kernels

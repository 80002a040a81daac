// cuBLASLt: what is used of its interface, declared here, so that building needs nothing of CUDA. Matrices are those of
// Fortran, column by column.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <metalloid/result.hpp>
#include <string>

#include "mps/libraries/nvidia/shared_library.hpp"

namespace metalloid::mps::nvidia {

namespace lt {

enum class Code : int { success = 0, not_supported = 15 };

using Handle = struct HandleData*;
using Product = struct ProductData*;
using Layout = struct LayoutData*;
using Preference = struct PreferenceData*;

enum class Type : int { float32 = 0, float16 = 2, int8 = 3, int32 = 10, bfloat16 = 14 };
enum class Compute : int {
  float32 = 68,  // with all bits
  int32 = 72,
  float32_from_short = 77,  // inputs become TF32
};
enum class ProductAttribute : int { transpose_a = 3, transpose_b = 4, epilogue = 7, biases = 8 };
enum class Epilogue : int { biases = 4, biases_and_relu = 6 };
enum class LayoutAttribute : int { batch_count = 5, batch_stride = 6 };
enum class PreferenceAttribute : int { most_workspace = 1, alignment_a = 5, alignment_b, alignment_c, alignment_d };

struct Algorithm {
  std::array<uint64_t, 8> data = {};
};

struct Heuristic {
  Algorithm algorithm;
  size_t workspace = 0;
  Code state = Code::success;
  float waves = 0;
  std::array<int, 4> reserved = {};
};

}  // namespace lt

#define METALLOID_CUBLAS_LT_FUNCTIONS(FUNCTION)                                                                       \
  FUNCTION(get_version, "cublasLtGetVersion", size_t)                                                                 \
  FUNCTION(get_status_string, "cublasLtGetStatusString", const char*, lt::Code)                                       \
  FUNCTION(create, "cublasLtCreate", lt::Code, lt::Handle*)                                                           \
  FUNCTION(destroy, "cublasLtDestroy", lt::Code, lt::Handle)                                                          \
  FUNCTION(create_product, "cublasLtMatmulDescCreate", lt::Code, lt::Product*, lt::Compute, lt::Type scalars)         \
  FUNCTION(destroy_product, "cublasLtMatmulDescDestroy", lt::Code, lt::Product)                                       \
  FUNCTION(set_product, "cublasLtMatmulDescSetAttribute", lt::Code, lt::Product, lt::ProductAttribute,                \
           const void* value, size_t bytes)                                                                           \
  FUNCTION(create_layout, "cublasLtMatrixLayoutCreate", lt::Code, lt::Layout*, lt::Type, uint64_t rows,               \
           uint64_t columns, int64_t column_stride)                                                                   \
  FUNCTION(destroy_layout, "cublasLtMatrixLayoutDestroy", lt::Code, lt::Layout)                                       \
  FUNCTION(set_layout, "cublasLtMatrixLayoutSetAttribute", lt::Code, lt::Layout, lt::LayoutAttribute,                 \
           const void* value, size_t bytes)                                                                           \
  FUNCTION(create_preference, "cublasLtMatmulPreferenceCreate", lt::Code, lt::Preference*)                            \
  FUNCTION(destroy_preference, "cublasLtMatmulPreferenceDestroy", lt::Code, lt::Preference)                           \
  FUNCTION(set_preference, "cublasLtMatmulPreferenceSetAttribute", lt::Code, lt::Preference, lt::PreferenceAttribute, \
           const void* value, size_t bytes)                                                                           \
  FUNCTION(find_algorithms, "cublasLtMatmulAlgoGetHeuristic", lt::Code, lt::Handle, lt::Product, lt::Layout a,        \
           lt::Layout b, lt::Layout c, lt::Layout d, lt::Preference, int most, lt::Heuristic*, int* found)            \
  FUNCTION(multiply, "cublasLtMatmul", lt::Code, lt::Handle, lt::Product, const void* alpha, const void* a,           \
           lt::Layout, const void* b, lt::Layout, const void* beta, const void* c, lt::Layout, void* d, lt::Layout,   \
           const lt::Algorithm*, void* workspace, size_t workspace_bytes, void* stream)

struct CublasLt {
  // Opened once; the error says why there is none.
  static const Result<CublasLt>& shared();

  METALLOID_CUBLAS_LT_FUNCTIONS(METALLOID_DECLARE_FUNCTION)

  std::string path;
  std::string name() const;  // "cuBLASLt 13.1.0"
};

}  // namespace metalloid::mps::nvidia

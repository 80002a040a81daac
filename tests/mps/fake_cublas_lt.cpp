// A cuBLASLt that multiplies on the host, number by number, as its descriptors say: so that what we tell the real one
// can be tested where there is no GPU. It knows matrices of float, their transposes and batches, biases and ReLU.
#include <algorithm>
#include <cstring>

#include "mps/libraries/nvidia/cublas_lt.hpp"

using namespace metalloid::mps::nvidia;

namespace metalloid::mps::nvidia::lt {

struct HandleData {};

struct ProductData {
  int32_t transpose_a = 0, transpose_b = 0;
  int32_t epilogue = 1;
  const float* biases = nullptr;
};

struct LayoutData {
  uint64_t rows = 0, columns = 0;
  int64_t column_stride = 0;
  int32_t batch = 1;
  int64_t batch_stride = 0;

  size_t place(size_t matrix, size_t row, size_t column) const {
    return matrix * size_t(batch_stride) + column * size_t(column_stride) + row;
  }
};

struct PreferenceData {
  uint32_t alignment = 0;
};

}  // namespace metalloid::mps::nvidia::lt

extern "C" {

size_t cublasLtGetVersion() {
  return 120304;
}
const char* cublasLtGetStatusString(lt::Code) {
  return "something is wrong";
}
lt::Code cublasLtCreate(lt::Handle* handle) {
  *handle = new lt::HandleData;
  return lt::Code::success;
}
lt::Code cublasLtDestroy(lt::Handle handle) {
  delete handle;
  return lt::Code::success;
}

lt::Code cublasLtMatmulDescCreate(lt::Product* product, lt::Compute, lt::Type) {
  *product = new lt::ProductData;
  return lt::Code::success;
}
lt::Code cublasLtMatmulDescDestroy(lt::Product product) {
  delete product;
  return lt::Code::success;
}
lt::Code cublasLtMatmulDescSetAttribute(lt::Product product, lt::ProductAttribute attribute, const void* value,
                                        size_t bytes) {
  switch (attribute) {
    case lt::ProductAttribute::transpose_a:
      std::memcpy(&product->transpose_a, value, bytes);
      break;
    case lt::ProductAttribute::transpose_b:
      std::memcpy(&product->transpose_b, value, bytes);
      break;
    case lt::ProductAttribute::epilogue:
      std::memcpy(&product->epilogue, value, bytes);
      break;
    case lt::ProductAttribute::biases:
      std::memcpy(&product->biases, value, bytes);
      break;
  }
  return lt::Code::success;
}

lt::Code cublasLtMatrixLayoutCreate(lt::Layout* layout, lt::Type, uint64_t rows, uint64_t columns,
                                    int64_t column_stride) {
  *layout = new lt::LayoutData{.rows = rows, .columns = columns, .column_stride = column_stride};
  return lt::Code::success;
}
lt::Code cublasLtMatrixLayoutDestroy(lt::Layout layout) {
  delete layout;
  return lt::Code::success;
}
lt::Code cublasLtMatrixLayoutSetAttribute(lt::Layout layout, lt::LayoutAttribute attribute, const void* value,
                                          size_t bytes) {
  if (attribute == lt::LayoutAttribute::batch_count)
    std::memcpy(&layout->batch, value, bytes);
  else
    std::memcpy(&layout->batch_stride, value, bytes);
  return lt::Code::success;
}

lt::Code cublasLtMatmulPreferenceCreate(lt::Preference* preference) {
  *preference = new lt::PreferenceData;
  return lt::Code::success;
}
lt::Code cublasLtMatmulPreferenceDestroy(lt::Preference preference) {
  delete preference;
  return lt::Code::success;
}
lt::Code cublasLtMatmulPreferenceSetAttribute(lt::Preference preference, lt::PreferenceAttribute attribute,
                                              const void* value, size_t bytes) {
  if (attribute == lt::PreferenceAttribute::alignment_a) std::memcpy(&preference->alignment, value, bytes);
  return lt::Code::success;
}
lt::Code cublasLtMatmulAlgoGetHeuristic(lt::Handle, lt::Product, lt::Layout, lt::Layout, lt::Layout, lt::Layout,
                                        lt::Preference preference, int, lt::Heuristic* best, int* found) {
  *best = {};
  best->algorithm.data[0] = preference->alignment;
  *found = 1;
  return lt::Code::success;
}

lt::Code cublasLtMatmul(lt::Handle, lt::Product product, const void* alpha, const void* a, lt::Layout of_a,
                        const void* b, lt::Layout of_b, const void* beta, const void* c, lt::Layout of_c, void* d,
                        lt::Layout of_d, const lt::Algorithm* algorithm, void*, size_t, void*) {
  for (const void* place : {a, b, c, static_cast<const void*>(d)})
    if (reinterpret_cast<uintptr_t>(place) % algorithm->data[0] != 0) return lt::Code::not_supported;
  for (const lt::Layout layout : {of_a, of_b, of_c, of_d})
    if (layout->column_stride < int64_t(layout->rows)) return lt::Code::not_supported;
  const auto number = [](const void* numbers, size_t place) { return static_cast<const float*>(numbers)[place]; };
  const size_t interior = product->transpose_a ? of_a->rows : of_a->columns;
  for (size_t matrix = 0; matrix < size_t(of_d->batch); ++matrix)
    for (size_t column = 0; column < of_d->columns; ++column)
      for (size_t row = 0; row < of_d->rows; ++row) {
        double sum = 0;
        for (size_t i = 0; i < interior; ++i)
          sum += double{number(a, product->transpose_a ? of_a->place(matrix, i, row) : of_a->place(matrix, row, i))} *
                 number(b, product->transpose_b ? of_b->place(matrix, column, i) : of_b->place(matrix, i, column));
        sum *= *static_cast<const float*>(alpha);
        const float scale = *static_cast<const float*>(beta);
        if (scale != 0) sum += double{scale} * number(c, of_c->place(matrix, row, column));
        if (product->epilogue & int(lt::Epilogue::biases)) sum += product->biases[row];
        if (product->epilogue == int(lt::Epilogue::biases_and_relu)) sum = std::max(sum, 0.0);
        static_cast<float*>(d)[of_d->place(matrix, row, column)] = float(sum);
      }
  return lt::Code::success;
}
}

// LAPACK's decompositions and BLAS's triangular solutions, as OpenBLAS has them. LAPACK wants columns where we have
// rows: for Cholesky that is the same with the other triangle, for LU the matrix is turned over and back.
#include "mps/libraries/linear_systems.hpp"

#include <cblas.h>

#include <MetalPerformanceShaders/MPSMatrixDecomposition.hpp>
#include <algorithm>
#include <vector>

#include "mps/libraries/cpu/primitives.hpp"

extern "C" {
void sgetrf_(const blasint* rows, const blasint* columns, float* matrix, const blasint* stride, blasint* pivots,
             blasint* info);
void spotrf_(const char* triangle, const blasint* order, float* matrix, const blasint* stride, blasint* info);
}

namespace metalloid::mps::cpu {
namespace {

using Kind = MatrixDecomposition::Kind;

class Decomposition final : public Primitive {
 public:
  explicit Decomposition(const MatrixDecomposition& decomposition) : decomposition_(decomposition) {}

  Status run(device::LibraryStream*, std::span<void* const> places) override {
    const MatrixDecomposition& d = decomposition_;
    for (size_t i = 0; i < d.batch; ++i) {
      const float* source = static_cast<const float*>(places[0]) + i * d.source_batch_stride;
      float* result = static_cast<float*>(places[1]) + i * d.result_batch_stride;
      const MPS::MatrixDecompositionStatus status =
          d.kind == Kind::lu
              ? decompose_lu(source, result, static_cast<uint32_t*>(places[2]) + i * d.pivots_batch_stride)
              : decompose_cholesky(source, result);
      if (places[3] && i < d.statuses) static_cast<MPS::MatrixDecompositionStatus*>(places[3])[i] = status;
    }
    return success();
  }

 private:
  MPS::MatrixDecompositionStatus decompose_lu(const float* source, float* result, uint32_t* pivots) const {
    const MatrixDecomposition& d = decomposition_;
    const auto rows = blasint(d.rows), columns = blasint(d.columns);
    std::vector<float> by_columns(d.rows * d.columns);
    for (size_t row = 0; row < d.rows; ++row)
      for (size_t column = 0; column < d.columns; ++column)
        by_columns[column * d.rows + row] = source[row * d.source_row_stride + column];
    std::vector<blasint> exchanged(std::min(d.rows, d.columns));
    blasint info = 0;
    sgetrf_(&rows, &columns, by_columns.data(), &rows, exchanged.data(), &info);
    for (size_t row = 0; row < d.rows; ++row)
      for (size_t column = 0; column < d.columns; ++column)
        result[row * d.result_row_stride + column] = by_columns[column * d.rows + row];
    for (size_t i = 0; i < exchanged.size(); ++i) pivots[i] = uint32_t(exchanged[i] - 1);
    return info == 0  ? MPS::MatrixDecompositionStatusSuccess
           : info > 0 ? MPS::MatrixDecompositionStatusSingular
                      : MPS::MatrixDecompositionStatusFailure;
  }

  MPS::MatrixDecompositionStatus decompose_cholesky(const float* source, float* result) const {
    const MatrixDecomposition& d = decomposition_;
    const bool lower = d.kind == Kind::cholesky_lower;
    if (source != result)
      for (size_t row = 0; row < d.rows; ++row) {
        const size_t first = lower ? 0 : row, end = lower ? row + 1 : d.rows;
        std::copy(source + row * d.source_row_stride + first, source + row * d.source_row_stride + end,
                  result + row * d.result_row_stride + first);
      }
    const char triangle = lower ? 'U' : 'L';
    const auto order = blasint(d.rows), stride = blasint(d.result_row_stride);
    blasint info = 0;
    spotrf_(&triangle, &order, result, &stride, &info);
    return info == 0  ? MPS::MatrixDecompositionStatusSuccess
           : info > 0 ? MPS::MatrixDecompositionStatusNonPositiveDefinite
                      : MPS::MatrixDecompositionStatusFailure;
  }

  const MatrixDecomposition decomposition_;
};

class Substitution final : public Primitive {
 public:
  explicit Substitution(const TriangularSystem& system) : system_(system) {}

  Status run(device::LibraryStream*, std::span<void* const> places) override {
    const TriangularSystem& s = system_;
    const size_t rows = s.right ? s.right_hand_sides : s.order, columns = s.right ? s.order : s.right_hand_sides;
    for (size_t i = 0; i < s.batch; ++i)
      cblas_strsm(CblasRowMajor, s.right ? CblasRight : CblasLeft, s.upper ? CblasUpper : CblasLower,
                  s.transpose ? CblasTrans : CblasNoTrans, s.unit ? CblasUnit : CblasNonUnit, blasint(rows),
                  blasint(columns), float(s.alpha), static_cast<const float*>(places[0]) + i * s.matrix_batch_stride,
                  blasint(s.matrix_row_stride), static_cast<float*>(places[1]) + i * s.solution_batch_stride,
                  blasint(s.solution_row_stride));
    return success();
  }

 private:
  const TriangularSystem system_;
};

}  // namespace

std::shared_ptr<Primitive> make_matrix_decomposition(const MatrixDecomposition& decomposition) {
  return std::make_shared<Decomposition>(decomposition);
}

std::shared_ptr<Primitive> make_triangular_system(const TriangularSystem& system) {
  return std::make_shared<Substitution>(system);
}

}  // namespace metalloid::mps::cpu

// The CPU's math library: what OpenBLAS and oneDNN have, each where it is the faster.
#include "mps/libraries/library.hpp"

#include <cblas.h>
#include <fmt/format.h>

#include <dnnl.hpp>

#include "mps/libraries/cpu/instructions.hpp"
#include "mps/libraries/cpu/primitives.hpp"

namespace metalloid::mps::cpu {
namespace {

class CpuLibrary final : public MathLibrary {
 public:
  std::string name() const override {
    const dnnl_version_t* version = dnnl_version();
    return fmt::format("{}, oneDNN {}.{}.{}", openblas_get_config(), version->major, version->minor, version->patch);
  }
  std::shared_ptr<Primitive> matrix_product(const MatrixProduct& product) const override {
    return make_matrix_product(product);
  }
  std::shared_ptr<Primitive> matrix_decomposition(const MatrixDecomposition& decomposition) const override {
    return make_matrix_decomposition(decomposition);
  }
  std::shared_ptr<Primitive> triangular_system(const TriangularSystem& system) const override {
    return make_triangular_system(system);
  }
  std::shared_ptr<Primitive> convolution(const Convolution& convolution) const override {
    return make_convolution(convolution);
  }
};

}  // namespace
}  // namespace metalloid::mps::cpu

extern "C" __attribute__((visibility("default"))) const metalloid::mps::MathLibrary* metalloid_open_math_library() {
  static const metalloid::mps::cpu::CpuLibrary library;
  metalloid::mps::cpu::limit_instructions();
  return &library;
}

#include "mps/libraries/nvidia/library.hpp"

#include <fmt/format.h>

#include "mps/libraries/nvidia/cublas_lt.hpp"
#include "mps/libraries/nvidia/cudnn.hpp"
#include "mps/libraries/nvidia/primitives.hpp"

namespace metalloid::mps::nvidia {
namespace {

class NvidiaLibrary final : public MathLibrary {
 public:
  std::string name() const override {
    const auto& products = CublasLt::shared();
    const auto& networks = Cudnn::shared();
    return fmt::format("{}{}{}", products ? products->name() : "", products && networks ? ", " : "",
                       networks ? networks->name() : "");
  }
  std::shared_ptr<Primitive> matrix_product(const MatrixProduct& product) const override {
    return make_matrix_product(product);
  }
  std::shared_ptr<Primitive> matrix_decomposition(const MatrixDecomposition&) const override { return nullptr; }
  std::shared_ptr<Primitive> triangular_system(const TriangularSystem&) const override { return nullptr; }
  std::shared_ptr<Primitive> convolution(const Convolution& convolution) const override {
    return make_convolution(convolution);
  }
};

}  // namespace

const MathLibrary* math_library() {
  static const NvidiaLibrary library;
  return CublasLt::shared() || Cudnn::shared() ? &library : nullptr;
}

std::string what_is_missing() {
  std::string problems;
  if (const auto& products = CublasLt::shared(); !products) problems = products.error();
  if (const auto& networks = Cudnn::shared(); !networks) problems += (problems.empty() ? "" : "; ") + networks.error();
  return problems;
}

}  // namespace metalloid::mps::nvidia

// C = alpha op(A) op(B) + beta C in a command buffer: by the device's math library where it has that product, by our
// own kernels otherwise. What no kernel has as it is, mixed types, is converted on the way.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "mps/core/encoding.hpp"
#include "mps/libraries/matrix_product.hpp"
#include "mps/matrix/arguments.hpp"

namespace metalloid::mps {

// The primitives that a kernel object has had made, as many as a recurrent layer needs that is trained with sequences
// of a dozen lengths. Layers ask for them in the same order each time, so that the search begins where the last ended.
// A copy makes its own.
class ProductPrimitives {
 public:
  ProductPrimitives() = default;
  ProductPrimitives(const ProductPrimitives&) {}
  ProductPrimitives& operator=(const ProductPrimitives&) { return *this; }

  // Null where the library has none.
  std::shared_ptr<Primitive> find(const MathLibrary& library, const MatrixProduct& product);

 private:
  static constexpr size_t most = 256;

  std::mutex mutex_;
  size_t last_ = 0, oldest_ = 0;
  std::vector<std::pair<MatrixProduct, std::shared_ptr<Primitive>>> made_;
};

// The product with the types and strides of these matrices, of as many as all three have.
MatrixProduct product_of(MatrixProduct product, const MatrixView& left, const MatrixView& right,
                         const MatrixView& result);

// Whether there is a product with these types, as errors say it.
Status check_product_types(MPS::DataType left, MPS::DataType right, MPS::DataType result);

// Whether integers are multiplied by whole numbers, and the result may be written while the factors are read, whose
// names errors give.
Status check_product(const MatrixProduct& product, Operand left, const char* left_name, Operand right,
                     const char* right_name, Operand result);

// The types and places are ones that these find well.
void encode_product(Encoding& encoding, ProductPrimitives& primitives, const MatrixProduct& product, Operand left,
                    Operand right, Operand result);

}  // namespace metalloid::mps

// One function for each operation: a primitive of cuBLASLt or cuDNN, or null for what neither has.
#pragma once

#include <memory>

#include "mps/libraries/convolution.hpp"
#include "mps/libraries/library.hpp"
#include "mps/libraries/matrix_product.hpp"

namespace metalloid::mps::nvidia {

struct ProductOptions {
  // What is done to a product before it is written. Biases are a fourth place, one for each column, of its type.
  enum class Epilogue { none, biases, biases_and_relu };
  Epilogue epilogue = Epilogue::none;
  bool inputs_may_be_short = false;  // floats may be read with ten bits of their fractions
};

std::shared_ptr<Primitive> make_matrix_product(const MatrixProduct& product, const ProductOptions& options = {});
std::shared_ptr<Primitive> make_convolution(const Convolution& convolution);

}  // namespace metalloid::mps::nvidia

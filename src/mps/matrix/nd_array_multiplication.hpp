// The product of matrices in arrays.
#pragma once

#include "mps/core/nd_array_kernel.hpp"
#include "mps/matrix/product.hpp"

namespace metalloid::mps {

class NDArrayMultiplicationPart : public NDArrayKernelPart {
 public:
  double alpha = 1, beta = 1;
  size_t source_count = 2;
  ProductPrimitives primitives;

  Result<NDArrayLayout> result_layout(std::span<NDArrayObject* const> sources) const override;
  Status encode(Encoding& encoding, std::span<NDArrayObject* const> sources, NDArrayObject& result) override;
};

}  // namespace metalloid::mps

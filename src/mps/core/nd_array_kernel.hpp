// What kernels on arrays have: a way to encode, and a shape for their result.
#pragma once

#include <MetalPerformanceShaders/MPSNDArrayMatrixMultiplication.hpp>
#include <span>

#include "mps/core/nd_array.hpp"

namespace metalloid::mps {

class NDArrayKernelPart : public KernelPart {
 public:
  // The errors name the argument.
  virtual Result<NDArrayLayout> result_layout(std::span<NDArrayObject* const> sources) const = 0;
  virtual Status encode(Encoding& encoding, std::span<NDArrayObject* const> sources, NDArrayObject& result) = 0;

  const char* call = "";  // as errors give it
};

}  // namespace metalloid::mps

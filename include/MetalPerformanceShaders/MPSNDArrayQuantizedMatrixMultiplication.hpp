// The product of matrices of which one or both are quantised.
#pragma once

#include "MPSNDArrayMatrixMultiplication.hpp"
#include "MPSNDArrayQuantization.hpp"

namespace MPS {

// C = alpha * A * B. The sources are A, B, then what A's quantisation needs (scale, zero point, minimum, as far as it
// has them; or the table), then what B's needs. A side without a descriptor is not quantised.
class _MPS_EXPORT NDArrayQuantizedMatrixMultiplication
    : public NS::Copying<NDArrayQuantizedMatrixMultiplication, NDArrayMatrixMultiplication> {
 public:
  static NDArrayQuantizedMatrixMultiplication* alloc();
  NDArrayQuantizedMatrixMultiplication* init(MTL::Device* device,
                                             const NDArrayQuantizationDescriptor* leftQuantizationDescriptor,
                                             const NDArrayQuantizationDescriptor* rightQuantizationDescriptor);
};

}  // namespace MPS

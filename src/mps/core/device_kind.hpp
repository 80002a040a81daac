// What kind of device kernels are shaped for.
#pragma once

#include "metal/device.hpp"

namespace metalloid::mps {

// A GPU has its SIMD-groups run side by side; on a CPU those of a threadgroup take turns.
inline bool is_gpu(const MTL::Device* device) {
  return metal::body(device)->info().architecture.starts_with("sm_");
}

}  // namespace metalloid::mps

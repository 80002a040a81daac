#include "mps/core/embedded_kernels.hpp"

extern "C" const std::byte metalloid_mps_kernels[], metalloid_mps_kernels_end[];

namespace metalloid::mps {

std::span<const std::byte> embedded_kernels() {
  return {metalloid_mps_kernels, metalloid_mps_kernels_end};
}

}  // namespace metalloid::mps

// The compiled library of src/mps/kernels, which travels inside ours.
#pragma once

#include <cstddef>
#include <span>

namespace metalloid::mps {

std::span<const std::byte> embedded_kernels();

}  // namespace metalloid::mps

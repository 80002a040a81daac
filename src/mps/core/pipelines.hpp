// The Metal kernels of this library (src/mps/kernels), compiled for a device when they are first used.
#pragma once

#include <Metal/Metal.hpp>
#include <metalloid/result.hpp>
#include <string>
#include <vector>

namespace metalloid::mps {

// A kernel by its name, and the values of its function constants 0, 1, …, all of which are uint.
struct KernelFunction {
  std::string name;
  std::vector<uint32_t> constants = {};

  auto operator<=>(const KernelFunction&) const = default;
};

// The library keeps it.
Result<MTL::ComputePipelineState*> pipeline(MTL::Device* device, const KernelFunction& function);

}  // namespace metalloid::mps

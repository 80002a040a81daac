// The kernel of softmax, which matrices and images share.
#pragma once

#include <MetalPerformanceShaders/MPSCoreTypes.hpp>

#include "mps/core/pipelines.hpp"

namespace metalloid::mps {

KernelFunction soft_max_function(MTL::Device* device, bool logarithm, MPS::DataType type);

}  // namespace metalloid::mps

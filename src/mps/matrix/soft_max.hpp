// The kernel of softmax, which matrices and images share, for rows of so many columns and threads_for_row() of them.
#pragma once

#include <MetalPerformanceShaders/MPSCoreTypes.hpp>

#include "mps/core/pipelines.hpp"

namespace metalloid::mps {

KernelFunction soft_max_function(MTL::Device* device, bool logarithm, MPS::DataType type, size_t columns);

}  // namespace metalloid::mps

// The kernel of softmax, which matrices and images share, for rows of so many columns and threads_for_row() of them.
#pragma once

#include "mps/core/pipelines.hpp"
#include "mps/matrix/arguments.hpp"

namespace metalloid::mps {

KernelFunction soft_max_function(MTL::Device* device, bool logarithm, const MatrixView& source,
                                 const MatrixView& result, size_t columns);

}  // namespace metalloid::mps

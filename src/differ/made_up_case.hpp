// A case for a kernel that nobody wrote one for: arguments are made up from what its library says about its parameters.
// Whole numbers are small and never 0, because most of them are sizes and strides, and buffers are large: so that many
// kernels stay within their buffers. Which ones do, shader validation says.
#pragma once

#include <metalloid/library.hpp>
#include <metalloid/result.hpp>

#include "differ/kernel_case.hpp"

namespace metalloid::differ {

// Values of the function constants that a kernel uses: truths are all true for seed 0, false for 1, random for others.
Result<std::vector<device::ConstantValue>> made_up_constants(const Library& library, const std::string& kernel,
                                                             uint64_t seed);

// Constants, arguments and a grid, by the seed. An error says what the kernel takes that cannot be made up.
Result<KernelCase> made_up_case(const Library& library, const Function& kernel, uint64_t seed);

}  // namespace metalloid::differ

// cuBLASLt and cuDNN behind the interface of src/mps/libraries. Both are opened when they are first asked for; what
// either is missing for is done by our kernels.
#pragma once

#include <string>

#include "mps/libraries/library.hpp"

namespace metalloid::mps::nvidia {

// Null if neither can be opened.
const MathLibrary* math_library();

// Why one of them cannot be opened, for people to read; empty if both are there.
std::string what_is_missing();

}  // namespace metalloid::mps::nvidia

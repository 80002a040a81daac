// The functions of a library that a description is about.
#pragma once

#include "library/describe.hpp"

namespace metalloid {

// All, or the one that the options name.
Result<std::vector<std::string_view>> chosen_functions(const Library& library, const DescribeOptions& options);

}  // namespace metalloid

// metalloid fuzz: what looks for differences between engines.
#pragma once

#include "program.hpp"

namespace metalloid::tool {

void add_fuzz_library(CLI::App& fuzz);

}  // namespace metalloid::tool

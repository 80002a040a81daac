// A library as the bytes of its file; see format.hpp for the layout.
#pragma once

#include <metalloid/library.hpp>

namespace metalloid {

Result<std::vector<uint8_t>> write_library(const Library& library);

}  // namespace metalloid

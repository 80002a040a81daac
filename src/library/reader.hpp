// A library out of the bytes of its file; see format.hpp for the layout.
#pragma once

#include <metalloid/library.hpp>

#include "library/file.hpp"

namespace metalloid {

// `name` is what errors call the file.
Result<std::shared_ptr<Library>> read_library(SharedBytes file, const std::string& name);

}  // namespace metalloid

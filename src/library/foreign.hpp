// What a file is that was given as a library and is none.
#pragma once

#include <string>

#include "library/bytes.hpp"

namespace metalloid {

// The end of a sentence that begins with the file's name: what it looks like, and what to do.
std::string explain_foreign(Bytes content);

}  // namespace metalloid

// Work on all cores, as ranges of numbers that they divide among themselves.
#pragma once

#include <cstddef>

namespace metalloid::transformer {

// Calls `body` with ranges that together are 0 to `count` - 1, and returns when all calls have.
void run_ranges(size_t count, void (*body)(void*, size_t, size_t), void* argument);

}  // namespace metalloid::transformer

// A file of its own for the reason that src/cpu/ranges.cpp is one: the thread sanitizer must not look at oneTBB's
// templates (CMakeLists.txt).
#include "transformer/cpu_ranges.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

namespace metalloid::transformer {

void run_ranges(size_t count, void (*body)(void*, size_t, size_t), void* argument) {
  oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<size_t>(0, count),
                            [=](const auto& range) { body(argument, range.begin(), range.end()); });
}

}  // namespace metalloid::transformer

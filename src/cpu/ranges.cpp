// A file of its own because oneTBB's templates are part of oneTBB: the thread sanitizer, which does not see how the
// library synchronises its threads, must not look at them either (CMakeLists.txt). So there is no need to suppress
// reports that name them, which would be all reports of what a body does.
#include "cpu/ranges.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

namespace metalloid::cpu {

void run_ranges(ThreadPool& pool, uint64_t first, uint64_t last, void (*body)(void*, uint64_t, uint64_t),
                void* argument) {
  pool.execute([&] {
    // Isolated: while a queue waits for its last ranges, it does not begin with another queue's.
    oneapi::tbb::this_task_arena::isolate([&] {
      oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<uint64_t>(first, last),
                                [=](const auto& range) { body(argument, range.begin(), range.end()); });
    });
  });
}

}  // namespace metalloid::cpu

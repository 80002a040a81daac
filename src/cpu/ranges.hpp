// Work on all threads of the pool, as ranges of numbers that they divide among themselves.
#pragma once

#include <cstdint>

#include "cpu/thread_pool.hpp"

namespace metalloid::cpu {

// Which ranges come first: the lower ones, because the others may wait for them, or those that the last call of this
// thread left in the caches: it went up, so this one goes down, and the next up again. Calls that are too short to fill
// caches do not count.
enum class Order { upwards, to_and_fro };

// Calls `body` with ranges that together are `first` to `last` - 1, and returns when all calls have. In a range it goes
// up. So the first of each thread have `few` numbers, as many as surely are in its caches, and then twice as many each
// time.
void run_ranges(ThreadPool& pool, uint64_t first, uint64_t last, Order order, uint64_t few,
                void (*body)(void*, uint64_t, uint64_t), void* argument);

// Whether all who helped this thread last look out for its next work, as they do for a while.
bool has_helpers(const ThreadPool& pool);

}  // namespace metalloid::cpu

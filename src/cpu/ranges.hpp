// Work on all threads of the pool, as ranges of numbers that they divide among themselves.
#pragma once

#include <oneapi/tbb/task_arena.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace metalloid::cpu {

// The threads of the device, shared by its queues.
class ThreadPool {
 public:
  explicit ThreadPool(int threads) : arena(threads) {}

  // With the thread that calls run_ranges.
  uint64_t threads() const { return static_cast<uint64_t>(arena.max_concurrency()); }

  oneapi::tbb::task_arena arena;
  // Threads that somebody wants and that have not come yet. Some come when the pool is gone.
  const std::shared_ptr<std::atomic<uint64_t>> wanted = std::make_shared<std::atomic<uint64_t>>(0);
};

// Calls `body` with ranges that together are `first` to `last` - 1, and returns when all calls have.
void run_ranges(ThreadPool& pool, uint64_t first, uint64_t last, void (*body)(void*, uint64_t, uint64_t),
                void* argument);

}  // namespace metalloid::cpu

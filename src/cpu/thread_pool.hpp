// The threads of the device, shared by its queues.
#pragma once

#include <oneapi/tbb/task_arena.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace metalloid::cpu {

class ThreadPool {
 public:
  explicit ThreadPool(int threads) : arena_(threads) {}

  // With the thread that calls run_ranges.
  uint64_t threads() const { return static_cast<uint64_t>(arena_.max_concurrency()); }

  // Calls `task` on one of the threads, when one is free.
  void start(void (*task)(void* argument), void* argument);

  // Threads that somebody wants and that have not come yet. Some come when the pool is gone.
  const std::shared_ptr<std::atomic<uint64_t>> wanted = std::make_shared<std::atomic<uint64_t>>(0);

 private:
  oneapi::tbb::task_arena arena_;
};

}  // namespace metalloid::cpu

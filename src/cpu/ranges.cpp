// A file of its own because oneTBB's templates are part of oneTBB: the thread sanitizer, which does not see how the
// library synchronises its threads, must not look at them either (CMakeLists.txt). So there is no need to suppress
// reports that name them, which would be all reports of what a body does.
#include "cpu/ranges.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <mutex>
#include <vector>

namespace metalloid::cpu {

namespace {

// Each thread has the same share of the numbers in every dispatch, so that it finds in its caches what the last one
// left there. It takes ever smaller parts of it, and then of others' shares.
class Share {
 public:
  void reset(uint64_t first, uint64_t last) {
    next_ = first;
    end_ = last;
  }

  struct Range {
    uint64_t first, last;
    bool is_empty() const { return first == last; }
  };

  Range take_first() {
    const std::lock_guard lock(mutex_);
    const uint64_t first = next_;
    next_ += part();
    return {first, next_};
  }

  Range take_last() {
    const std::lock_guard lock(mutex_);
    const uint64_t last = end_;
    end_ -= part();
    return {end_, last};
  }

 private:
  uint64_t part() const { return (end_ - next_ + 1) / 2; }

  std::mutex mutex_;
  uint64_t next_ = 0, end_ = 0;
};

}  // namespace

void run_ranges(ThreadPool& pool, uint64_t first, uint64_t last, void (*body)(void*, uint64_t, uint64_t),
                void* argument) {
  const uint64_t count = last - first;
  const auto threads = std::min<uint64_t>(static_cast<uint64_t>(pool.max_concurrency()), count);
  static thread_local std::vector<Share> kept;
  if (kept.size() < threads) kept = std::vector<Share>(threads);
  std::vector<Share>& shares = kept;
  const auto start = [&](uint64_t thread) {
    return first + count / threads * thread + std::min(thread, count % threads);
  };
  for (uint64_t i = 0; i < threads; ++i) shares[i].reset(start(i), start(i + 1));
  const auto work = [&](uint64_t thread) {
    for (Share::Range range; !(range = shares[thread].take_first()).is_empty();)
      body(argument, range.first, range.last);
    for (uint64_t other = 1; other < threads; ++other)
      for (Share::Range range; !(range = shares[(thread + other) % threads].take_last()).is_empty();)
        body(argument, range.first, range.last);
  };
  pool.execute([&] {
    // Isolated: while a queue waits for its last ranges, it does not begin with another queue's.
    oneapi::tbb::this_task_arena::isolate([&] {
      oneapi::tbb::parallel_for(
          oneapi::tbb::blocked_range<uint64_t>(0, threads),
          [&](const auto& range) {
            for (uint64_t thread = range.begin(); thread < range.end(); ++thread) work(thread);
          },
          oneapi::tbb::static_partitioner());
    });
  });
}

}  // namespace metalloid::cpu

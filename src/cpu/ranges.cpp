#include "cpu/ranges.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "cpu/clock.hpp"
#include "cpu/sanitizers.hpp"
#include "device/look_again.hpp"

namespace metalloid::cpu {

namespace {

// What different threads write lies so far apart that they do not take it out of each other's caches (some processors
// fetch lines in pairs).
constexpr size_t apart = 128;

// Each thread has the same share of the numbers in every dispatch, so that it finds in its caches what the last one
// left there. It takes ever smaller parts of it, and then of others' shares, from the other end. What it has taken
// nobody can do for it, should it be slow: so it takes an eighth at most of what is left.
class alignas(apart) Share {
 public:
  void reset(uint64_t first, uint64_t last) {
    next_ = first;
    end_ = last;
  }

  struct Range {
    uint64_t first, last;
    bool is_empty() const { return first == last; }
  };
  enum class End { lower, upper };

  Range take(End from, uint64_t most) { return take(from, most, 8); }
  Range take_others(End from) { return take(from, UINT64_MAX, 2); }

 private:
  Range take(End from, uint64_t most, uint64_t divisor) {
    if (is_empty()) return {};
    const std::lock_guard lock(mutex_);
    const uint64_t part = std::min(most, (end_ - next_ + divisor - 1) / divisor), first = next_, last = end_;
    if (from == End::lower) return {first, next_ = first + part};
    return {end_ = last - part, last};
  }

  // It stays so: who only looks leaves the others what they have in their caches.
  bool is_empty() const { return next_ == end_; }

  std::mutex mutex_;
  std::atomic<uint64_t> next_ = 0, end_ = 0;
};

constexpr uint64_t lookout = 50'000;  // nanoseconds that a helper stays without work
constexpr uint64_t time_that_fills_caches = 50'000;

// Who works for one thread: itself, and helpers, which are tasks in the pool. A helper stays behind its work and looks
// for the next, which begins a microsecond sooner than if a new task had to find a thread. Nobody waits for a helper
// that has not begun; the others do its share.
class Crew : public std::enable_shared_from_this<Crew> {
 public:
  explicit Crew(const ThreadPool& pool)
      : wanted_in_pool_(pool.wanted), shares_(pool.threads()), is_helped_(pool.threads()) {}

  bool is_of(const ThreadPool& pool) const { return wanted_in_pool_ == pool.wanted; }
  bool has_helpers() const {
    return std::all_of(is_helped_.begin() + 1, is_helped_.end(), [](const auto& helped) { return helped.load(); });
  }

  void run(ThreadPool& pool, uint64_t first, uint64_t last, Order order, uint64_t few,
           void (*body)(void*, uint64_t, uint64_t), void* argument) {
    const uint64_t count = last - first, threads = std::min<uint64_t>(shares_.size(), count);
    const auto start = [&](uint64_t thread) {
      return first + count / threads * thread + std::min(thread, count % threads);
    };
    threads_ = threads;
    few_ = few;
    goes_up_ = order == Order::upwards || !went_up_;
    const uint64_t start_time = now();
    for (uint64_t i = 0; i < threads; ++i) shares_[i].reset(start(i), start(i + 1));
    body_ = body;
    argument_ = argument;
    is_open_ = true;
    ++turn_;
    for (uint64_t i = 1; i < threads; ++i)
      if (!is_helped_[i].exchange(true)) ask_for_helper(pool, i);
    work(0);
    // Either a helper sees that it is too late, or it is seen to work.
    is_open_ = false;
    for (uint64_t looks = 1; working_ != 0; ++looks) device::look_again(looks);
    if (now() - start_time > time_that_fills_caches) went_up_ = goes_up_;
  }

 private:
  struct Request {
    std::shared_ptr<Crew> crew;
    uint64_t thread = 0;
  };

  void ask_for_helper(ThreadPool& pool, uint64_t thread) {
    ++wanted_;
    ++*wanted_in_pool_;
    auto* request = new Request{shared_from_this(), thread};
    hand_over(request);
    lend(request);
    pool.start(
        [](void* argument) {
          take_over(argument);
          const std::unique_ptr<Request> request(static_cast<Request*>(argument));
          --*request->crew->wanted_in_pool_;
          --request->crew->wanted_;
          request->crew->help(request->thread);
        },
        request);
  }

  void help(uint64_t thread) {
    uint64_t seen = 0;
    do {
      while (waits_for_turn_after(seen)) {
        seen = turn_;
        ++working_;
        if (is_open_ && thread < threads_) work(thread);
        --working_;
      }
      is_helped_[thread] = false;
      // Who began a turn meanwhile may have counted on this helper.
    } while (turn_ != seen && !is_helped_[thread].exchange(true));
  }

  // Not where it is in the way of what others wait for.
  bool waits_for_turn_after(uint64_t seen) const {
    const uint64_t until = now() + lookout;
    for (uint64_t looks = 1; turn_ == seen; ++looks) {
      if (*wanted_in_pool_ > wanted_ || now() > until) return false;
      device::look_again(looks);
    }
    return true;
  }

  void work(uint64_t thread) {
    const auto [own, others] =
        goes_up_ ? std::pair(Share::End::lower, Share::End::upper) : std::pair(Share::End::upper, Share::End::lower);
    uint64_t most = few_;
    for (Share::Range range; !(range = shares_[thread].take(own, most)).is_empty();) {
      body_(argument_, range.first, range.last);
      most += std::min(most, UINT64_MAX - most);
    }
    for (uint64_t other = 1; other < threads_; ++other)
      for (Share::Range range; !(range = shares_[(thread + other) % threads_].take_others(others)).is_empty();)
        body_(argument_, range.first, range.last);
  }

  const std::shared_ptr<std::atomic<uint64_t>> wanted_in_pool_;
  std::atomic<uint64_t> wanted_ = 0;  // of these
  std::vector<Share> shares_;
  std::vector<std::atomic<bool>> is_helped_;  // or will be

  // Helpers read these only while the turn is open, or while they work in it.
  alignas(apart) uint64_t threads_ = 0, few_ = 0;
  bool goes_up_ = false, went_up_ = false;
  void (*body_)(void*, uint64_t, uint64_t) = nullptr;
  void* argument_ = nullptr;
  std::atomic<bool> is_open_ = false;
  std::atomic<uint64_t> turn_ = 0;

  alignas(apart) std::atomic<uint64_t> working_ = 0;
};

thread_local std::shared_ptr<Crew> crew_of_thread;

}  // namespace

bool has_helpers(const ThreadPool& pool) {
  return crew_of_thread && crew_of_thread->is_of(pool) && crew_of_thread->has_helpers();
}

void run_ranges(ThreadPool& pool, uint64_t first, uint64_t last, Order order, uint64_t few,
                void (*body)(void*, uint64_t, uint64_t), void* argument) {
  std::shared_ptr<Crew>& crew = crew_of_thread;
  if (!crew || !crew->is_of(pool)) crew = std::make_shared<Crew>(pool);
  crew->run(pool, first, last, order, few, body, argument);
}

}  // namespace metalloid::cpu

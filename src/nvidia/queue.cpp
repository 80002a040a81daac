#include "nvidia/queue.hpp"

#include "device/look_again.hpp"
#include "nvidia/clock.hpp"
#include "nvidia/command_runner.hpp"
#include "nvidia/patience.hpp"

namespace metalloid::nvidia {

namespace {

constexpr uint64_t lookout = 50'000;  // nanoseconds before the thread sleeps

}  // namespace

Queue::~Queue() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    arrived_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void Queue::submit(std::unique_ptr<device::Submission> submission) {
  std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(submission));
  waiting_count_.fetch_add(1, std::memory_order_release);
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  if (asleep_) arrived_.notify_one();
}

void Queue::work() {
  CommandRunner runner(gpu_);
  while (auto submission = wait_for_next()) {
    runner.run(std::move(submission));
    for (Patience patience; !runner.is_idle();) {
      if (auto next = take()) {
        runner.run(std::move(next));
        patience = Patience();
      } else if (runner.advance()) {
        patience = Patience();
      } else if (patience.pause()) {
        runner.look_for_faults();
      }
    }
  }
}

std::unique_ptr<device::Submission> Queue::take() {
  if (waiting_count_.load(std::memory_order_acquire) == 0) return nullptr;
  std::lock_guard lock(mutex_);
  auto submission = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_count_.fetch_sub(1, std::memory_order_relaxed);
  return submission;
}

std::unique_ptr<device::Submission> Queue::wait_for_next() {
  const uint64_t until = now() + lookout;
  for (uint64_t turn = 1; waiting_count_.load(std::memory_order_acquire) == 0 && now() < until; ++turn)
    device::look_again(turn);
  {
    std::unique_lock lock(mutex_);
    asleep_ = true;
    arrived_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    asleep_ = false;
  }
  return take();
}

}  // namespace metalloid::nvidia

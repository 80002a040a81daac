#include "cpu/queue.hpp"

#include "cpu/clock.hpp"
#include "cpu/command_runner.hpp"

namespace metalloid::cpu {

Queue::Queue(std::shared_ptr<ThreadPool> pool) : pool_(std::move(pool)) {}

Queue::~Queue() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    waiting_count_.fetch_add(1);
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
  CommandRunner runner(*pool_);
  while (auto submission = next()) runner.run(*submission);
}

// Null when the queue is closed and all is done.
std::unique_ptr<device::Submission> Queue::next() {
  for (const uint64_t until = now() + lookout; waiting_count_.load(std::memory_order_acquire) == 0 && now() < until;)
    std::this_thread::yield();  // whoever waits for the last submission may need this core
  std::unique_lock lock(mutex_);
  asleep_ = true;
  arrived_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
  asleep_ = false;
  if (waiting_.empty()) return nullptr;
  auto submission = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_count_.fetch_sub(1, std::memory_order_relaxed);
  return submission;
}

}  // namespace metalloid::cpu

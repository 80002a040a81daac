#include "cpu/queue.hpp"

#include "cpu/clock.hpp"
#include "cpu/faults.hpp"

namespace metalloid::cpu {

namespace {

// Nanoseconds in which a program that waits for what it commits has come to that.
constexpr uint64_t courtesy = 1'000;

}  // namespace

Queue::Queue(std::shared_ptr<ThreadPool> pool) : pool_(std::move(pool)), runner_(*pool_) {}

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
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  note_what_is_due();
}

// What a thread of the program can do at once the queue's thread would begin later, and with one more thread on the
// same processors.
void Queue::lend_thread(const std::function<bool()>& is_reached) {
  while (!is_reached()) {
    std::unique_lock lock(mutex_);
    if (due_ != Due::for_any_thread) return;
    const BorrowedThread borrowed;
    run_next(std::move(lock));
  }
}

void Queue::work() {
  while (wait_for_work()) {
    std::unique_lock lock(mutex_);
    if (due_ != Due::nothing) run_next(std::move(lock));
  }
}

// It yields, because whoever waits for a submission may need this core.
bool Queue::wait_for_work() {
  for (const uint64_t until = now() + lookout; due_ == Due::nothing && !is_running_ && now() < until;)
    std::this_thread::yield();
  {
    std::unique_lock lock(mutex_);
    asleep_ = true;
    arrived_.wait(lock, [&] { return due_ != Due::nothing || (closed_ && waiting_.empty()); });
    asleep_ = false;
    if (due_ == Due::nothing) return false;
  }
  for (const uint64_t until = now() + courtesy; due_ == Due::for_any_thread && now() < until;)
    std::this_thread::yield();
  return true;
}

void Queue::run_next(std::unique_lock<std::mutex> lock) {
  const auto submission = std::move(waiting_.front());
  waiting_.pop_front();
  is_running_ = true;
  note_what_is_due();
  lock.unlock();
  runner_.run(*submission);
  lock.lock();
  is_running_ = false;
  note_what_is_due();
}

void Queue::note_what_is_due() {
  due_ = is_running_ || waiting_.empty()      ? Due::nothing
         : waiting_.front()->calls_program ? Due::for_own_thread
                                           : Due::for_any_thread;
  if (due_ != Due::nothing && asleep_) arrived_.notify_one();
}

}  // namespace metalloid::cpu

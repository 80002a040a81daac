#include "cpu/queue.hpp"

#include <chrono>

#include "cpu/clock.hpp"
#include "cpu/faults.hpp"
#include "cpu/stack_room.hpp"

namespace metalloid::cpu {

namespace {

// Nanoseconds that the queue's thread leaves a submission to somebody who waits for it, and if that is the habit.
constexpr uint64_t least_courtesy = 1'000, courtesy_by_habit = 20'000;

// How long the queue's thread sleeps at most where nobody wakes it.
constexpr std::chrono::milliseconds nap(4);

}  // namespace

Queue::Queue(std::shared_ptr<ThreadPool> pool) : pool_(std::move(pool)), runner_(*pool_) {}

Queue::~Queue() {
  {
    std::lock_guard lock(mutex_);
    is_closed_ = true;
    arrived_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

// A thread that is woken in vain takes some microseconds of a processor that others work on. So it is not where the
// program always waits; should it not wait this time, the queue's thread comes a little later.
void Queue::submit(std::unique_ptr<device::Submission> submission) {
  std::lock_guard lock(mutex_);
  if (was_not_woken_) habit_.did_not_wait(true);
  waiting_.push_back(std::move(submission));
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  note_what_is_due();
  was_not_woken_ = due_ == Due::for_any_thread && waiting_.size() == 1 && wakes_soon_ && habit_.is_to_wait();
  if (!was_not_woken_) wake();
}

// What a thread of the program can do at once the queue's thread would begin later, and with one more thread on the
// same processors.
void Queue::lend_thread(const std::function<bool()>& is_reached) {
  if (!has_room_on_stack()) return;
  while (!is_reached()) {
    std::unique_lock lock(mutex_);
    if (due_ != Due::for_any_thread) return;
    habit_.waited();
    const BorrowedThread borrowed;
    run_next(std::move(lock));
  }
}

void Queue::work() {
  for (;;) {
    wait_for_work();
    std::unique_lock lock(mutex_);
    if (due_ != Due::nothing) {
      habit_.did_not_wait(was_not_woken_);
      run_next(std::move(lock));
    } else if (is_closed_ && waiting_.empty()) {
      return;
    }
  }
}

// It yields, because whoever waits for a submission may need this core.
void Queue::wait_for_work() {
  for (const uint64_t until = now() + lookout; due_ == Due::nothing && !is_running_ && now() < until;)
    std::this_thread::yield();
  std::unique_lock lock(mutex_);
  sleep(lock);
  const uint64_t courtesy = habit_.is_to_wait() && !was_not_woken_ ? courtesy_by_habit : least_courtesy;
  lock.unlock();
  for (const uint64_t until = now() + courtesy; due_ == Due::for_any_thread && now() < until;)
    std::this_thread::yield();
}

void Queue::sleep(std::unique_lock<std::mutex>& lock) {
  const auto has_reason_to_wake = [&] { return due_ != Due::nothing || is_closed_; };
  is_asleep_ = true;
  if (habit_.is_to_wait()) {
    wakes_soon_ = true;
    arrived_.wait_for(lock, nap, has_reason_to_wake);
    wakes_soon_ = false;
  }
  if (!has_reason_to_wake()) arrived_.wait(lock);  // somebody may be faster than who is woken
  is_asleep_ = false;
}

void Queue::run_next(std::unique_lock<std::mutex> lock) {
  const auto submission = std::move(waiting_.front());
  waiting_.pop_front();
  is_running_ = true;
  was_not_woken_ = false;
  note_what_is_due();
  lock.unlock();
  runner_.run(*submission);
  lock.lock();
  is_running_ = false;
  note_what_is_due();
  wake();
}

void Queue::note_what_is_due() {
  due_ = is_running_ || waiting_.empty()   ? Due::nothing
         : waiting_.front()->calls_program ? Due::for_own_thread
                                           : Due::for_any_thread;
}

void Queue::wake() {
  if (due_ != Due::nothing && is_asleep_) arrived_.notify_one();
}

}  // namespace metalloid::cpu

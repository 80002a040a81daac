// A queue of the CPU device: carries out submissions in order, on a thread of its own or on one of the program's that
// waits for them. After the last one its thread looks out for the next for some microseconds before it sleeps, because
// waking up takes longer than a small kernel does.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "cpu/command_runner.hpp"
#include "device/device.hpp"

namespace metalloid::cpu {

class Queue final : public device::Queue {
 public:
  explicit Queue(std::shared_ptr<ThreadPool> pool);
  ~Queue() override;
  void submit(std::unique_ptr<device::Submission> submission) override;
  void lend_thread(const std::function<bool()>& is_reached) override;

 private:
  // What there is to do for somebody who does nothing yet.
  enum class Due { nothing, for_own_thread, for_any_thread };

  // Whether the program is going to wait for what it submits: if it has for many in a row, and ever more of them each
  // time that it does not.
  class Habit {
   public:
    bool is_to_wait() const { return in_a_row_ >= needed_; }
    void waited() { ++in_a_row_; }
    void did_not_wait(bool was_expected_to) {
      in_a_row_ = 0;
      if (was_expected_to) needed_ *= 2;
    }

   private:
    uint64_t in_a_row_ = 0, needed_ = 8;
  };

  void work();
  void wait_for_work();
  void sleep(std::unique_lock<std::mutex>& lock);
  void run_next(std::unique_lock<std::mutex> lock);
  void note_what_is_due();
  void wake();

  std::shared_ptr<ThreadPool> pool_;
  CommandRunner runner_;  // of the one who is running
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::unique_ptr<device::Submission>> waiting_;
  std::atomic<Due> due_ = Due::nothing;
  std::atomic<bool> is_running_ = false;
  bool is_asleep_ = false, wakes_soon_ = false, was_not_woken_ = false, is_closed_ = false;
  Habit habit_;
  std::thread thread_;
};

}  // namespace metalloid::cpu

// A queue of the NVIDIA device: a thread that puts submissions on a stream and sees to them until they are done. To
// hand something to another thread and back takes longer than a small kernel. Short submissions to a queue that has
// nothing else to do are therefore put on the stream by the thread that submits them, and seen to by the one that
// waits.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "device/device.hpp"
#include "nvidia/command_runner.hpp"
#include "nvidia/context.hpp"

namespace metalloid::nvidia {

class Queue final : public device::Queue {
 public:
  explicit Queue(std::shared_ptr<Gpu> gpu) : runner_(std::move(gpu)) {}
  ~Queue() override;
  void submit(std::unique_ptr<device::Submission> submission) override;
  void look_out(const std::function<bool()>& is_reached) override;

 private:
  class Turn;

  bool run_here(std::unique_ptr<device::Submission>& submission);  // false if that is the queue's thread's to do
  void work();
  bool do_what_is_due();  // true if anything was
  void look_for_faults();
  std::unique_ptr<device::Submission> take();  // null if none waits
  bool wait_for_work();                        // false when the queue is closed and all is done
  bool has_work() const { return waiting_count_.load(std::memory_order_acquire) != 0 || is_under_way_; }

  std::atomic<bool> is_taken_ = false;  // the runner, by a thread that has the turn
  CommandRunner runner_;
  std::atomic<bool> is_under_way_ = false;         // the runner is not idle
  std::atomic<bool> is_for_any_thread_ = false;    // what is under way is a single submission that any thread may end
  std::atomic<uint32_t> threads_looking_out_ = 0;  // who would end it

  std::mutex mutex_;  // guards what is below
  std::condition_variable arrived_;
  std::deque<std::unique_ptr<device::Submission>> waiting_;
  std::atomic<uint64_t> waiting_count_ = 0;
  bool asleep_ = false, closed_ = false;
  std::thread thread_;
};

}  // namespace metalloid::nvidia

// A queue of the CPU device: a thread that carries out submissions in order. After the last one it looks out for the
// next for some microseconds before it sleeps, because waking up takes longer than a small kernel does.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "cpu/grid.hpp"
#include "device/device.hpp"

namespace metalloid::cpu {

class Queue final : public device::Queue {
 public:
  explicit Queue(std::shared_ptr<ThreadPool> pool);
  ~Queue() override;
  void submit(std::unique_ptr<device::Submission> submission) override;

 private:
  void work();
  std::unique_ptr<device::Submission> next();

  std::shared_ptr<ThreadPool> pool_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::unique_ptr<device::Submission>> waiting_;
  std::atomic<uint64_t> waiting_count_ = 0;
  bool asleep_ = false, closed_ = false;
  std::thread thread_;
};

}  // namespace metalloid::cpu

// A queue of the NVIDIA device: a thread that puts submissions on a stream and sees to them until they are done.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "device/device.hpp"
#include "nvidia/context.hpp"

namespace metalloid::nvidia {

class Queue final : public device::Queue {
 public:
  explicit Queue(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  ~Queue() override;
  void submit(std::unique_ptr<device::Submission> submission) override;

 private:
  void work();
  std::unique_ptr<device::Submission> take();           // null if none waits
  std::unique_ptr<device::Submission> wait_for_next();  // null when the queue is closed and all is done

  const std::shared_ptr<Gpu> gpu_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::unique_ptr<device::Submission>> waiting_;
  std::atomic<uint64_t> waiting_count_ = 0;
  bool asleep_ = false, closed_ = false;
  std::thread thread_;
};

}  // namespace metalloid::nvidia

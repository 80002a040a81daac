// The commands of a queue on their way to the GPU, and how the host learns how far they have come. Marks are numbers
// that the GPU writes to a word of pinned memory in passing: reading it is the fastest way to see that work is done. A
// stream lives in one context; when that is rebuilt, it is made anew.
#pragma once

#include <atomic>
#include <memory>
#include <metalloid/result.hpp>
#include <mutex>
#include <vector>

#include "device/commands.hpp"
#include "nvidia/context.hpp"

namespace metalloid::nvidia {

class Stream {
 public:
  static Result<std::shared_ptr<Stream>> make(std::shared_ptr<Gpu> gpu);
  ~Stream();

  cuda::Stream handle() const { return handle_; }
  device::LibraryStream& for_libraries() { return for_libraries_; }
  uint32_t generation() const { return generation_; }

  bool is_idle() const { return passed() == placed_; }
  uint64_t last_mark() const { return placed_; }
  cuda::Code place_mark(const Gpu::Use& use);  // behind all that was put on the stream so far
  uint64_t passed() const;                     // the last mark that was

  // Events note when the GPU came by; null if the driver has none left. They are given back to be used again, on any
  // thread.
  cuda::Event record_event(const Gpu::Use& use);
  void give_back(cuda::Event event);

  // An event that the GPU passed at a known time of the device's clock: the time of others is reckoned from it. Later
  // ones than the next anchor have that one.
  struct Anchor {
    cuda::Event event = nullptr;
    std::atomic<uint64_t> time = 0;
  };
  std::shared_ptr<Anchor> anchor() const { return anchor_; }

  // When an event was passed, in nanoseconds of the device's clock: at `latest`, or before. It has been, or is the next
  // thing to be. On any thread.
  static uint64_t time_of(const Gpu::Use& use, Anchor& anchor, cuda::Event event, uint64_t latest);

  // Compares the GPU's clock with the host's, if that is some time ago. Nothing is under way.
  cuda::Code compare_clocks(const Gpu::Use& use);

 private:
  Stream(std::shared_ptr<Gpu> gpu, std::unique_ptr<device::Memory> word)
      : gpu_(std::move(gpu)), word_(std::move(word)) {}

  const std::shared_ptr<Gpu> gpu_;
  const std::unique_ptr<device::Memory> word_;
  cuda::Stream handle_ = nullptr;
  device::LibraryStream for_libraries_;
  uint32_t generation_ = 0;
  uint64_t placed_ = 0;
  std::shared_ptr<Anchor> anchor_;
  std::mutex mutex_;
  std::vector<cuda::Event> events_;  // that are free; guarded by it
};

}  // namespace metalloid::nvidia

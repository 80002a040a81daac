// A GPU and the context that everything of ours on it lives in. The context is our own, so that nothing is shared with
// other users of CUDA in the process.
//
// A kernel that faults leaves a context useless. It is then destroyed and made anew, and a generation counter says so:
// whoever holds something that lived in the old one (a stream, a module, memory) compares generations before use. Where
// no other can be made, the device is lost: nothing can be used any more, and errors say so.
#pragma once

#include <atomic>
#include <memory>
#include <metalloid/result.hpp>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>

#include "device/size.hpp"
#include "nvidia/compile.hpp"
#include "nvidia/driver.hpp"
#include "nvidia/host_pages.hpp"
#include "nvidia/memory_map.hpp"
#include "nvidia/signals.hpp"

namespace metalloid::nvidia {

struct Properties {
  std::string name;
  Architecture architecture;
  uint64_t memory = 0;  // bytes
  uint32_t multiprocessors = 0;
  uint32_t max_threads_per_threadgroup = 1024;
  uint32_t max_threadgroup_depth = 64;
  uint32_t max_threadgroup_memory = 48 << 10;  // static and dynamic
  device::Size max_threadgroups;               // in each direction
  uint32_t pci_bus = 0;
  bool has_managed_memory = false;  // that host and GPU may touch at the same time
};

class Gpu {
 public:
  // An error if the GPU lacks something that the device is built on.
  static Result<std::shared_ptr<Gpu>> open(const Driver& driver, int ordinal);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  // While it lives, the context is the calling thread's and is not rebuilt. A thread has one at a time.
  class Use {
   public:
    Use(Use&& other) noexcept : gpu_(std::exchange(other.gpu_, nullptr)), lock_(std::move(other.lock_)) {}
    Use& operator=(Use&&) = delete;
    ~Use();

    const Driver& driver() const { return gpu_->driver; }
    uint32_t generation() const { return gpu_->generation_; }

   private:
    friend class Gpu;
    Use(Gpu& gpu, std::shared_lock<std::shared_mutex> lock);

    Gpu* gpu_;
    std::shared_lock<std::shared_mutex> lock_;
  };

  // An error if the device is lost.
  Result<Use> use();

  // The context of that generation is broken: makes another, if nobody else has.
  void rebuild(uint32_t generation, cuda::Code cause);

  // A kernel of that generation does not end. Nothing but the end of the process ends it, and much of what the driver
  // could be asked for would wait for it.
  void abandon(uint32_t generation);

  bool is_lost();
  bool is_abandoned() const { return is_abandoned_; }

  // What the context before the present one broke by.
  cuda::Code last_cause() const { return last_cause_; }

  // Bytes that can be allocated now.
  uint64_t free_memory(const Use& use) const;

  const Driver& driver;
  const cuda::Device device;
  const Properties properties;
  HostPages host_pages;
  MemoryMap memories;
  Signals signals;
  std::atomic<uint64_t> managed_bytes = 0;  // allocated, whether they are on the GPU or not

  // Graphs of launches refer to functions of modules. A driver that is asked to put another function in the place of
  // one that is gone may take both for the same, and run what is no code any more; so those who change graphs hold the
  // lock, and give up their graphs when modules have been unloaded since.
  struct Modules {
    std::shared_mutex mutex;  // exclusive for unloading
    uint64_t unloaded = 0;
  };
  Modules modules;

 private:
  Gpu(const Driver& driver, cuda::Device device, Properties properties);
  Status make_context();

  std::shared_mutex mutex_;
  cuda::Context context_ = nullptr;
  cuda::Context broken_ = nullptr;  // the last one, if no other could be made after it
  std::atomic<uint32_t> generation_ = 1;
  std::atomic<bool> is_abandoned_ = false;
  std::atomic<cuda::Code> last_cause_ = cuda::Code::success;
  std::string why_there_is_no_context_;
};

}  // namespace metalloid::nvidia

// What the Metal API sees of a device. A device is a folder that implements these four classes (src/cpu, src/nvidia):
// it hands out memory, makes pipelines, and carries out lists of commands; everything else about Metal is the API's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <metalloid/result.hpp>
#include <string>
#include <vector>

#include "device/commands.hpp"
#include "device/pipeline.hpp"

namespace metalloid::device {

struct Info {
  std::string name;
  std::string architecture;  // "x86-64-v3", "sm_90"
  uint64_t registry_id = 0;
  uint64_t recommended_working_set = 0;  // bytes
  uint64_t max_buffer_length = 0;
  uint32_t max_threads_per_threadgroup = 1024;
  uint32_t max_threadgroup_memory = 32768;
  bool unified_memory = true;
};

enum class Storage {
  shared,
  shared_on_host,  // the same, for what kernels seldom read: it stays with the host
  private_to_device,
};

// Of one piece of memory on the host, in bytes, where the device has memory of its own.
constexpr size_t largest_memory_on_host = 4096;

// One allocation; its memory is given back when the object goes.
class Memory {
 public:
  virtual ~Memory() = default;

  // What it holds is not needed any more: a device may give its pages back until it is written again.
  virtual void discard() {}
  // The host is about to read or write it: a device may move it when it is used next, and not otherwise.
  virtual void host_access() {}

  uint64_t address = 0;  // where kernels see it
  void* host = nullptr;  // where the host sees it; null if it cannot
  size_t size = 0;
};

// What went wrong while commands were carried out. The values are those of MTLCommandBufferError.
enum class FaultKind : uint8_t {
  internal = 1,
  timeout = 2,
  page_fault = 3,
  out_of_memory = 8,
  invalid_resource = 9,
  device_removed = 11,
  stack_overflow = 12
};

struct Fault {
  FaultKind kind = FaultKind::internal;
  std::string message;
  std::string kernel;  // empty if it was no kernel's
  std::string encoder_label;
};

// A message of a kernel: os_log, or what shader validation found.
struct Log {
  enum class Kind : uint8_t { log, validation };
  Kind kind = Kind::log;
  int level = 3;  // of os_log: debug 1, info 2, default 3, error 4, fault 5
  std::string subsystem, category, message;
  std::string kernel, encoder_label;
  SourceLocation location;  // validation: the line that did it
};

// Nanoseconds of the device's clock.
struct Span {
  uint64_t started = 0, ended = 0;
};

struct Outcome {
  std::vector<Fault> faults;  // empty: all is well
  // When the device was at it. To ask a GPU for it takes longer than many a kernel, so that it is done when somebody
  // wants to know, on any thread. It keeps what it needs for that.
  std::function<Span()> span;
};

// Watches commands being carried out, for traces. Called by the queue, in order.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void carried_out(const Command& command, uint64_t started, uint64_t ended) = 0;
};

struct Submission {
  CommandList list;
  std::shared_ptr<Observer> observer;   // may be null
  std::function<void(const Log&)> log;  // never null; may be called from several threads
  std::function<void()> scheduled;      // may be null
  // Never null; called once, when all is done or has failed. It takes the list away, to be used again.
  std::function<void(const Outcome&)> completed;
  // Whether one of these calls functions of the program's. They must not be called by its own threads, which may have
  // locks that those functions wait for.
  bool calls_program = true;
};

// Carries out submissions in the order they were given, each after the one before it is complete. Submitting does not
// wait. A fault ends its own submission only: the commands after it are left out, but for events and host work, so that
// nobody waits in vain.
class Queue {
 public:
  virtual ~Queue() = default;  // waits for what was submitted
  virtual void submit(std::unique_ptr<Submission> submission) = 0;

  // Waits for what this queue's work brings about, but not for long: small kernels take microseconds, less than it
  // takes to put a thread to sleep and wake it up. A device may use the calling thread for that work meanwhile.
  static constexpr uint64_t lookout = 50'000;  // nanoseconds
  virtual void look_out(const std::function<bool()>& is_reached);

  // The calling thread has nothing to do until then, and may do the queue's work: what calls none of the program's
  // functions. It returns when that is reached, or when there is nothing to do for it.
  virtual void lend_thread([[maybe_unused]] const std::function<bool()>& is_reached) {}
};

class Device {
 public:
  virtual ~Device() = default;

  virtual const Info& info() const = 0;
  virtual uint64_t clock() const = 0;  // nanoseconds, of the same clock as std::chrono::steady_clock

  // Memory that is zero, aligned to 256 bytes, or to a page if it is as large as one.
  virtual Result<std::unique_ptr<Memory>> allocate(size_t bytes, Storage storage) = 0;
  // Memory of the program's own, used where it is; the caller keeps it alive.
  virtual Result<std::unique_ptr<Memory>> adopt(void* host, size_t bytes) = 0;

  virtual Result<std::shared_ptr<Pipeline>> compile(const PipelineRequest& request) = 0;
  virtual std::unique_ptr<Queue> make_queue() = 0;
};

}  // namespace metalloid::device

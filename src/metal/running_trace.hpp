// A trace while it runs, as recorders see it: its file, its tracks, and who still writes to it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "metal/trace.hpp"
#include "metal/trace_document.hpp"

namespace metalloid::metal {

constexpr unsigned host_process = 1;

class Trace {
 public:
  Trace(std::unique_ptr<TraceDocument> document, TraceSubject subject);

  void record(bool on) { recording_ = on; }
  bool is_recording() const { return recording_; }
  bool wants(const CommandBufferObject& command_buffer) const;

  // Times of devices are those of one clock; a trace counts from its start.
  static uint64_t now();
  std::string time(uint64_t nanoseconds) const;

  // Processes and tracks are numbered, and named in the file, when they are first asked for. A queue that gets another
  // label gets another track.
  unsigned process(const DeviceObject& device);
  unsigned track(const CommandQueueObject& queue);
  unsigned track_of_this_thread();
  uint64_t next_number();
  void append(std::string_view events) { document_->append(events); }

  // Command buffers that are traced: from commit to completion.
  void enter();
  void leave();

  // No more command buffers enter. The document is finished when the last one has left, or at once.
  void stop();
  void stop_now();
  void wait_until_finished(std::chrono::seconds patience);

 private:
  void finish();  // with the lock held
  void name_track(unsigned process, unsigned track, std::string_view name);

  const std::unique_ptr<TraceDocument> document_;
  const TraceSubject subject_;
  const uint64_t origin_;
  std::atomic<bool> recording_;

  std::mutex mutex_;
  std::condition_variable finished_changed_;
  size_t inside_ = 0;
  bool stopped_ = false, finished_ = false;
  uint64_t numbers_ = 0;
  std::map<const DeviceObject*, unsigned> processes_;
  std::map<std::pair<const CommandQueueObject*, std::string>, unsigned> queues_;
  std::map<std::thread::id, unsigned> threads_;
};

}  // namespace metalloid::metal

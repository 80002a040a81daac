// Puts the commands of submissions on a stream, and does what the host has to do when the GPU has come so far: signal
// events, note times, tell of completion. Several submissions may be under way; commands that need the host in between
// wait until all before them is done.
//
// After a fault, nothing of the context is left. The submission that was at work has failed: what would touch memory is
// left out of it, but its events are signalled, so that no one waits in vain. Submissions behind it have not begun; in
// the new context they are put on the stream again.
//
// A kernel that does not end is not interrupted: when nothing got done for the time limit (device/time_limit.hpp), its
// submission has failed, and the device is lost. The limit is for as many launches as are gathered (launches.hpp).
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "device/device.hpp"
#include "nvidia/context.hpp"
#include "nvidia/kernel_logs.hpp"
#include "nvidia/launches.hpp"
#include "nvidia/pipeline.hpp"
#include "nvidia/stream.hpp"
#include "nvidia/uploads.hpp"

namespace metalloid::nvidia {

// Whether it is a dispatch, or nothing on the stream; those are gathered (launches.hpp).
bool goes_with_launches(const device::Command& command);

class CommandRunner {
 public:
  explicit CommandRunner(std::shared_ptr<Gpu> gpu);

  // Puts it on the stream; waits only where its commands need that.
  void run(std::unique_ptr<device::Submission> submission);

  // Does what is due. True if anything was.
  bool advance();

  // Asks the driver whether all is well, which costs more than advance(), and whether the GPU still gets on.
  void look_for_faults();

  bool is_idle() const { return in_flight_.empty(); }

 private:
  // What the host does when the stream has passed a mark.
  struct Step {
    uint64_t mark = 0;
    enum class Kind : uint8_t { signal, await_signal, timestamp } kind = Kind::signal;
    std::shared_ptr<device::Event> event = nullptr;
    uint64_t value = 0;
    uint64_t* destination = nullptr;
    cuda::Event recorded = nullptr;
  };

  // A kernel or a library's work; names live as long as the submission.
  struct Work {
    const char* name = nullptr;
    const char* encoder_label = nullptr;

    bool operator==(const Work&) const = default;
  };

  struct Run {
    std::unique_ptr<device::Submission> submission;
    device::Outcome outcome;
    size_t next = 0;  // of its commands
    bool is_scheduled = false;
    bool has_begun = false;   // it may be what a fault happened in, and cannot be begun again
    uint64_t last_mark = 0;   // 0: there is more to come
    uint64_t started_at = 0;  // if the GPU had nothing else to do; else the event says it, which costs microseconds
    cuda::Event started = nullptr, ended = nullptr;
    uint64_t last_timestamp = 0;
    std::list<Step> steps;  // mostly none
    std::vector<device::BeginGroup> groups;
    std::list<device::CommandList> deferred;
    Uploads uploads;
    KernelLogs logs;
    std::vector<Work> work;  // that a fault may be of; each once
    unsigned attempts = 0;
  };

  void encode(Run& run);
  void encode_commands(Run& run);
  void upload_for(const device::CommandList& list);
  void carry_out_one(const device::Command& command);
  void carry_out(const device::Dispatch& dispatch);
  void carry_out(const device::Copy& copy);
  void carry_out(const device::Fill& fill);
  void carry_out(const device::SignalEvent& signal);
  void carry_out(const device::WaitEvent& wait);
  void carry_out(const device::Timestamp& timestamp);
  void carry_out(const device::HostWork& host);
  void carry_out(const device::LibraryWork& work);
  void carry_out(const device::Deferred& deferred);
  void carry_out(const device::BeginGroup& group);
  void carry_out(const device::EndGroup& group);

  std::optional<device::Size> indirect_threadgroups(uint64_t address);
  bool place_arguments(const device::Dispatch& dispatch, const Pipeline& pipeline, uint32_t& threadgroup_memory);
  bool make_visible(uint64_t& address, uint64_t length);
  bool is_usable(uint64_t address, uint64_t length);
  bool is_usable(VisibleMemory& memory, uint64_t address, uint64_t length);
  VisibleMemory* memory_at(uint64_t address);
  void launch(const Pipeline& pipeline, const device::Size& threads, const device::Size& threadgroup,
              uint32_t threadgroup_memory, bool are_buffers_apart);

  void send_launches();        // those that were gathered, before anything else is put on the stream
  cuda::Event record_event();  // behind them
  void drain();                // waits until the stream has done all it was given
  void perform_steps(Run& run, uint64_t passed);
  void perform(Run& run, Step& step);
  void complete(Run& run);
  bool place_mark();
  bool is_stuck();
  void recover();
  device::Fault blame(const Run& run, cuda::Code cause) const;
  void fail_rest(Run& run);

  bool open_stream();
  bool hold();                     // the context; false if nothing can be put on the stream
  void let_go() { use_.reset(); }  // of the context, before anything that takes its time
  bool works() const;              // neither the submission nor the context has failed
  bool require(cuda::Code code);
  bool check(cuda::Code code, const char* deed);
  void fail(device::FaultKind kind, std::string message, std::string kernel = "");
  static device::FaultKind kind_of(cuda::Code code);
  void note_work(const char* name);
  const char* encoder_label() const;

  const std::shared_ptr<Gpu> gpu_;
  UploadChunks upload_chunks_;
  PinnedPages log_pages_;
  std::shared_ptr<Stream> stream_;
  std::optional<Gpu::Use> use_;
  cuda::Code broken_by_ = cuda::Code::success;  // the context
  std::deque<std::unique_ptr<Run>> in_flight_;
  const uint64_t time_limit_;             // nanoseconds from a mark to the next; 0: none
  uint64_t seen_mark_ = 0, seen_at_ = 0;  // the last progress of the GPU
  bool is_out_of_time_ = false;           // a kernel of this queue
  Run* current_ = nullptr;                // whose commands are being put on the stream
  std::vector<uint64_t> values_;          // of the launch's parameters
  Launches launches_;
  std::vector<VisibleMemory*> fetched_;  // by the current submission
  std::unordered_set<uint64_t> fetched_ranges_;
  std::unordered_map<uint64_t, VisibleMemory*> memories_;  // of the current submission, by addresses in commands
};

}  // namespace metalloid::nvidia

// Puts the commands of submissions on a stream, and does what the host has to do when the GPU has come so far: signal
// events, note times, tell of completion. Several submissions may be under way; commands that need the host in between
// wait until all before them is done.
//
// After a fault, nothing of the context is left. The submission that was at work has failed: what would touch memory is
// left out of it, but its events are signalled, so that no one waits in vain. Submissions behind it have not begun; in
// the new context they are put on the stream again.
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "device/device.hpp"
#include "nvidia/context.hpp"
#include "nvidia/kernel_logs.hpp"
#include "nvidia/pipeline.hpp"
#include "nvidia/stream.hpp"
#include "nvidia/uploads.hpp"

namespace metalloid::nvidia {

class CommandRunner {
 public:
  explicit CommandRunner(std::shared_ptr<Gpu> gpu)
      : gpu_(std::move(gpu)), upload_chunks_(gpu_), log_pages_(gpu_, log_buffer_bytes) {}

  // Puts it on the stream; waits only where its commands need that.
  void run(std::unique_ptr<device::Submission> submission);

  // Does what is due. True if anything was.
  bool advance();

  // Asks the driver whether all is well, which costs more than advance().
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

  struct Run {
    std::unique_ptr<device::Submission> submission;
    device::Outcome outcome;
    size_t next = 0;  // of its commands
    bool is_scheduled = false;
    bool has_begun = false;  // it may be what a fault happened in, and cannot be begun again
    uint64_t last_mark = 0;  // 0: there is more to come
    cuda::Event started = nullptr, ended = nullptr;
    uint64_t last_timestamp = 0;
    std::deque<Step> steps;
    std::vector<device::BeginGroup> groups;
    std::list<device::CommandList> deferred;
    Uploads uploads;
    KernelLogs logs;
    std::vector<const Pipeline*> pipelines;  // different ones, in the order of dispatch
    const char* encoder_label = nullptr;     // of the last dispatch
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
  void carry_out(const device::Deferred& deferred);
  void carry_out(const device::BeginGroup& group);
  void carry_out(const device::EndGroup& group);

  std::optional<device::Size> indirect_threadgroups(uint64_t address);
  bool place_arguments(const device::Dispatch& dispatch, const Pipeline& pipeline, uint32_t& threadgroup_memory);
  bool make_visible(uint64_t& address, uint64_t length);
  bool is_usable(uint64_t address, uint64_t length);
  bool is_usable(VisibleMemory& memory, uint64_t address, uint64_t length);
  void launch(const Pipeline& pipeline, const device::Size& threads, const device::Size& threadgroup,
              uint32_t threadgroup_memory);

  void drain();  // waits until the stream has done all it was given
  void perform_steps(Run& run, uint64_t passed);
  void perform(Run& run, Step& step);
  void complete(Run& run);
  void recover();
  void blame(Run& run, cuda::Code cause);
  void fail_rest(Run& run);

  bool open_stream();
  bool hold();                     // the context; false if nothing can be put on the stream
  void let_go() { use_.reset(); }  // of the context, before anything that takes its time
  bool works() const;              // neither the submission nor the context has failed
  bool require(cuda::Code code);
  bool check(cuda::Code code, const char* deed);
  void fail(device::FaultKind kind, std::string message, std::string kernel = "");
  const char* encoder_label() const;

  const std::shared_ptr<Gpu> gpu_;
  UploadChunks upload_chunks_;
  PinnedPages log_pages_;
  std::unique_ptr<Stream> stream_;
  std::optional<Gpu::Use> use_;
  cuda::Code broken_by_ = cuda::Code::success;  // the context
  std::deque<std::unique_ptr<Run>> in_flight_;
  Run* current_ = nullptr;        // whose commands are being put on the stream
  std::vector<uint64_t> values_;  // of the launch's parameters
  std::vector<void*> parameters_;
  std::vector<VisibleMemory*> fetched_;  // by the current submission
  std::unordered_set<uint64_t> fetched_ranges_;
};

}  // namespace metalloid::nvidia

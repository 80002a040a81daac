// The object behind MTL::CommandBuffer. Encoders write into its command list; commit() hands the list to the queue's
// device, which reports back when it is scheduled and when it is done. The list and the table of kept objects come from
// the queue and go back to it, so that a steady stream of command buffers allocates no memory for commands.
#pragma once

#include <Metal/MTLCommandBuffer.hpp>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "foundation/object.hpp"
#include "metal/kept_objects.hpp"
#include "metal/misuse.hpp"

namespace MTL {
class LogState;
}

namespace metalloid::metal {

class CommandQueueObject;

// How far an encoder's commands came, for CommandBufferErrorOptionEncoderExecutionStatus.
struct EncoderProgress {
  std::string label;
  std::vector<std::string> signposts;
  bool started = false, done = false, faulted = false;
};

class CommandBufferObject final : public MTL::CommandBuffer {
 public:
  struct Options {
    bool retained_references = true;
    MTL::CommandBufferErrorOption errors = MTL::CommandBufferErrorOptionNone;
    NS::SharedPtr<MTL::LogState> log_state;
  };

  const NS::SharedPtr<CommandQueueObject> queue;
  const Options options;
  const bool checked;  // by the debug layer
  NS::SharedPtr<NS::String> label;

  CommandBufferObject(CommandQueueObject& queue, Options options, device::CommandList list, KeptObjects kept);
  ~CommandBufferObject() override;

  // Only before commit().
  device::CommandList& list() { return submission_->list; }
  bool is_committed() const { return status() >= MTL::CommandBufferStatusCommitted; }
  // Retains what the commands use, if this command buffer does so; what only we know of, always.
  void keep(const NS::Object* object) {
    if (options.retained_references) kept_.keep(const_cast<NS::Object*>(object));
  }
  void keep_always(NS::Object* object) { kept_.keep(object); }
  void push_group(const NS::String* text);
  void pop_group();

  // One encoder at a time. Both report it, and begin_encoder() answers false, when it is too late for commands.
  bool can_encode(Call call);
  bool can_encode(const char* call);
  bool begin_encoder(Call call);
  void end_encoder() { encoder_is_open_ = false; }
  EncoderProgress* watch_encoder();  // null unless errors are to say how far encoders came

  // The command buffer will end with this error; the first one counts. Nothing is carried out but its events, so that
  // nobody waits for them in vain.
  void fail(MTL::CommandBufferError code, std::string message);

  void enqueue(Call call);
  void commit(Call call);
  void add_scheduled_handler(const MTL::HandlerFunction& handler, Call call) {
    add_handler(scheduled_handlers_, handler, call);
  }
  void add_completed_handler(const MTL::HandlerFunction& handler, Call call) {
    add_handler(completed_handlers_, handler, call);
  }
  void wait_until_scheduled(Call call) { wait_until(scheduled, call); }
  void wait_until_completed(Call call) { wait_until(completed, call); }
  MTL::CommandBufferStatus status() const { return status_.load(std::memory_order_acquire); }

  NS::Error* error() const;
  MTL::LogContainer* logs() const;
  double kernel_started() const { return seconds(committed_at_); }
  double kernel_ended() const { return seconds(scheduled_at_); }
  double gpu_started() const { return seconds(span().started); }
  double gpu_ended() const { return seconds(span().ended); }

  // For the queue: when it is committed, and when its turn has come.
  void mark_committed();
  std::unique_ptr<device::Submission> take_submission() { return std::move(submission_); }

  const char* className() const override { return "MTLCommandBuffer"; }

 private:
  enum Progress : uint32_t { not_scheduled, scheduled, completed };
  using Handlers = std::vector<MTL::HandlerFunction>;

  static double seconds(uint64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }
  bool has_failed() const;
  const char* rule_broken_by_encoding() const;  // null: none
  void fail_after_fork(Call call);
  void keep_only_events(device::CommandList& list);
  void device_scheduled();
  void device_completed(const device::Outcome& outcome);
  void device_logged(const device::Log& log);
  void note_faulted_encoders(const device::Outcome& outcome);
  void add_handler(Handlers& handlers, const MTL::HandlerFunction& handler, Call call);
  void run_handlers(Handlers& handlers);
  void wait_until(Progress progress, Call call);
  device::Span span() const;

  std::unique_ptr<device::Submission> submission_;
  device::Submission* submitted_ = nullptr;  // while the device has it
  KeptObjects kept_;
  bool encoder_is_open_ = false;
  std::deque<EncoderProgress> encoders_;
  Handlers scheduled_handlers_, completed_handlers_;

  std::atomic<MTL::CommandBufferStatus> status_ = MTL::CommandBufferStatusNotEnqueued;
  std::atomic<uint32_t> progress_ = not_scheduled;  // moves on after the handlers have run
  std::atomic<uint64_t> committed_at_ = 0, scheduled_at_ = 0;

  mutable std::mutex mutex_;  // guards what is below
  MTL::CommandBufferError error_code_ = MTL::CommandBufferErrorNone;
  std::string error_message_;
  mutable NS::SharedPtr<NS::Error> error_;  // made when it is asked for
  std::vector<device::Log> logs_;
  mutable std::function<device::Span()> ask_for_span_;  // until it has been asked for
  mutable device::Span span_;
};

inline CommandBufferObject* body(MTL::CommandBuffer* command_buffer) {
  return static_cast<CommandBufferObject*>(command_buffer);
}
inline const CommandBufferObject* body(const MTL::CommandBuffer* command_buffer) {
  return static_cast<const CommandBufferObject*>(command_buffer);
}

}  // namespace metalloid::metal

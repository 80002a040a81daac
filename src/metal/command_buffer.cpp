#include "metal/command_buffer.hpp"

#include <Foundation/NSAutoreleasePool.hpp>
#include <Metal/MTLDevice.hpp>
#include <Metal/MTLResidencySet.hpp>
#include <cstdio>
#include <utility>

#include "foundation/string.hpp"
#include "metal/command_buffer_error.hpp"
#include "metal/device.hpp"
#include "metal/event.hpp"
#include "metal/function_log.hpp"
#include "metal/log_state.hpp"
#include "metal/queue.hpp"
#include "metal/trace.hpp"

namespace metalloid::metal {

static thread_local const CommandBufferObject* completing = nullptr;

// For the time in which the device calls us. That may be while a handler of another queue waits.
class InsideHandler {
 public:
  explicit InsideHandler(const CommandBufferObject& command_buffer)
      : outer_(std::exchange(completing, &command_buffer)) {}
  ~InsideHandler() { completing = outer_; }

 private:
  const CommandBufferObject* const outer_;
};

bool inside_handler() {
  return completing != nullptr;
}

CommandBufferObject::CommandBufferObject(CommandQueueObject& queue, Options options, device::CommandList list,
                                         KeptObjects kept)
    : queue(NS::RetainPtr(&queue)),
      options(std::move(options)),
      checked(queue.checked),
      submission_(std::make_unique<device::Submission>()),
      kept_(std::move(kept)) {
  submission_->list = std::move(list);
}

CommandBufferObject::~CommandBufferObject() {
  if (is_committed()) return;
  if (status() == MTL::CommandBufferStatusEnqueued) queue->forget(*this);
  queue->give_back(std::move(submission_->list), std::move(kept_));
}

void CommandBufferObject::push_group(const NS::String* text) {
  list().commands.emplace_back(device::BeginGroup{list().arena.text(foundation::text_of(text))});
}

void CommandBufferObject::pop_group() {
  list().commands.emplace_back(device::EndGroup{});
}

void CommandBufferObject::fail(MTL::CommandBufferError code, std::string message) {
  std::lock_guard lock(mutex_);
  if (error_code_ != MTL::CommandBufferErrorNone || status() >= MTL::CommandBufferStatusCompleted) return;
  error_code_ = code;
  error_message_ = std::move(message);
}

bool CommandBufferObject::has_failed() const {
  std::lock_guard lock(mutex_);
  return error_code_ != MTL::CommandBufferErrorNone;
}

const char* CommandBufferObject::rule_broken_by_encoding() const {
  return is_committed()     ? "the command buffer was committed already"
         : encoder_is_open_ ? "an encoder of the command buffer is open; call its endEncoding()"
                            : nullptr;
}

bool CommandBufferObject::can_encode(Call call) {
  if (const char* rule = rule_broken_by_encoding()) report_misuse(this, rule, call);
  return !is_committed();
}

bool CommandBufferObject::can_encode(const char* call) {
  if (const char* rule = rule_broken_by_encoding()) report_misuse(this, call, rule);
  return !is_committed();
}

bool CommandBufferObject::begin_encoder(Call call) {
  if (!can_encode(call)) return false;
  encoder_is_open_ = true;
  return true;
}

EncoderProgress* CommandBufferObject::watch_encoder() {
  if (!(options.errors & MTL::CommandBufferErrorOptionEncoderExecutionStatus)) return nullptr;
  return &encoders_.emplace_back();
}

void CommandBufferObject::enqueue(Call call) {
  if (status() != MTL::CommandBufferStatusNotEnqueued) {
    if (checked) report_misuse(this, "the command buffer is enqueued already", call);
    return;
  }
  status_ = MTL::CommandBufferStatusEnqueued;
  queue->enqueue(*this);
}

void CommandBufferObject::commit(Call call) {
  if (is_committed()) return report_misuse(this, "the command buffer was committed already", call);
  if (encoder_is_open_) report_misuse(this, "an encoder of the command buffer was not ended", call);
  if (queue->is_from_before_fork()) return fail_after_fork(call);
  if (has_failed()) keep_only_events(list());
  submission_->observer = observer_of(*this);
  submission_->log = [this](const device::Log& log) { device_logged(log); };
  submission_->scheduled = [this] { device_scheduled(); };
  submission_->completed = [this](const device::Outcome& outcome) { device_completed(outcome); };
  submission_->calls_program = !scheduled_handlers_.empty() || !completed_handlers_.empty() || options.log_state;
  submitted_ = submission_.get();
  retain();  // until the device is done
  if (status() == MTL::CommandBufferStatusNotEnqueued) queue->enqueue(*this);
  queue->commit(*this);
}

void CommandBufferObject::fail_after_fork(Call call) {
  report_misuse(this, "the command queue was made before fork(), and runs nothing in the child; make a new one", call);
  if (status() == MTL::CommandBufferStatusEnqueued) queue->forget(*this);
  mark_committed();
  retain();
  submitted_ = submission_.get();
  device_completed({});
}

void CommandBufferObject::mark_committed() {
  committed_at_ = queue->device->device->clock();
  status_ = MTL::CommandBufferStatusCommitted;
}

void CommandBufferObject::device_scheduled() {
  InsideHandler scope(*this);
  scheduled_at_ = queue->device->device->clock();
  status_ = MTL::CommandBufferStatusScheduled;
  run_handlers(scheduled_handlers_);
  progress_ = scheduled;
  progress_.notify_all();
}

static std::string described(const device::Fault& fault) {
  std::string text = fault.message;
  if (!fault.kernel.empty() && text.find(fault.kernel) == std::string::npos)
    text = "kernel '" + fault.kernel + "': " + text;
  if (!fault.encoder_label.empty()) text += " (encoder '" + fault.encoder_label + "')";
  return text;
}

void CommandBufferObject::device_completed(const device::Outcome& outcome) {
  if (progress_ == not_scheduled) device_scheduled();
  InsideHandler scope(*this);
  {
    std::lock_guard lock(mutex_);
    ask_for_span_ = outcome.span;
  }
  if (!outcome.faults.empty()) {
    fail(static_cast<MTL::CommandBufferError>(outcome.faults[0].kind), described(outcome.faults[0]));
    note_faulted_encoders(outcome);
  }
  status_ = has_failed() ? MTL::CommandBufferStatusError : MTL::CommandBufferStatusCompleted;
  run_handlers(completed_handlers_);
  progress_ = completed;
  progress_.notify_all();
  queue->give_back(std::move(submitted_->list), std::move(kept_));  // while whoever waited goes on
  release();
}

void CommandBufferObject::keep_only_events(device::CommandList& list) {
  std::erase_if(list.commands, [](const device::Command& command) {
    return !std::holds_alternative<device::SignalEvent>(command) && !std::holds_alternative<device::WaitEvent>(command);
  });
}

void CommandBufferObject::note_faulted_encoders(const device::Outcome& outcome) {
  for (EncoderProgress& encoder : encoders_) {
    encoder.faulted = encoder.started && !encoder.done;
    for (const device::Fault& fault : outcome.faults)
      if (!fault.encoder_label.empty() && fault.encoder_label == encoder.label) encoder.faulted = true;
  }
}

void CommandBufferObject::add_handler(Handlers& handlers, const MTL::HandlerFunction& handler, Call call) {
  if (is_committed()) return report_misuse(this, "handlers must be added before the command buffer is committed", call);
  if (!handler) return report_misuse(this, "the handler is null", call);
  handlers.push_back(handler);
}

void CommandBufferObject::run_handlers(Handlers& handlers) {
  if (handlers.empty()) return;
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  for (const MTL::HandlerFunction& handler : std::exchange(handlers, {})) handler(this);
}

void CommandBufferObject::wait_until(Progress progress, Call call) {
  if (!is_committed())
    return report_misuse(this, "the command buffer was not committed: it would never be reached", call);
  if (completing == this) return;
  if (completing && completing->queue == queue && progress_ < progress)
    return report_misuse(this, "a handler cannot wait for another command buffer of its own queue", call);
  const auto is_reached = [this, progress] { return progress_.load(std::memory_order_acquire) >= progress; };
  if (progress == completed) queue->lend_thread(is_reached);
  queue->look_out(is_reached);
  for (uint32_t now; (now = progress_.load(std::memory_order_acquire)) < progress;) progress_.wait(now);
}

device::Span CommandBufferObject::span() const {
  std::lock_guard lock(mutex_);
  if (ask_for_span_) span_ = std::exchange(ask_for_span_, nullptr)();
  return span_;
}

NS::Error* CommandBufferObject::error() const {
  std::lock_guard lock(mutex_);
  if (status() != MTL::CommandBufferStatusError) return nullptr;
  if (!error_) error_ = NS::RetainPtr(command_buffer_error(error_code_, error_message_, encoders_));
  return error_.get();
}

void CommandBufferObject::device_logged(const device::Log& log) {
  if (log.kind == device::Log::Kind::log) return deliver(options.log_state.get(), log);
  std::fprintf(stderr, "%s\n", log.message.c_str());
  std::lock_guard lock(mutex_);
  logs_.push_back(log);
}

MTL::LogContainer* CommandBufferObject::logs() const {
  std::lock_guard lock(mutex_);
  return autoreleased_logs(logs_);
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

Device* CommandBuffer::device() const {
  const CommandBufferObject* self = body(this);
  return self ? self->queue->device : nullptr;
}

CommandQueue* CommandBuffer::commandQueue() const {
  const CommandBufferObject* self = body(this);
  return self ? self->queue.get() : nullptr;
}

NS::String* CommandBuffer::label() const {
  const CommandBufferObject* self = body(this);
  return self ? self->label.get() : nullptr;
}

void CommandBuffer::setLabel(const NS::String* label) {
  if (CommandBufferObject* self = body(this)) self->label = NS::TransferPtr(label ? label->copy() : nullptr);
}

bool CommandBuffer::retainedReferences() const {
  const CommandBufferObject* self = body(this);
  return self && self->options.retained_references;
}

CommandBufferErrorOption CommandBuffer::errorOptions() const {
  const CommandBufferObject* self = body(this);
  return self ? self->options.errors : CommandBufferErrorOptionNone;
}

CommandBufferStatus CommandBuffer::status() const {
  const CommandBufferObject* self = body(this);
  return self ? self->status() : CommandBufferStatusNotEnqueued;
}

NS::Error* CommandBuffer::error() const {
  const CommandBufferObject* self = body(this);
  return self ? self->error() : nullptr;
}

LogContainer* CommandBuffer::logs() const {
  const CommandBufferObject* self = body(this);
  return self ? self->logs() : nullptr;
}

CFTimeInterval CommandBuffer::kernelStartTime() const {
  const CommandBufferObject* self = body(this);
  return self ? self->kernel_started() : 0;
}

CFTimeInterval CommandBuffer::kernelEndTime() const {
  const CommandBufferObject* self = body(this);
  return self ? self->kernel_ended() : 0;
}

CFTimeInterval CommandBuffer::GPUStartTime() const {
  const CommandBufferObject* self = body(this);
  return self ? self->gpu_started() : 0;
}

CFTimeInterval CommandBuffer::GPUEndTime() const {
  const CommandBufferObject* self = body(this);
  return self ? self->gpu_ended() : 0;
}

void CommandBuffer::enqueue() {
  if (CommandBufferObject* self = body(this)) self->enqueue(Call::current());
}

void CommandBuffer::commit() {
  if (CommandBufferObject* self = body(this)) self->commit(Call::current());
}

void CommandBuffer::waitUntilScheduled() {
  if (CommandBufferObject* self = body(this)) self->wait_until_scheduled(Call::current());
}

void CommandBuffer::waitUntilCompleted() {
  if (CommandBufferObject* self = body(this)) self->wait_until_completed(Call::current());
}

void CommandBuffer::addScheduledHandler(const HandlerFunction& handler) {
  if (CommandBufferObject* self = body(this)) self->add_scheduled_handler(handler, Call::current());
}

void CommandBuffer::addCompletedHandler(const HandlerFunction& handler) {
  if (CommandBufferObject* self = body(this)) self->add_completed_handler(handler, Call::current());
}

void CommandBuffer::pushDebugGroup(const NS::String* text) {
  CommandBufferObject* self = body(this);
  if (self && self->can_encode(Call::current())) self->push_group(text);
}

void CommandBuffer::popDebugGroup() {
  CommandBufferObject* self = body(this);
  if (self && self->can_encode(Call::current())) self->pop_group();
}

void CommandBuffer::encodeSignalEvent(const Event* event, uint64_t value) {
  CommandBufferObject* self = body(this);
  if (!self || !self->can_encode(Call::current())) return;
  if (!event) return report_misuse(self, "the event is null", Call::current());
  self->list().commands.emplace_back(metalloid::device::SignalEvent{event_part(event)->event, value});
}

void CommandBuffer::encodeWait(const Event* event, uint64_t value) {
  CommandBufferObject* self = body(this);
  if (!self || !self->can_encode(Call::current())) return;
  if (!event) return report_misuse(self, "the event is null", Call::current());
  self->list().commands.emplace_back(metalloid::device::WaitEvent{event_part(event)->event, value});
}

void CommandBuffer::useResidencySet(const ResidencySet* set) {
  if (CommandBufferObject* self = body(this)) self->keep(set);
}

void CommandBuffer::useResidencySets(const ResidencySet* const sets[], NS::UInteger count) {
  for (NS::UInteger i = 0; i < count; ++i) useResidencySet(sets[i]);
}

// There are no windows here, hence no drawables.
void CommandBuffer::presentDrawable(const Drawable*) {
  report_misuse(body(this), "there is nothing to present on: this device has no display");
}

void CommandBuffer::presentDrawableAtTime(const Drawable*, CFTimeInterval) {
  report_misuse(body(this), "there is nothing to present on: this device has no display");
}

void CommandBuffer::presentDrawableAfterMinimumDuration(const Drawable*, CFTimeInterval) {
  report_misuse(body(this), "there is nothing to present on: this device has no display");
}

}  // namespace MTL

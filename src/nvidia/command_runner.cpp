#include "nvidia/command_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "device/time_limit.hpp"
#include "nvidia/clock.hpp"
#include "nvidia/patience.hpp"
#include "nvidia/recorded_span.hpp"

namespace metalloid::nvidia {

namespace {

constexpr size_t most_in_flight = 32;
constexpr unsigned most_attempts = 3;
constexpr double default_time_limit = 60;  // seconds

}  // namespace

bool goes_with_launches(const device::Command& command) {
  return std::holds_alternative<device::Dispatch>(command) || std::holds_alternative<device::BeginGroup>(command) ||
         std::holds_alternative<device::EndGroup>(command);
}

device::FaultKind CommandRunner::kind_of(cuda::Code code) {
  switch (code) {
    case cuda::Code::out_of_memory:
      return device::FaultKind::out_of_memory;
    case cuda::Code::illegal_address:
    case cuda::Code::misaligned_address:
    case cuda::Code::invalid_address_space:
      return device::FaultKind::page_fault;
    case cuda::Code::launch_timeout:
      return device::FaultKind::timeout;
    case cuda::Code::hardware_stack_error:
      return device::FaultKind::stack_overflow;
    default:
      return device::FaultKind::internal;
  }
}

CommandRunner::CommandRunner(std::shared_ptr<Gpu> gpu)
    : gpu_(std::move(gpu)),
      upload_chunks_(gpu_),
      log_pages_(gpu_, log_buffer_bytes),
      time_limit_(device::time_limit(default_time_limit)),
      launches_(gpu_) {}

void CommandRunner::run(std::unique_ptr<device::Submission> submission) {
  for (Patience patience; in_flight_.size() >= most_in_flight;) {
    if (advance()) continue;
    if (patience.pause()) look_for_faults();
  }
  if (in_flight_.empty()) seen_at_ = now();
  in_flight_.push_back(std::make_unique<Run>());
  in_flight_.back()->submission = std::move(submission);
  encode(*in_flight_.back());
}

void CommandRunner::encode(Run& run) {
  current_ = &run;
  ++run.attempts;
  if (!run.is_scheduled && run.submission->scheduled) run.submission->scheduled();
  run.is_scheduled = true;
  encode_commands(run);
  for (VisibleMemory* memory : fetched_) memory->may_be_on_host.store(false, std::memory_order_relaxed);
  fetched_.clear();
  fetched_ranges_.clear();
  memories_.clear();
  current_ = nullptr;
  let_go();
  if (broken_by_ != cuda::Code::success) return recover();
  if (stream_) return;
  // There is no GPU any more, hence nothing else in flight.
  fail_rest(run);
  complete(run);
  in_flight_.clear();
}

void CommandRunner::encode_commands(Run& run) {
  if (!open_stream() || !hold()) return;
  if (in_flight_.size() == 1 && !require(stream_->compare_clocks(*use_))) return;
  if (stream_->is_idle())
    run.started_at = now();
  else
    run.started = stream_->record_event(*use_);
  upload_for(run.submission->list);
  const auto& commands = run.submission->list.commands;
  for (; run.next < commands.size(); ++run.next) {
    carry_out_one(commands[run.next]);
    if (broken_by_ != cuda::Code::success) return;
  }
  if (!place_mark()) return;
  run.last_mark = stream_->last_mark();
  run.ended = record_event();  // behind the mark, which is what somebody may be waiting for
}

void CommandRunner::carry_out_one(const device::Command& command) {
  if (!goes_with_launches(command)) send_launches();
  device::Observer* observer = current_->submission->observer.get();
  if (!observer) return std::visit([this](const auto& present) { carry_out(present); }, command);
  // An observer is told of each command as it is done, so the next one waits.
  cuda::Event before = works() && hold() ? stream_->record_event(*use_) : nullptr;
  const uint64_t started_on_host = now();
  std::visit([this](const auto& present) { carry_out(present); }, command);
  cuda::Event after = works() ? record_event() : nullptr;
  drain();
  uint64_t started = started_on_host, ended = now();
  if (before && after && works() && hold()) {
    Stream::Anchor& anchor = *stream_->anchor();
    ended = Stream::time_of(*use_, anchor, after, ended);
    started = Stream::time_of(*use_, anchor, before, ended);
  }
  let_go();
  if (broken_by_ != cuda::Code::success) return;
  stream_->give_back(before);
  stream_->give_back(after);
  observer->carried_out(command, started, ended);
}

void CommandRunner::drain() {
  if (broken_by_ != cuda::Code::success || !hold()) return;
  if (!place_mark()) return;
  const uint64_t mark = stream_->last_mark();
  let_go();
  for (Patience patience; stream_->passed() < mark;) {
    if (patience.pause()) look_for_faults();
    if (broken_by_ != cuda::Code::success) return;
  }
  while (advance()) {
  }
  if (!current_) return;
  current_->has_begun = true;
  current_->work.clear();
}

bool CommandRunner::advance() {
  if (in_flight_.empty() || !stream_ || broken_by_ != cuda::Code::success) return false;
  Run& run = *in_flight_.front();
  const uint64_t passed = stream_->passed();
  const bool has_step = !run.steps.empty() && run.steps.front().mark <= passed;
  perform_steps(run, passed);
  if (run.last_mark == 0 || run.last_mark > passed) return has_step;
  const std::unique_ptr<Run> done = std::move(in_flight_.front());
  in_flight_.pop_front();
  complete(*done);
  return true;
}

void CommandRunner::look_for_faults() {
  if (!stream_ || broken_by_ != cuda::Code::success) return;
  {
    const auto use = gpu_->use();
    if (use && use->generation() == stream_->generation()) {
      const cuda::Code code = use->driver().query_stream(stream_->handle());
      if (breaks_context(code)) broken_by_ = code;
    } else {
      broken_by_ = gpu_->last_cause();
    }
  }
  if (broken_by_ == cuda::Code::success && is_stuck()) {
    gpu_->abandon(stream_->generation());
    is_out_of_time_ = true;
    broken_by_ = cuda::Code::launch_timeout;
  }
  if (broken_by_ != cuda::Code::success && !current_) recover();  // else whoever encodes will
}

bool CommandRunner::place_mark() {
  send_launches();
  if (!hold()) return false;
  if (stream_->is_idle()) seen_at_ = now();  // the GPU owes nothing until here
  return require(stream_->place_mark(*use_));
}

// A stream that waits for another queue's signal may have to wait for long; if in vain, that queue is stuck.
bool CommandRunner::is_stuck() {
  const uint64_t passed = stream_->passed(), present = now();
  const auto awaits_signal = [](const Step& step) { return step.kind == Step::Kind::await_signal; };
  if (passed != seen_mark_ || (!in_flight_.empty() && std::ranges::any_of(in_flight_.front()->steps, awaits_signal))) {
    seen_mark_ = passed;
    seen_at_ = present;
  }
  return time_limit_ != 0 && present - seen_at_ > time_limit_;
}

void CommandRunner::perform_steps(Run& run, uint64_t passed) {
  while (!run.steps.empty() && run.steps.front().mark <= passed) {
    Step step = std::move(run.steps.front());
    run.steps.pop_front();
    perform(run, step);
  }
}

// With a broken context, its events are gone; what others wait for happens all the same.
void CommandRunner::perform(Run& run, Step& step) {
  const bool lives = broken_by_ == cuda::Code::success && stream_;
  if (step.kind == Step::Kind::timestamp) {
    const bool holds = lives && hold();
    *step.destination = holds ? Stream::time_of(*use_, *stream_->anchor(), step.recorded, now()) : now();
    run.last_timestamp = std::max(run.last_timestamp, *step.destination);
    run.started_at = std::min(run.started_at, *step.destination);  // clocks are not the same to the last microsecond
  }
  if (lives && step.kind == Step::Kind::signal) gpu_->signals.remove(step.recorded);
  if (lives) stream_->give_back(step.recorded);
  let_go();
  if (step.kind == Step::Kind::signal) step.event->signal(step.value);
  if (step.kind == Step::Kind::await_signal) step.event->wait(step.value);
}

void CommandRunner::complete(Run& run) {
  const uint64_t present = now();
  if (stream_ && run.last_mark != 0) {
    const auto span = std::make_shared<RecordedSpan>(gpu_, stream_, run.started, run.ended,
                                                     RecordedSpan::Known{run.started_at, run.last_timestamp, present});
    run.outcome.span = [span] { return span->get(); };
  } else {
    run.outcome.span = [present] { return device::Span{present, present}; };
  }
  run.uploads.give_back(upload_chunks_);
  run.logs.deliver(run.submission->log);
  run.logs.give_back(log_pages_);
  run.submission->completed(run.outcome);
}

// The first submission that is not done is the one that the fault happened in, if anything of it had reached the GPU.
void CommandRunner::recover() {
  const cuda::Code cause = broken_by_;
  for (const uint64_t passed = stream_ ? stream_->passed() : 0; !in_flight_.empty();) {
    if (const uint64_t last = in_flight_.front()->last_mark; last == 0 || last > passed) break;
    const std::unique_ptr<Run> done = std::move(in_flight_.front());
    in_flight_.pop_front();
    perform_steps(*done, passed);
    complete(*done);
  }
  if (stream_) gpu_->rebuild(stream_->generation(), cause);
  auto runs = std::move(in_flight_);
  in_flight_.clear();
  stream_.reset();
  launches_.clear();
  std::unique_ptr<Run> failed;
  if (!runs.empty() && (runs.front()->has_begun || runs.front()->attempts >= most_attempts)) {
    failed = std::move(runs.front());
    runs.pop_front();
    failed->outcome.faults.push_back(blame(*failed, cause));
    fail_rest(*failed);
    failed->last_mark = 0;
  }
  broken_by_ = cuda::Code::success;
  if (failed) complete(*failed);
  for (auto& run : runs) {
    run->steps.clear();
    run->groups.clear();
    run->deferred.clear();
    run->work.clear();
    run->uploads.give_back(upload_chunks_);
    run->logs.give_back(log_pages_);
    run->next = run->last_mark = run->started_at = 0;
    run->started = run->ended = nullptr;
    run->has_begun = false;
    in_flight_.push_back(std::move(run));
    encode(*in_flight_.back());
  }
}

// What was at work when the GPU stopped is one of the things that were on the stream.
device::Fault CommandRunner::blame(const Run& run, cuda::Code cause) const {
  if (gpu_->is_abandoned() && !is_out_of_time_) return {device::FaultKind::device_removed, gpu_->use().error(), "", ""};
  const std::vector<Work>& work = run.work;
  const auto has_label_of_first = [&](const Work& other) { return other.encoder_label == work[0].encoder_label; };
  const bool is_in_one_encoder = !work.empty() && std::ranges::all_of(work, has_label_of_first);
  std::vector<std::string> names;
  for (const Work& each : work)
    names.push_back(is_in_one_encoder || !each.encoder_label
                        ? fmt::format("'{}'", each.name)
                        : fmt::format("'{}' of encoder '{}'", each.name, each.encoder_label));
  const std::string where = names.empty()       ? ""
                            : names.size() == 1 ? fmt::format(" in kernel {}", names[0])
                                                : fmt::format(" in one of the kernels {}", fmt::join(names, ", "));
  device::Fault fault{kind_of(cause), fmt::format("the GPU stopped{}: {}", where, gpu_->driver.describe(cause)),
                      work.size() == 1 ? work[0].name : "", ""};
  if (is_in_one_encoder && work[0].encoder_label) fault.encoder_label = work[0].encoder_label;
  if (is_out_of_time_)
    fault.message =
        fmt::format("the GPU has been busy for too long{}; METALLOID_TIMEOUT sets the limit in seconds, 0 for none. {}",
                    where, gpu_->use().error());
  return fault;
}

// What of a submission that failed others wait for.
void CommandRunner::fail_rest(Run& run) {
  current_ = &run;
  perform_steps(run, UINT64_MAX);
  const auto& commands = run.submission->list.commands;
  while (run.next < commands.size()) {
    const device::Command& command = commands[run.next++];
    if (const auto* signal = std::get_if<device::SignalEvent>(&command)) signal->event->signal(signal->value);
    if (const auto* wait = std::get_if<device::WaitEvent>(&command)) wait->event->wait(wait->value);
    if (const auto* host = std::get_if<device::HostWork>(&command)) host->work();
    if (const auto* timestamp = std::get_if<device::Timestamp>(&command)) *timestamp->destination = now();
    if (run.submission->observer) run.submission->observer->carried_out(command, now(), now());
  }
  current_ = nullptr;
}

bool CommandRunner::open_stream() {
  if (stream_) return true;
  auto stream = Stream::make(gpu_);
  if (!stream) {
    fail(gpu_->is_lost() ? device::FaultKind::device_removed : device::FaultKind::internal, stream.error());
    return false;
  }
  stream_ = *std::move(stream);
  return true;
}

bool CommandRunner::hold() {
  if (use_) return true;
  if (!stream_ || broken_by_ != cuda::Code::success) return false;
  auto use = gpu_->use();
  if (use && use->generation() == stream_->generation()) {
    use_.emplace(*std::move(use));
    return true;
  }
  broken_by_ = gpu_->last_cause();
  return false;
}

bool CommandRunner::works() const {
  return broken_by_ == cuda::Code::success && current_->outcome.faults.empty();
}

// Without it the stream is of no use.
bool CommandRunner::require(cuda::Code code) {
  if (code != cuda::Code::success) broken_by_ = code;
  return code == cuda::Code::success;
}

bool CommandRunner::check(cuda::Code code, const char* deed) {
  if (code == cuda::Code::success) return true;
  if (breaks_context(code))
    broken_by_ = code;
  else
    fail(kind_of(code), fmt::format("the GPU could not {}: {}", deed, gpu_->driver.describe(code)));
  return false;
}

void CommandRunner::fail(device::FaultKind kind, std::string message, std::string kernel) {
  const char* label = encoder_label();
  current_->outcome.faults.push_back({kind, std::move(message), std::move(kernel), label ? label : ""});
}

void CommandRunner::note_work(const char* name) {
  const Work work{name, encoder_label()};
  std::vector<Work>& noted = current_->work;
  if (std::find(noted.rbegin(), noted.rend(), work) == noted.rend()) noted.push_back(work);
}

// Debug groups may stand around an encoder and in it.
const char* CommandRunner::encoder_label() const {
  for (const device::BeginGroup& group : current_->groups)
    if (group.encoder) return group.label;
  return nullptr;
}

}  // namespace metalloid::nvidia

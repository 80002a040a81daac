#include "cpu/command_runner.hpp"

#include "cpu/clock.hpp"
#include "cpu/memory_copy.hpp"

namespace metalloid::cpu {

void CommandRunner::run(device::Submission& submission) {
  submission_ = &submission;
  outcome_.faults.clear();
  groups_.clear();
  grids_.submission_started();
  if (submission.scheduled) submission.scheduled();
  device::Span span{.started = now()};
  run(submission.list);
  grids_.submission_ended(submission.log);
  span.ended = now();
  outcome_.span = [span] { return span; };
  submission.completed(outcome_);
}

void CommandRunner::run(const device::CommandList& list) {
  for (const device::Command& command : list.commands) run(command);
}

void CommandRunner::run(const device::Command& command) {
  device::Observer* observer = submission_->observer.get();
  const uint64_t started = observer ? now() : 0;
  std::visit([this](const auto& present) { carry_out(present); }, command);
  if (observer) observer->carried_out(command, started, now());
}

void CommandRunner::carry_out(const device::Dispatch& dispatch) {
  if (!outcome_.faults.empty()) return;
  if (auto fault = grids_.run(dispatch, submission_->log, encoder_label()))
    outcome_.faults.push_back(std::move(*fault));
}

void CommandRunner::carry_out(const device::Copy& copy) {
  if (!outcome_.faults.empty()) return;
  if (copy.row_bytes == 0) return;  // there need not be an address either
  const bool is_one_piece = copy.source_row_stride == copy.row_bytes && copy.destination_row_stride == copy.row_bytes;
  const uint64_t rows = is_one_piece ? 1 : copy.rows,
                 bytes = is_one_piece ? copy.row_bytes * copy.rows : copy.row_bytes;
  for (uint64_t image = 0; image < copy.images; ++image)
    for (uint64_t row = 0; row < rows; ++row)
      copy_memory(
          pool_,
          reinterpret_cast<void*>(copy.destination + image * copy.destination_image_stride +
                                  row * copy.destination_row_stride),
          reinterpret_cast<const void*>(copy.source + image * copy.source_image_stride + row * copy.source_row_stride),
          bytes);
}

void CommandRunner::carry_out(const device::Fill& fill) {
  if (!outcome_.faults.empty() || fill.bytes == 0) return;
  fill_memory(pool_, reinterpret_cast<void*>(fill.destination), fill.value, fill.bytes);
}

void CommandRunner::carry_out(const device::SignalEvent& signal) {
  signal.event->signal(signal.value);
}

void CommandRunner::carry_out(const device::WaitEvent& wait) {
  wait.event->wait(wait.value);
}

void CommandRunner::carry_out(const device::Timestamp& timestamp) {
  *timestamp.destination = now();
}

void CommandRunner::carry_out(const device::HostWork& host) {
  host.work();
}

void CommandRunner::carry_out(const device::LibraryWork& work) {
  if (!outcome_.faults.empty()) return;
  const Status done = work.call(nullptr);
  if (done) return;
  const char* label = encoder_label();
  outcome_.faults.push_back({device::FaultKind::internal, done.error(), "", label ? label : ""});
}

void CommandRunner::carry_out(const device::Deferred& deferred) {
  if (!outcome_.faults.empty()) return;
  device::CommandList list;
  deferred.expand(list);
  run(list);
}

void CommandRunner::carry_out(const device::BeginGroup& group) {
  groups_.push_back(group);
}

void CommandRunner::carry_out(const device::EndGroup&) {
  if (!groups_.empty()) groups_.pop_back();
}

// Debug groups may stand around an encoder and in it.
const char* CommandRunner::encoder_label() const {
  for (const device::BeginGroup& group : groups_)
    if (group.encoder) return group.label;
  return nullptr;
}

}  // namespace metalloid::cpu

#include "metal/trace_recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "foundation/string.hpp"
#include "metal/command_buffer.hpp"
#include "metal/device.hpp"
#include "metal/queue.hpp"
#include "metal/running_trace.hpp"
#include "metal/trace_document.hpp"

namespace metalloid::metal {
namespace {

constexpr size_t enough_to_write = 1 << 16;

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

std::string name_of(const CommandBufferObject& command_buffer, uint64_t number) {
  const std::string_view label = foundation::text_of(command_buffer.label.get());
  return label.empty() ? fmt::format("command buffer {}", number) : std::string(label);
}

std::string text(device::Size size) {
  return fmt::format("[{},{},{}]", size.x, size.y, size.z);
}

std::string binding(const device::Slot& slot, const device::Argument& argument) {
  switch (slot.kind) {
    case ParameterKind::buffer:
      return argument.value ? fmt::format("{} bytes at {:#x}", argument.length, argument.value) : "null";
    case ParameterKind::threadgroup_memory:
      return fmt::format("{} bytes", argument.length);
    default:
      return fmt::format("{:#x}", argument.value);
  }
}

std::string arguments_of(const device::Dispatch& dispatch) {
  uint64_t memory = dispatch.pipeline->static_threadgroup_memory;
  std::string bindings;
  for (size_t i = 0; i < dispatch.pipeline->slots.size(); ++i) {
    const device::Slot& slot = dispatch.pipeline->slots[i];
    const device::Argument& argument = dispatch.arguments[i];
    if (slot.kind == ParameterKind::threadgroup_memory) memory += argument.length;
    fmt::format_to(std::back_inserter(bindings), R"({}"{} {}":"{}")", i == 0 ? "" : ",", to_string(slot.kind),
                   slot.index, binding(slot, argument));
  }
  const std::string grid = dispatch.indirect_threadgroups ? R"("indirect")" : text(dispatch.threads_per_grid);
  return fmt::format(R"("threads_per_grid":{},"threads_per_threadgroup":{},"threadgroup_memory":{},"bindings":{{{}}})",
                     grid, text(dispatch.threads_per_threadgroup), memory, bindings);
}

std::string arguments_of(const device::Copy& copy) {
  return fmt::format(R"("bytes":{},"source":"{:#x}","destination":"{:#x}")", copy.row_bytes * copy.rows * copy.images,
                     copy.source, copy.destination);
}

std::string arguments_of(const device::Fill& fill) {
  return fmt::format(R"("bytes":{},"destination":"{:#x}","value":{})", fill.bytes, fill.destination, fill.value);
}

}  // namespace

Recorder::Recorder(std::shared_ptr<Trace> trace, CommandBufferObject& command_buffer)
    : trace_(std::move(trace)),
      number_(trace_->next_number()),
      name_(name_of(command_buffer, number_)),
      process_(trace_->process(*command_buffer.queue->device)),
      queue_(trace_->track(*command_buffer.queue.get())) {
  const uint64_t now = trace_->now();
  host_event("commit", now);
  allocated_memory(command_buffer, now);
  flush();
}

void Recorder::carried_out(const device::Command& command, uint64_t started, uint64_t ended) {
  if (open_slices_ == 0) begin_command_buffer(started);
  std::visit(Overloaded{
                 [&](const device::Dispatch& dispatch) {
                   slice(dispatch.pipeline->name, "dispatch", started, ended, arguments_of(dispatch));
                 },
                 [&](const device::Copy& copy) { slice("copy", "copy", started, ended, arguments_of(copy)); },
                 [&](const device::Fill& fill) { slice("fill", "fill", started, ended, arguments_of(fill)); },
                 [&](const device::WaitEvent& wait) {
                   slice("wait for event", "event", started, ended, fmt::format(R"("value":{})", wait.value));
                 },
                 [&](const device::SignalEvent& signal) {
                   slice("signal event", "event", started, ended, fmt::format(R"("value":{})", signal.value));
                 },
                 [&](const device::HostWork&) { slice("host work", "host", started, ended, ""); },
                 [&](const device::LibraryWork& work) { slice(work.name, "library", started, ended, ""); },
                 [&](const device::BeginGroup& group) {
                   const char* category = group.encoder ? group.encoder : "debug group";
                   begin_slice(group.label ? group.label : category, category, started, "");
                 },
                 [&](const device::EndGroup&) {
                   if (open_slices_ > 1) end_slice(ended, "");
                 },
                 [](const device::Timestamp&) {},
                 [](const device::Deferred&) {},  // the commands it stands for are seen one by one
             },
             command);
  if (events_.size() >= enough_to_write) flush();
}

void Recorder::completed(const CommandBufferObject& command_buffer) {
  const auto nanoseconds = [](double seconds) { return static_cast<uint64_t>(std::llround(seconds * 1e9)); };
  if (open_slices_ == 0) begin_command_buffer(nanoseconds(command_buffer.gpu_started()));
  const NS::Error* error = command_buffer.error();
  const std::string outcome =
      error ? fmt::format(R"("error":{})", json_string(foundation::text_of(error->localizedDescription()))) : "";
  const uint64_t ended = nanoseconds(command_buffer.gpu_ended());
  while (open_slices_ > 1) end_slice(ended, "");
  end_slice(ended, outcome);
  const uint64_t now = trace_->now();
  host_event("completed", now);
  allocated_memory(command_buffer, now);
  flush();
}

void Recorder::begin_command_buffer(uint64_t started) {
  begin_slice(name_, "command buffer", started, fmt::format(R"("number":{})", number_));
}

void Recorder::begin_slice(std::string_view name, std::string_view category, uint64_t started,
                           std::string_view arguments) {
  last_ = std::max(last_, started);
  fmt::format_to(std::back_inserter(events_),
                 R"({{"ph":"B","pid":{},"tid":{},"ts":{},"name":{},"cat":"{}","args":{{{}}}}},)"
                 "\n",
                 process_, queue_, trace_->time(last_), json_string(name), category, arguments);
  ++open_slices_;
}

void Recorder::end_slice(uint64_t ended, std::string_view arguments) {
  last_ = std::max(last_, ended);
  fmt::format_to(std::back_inserter(events_),
                 R"({{"ph":"E","pid":{},"tid":{},"ts":{},"args":{{{}}}}},)"
                 "\n",
                 process_, queue_, trace_->time(last_), arguments);
  --open_slices_;
}

void Recorder::slice(std::string_view name, std::string_view category, uint64_t started, uint64_t ended,
                     std::string_view arguments) {
  started = std::max(last_, started);
  last_ = std::max(started, ended);
  fmt::format_to(std::back_inserter(events_),
                 R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":"{}","args":{{{}}}}},)"
                 "\n",
                 process_, queue_, trace_->time(started), microseconds(last_ - started), json_string(name), category,
                 arguments);
}

void Recorder::host_event(std::string_view what, uint64_t time) {
  fmt::format_to(std::back_inserter(events_),
                 R"({{"ph":"i","s":"t","pid":{},"tid":{},"ts":{},"name":{},"cat":"host","args":{{"number":{}}}}},)"
                 "\n",
                 host_process, trace_->track_of_this_thread(), trace_->time(time),
                 json_string(fmt::format("{}: {}", what, name_)), number_);
}

void Recorder::allocated_memory(const CommandBufferObject& command_buffer, uint64_t time) {
  fmt::format_to(std::back_inserter(events_),
                 R"({{"ph":"C","pid":{},"ts":{},"name":"allocated memory","args":{{"bytes":{}}}}},)"
                 "\n",
                 process_, trace_->time(time), command_buffer.queue->device->allocated_bytes.load());
}

void Recorder::flush() {
  trace_->append(events_);
  events_.clear();
}

}  // namespace metalloid::metal

// A trace of what devices do, for Perfetto (ui.perfetto.dev) and chrome://tracing: trace-event JSON with a process for
// each device and a track for each queue, on which command buffers, encoders and debug groups, and single commands are
// nested slices.
//
// A trace runs from its start to its stop. It is streamed to a temporary file beside its destination, so that its
// length is not limited by memory, and gets its name when it is whole: after the last of the command buffers that were
// committed while it ran.
//
// METALLOID_TRACE=path traces the whole process, from its first command buffer to its exit.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <metalloid/result.hpp>

#include "device/device.hpp"

namespace metalloid::metal {

class CommandBufferObject;
class CommandQueueObject;
class DeviceObject;

// What is traced: all command buffers of a device, or of one of its queues if there is one.
struct TraceSubject {
  const DeviceObject* device = nullptr;  // null: of all devices
  const CommandQueueObject* queue = nullptr;
  bool from_the_start = true;  // or from Trace::record(true) on
};

class Trace;

Result<std::shared_ptr<Trace>> start_trace(const std::filesystem::path& destination, TraceSubject subject);

// Command buffers that are committed from now on are not traced. Waits a while for those that were, and the file is
// there when this returns, unless one of them takes longer: then it is there when that one is done.
void stop_trace(const std::shared_ptr<Trace>& trace);

// How many traces run. Whether METALLOID_TRACE asks for one is found out by the first command buffer; until then it
// counts as one.
inline std::atomic<size_t> running_traces = 1;

// What is to watch a command buffer that is being committed; null if no trace runs.
std::shared_ptr<device::Observer> new_recorder(CommandBufferObject& command_buffer);

inline std::shared_ptr<device::Observer> observer_of(CommandBufferObject& command_buffer) {
  if (running_traces.load(std::memory_order_relaxed) == 0) [[likely]]
    return nullptr;
  return new_recorder(command_buffer);
}

}  // namespace metalloid::metal

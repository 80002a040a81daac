#include "metal/trace.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "metal/command_buffer.hpp"
#include "metal/queue.hpp"
#include "metal/running_trace.hpp"
#include "metal/trace_recorder.hpp"

namespace metalloid::metal {
namespace {

struct RunningTraces {
  std::mutex mutex;
  std::vector<std::shared_ptr<Trace>> traces;
};

RunningTraces& running() {
  static auto* const all = new RunningTraces;  // used until the process is gone
  return *all;
}

class SeveralObservers final : public device::Observer {
 public:
  std::vector<std::shared_ptr<device::Observer>> observers;

  void carried_out(const device::Command& command, uint64_t started, uint64_t ended) override {
    for (const auto& observer : observers) observer->carried_out(command, started, ended);
  }
};

// Answers whether it ran.
bool take_from_running(const std::shared_ptr<Trace>& trace) {
  std::lock_guard lock(running().mutex);
  const bool found = std::erase(running().traces, trace) != 0;
  if (found) --running_traces;
  return found;
}

void trace_whole_process() {
  const char* path = std::getenv("METALLOID_TRACE");
  if (path && *path) {
    static std::shared_ptr<Trace>& trace = *new std::shared_ptr<Trace>;
    if (auto started = start_trace(path, {})) {
      trace = std::move(*started);
      std::atexit([] {
        take_from_running(trace);
        trace->stop();
        trace->wait_until_finished(std::chrono::seconds(1));
        trace->stop_now();
      });
    } else {
      std::fprintf(stderr, "metalloid: METALLOID_TRACE: %s\n", started.error().c_str());
    }
  }
  --running_traces;
}

}  // namespace

Result<std::shared_ptr<Trace>> start_trace(const std::filesystem::path& destination, TraceSubject subject) {
  auto document = TraceDocument::create(destination);
  if (!document) return Error{document.error()};
  auto trace = std::make_shared<Trace>(std::move(*document), subject);
  std::lock_guard lock(running().mutex);
  running().traces.push_back(trace);
  ++running_traces;
  return trace;
}

// A handler is called by the thread that carries the commands out, so it cannot wait for them.
void stop_trace(const std::shared_ptr<Trace>& trace) {
  if (!take_from_running(trace)) return;
  trace->stop();
  if (!inside_handler()) trace->wait_until_finished(std::chrono::seconds(10));
}

std::shared_ptr<device::Observer> new_recorder(CommandBufferObject& command_buffer) {
  static std::once_flag once;
  std::call_once(once, trace_whole_process);
  auto observers = std::make_shared<SeveralObservers>();
  std::lock_guard lock(running().mutex);
  for (const std::shared_ptr<Trace>& trace : running().traces) {
    if (!trace->wants(command_buffer)) continue;
    trace->enter();
    auto recorder = std::make_shared<Recorder>(trace, command_buffer);
    observers->observers.push_back(recorder);
    const auto completed = [trace, recorder](MTL::CommandBuffer* done) {
      recorder->completed(*body(done));
      trace->leave();
    };
    command_buffer.add_completed_handler(completed, Call::current());
  }
  if (observers->observers.size() > 1) return observers;
  return observers->observers.empty() ? nullptr : observers->observers.front();
}

}  // namespace metalloid::metal

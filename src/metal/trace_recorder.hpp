// Turns one command buffer's commands, as its queue carries them out, into the events of a trace: slices that begin and
// end in the order of the file, so that nesting needs no sorting.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device/device.hpp"

namespace metalloid::metal {

class CommandBufferObject;
class Trace;

class Recorder final : public device::Observer {
 public:
  // Called when the command buffer is committed.
  Recorder(std::shared_ptr<Trace> trace, CommandBufferObject& command_buffer);

  void carried_out(const device::Command& command, uint64_t started, uint64_t ended) override;

  // All is done or has failed, and its handlers have run.
  void completed(const CommandBufferObject& command_buffer);

 private:
  void begin_command_buffer(uint64_t started);
  void begin_slice(std::string_view name, std::string_view category, uint64_t started, std::string_view arguments);
  void end_slice(uint64_t ended, std::string_view arguments);
  void slice(std::string_view name, std::string_view category, uint64_t started, uint64_t ended,
             std::string_view arguments);
  void host_event(std::string_view what, uint64_t time);
  void allocated_memory(const CommandBufferObject& command_buffer, uint64_t time);
  void flush();

  const std::shared_ptr<Trace> trace_;
  const uint64_t number_;
  const std::string name_;
  const unsigned process_, queue_;
  size_t open_slices_ = 0;  // the command buffer's own included
  uint64_t last_ = 0;       // the end of the latest event
  std::string events_;      // not yet written
};

}  // namespace metalloid::metal

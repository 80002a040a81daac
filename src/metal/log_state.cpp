// A log state decides by its own level which messages pass. Command buffers without one follow the environment, as on a
// Mac:
//
//   MTL_LOG_LEVEL=MTLLogLevelDebug   the least level that passes; without it, what a Mac's log shows: notices and above
//   MTL_LOG_TO_STDERR=1              messages that handlers take are printed as well
//   MTL_LOG_BUFFER_SIZE              accepted; messages go straight to the host, so that no buffer can be too small
#include "metal/log_state.hpp"

#include <Foundation/NSAutoreleasePool.hpp>
#include <Metal/MTLDevice.hpp>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/error.hpp"
#include "foundation/string.hpp"
#include "metal/device.hpp"
#include "metal/property.hpp"

namespace metalloid::metal {
namespace {

constexpr NS::Integer least_buffer_size = 1024;
constexpr std::array level_names = {"Undefined", "Debug", "Info", "Notice", "Error", "Fault"};

struct LogStateProperties {
  static constexpr const char* class_name = "MTLLogStateDescriptor";
  MTL::LogLevel level = MTL::LogLevelUndefined;
  NS::Integer bufferSize = least_buffer_size;
};

class LogStateObject final : public MTL::LogState {
 public:
  const MTL::LogLevel level;

  explicit LogStateObject(MTL::LogLevel level) : level(level) {}

  void add_handler(const MTL::LogHandlerFunction& handler) {
    std::lock_guard lock(mutex_);
    if (handler) handlers_.push_back(handler);
  }

  // False if there is no handler.
  bool handle(const device::Log& log) {
    std::lock_guard lock(mutex_);
    if (handlers_.empty()) return false;
    const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    NS::String* subsystem = foundation::autoreleased_string(log.subsystem);
    NS::String* category = foundation::autoreleased_string(log.category);
    NS::String* message = foundation::autoreleased_string(log.message);
    for (size_t i = 0; i < handlers_.size(); ++i) {
      const MTL::LogHandlerFunction handler = handlers_[i];  // it may add another one
      handler(subsystem, category, static_cast<MTL::LogLevel>(log.level), message);
    }
    return true;
  }

  const char* className() const override { return "MTLLogState"; }

 private:
  std::recursive_mutex mutex_;
  std::vector<MTL::LogHandlerFunction> handlers_;
};

MTL::LogLevel level_of_environment() {
  const char* value = std::getenv("MTL_LOG_LEVEL");
  std::string_view name = value ? value : "";
  if (name.starts_with("MTLLogLevel")) name.remove_prefix(std::string_view("MTLLogLevel").size());
  for (size_t level = 0; level < level_names.size(); ++level)
    if (name == level_names[level]) return static_cast<MTL::LogLevel>(level);
  return MTL::LogLevelNotice;
}

bool also_to_stderr() {
  const char* value = std::getenv("MTL_LOG_TO_STDERR");
  return value && *value && std::string_view(value) != "0";
}

void print(const device::Log& log) {
  std::string origin = log.subsystem;
  if (!log.category.empty()) origin += ":" + log.category;
  if (!origin.empty()) origin = "[" + origin + "] ";
  const auto level = static_cast<size_t>(log.level);
  std::fprintf(stderr, "%s%s (kernel '%s'): %s\n", origin.c_str(),
               level < level_names.size() ? level_names[level] : level_names[0], log.kernel.c_str(),
               log.message.c_str());
}

}  // namespace

PROPERTIES(LogStateDescriptor, LogStateProperties)

void deliver(MTL::LogState* state, const device::Log& log) {
  auto* self = static_cast<LogStateObject*>(state);
  if (log.level < (self ? self->level : level_of_environment())) return;
  const bool handled = self && self->handle(log);
  if (!handled || also_to_stderr()) print(log);
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid;
using namespace metalloid::metal;

STRING_CONSTANT(LogStateErrorDomain, "MTLLogStateErrorDomain")

ALLOC(LogStateDescriptor)
PROPERTY(LogStateDescriptor, level, setLevel)
PROPERTY(LogStateDescriptor, bufferSize, setBufferSize)

LogState* Device::newLogState(const LogStateDescriptor* descriptor, NS::Error** error) {
  if (!body(this)) return nullptr;
  const auto* asked = properties(descriptor);
  if (!asked) {
    foundation::set_error(error, LogStateErrorDomain, static_cast<NS::Integer>(LogStateErrorInvalid),
                          "newLogState: the descriptor is null");
    return nullptr;
  }
  if (asked->bufferSize < least_buffer_size) {
    const std::string message = "newLogState: the buffer's size is " + std::to_string(asked->bufferSize) +
                                " bytes; it must be at least " + std::to_string(least_buffer_size);
    foundation::set_error(error, LogStateErrorDomain, static_cast<NS::Integer>(LogStateErrorInvalidSize), message);
    return nullptr;
  }
  return new LogStateObject(asked->level);
}

void LogState::addLogHandler(const LogHandlerFunction& handler) {
  if (auto* self = static_cast<LogStateObject*>(this)) self->add_handler(handler);
}

}  // namespace MTL

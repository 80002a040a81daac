#include "metal/misuse.hpp"

#include <cstdio>
#include <cstdlib>

#include "foundation/string.hpp"
#include "metal/command_buffer.hpp"

namespace metalloid::metal {
namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value && std::string_view(value) != "0";
}

enum class ErrorMode { report, abort, ignore };

ErrorMode error_mode() {
  const char* value = std::getenv("MTL_DEBUG_LAYER_ERROR_MODE");
  const std::string_view mode = value ? value : "";
  return mode == "assert" ? ErrorMode::abort : mode == "ignore" ? ErrorMode::ignore : ErrorMode::report;
}

}  // namespace

bool debug_layer_enabled() {
  return is_set("MTL_DEBUG_LAYER");
}

void report_misuse(CommandBufferObject* command_buffer, std::string_view call, std::string_view rule) {
  std::string message = std::string(call) + ": " + std::string(rule);
  const bool is_over = command_buffer && command_buffer->status() >= MTL::CommandBufferStatusCompleted;
  if (command_buffer) command_buffer->fail(MTL::CommandBufferErrorInvalidResource, message);
  if ((!debug_layer_enabled() && !is_over) || error_mode() == ErrorMode::ignore) return;
  if (command_buffer && command_buffer->label)
    message += " (command buffer '" + std::string(foundation::text_of(command_buffer->label.get())) + "')";
  std::fprintf(stderr, "Metal API misuse: %s\n", message.c_str());
  if (debug_layer_enabled() && error_mode() == ErrorMode::abort) std::abort();
}

void report_misuse(CommandBufferObject* command_buffer, std::string_view rule, Call call) {
  report_misuse(command_buffer, name_of(call), rule);
}

// Compilers give the whole signature, such as "void MTL::CommandBuffer::enqueue()".
std::string name_of(Call call) {
  std::string_view name = call.function_name();
  name = name.substr(0, name.find('('));
  name.remove_prefix(name.find_last_of(" *&") + 1);
  return std::string(name);
}

}  // namespace metalloid::metal

// The rules of Metal's API. On a Mac, breaking one ends the program; here it fails the command buffer it happened in,
// with an error that names the call and the rule. Rules whose breach would corrupt memory or crash are always checked.
// One in a command buffer that is over, whose error nobody looks at any more, is reported on stderr.
// With MTL_DEBUG_LAYER=1 all rules are, and each breach is reported on stderr as well; MTL_DEBUG_LAYER_ERROR_MODE
// chooses what else becomes of it:
//
//   nslog   (the default) report it and fail the command buffer
//   assert  report it and abort, as on a Mac
//   ignore  do not report it; the command buffer fails as it would without the layer
#pragma once

#include <source_location>
#include <string>
#include <string_view>

namespace metalloid::metal {

class CommandBufferObject;

// The method of the API that was called: methods pass their own place on, and reports give its name.
using Call = std::source_location;

// Reads the environment each time; queues remember the answer for their command buffers and encoders.
bool debug_layer_enabled();

// Reports a breach, and fails the command buffer if there is one.
void report_misuse(CommandBufferObject* command_buffer, std::string_view call, std::string_view rule);
void report_misuse(CommandBufferObject* command_buffer, std::string_view rule, Call call = Call::current());

// "MTL::ComputeCommandEncoder::setBuffer"
std::string name_of(Call call);

}  // namespace metalloid::metal

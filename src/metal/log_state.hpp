// Where os_log messages of kernels go: to the handlers of the log state that the command buffer (or its queue) has, or
// to stderr if there is none.
#pragma once

#include <Metal/MTLLogState.hpp>

#include "device/device.hpp"

namespace metalloid::metal {

// The log state may be null. Handlers have returned when this returns; one is called at a time.
void deliver(MTL::LogState* state, const device::Log& log);

}  // namespace metalloid::metal

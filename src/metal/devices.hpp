// The devices of this machine, as METALLOID_DEVICE names them.
#pragma once

#include <memory>
#include <string_view>

#include "device/device.hpp"

namespace metalloid::metal {

// The first device that has this in its name or architecture ("cpu", "nvidia", "sm_90"); null if none has.
std::shared_ptr<device::Device> device_named(std::string_view fragment);

}  // namespace metalloid::metal

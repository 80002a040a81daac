// The CPU as a Metal device.
#pragma once

#include <memory>

#include "device/device.hpp"

namespace metalloid::cpu {

std::shared_ptr<device::Device> make_device();

}  // namespace metalloid::cpu

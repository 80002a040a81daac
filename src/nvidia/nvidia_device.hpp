// NVIDIA's GPUs as Metal devices.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace metalloid::nvidia {

struct Devices {
  std::vector<std::shared_ptr<device::Device>> devices;  // one for each GPU that can be used, in the driver's order
  std::string problems;                                  // with the driver, or with GPUs that cannot be used
};

// Each time new ones, with contexts of their own.
Devices find_devices();

// The process's: always the same.
std::vector<std::shared_ptr<device::Device>> make_devices();

// A sentence for those who wanted one: no driver, no GPU, or what is wrong with those there are. Empty if there are
// devices.
std::string why_there_are_none();

}  // namespace metalloid::nvidia

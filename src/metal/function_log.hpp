// What shader validation found while a command buffer ran: the objects behind MTL::LogContainer and MTL::FunctionLog.
#pragma once

#include <Metal/MTLFunctionLog.hpp>
#include <vector>

#include "device/device.hpp"

namespace metalloid::metal {

MTL::LogContainer* autoreleased_logs(const std::vector<device::Log>& logs);

}  // namespace metalloid::metal

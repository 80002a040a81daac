// Memory of the CPU device: pages of the host, which kernels see where the host does.
#pragma once

#include <memory>
#include <metalloid/result.hpp>

#include "device/device.hpp"

namespace metalloid::cpu {

uint64_t physical_memory();  // bytes; of a container, what it may use

Result<std::unique_ptr<device::Memory>> allocate_memory(size_t bytes);
Result<std::unique_ptr<device::Memory>> adopt_memory(void* host, size_t bytes);

}  // namespace metalloid::cpu

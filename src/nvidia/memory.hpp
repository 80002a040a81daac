// Memory of a GPU. Small shared memory is pages of the host, which the GPU reads over the bus: cheaper than moving
// them. Larger shared memory is managed: its pages move to whoever touches them, and queues fetch them ahead. Private
// memory is the GPU's. Whatever the host sees has one address for both.
#pragma once

#include <memory>
#include <metalloid/result.hpp>

#include "nvidia/context.hpp"

namespace metalloid::nvidia {

// More is managed memory. Kernels read what lies behind the bus again and again: a vector of 16 KiB there made a
// product with a matrix take eight times as long on an H200.
constexpr size_t largest_pinned_memory = device::largest_memory_on_host;

Result<std::unique_ptr<device::Memory>> allocate_memory(std::shared_ptr<Gpu> gpu, size_t bytes,
                                                        device::Storage storage);
Result<std::unique_ptr<device::Memory>> allocate_pinned_memory(std::shared_ptr<Gpu> gpu, size_t bytes);
Result<std::unique_ptr<device::Memory>> adopt_memory(std::shared_ptr<Gpu> gpu, void* host, size_t bytes);

}  // namespace metalloid::nvidia

// Memory for small buffers. Programs make thousands of them, and pages of their own would cost each a call to the
// system or to a driver and most of a page; so they are cut from slabs. What is free is noted beside the slabs, never
// in them: a kernel that writes out of bounds damages buffers, not the allocator. Slabs are kept for reuse.
#pragma once

#include <cstddef>
#include <memory>

#include "device/device.hpp"

namespace metalloid::metal {

constexpr size_t largest_small_memory = 16384;

// Zeroed, and aligned to 256 bytes, or to a page if it is as large as one. Null if the device has no memory, or none of
// that storage which the host can clear.
std::unique_ptr<device::Memory> take_small_memory(device::Device& device, size_t bytes, device::Storage storage);

}  // namespace metalloid::metal

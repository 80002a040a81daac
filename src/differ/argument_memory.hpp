// The memory of one argument of a kernel, and what lies around it: stores that miss it are seen afterwards.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "device/device.hpp"

namespace metalloid::differ {

// What an argument lies directly beside: where it ends, or where it begins.
enum class Guard : uint8_t { end, beginning };

class ArgumentMemory {
 public:
  virtual ~ArgumentMemory() = default;

  virtual uint64_t address() const = 0;  // where kernels see it
  virtual std::span<const uint8_t> bytes() const = 0;
  virtual bool surroundings_are_untouched() const = 0;
};

// What surroundings are filled with.
constexpr uint8_t surroundings_pattern = 0xA5;
bool has_surroundings_pattern(std::span<const uint8_t> bytes);

// Memory of a device, which cannot be guarded by inaccessible pages: the guard is 256 bytes of the pattern. An error if
// the device has none left, or none that the host can see.
Result<std::unique_ptr<ArgumentMemory>> device_memory(device::Device& device, std::span<const uint8_t> contents,
                                                      Guard guard);

}  // namespace metalloid::differ

#include "differ/argument_memory.hpp"

#include <algorithm>

namespace metalloid::differ {

namespace {

class DeviceMemory final : public ArgumentMemory {
 public:
  static constexpr size_t guard_bytes = 256;  // a device's own alignment, too

  DeviceMemory(std::unique_ptr<device::Memory> memory, std::span<const uint8_t> contents, Guard guard)
      : memory_(std::move(memory)), all_(static_cast<uint8_t*>(memory_->host), memory_->size) {
    memory_->host_access();
    std::ranges::fill(all_, surroundings_pattern);
    begin_ = guard == Guard::beginning ? guard_bytes : all_.size() - guard_bytes - contents.size();
    size_ = contents.size();
    std::ranges::copy(contents, all_.begin() + static_cast<std::ptrdiff_t>(begin_));
  }

  uint64_t address() const override { return memory_->address + begin_; }
  std::span<const uint8_t> bytes() const override {
    memory_->host_access();
    return all_.subspan(begin_, size_);
  }
  bool surroundings_are_untouched() const override {
    memory_->host_access();
    return has_surroundings_pattern(all_.first(begin_)) && has_surroundings_pattern(all_.subspan(begin_ + size_));
  }

 private:
  std::unique_ptr<device::Memory> memory_;
  std::span<uint8_t> all_;
  size_t begin_ = 0, size_ = 0;
};

}  // namespace

bool has_surroundings_pattern(std::span<const uint8_t> bytes) {
  return std::ranges::all_of(bytes, [](uint8_t byte) { return byte == surroundings_pattern; });
}

Result<std::unique_ptr<ArgumentMemory>> device_memory(device::Device& device, std::span<const uint8_t> contents,
                                                      Guard guard) {
  constexpr size_t unit = DeviceMemory::guard_bytes;
  auto memory = device.allocate(2 * unit + (contents.size() + unit - 1) / unit * unit, device::Storage::shared);
  if (!memory) return Error{memory.error()};
  if (!(*memory)->host) return Error{device.info().name + " has shared memory that the host cannot see"};
  return std::unique_ptr<ArgumentMemory>(std::make_unique<DeviceMemory>(std::move(*memory), contents, guard));
}

}  // namespace metalloid::differ

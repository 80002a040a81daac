// Memory of the host that ends, or begins, at a page nobody may touch: an access of even one byte too many is a fault,
// where ordinary memory would hide it. What lies between the other side of the bytes and their page's border has a
// pattern, so that stores which miss on that side are seen afterwards.
#pragma once

#include <cstdint>
#include <span>

#include "differ/argument_memory.hpp"

namespace metalloid::differ {

class GuardedMemory final : public ArgumentMemory {
 public:
  GuardedMemory(std::span<const uint8_t> contents, Guard guard);
  ~GuardedMemory() override;
  GuardedMemory(GuardedMemory&& other) noexcept;
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  uint64_t address() const override { return reinterpret_cast<uint64_t>(bytes_.data()); }
  std::span<const uint8_t> bytes() const override { return bytes_; }
  bool surroundings_are_untouched() const override;

 private:
  std::span<uint8_t> all_;    // with the inaccessible pages
  std::span<uint8_t> pages_;  // those that may be accessed
  std::span<uint8_t> bytes_;
};

}  // namespace metalloid::differ

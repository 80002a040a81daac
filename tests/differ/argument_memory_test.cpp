// Memory of a device; the CPU is as good as any.
#include "differ/argument_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cpu/cpu_device.hpp"

namespace metalloid::differ {
namespace {

std::unique_ptr<ArgumentMemory> memory_with(const std::vector<uint8_t>& bytes, Guard guard) {
  static const auto device = cpu::make_device();
  auto memory = device_memory(*device, bytes, guard);
  if (!memory) throw std::runtime_error(memory.error());
  return std::move(*memory);
}

TEST(DeviceMemory, HoldsWhatItIsGiven) {
  for (const size_t size : {0, 1, 256, 5000})
    for (const Guard guard : {Guard::end, Guard::beginning}) {
      const std::vector<uint8_t> bytes(size, 7);
      const auto memory = memory_with(bytes, guard);
      EXPECT_TRUE(std::ranges::equal(memory->bytes(), bytes));
      EXPECT_TRUE(memory->surroundings_are_untouched());
    }
}

TEST(DeviceMemory, StoresOnEitherSideAreSeen) {
  for (const int64_t offset : {-1, 5000})
    for (const Guard guard : {Guard::end, Guard::beginning}) {
      const auto memory = memory_with(std::vector<uint8_t>(5000), guard);
      reinterpret_cast<uint8_t*>(memory->address())[offset] = 7;
      EXPECT_FALSE(memory->surroundings_are_untouched());
    }
}

}  // namespace
}  // namespace metalloid::differ

#include "differ/guarded_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace metalloid::differ {
namespace {

std::vector<uint8_t> some_bytes() {
  std::vector<uint8_t> bytes(5000);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
  return bytes;
}

volatile uint8_t* at(uint64_t address) {
  return reinterpret_cast<volatile uint8_t*>(address);
}

TEST(GuardedMemory, HoldsWhatItIsGiven) {
  for (const Guard guard : {Guard::end, Guard::beginning}) {
    const GuardedMemory memory(some_bytes(), guard);
    EXPECT_TRUE(std::ranges::equal(memory.bytes(), some_bytes()));
    EXPECT_TRUE(memory.surroundings_are_untouched());
  }
}

TEST(GuardedMemoryDeathTest, OneByteTooManyIsAFault) {
  const GuardedMemory at_end(some_bytes(), Guard::end), at_beginning(some_bytes(), Guard::beginning);
  EXPECT_DEATH((void)*at(at_end.address() + 5000), "");
  EXPECT_DEATH((void)*at(at_beginning.address() - 1), "");
}

TEST(GuardedMemory, StoresOnTheOtherSideAreSeen) {
  const GuardedMemory at_end(some_bytes(), Guard::end), at_beginning(some_bytes(), Guard::beginning);
  *at(at_end.address() - 1) = 7;
  *at(at_beginning.address() + 5000) = 7;
  EXPECT_FALSE(at_end.surroundings_are_untouched());
  EXPECT_FALSE(at_beginning.surroundings_are_untouched());
}

}  // namespace
}  // namespace metalloid::differ

// Which allocation an address belongs to.
#include "device/allocations.hpp"

#include <gtest/gtest.h>

namespace metalloid::device {
namespace {

std::string at(const Allocations& allocations, uint64_t address) {
  auto found = allocations.find(address);
  return found ? found->label : "nothing";
}

TEST(Allocations, AreFoundByAnyOfTheirBytes) {
  Allocations allocations;
  allocations.add({0x1000, 16, "a"});
  allocations.add({0x2000, 1, "b"});
  EXPECT_EQ(at(allocations, 0xfff), "nothing");
  EXPECT_EQ(at(allocations, 0x1000), "a");
  EXPECT_EQ(at(allocations, 0x100f), "a");
  EXPECT_EQ(at(allocations, 0x1010), "nothing");
  allocations.set_label(0x1000, 16, "renamed");
  EXPECT_EQ(at(allocations, 0x1001), "renamed");
  allocations.remove(0x1000, 16);
  EXPECT_EQ(at(allocations, 0x1001), "nothing");
  EXPECT_EQ(at(allocations, 0x2000), "b");
}

TEST(Allocations, OfAHeapGiveTheInnermost) {
  Allocations allocations;
  allocations.add({0x1000, 0x1000, "heap"});
  allocations.add({0x1000, 0x100, "first"});
  allocations.add({0x1800, 0x100, "second"});
  EXPECT_EQ(at(allocations, 0x1010), "first");
  EXPECT_EQ(at(allocations, 0x1100), "heap");
  EXPECT_EQ(at(allocations, 0x1850), "second");
  EXPECT_EQ(at(allocations, 0x1fff), "heap");
  allocations.remove(0x1000, 0x100);
  EXPECT_EQ(at(allocations, 0x1010), "heap");
}

TEST(Allocations, ThatShareAnAddressAreToldApartByTheirLength) {
  Allocations allocations;
  allocations.add({0x1000, 0x100, "short"});
  allocations.add({0x1000, 0x200, "long"});
  allocations.set_label(0x1000, 0x200, "renamed");
  allocations.remove(0x1000, 0x100);
  EXPECT_EQ(at(allocations, 0x1010), "renamed");
  EXPECT_EQ(at(allocations, 0x1180), "renamed");
}

}  // namespace
}  // namespace metalloid::device

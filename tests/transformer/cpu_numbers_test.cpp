#include "transformer/cpu_numbers.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace metalloid::transformer {
namespace {

TEST(CpuNumbers, EveryHalfReadsAsItsValue) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const float expected = device::from_half(bits), found = Half{uint16_t(bits)};
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(found)) << bits;
    else
      EXPECT_EQ(device::float_bits(found), device::float_bits(expected)) << bits;
  }
}

}  // namespace
}  // namespace metalloid::transformer

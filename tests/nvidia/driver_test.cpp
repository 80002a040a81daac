// The driver's absence is an answer, not a failure.
#include "nvidia/driver.hpp"

#include <gtest/gtest.h>

namespace metalloid::nvidia {
namespace {

TEST(NvidiaDriver, SaysWhyThereIsNone) {
  const auto driver = Driver::open("/there/is/no/such/libcuda.so");
  ASSERT_FALSE(driver);
  EXPECT_NE(driver.error().find("there is no NVIDIA driver: /there/is/no/such/libcuda.so"), std::string::npos);
}

TEST(NvidiaDriver, SaysWhatALibraryLacks) {
  const auto driver = Driver::open("libm.so.6");
  ASSERT_FALSE(driver);
  EXPECT_NE(driver.error().find("has no function cuInit; a newer driver is needed"), std::string::npos);
}

TEST(NvidiaDriver, KnowsWhatAContextDoesNotSurvive) {
  EXPECT_TRUE(breaks_context(cuda::Code::illegal_address));
  EXPECT_TRUE(breaks_context(cuda::Code::launch_failed));
  EXPECT_FALSE(breaks_context(cuda::Code::out_of_memory));
  EXPECT_FALSE(breaks_context(cuda::Code::not_ready));
}

}  // namespace
}  // namespace metalloid::nvidia

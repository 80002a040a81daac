// For test programs whose tests take the system's default device: where METALLOID_DEVICE names one that this machine
// does not have, all tests are skipped, and the output says why.
#include <gtest/gtest.h>

#include <Metal/Metal.hpp>
#include <cstdlib>

namespace {

class DeviceUnderTest : public testing::Environment {
  void SetUp() override {
    const char* name = std::getenv("METALLOID_DEVICE");
    if (name && !NS::TransferPtr(MTL::CreateSystemDefaultDevice()))
      GTEST_SKIP() << "there is no device '" << name << "'";
  }
};

[[maybe_unused]] const testing::Environment* const registered = testing::AddGlobalTestEnvironment(new DeviceUnderTest);

}  // namespace

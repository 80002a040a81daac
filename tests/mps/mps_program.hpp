// What tests of Metal Performance Shaders share: the device under test, matrices of random numbers, float64 to compare
// with, and a run of each test with the device's math libraries and with our own kernels only.
#pragma once

#include <gtest/gtest.h>

#include <MetalPerformanceShaders/MetalPerformanceShaders.hpp>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "device/small_float.hpp"
#include "mps/libraries/library.hpp"

namespace metalloid::mps {

// With the libraries (true), and with our own kernels only (false).
class MpsTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    allow_math_libraries(GetParam());
    device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
    queue = NS::TransferPtr(device->newCommandQueue());
  }
  void TearDown() override { allow_math_libraries(true); }

  // Encodes, commits and waits; the error's text, empty if all is well.
  std::string run(const std::function<void(MTL::CommandBuffer*)>& encode) {
    const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    MTL::CommandBuffer* command_buffer = queue->commandBuffer();
    encode(command_buffer);
    command_buffer->commit();
    command_buffer->waitUntilCompleted();
    return command_buffer->error() ? command_buffer->error()->localizedDescription()->utf8String() : "";
  }

  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  NS::SharedPtr<MTL::Device> device;
  NS::SharedPtr<MTL::CommandQueue> queue;
  std::mt19937 random{42};
};

inline std::string with_or_without_libraries(const testing::TestParamInfo<bool>& info) {
  return info.param ? "Libraries" : "Kernels";
}
#define INSTANTIATE_MPS_TEST(Suite) \
  INSTANTIATE_TEST_SUITE_P(, Suite, testing::Values(true, false), metalloid::mps::with_or_without_libraries)

// Numbers in a buffer, one by one.
inline double number_at(const void* bytes, size_t index, MPS::DataType type) {
  switch (type) {
    case MPS::DataTypeFloat32:
      return static_cast<const float*>(bytes)[index];
    case MPS::DataTypeFloat16:
      return device::from_half(static_cast<const uint16_t*>(bytes)[index]);
    case MPS::DataTypeBFloat16:
      return device::from_bfloat(static_cast<const uint16_t*>(bytes)[index]);
    case MPS::DataTypeInt8:
      return static_cast<const int8_t*>(bytes)[index];
    case MPS::DataTypeUInt8:
      return static_cast<const uint8_t*>(bytes)[index];
    case MPS::DataTypeInt16:
      return static_cast<const int16_t*>(bytes)[index];
    case MPS::DataTypeInt32:
      return static_cast<const int32_t*>(bytes)[index];
    case MPS::DataTypeUInt32:
      return static_cast<const uint32_t*>(bytes)[index];
    default:
      ADD_FAILURE() << "no numbers of type " << type;
      return NAN;
  }
}

inline void set_number(void* bytes, size_t index, MPS::DataType type, double value) {
  switch (type) {
    case MPS::DataTypeFloat32:
      static_cast<float*>(bytes)[index] = float(value);
      return;
    case MPS::DataTypeFloat16:
      static_cast<uint16_t*>(bytes)[index] = uint16_t(device::to_half(float(value)));
      return;
    case MPS::DataTypeBFloat16:
      static_cast<uint16_t*>(bytes)[index] = uint16_t(device::to_bfloat(float(value)));
      return;
    case MPS::DataTypeInt8:
      static_cast<int8_t*>(bytes)[index] = int8_t(value);
      return;
    case MPS::DataTypeUInt8:
      static_cast<uint8_t*>(bytes)[index] = uint8_t(value);
      return;
    case MPS::DataTypeInt16:
      static_cast<int16_t*>(bytes)[index] = int16_t(value);
      return;
    case MPS::DataTypeInt32:
      static_cast<int32_t*>(bytes)[index] = int32_t(value);
      return;
    case MPS::DataTypeUInt32:
      static_cast<uint32_t*>(bytes)[index] = uint32_t(value);
      return;
    default:
      ADD_FAILURE() << "no numbers of type " << type;
  }
}

// Half the distance of neighbouring numbers near 1: what rounding to the type may cost.
inline double rounding_of(MPS::DataType type) {
  return type == MPS::DataTypeFloat32    ? 0x1p-24
         : type == MPS::DataTypeFloat16  ? 0x1p-11
         : type == MPS::DataTypeBFloat16 ? 0x1p-8
                                         : 0;
}

// The distance of the smallest numbers of the type, which are not normal.
inline double smallest_step(MPS::DataType type) {
  return type == MPS::DataTypeFloat16 ? 0x1p-24 : 0x1p-133;
}

}  // namespace metalloid::mps

#include <cstdlib>
#include <optional>

#include "metal_program.hpp"

namespace {

class Device : public MetalProgram {
 protected:
  Device() {
    if (const char* chosen = std::getenv("METALLOID_DEVICE")) chosen_ = chosen;
  }
  ~Device() override {
    if (chosen_)
      setenv("METALLOID_DEVICE", chosen_->c_str(), 1);
    else
      unsetenv("METALLOID_DEVICE");
  }

 private:
  std::optional<std::string> chosen_;
};

TEST_F(Device, IsThereWithoutAnyPreparation) {
  ASSERT_TRUE(device);
  EXPECT_FALSE(text(device->name()).empty());
  EXPECT_FALSE(text(device->architecture()->name()).empty());
}

TEST_F(Device, IsOneObjectHoweverOftenItIsAskedFor) {
  const auto again = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  EXPECT_EQ(again.get(), device.get());
  const auto all = NS::TransferPtr(MTL::CopyAllDevices());
  ASSERT_GE(all->count(), 1u);
  EXPECT_EQ(all->object(0), device.get());
}

TEST_F(Device, OutlivesEveryReferenceToIt) {
  const std::string name = text(device->name());
  MTL::CreateSystemDefaultDevice()->release();
  EXPECT_EQ(text(device->name()), name);
}

TEST_F(Device, IsChosenByAPartOfItsName) {
  setenv("METALLOID_DEVICE", "CPU", 1);
  const auto chosen = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  ASSERT_TRUE(chosen);
  EXPECT_NE(text(chosen->name()).find("CPU"), std::string::npos);
}

TEST_F(Device, ThatIsUnknownIsNullAndAMessageThatListsTheKnownOnes) {
  setenv("METALLOID_DEVICE", "abacus", 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(MTL::CreateSystemDefaultDevice(), nullptr);
  EXPECT_EQ(NS::TransferPtr(MTL::CopyAllDevices())->count(), 0u);
  const std::string message = testing::internal::GetCapturedStderr();
  EXPECT_NE(message.find("abacus"), std::string::npos) << message;
  EXPECT_NE(message.find(text(device->name())), std::string::npos) << message;
}

TEST_F(Device, BelongsToTheFamiliesThatMachineLearningAsksFor) {
  for (MTL::GPUFamily family : {MTL::GPUFamilyApple1, MTL::GPUFamilyApple7, MTL::GPUFamilyApple8, MTL::GPUFamilyApple9,
                                MTL::GPUFamilyMac2, MTL::GPUFamilyCommon3, MTL::GPUFamilyMetal3})
    EXPECT_TRUE(device->supportsFamily(family)) << family;
  for (MTL::GPUFamily family : {MTL::GPUFamilyApple10, MTL::GPUFamilyMetal4, MTL::GPUFamilyMacCatalyst1})
    EXPECT_FALSE(device->supportsFamily(family)) << family;
  EXPECT_TRUE(device->supportsFeatureSet(MTL::FeatureSet_macOS_GPUFamily2_v1));
  EXPECT_FALSE(device->supportsFeatureSet(MTL::FeatureSet_iOS_GPUFamily5_v1));
}

TEST_F(Device, HasAtLeastTheLimitsOfAnAppleGPU) {
  EXPECT_EQ(device->maxThreadsPerThreadgroup().width, 1024u);
  EXPECT_EQ(device->maxThreadsPerThreadgroup().depth, 1024u);
  EXPECT_GE(device->maxThreadgroupMemoryLength(), 32768u);
  EXPECT_EQ(device->argumentBuffersSupport(), MTL::ArgumentBuffersTier2);
  EXPECT_EQ(device->readWriteTextureSupport(), MTL::ReadWriteTextureTier2);
  EXPECT_TRUE(device->supportsFunctionPointers());
  EXPECT_FALSE(device->supportsRaytracing());
  EXPECT_FALSE(device->isRemovable());
  EXPECT_EQ(device->location(), MTL::DeviceLocationBuiltIn);
}

TEST_F(Device, SaysHowMuchMemoryThereIs) {
  EXPECT_GT(device->recommendedMaxWorkingSetSize(), uint64_t{1} << 26);
  EXPECT_GT(device->maxBufferLength(), NS::UInteger{1} << 26);
}

TEST_F(Device, CountsWhatIsAllocated) {
  const NS::UInteger before = device->currentAllocatedSize();
  auto buffer = NS::TransferPtr(device->newBuffer(1 << 20, MTL::ResourceStorageModeShared));
  EXPECT_GE(device->currentAllocatedSize(), before + (1 << 20));
  buffer.reset();
  EXPECT_EQ(device->currentAllocatedSize(), before);
}

TEST_F(Device, SamplesBothClocks) {
  MTL::Timestamp cpu = 0, gpu = 0, later_cpu = 0, later_gpu = 0;
  device->sampleTimestamps(&cpu, &gpu);
  device->sampleTimestamps(&later_cpu, &later_gpu);
  EXPECT_GT(cpu, 0u);
  EXPECT_GE(later_cpu, cpu);
  EXPECT_GE(later_gpu, gpu);
}

TEST_F(Device, ThatIsNilAnswersZero) {
  MTL::Device* volatile unknown = nullptr;  // a null that compilers do not see through
  MTL::Device* nil = unknown;
  EXPECT_EQ(nil->name(), nullptr);
  EXPECT_EQ(nil->maxThreadsPerThreadgroup().width, 0u);
  EXPECT_FALSE(nil->supportsFamily(MTL::GPUFamilyApple7));
  EXPECT_EQ(nil->newDefaultLibrary(), nullptr);
}

}  // namespace

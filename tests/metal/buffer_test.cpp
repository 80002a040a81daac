#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "resource_program.hpp"

namespace {

// Hidden from the compiler, which would complain about calls on a null that it sees.
MTL::Buffer* no_buffer() {
  static MTL::Buffer* volatile pointer = nullptr;
  return pointer;
}

class Buffer : public ResourceProgram {
 protected:
  const NS::UInteger page = static_cast<NS::UInteger>(sysconf(_SC_PAGESIZE));

  void* new_pages(NS::UInteger bytes) const {
    return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
};

TEST_F(Buffer, NewBuffersAreZero) {
  for (const NS::UInteger length : {1, 255, 4096, 1 << 20}) {
    auto buffer = NS::TransferPtr(device->newBuffer(length, MTL::ResourceStorageModeShared));
    ASSERT_TRUE(buffer);
    EXPECT_EQ(buffer->length(), length);
    const auto* bytes = static_cast<const uint8_t*>(buffer->contents());
    EXPECT_TRUE(std::all_of(bytes, bytes + length, [](uint8_t byte) { return byte == 0; })) << length;
  }
}

TEST_F(Buffer, BytesAreCopied) {
  std::vector<int> values(1000);
  std::iota(values.begin(), values.end(), 0);
  auto buffer =
      NS::TransferPtr(device->newBuffer(values.data(), values.size() * sizeof(int), MTL::ResourceStorageModeManaged));
  ASSERT_TRUE(buffer);
  EXPECT_EQ(std::memcmp(buffer->contents(), values.data(), buffer->length()), 0);
  values[0] = 7;
  EXPECT_EQ(static_cast<int*>(buffer->contents())[0], 0);
}

TEST_F(Buffer, OptionsComeBackWithTheHazardTrackingThatIsInEffect) {
  auto buffer =
      NS::TransferPtr(device->newBuffer(64, MTL::ResourceStorageModePrivate | MTL::ResourceCPUCacheModeWriteCombined));
  EXPECT_EQ(buffer->storageMode(), MTL::StorageModePrivate);
  EXPECT_EQ(buffer->cpuCacheMode(), MTL::CPUCacheModeWriteCombined);
  EXPECT_EQ(buffer->hazardTrackingMode(), MTL::HazardTrackingModeTracked);
  EXPECT_EQ(buffer->resourceOptions(), MTL::ResourceStorageModePrivate | MTL::ResourceCPUCacheModeWriteCombined |
                                           MTL::ResourceHazardTrackingModeTracked);
  auto untracked = NS::TransferPtr(device->newBuffer(64, MTL::ResourceHazardTrackingModeUntracked));
  EXPECT_EQ(untracked->hazardTrackingMode(), MTL::HazardTrackingModeUntracked);
  EXPECT_EQ(buffer->device(), device.get());
}

TEST_F(Buffer, APrivateBufferHasAnAddressButNoContents) {
  auto buffer = NS::TransferPtr(device->newBuffer(4096, MTL::ResourceStorageModePrivate));
  ASSERT_TRUE(buffer);
  EXPECT_EQ(buffer->contents(), nullptr);
  EXPECT_NE(buffer->gpuAddress(), 0u);
}

TEST_F(Buffer, LengthsThatNoBufferHasGiveNull) {
  EXPECT_EQ(device->newBuffer(0, MTL::ResourceStorageModeShared), nullptr);
  EXPECT_EQ(device->newBuffer(device->maxBufferLength() + 1, MTL::ResourceStorageModeShared), nullptr);
  EXPECT_EQ(device->newBuffer(NS::UIntegerMax, MTL::ResourceStorageModePrivate), nullptr);
  EXPECT_EQ(device->newBuffer(64, MTL::ResourceStorageModeMemoryless), nullptr);
  EXPECT_EQ(device->newBuffer(nullptr, 64, MTL::ResourceStorageModeShared), nullptr);
}

TEST_F(Buffer, TheDeallocatorOfNoCopyMemoryRunsOnceWhenTheLastReferenceGoes) {
  void* memory = new_pages(2 * page);
  int calls = 0;
  void* given_pointer = nullptr;
  NS::UInteger given_length = 0;
  MTL::Buffer* buffer =
      device->newBuffer(memory, 2 * page, MTL::ResourceStorageModeShared, [&](void* pointer, NS::UInteger length) {
        ++calls;
        given_pointer = pointer;
        given_length = length;
      });
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(buffer->contents(), memory);
  buffer->retain();
  buffer->release();
  EXPECT_EQ(calls, 0);
  MTL::Texture* texture =
      buffer->newTexture(MTL::TextureDescriptor::texture2DDescriptor(MTL::PixelFormatR32Float, 64, 1, false), 0, 256);
  ASSERT_NE(texture, nullptr);
  buffer->release();
  EXPECT_EQ(calls, 0) << "a texture still uses the memory";
  texture->release();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(given_pointer, memory);
  EXPECT_EQ(given_length, 2 * page);
  munmap(memory, 2 * page);
}

// Large blocks from a Mac's malloc are whole pages and programs hand them over as they are; those from ours are not.
TEST_F(Buffer, NoCopyMemoryMayComeFromMalloc) {
  std::vector<int> memory(4096, 7);
  auto buffer = NS::TransferPtr(
      device->newBuffer(memory.data(), memory.size() * sizeof(int), MTL::ResourceStorageModeShared, nullptr));
  ASSERT_TRUE(buffer);
  EXPECT_EQ(buffer->contents(), memory.data());
}

TEST_F(Buffer, NoCopyMemoryMustBeAlignedAndVisible) {
  char* memory = static_cast<char*>(new_pages(2 * page));
  bool called = false;
  const auto deallocator = [&](void*, NS::UInteger) { called = true; };
  EXPECT_EQ(device->newBuffer(memory + 4, page, MTL::ResourceStorageModeShared, deallocator), nullptr);
  EXPECT_EQ(device->newBuffer(memory, page, MTL::ResourceStorageModePrivate, deallocator), nullptr);
  EXPECT_EQ(device->newBuffer(memory, 0, MTL::ResourceStorageModeShared, deallocator), nullptr);
  EXPECT_FALSE(called) << "the program still owns memory that was refused";
  auto without = NS::TransferPtr(device->newBuffer(memory, page, MTL::ResourceStorageModeShared, nullptr));
  EXPECT_TRUE(without);
  without.reset();
  munmap(memory, 2 * page);
}

TEST_F(Buffer, TheDeviceCountsWhatIsAllocated) {
  const NS::UInteger before = device->currentAllocatedSize();
  auto buffer = NS::TransferPtr(device->newBuffer(1 << 20, MTL::ResourceStorageModeShared));
  EXPECT_GE(buffer->allocatedSize(), buffer->length());
  EXPECT_EQ(device->currentAllocatedSize(), before + buffer->allocatedSize());
  buffer.reset();
  EXPECT_EQ(device->currentAllocatedSize(), before);
}

TEST_F(Buffer, ThousandsOfBuffersDoNotOverlap) {
  std::vector<NS::SharedPtr<MTL::Buffer>> buffers;
  for (uint32_t i = 0; i < 5000; ++i) {
    buffers.push_back(NS::TransferPtr(device->newBuffer(sizeof i + i % 300, MTL::ResourceStorageModeShared)));
    std::memcpy(buffers.back()->contents(), &i, sizeof i);
  }
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    EXPECT_EQ(std::memcmp(buffers[i]->contents(), &i, sizeof i), 0);
    EXPECT_EQ(buffers[i]->gpuAddress() % 16, 0u);
  }
}

TEST_F(Buffer, LabelsAreCopied) {
  auto buffer = NS::TransferPtr(device->newBuffer(16, MTL::ResourceStorageModeShared));
  EXPECT_EQ(buffer->label(), nullptr);
  buffer->setLabel(string("weights"));
  EXPECT_STREQ(buffer->label()->utf8String(), "weights");
  buffer->setLabel(nullptr);
  EXPECT_EQ(buffer->label(), nullptr);
}

TEST_F(Buffer, PurgeableStatesChangeAndTheOldOneComesBack) {
  auto buffer = NS::TransferPtr(device->newBuffer(1 << 16, MTL::ResourceStorageModeShared));
  EXPECT_EQ(buffer->setPurgeableState(MTL::PurgeableStateKeepCurrent), MTL::PurgeableStateNonVolatile);
  EXPECT_EQ(buffer->setPurgeableState(MTL::PurgeableStateVolatile), MTL::PurgeableStateNonVolatile);
  EXPECT_EQ(buffer->setPurgeableState(MTL::PurgeableStateEmpty), MTL::PurgeableStateVolatile);
  EXPECT_EQ(buffer->setPurgeableState(MTL::PurgeableStateNonVolatile), MTL::PurgeableStateEmpty);
  std::memset(buffer->contents(), 1, buffer->length());
  EXPECT_EQ(buffer->setPurgeableState(MTL::PurgeableStateKeepCurrent), MTL::PurgeableStateNonVolatile);
}

TEST_F(Buffer, MessagesToNilAnswerZero) {
  MTL::Buffer* nil = no_buffer();
  EXPECT_EQ(nil->length(), 0u);
  EXPECT_EQ(nil->contents(), nullptr);
  EXPECT_EQ(nil->gpuAddress(), 0u);
  EXPECT_EQ(nil->allocatedSize(), 0u);
  EXPECT_EQ(nil->label(), nullptr);
  EXPECT_EQ(nil->heap(), nullptr);
  nil->setLabel(nullptr);
  nil->didModifyRange(NS::Range(0, 1));
}

TEST_F(Buffer, TheDebugLayerNamesTheCallAndTheRule) {
  setenv("MTL_DEBUG_LAYER", "1", 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(device->newBuffer(0, MTL::ResourceStorageModeShared), nullptr);
  const std::string report = testing::internal::GetCapturedStderr();
  unsetenv("MTL_DEBUG_LAYER");
  EXPECT_NE(report.find("MTL::Device::newBuffer"), std::string::npos) << report;
  EXPECT_NE(report.find("length must not be 0"), std::string::npos) << report;
}

TEST_F(Buffer, AKernelSeesWhatTheHostWroteAndTheHostWhatItAnswered) {
  auto function = function_from(R"(
    kernel void add_one(device const int* in, device int* out, uint i [[thread_position_in_grid]]) {
      out[i] = in[i] + 1;
    })",
                                "add_one");
  constexpr NS::UInteger count = 100;
  auto in = NS::TransferPtr(device->newBuffer(count * sizeof(int), MTL::ResourceStorageModeShared));
  auto out = NS::TransferPtr(device->newBuffer(count * sizeof(int), MTL::ResourceStorageModeShared));
  std::iota(static_cast<int*>(in->contents()), static_cast<int*>(in->contents()) + count, 5);
  run_kernel(function, count, [&](MTL::ComputeCommandEncoder* encoder) {
    encoder->setBuffer(in.get(), 0, 0);
    encoder->setBuffer(out.get(), 0, 1);
  });
  for (NS::UInteger i = 0; i < count; ++i) EXPECT_EQ(static_cast<int*>(out->contents())[i], static_cast<int>(i) + 6);
}

}  // namespace

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "resource_program.hpp"

namespace {

class Heap : public ResourceProgram {
 protected:
  NS::SharedPtr<MTL::Heap> new_heap(NS::UInteger size, MTL::ResourceOptions options = MTL::ResourceStorageModeShared,
                                    MTL::HeapType type = MTL::HeapTypeAutomatic) {
    auto descriptor = NS::TransferPtr(MTL::HeapDescriptor::alloc()->init());
    descriptor->setSize(size);
    descriptor->setResourceOptions(options);
    descriptor->setType(type);
    return NS::TransferPtr(device->newHeap(descriptor.get()));
  }
};

TEST_F(Heap, ADescriptorHasMetalsDefaultsAndCopies) {
  auto descriptor = NS::TransferPtr(MTL::HeapDescriptor::alloc()->init());
  EXPECT_EQ(descriptor->storageMode(), MTL::StorageModePrivate);
  EXPECT_EQ(descriptor->type(), MTL::HeapTypeAutomatic);
  EXPECT_EQ(descriptor->size(), 0u);
  descriptor->setResourceOptions(MTL::ResourceStorageModeShared | MTL::ResourceCPUCacheModeWriteCombined |
                                 MTL::ResourceHazardTrackingModeTracked);
  EXPECT_EQ(descriptor->storageMode(), MTL::StorageModeShared);
  EXPECT_EQ(descriptor->cpuCacheMode(), MTL::CPUCacheModeWriteCombined);
  EXPECT_EQ(descriptor->hazardTrackingMode(), MTL::HazardTrackingModeTracked);
  auto copy = NS::TransferPtr(descriptor->copy());
  descriptor->setStorageMode(MTL::StorageModePrivate);
  EXPECT_EQ(copy->storageMode(), MTL::StorageModeShared);
  EXPECT_EQ(descriptor->resourceOptions() & 0xf0, NS::UInteger{MTL::ResourceStorageModePrivate});
}

TEST_F(Heap, HazardsAreNotTrackedUnlessAskedFor) {
  auto heap = new_heap(1 << 16);
  EXPECT_EQ(heap->hazardTrackingMode(), MTL::HazardTrackingModeUntracked);
  auto buffer = NS::TransferPtr(heap->newBuffer(64, MTL::ResourceStorageModeShared));
  EXPECT_EQ(buffer->hazardTrackingMode(), MTL::HazardTrackingModeUntracked);
  auto tracked = new_heap(1 << 16, MTL::ResourceHazardTrackingModeTracked);
  EXPECT_EQ(tracked->hazardTrackingMode(), MTL::HazardTrackingModeTracked);
}

TEST_F(Heap, BuffersShareTheHeapsMemoryAndGiveItBack) {
  auto heap = new_heap(1 << 20);
  ASSERT_TRUE(heap);
  EXPECT_EQ(heap->usedSize(), 0u);
  EXPECT_GE(heap->currentAllocatedSize(), heap->size());
  EXPECT_EQ(heap->maxAvailableSize(256), heap->size());
  const NS::UInteger device_total = device->currentAllocatedSize();
  auto first = NS::TransferPtr(heap->newBuffer(1000, MTL::ResourceStorageModeShared));
  auto second = NS::TransferPtr(heap->newBuffer(5000, MTL::ResourceStorageModeShared));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(device->currentAllocatedSize(), device_total);
  EXPECT_EQ(first->heap(), heap.get());
  EXPECT_NE(first->heapOffset(), second->heapOffset());
  EXPECT_EQ(second->gpuAddress() - first->gpuAddress(), second->heapOffset() - first->heapOffset());
  EXPECT_EQ(heap->usedSize(), first->allocatedSize() + second->allocatedSize());
  EXPECT_EQ(heap->maxAvailableSize(1), heap->size() - heap->usedSize());
  first.reset();
  second.reset();
  EXPECT_EQ(heap->usedSize(), 0u);
  EXPECT_EQ(heap->maxAvailableSize(256), heap->size());
}

TEST_F(Heap, AResourceKeepsItsHeap) {
  auto heap = new_heap(1 << 16);
  auto buffer = NS::TransferPtr(heap->newBuffer(256, MTL::ResourceStorageModeShared));
  heap.reset();
  std::memset(buffer->contents(), 1, buffer->length());
  EXPECT_EQ(buffer->heap()->size(), NS::UInteger{1 << 16});
}

TEST_F(Heap, WhatDoesNotFitOrDoesNotMatchGivesNull) {
  auto heap = new_heap(1 << 16);
  EXPECT_EQ(heap->newBuffer((1 << 16) + 1, MTL::ResourceStorageModeShared), nullptr);
  EXPECT_EQ(heap->newBuffer(0, MTL::ResourceStorageModeShared), nullptr);
  EXPECT_EQ(heap->newBuffer(256, MTL::ResourceStorageModePrivate), nullptr);
  EXPECT_EQ(heap->newBuffer(256, MTL::ResourceCPUCacheModeWriteCombined), nullptr);
  EXPECT_EQ(heap->newBuffer(256, MTL::ResourceStorageModeShared, 0), nullptr) << "offsets are for placement heaps";
  auto all = NS::TransferPtr(heap->newBuffer(1 << 16, MTL::ResourceStorageModeShared));
  EXPECT_TRUE(all);
  EXPECT_EQ(heap->newBuffer(1, MTL::ResourceStorageModeShared), nullptr);
}

TEST_F(Heap, HeapsThatCannotBeGiveNull) {
  EXPECT_FALSE(new_heap(0));
  EXPECT_FALSE(new_heap(1 << 16, MTL::ResourceStorageModeManaged));
  EXPECT_FALSE(new_heap(1 << 16, MTL::ResourceStorageModeMemoryless));
  EXPECT_FALSE(new_heap(1 << 16, MTL::ResourceStorageModePrivate, MTL::HeapTypeSparse));
  EXPECT_FALSE(new_heap(NS::UIntegerMax));
  EXPECT_EQ(device->newHeap(nullptr), nullptr);
}

TEST_F(Heap, AliasableMemoryIsGivenToTheNextResource) {
  auto heap = new_heap(4096);
  auto first = NS::TransferPtr(heap->newBuffer(4096, MTL::ResourceStorageModeShared));
  EXPECT_FALSE(first->isAliasable());
  first->makeAliasable();
  EXPECT_TRUE(first->isAliasable());
  auto second = NS::TransferPtr(heap->newBuffer(4096, MTL::ResourceStorageModeShared));
  ASSERT_TRUE(second);
  EXPECT_EQ(first->gpuAddress(), second->gpuAddress());
  first.reset();
  EXPECT_EQ(heap->newBuffer(256, MTL::ResourceStorageModeShared), nullptr) << "the second buffer still has the memory";
  second.reset();
  EXPECT_EQ(heap->usedSize(), 0u);
}

TEST_F(Heap, APlacementHeapPutsResourcesWhereTheProgramSays) {
  auto heap = new_heap(1 << 16, MTL::ResourceStorageModeShared, MTL::HeapTypePlacement);
  auto first = NS::TransferPtr(heap->newBuffer(1024, MTL::ResourceStorageModeShared, 4096));
  auto overlapping = NS::TransferPtr(heap->newBuffer(8192, MTL::ResourceStorageModeShared, 4096));
  ASSERT_TRUE(first && overlapping);
  EXPECT_EQ(first->heapOffset(), 4096u);
  EXPECT_EQ(first->gpuAddress(), overlapping->gpuAddress());
  EXPECT_EQ(heap->newBuffer(1024, MTL::ResourceStorageModeShared), nullptr) << "it must be told the offset";
  EXPECT_EQ(heap->newBuffer(1024, MTL::ResourceStorageModeShared, 17), nullptr);
  EXPECT_EQ(heap->newBuffer(1024, MTL::ResourceStorageModeShared, (1 << 16) - 256), nullptr);
  EXPECT_EQ(heap->newBuffer(1024, MTL::ResourceStorageModeShared, NS::UIntegerMax - 255), nullptr);
}

TEST_F(Heap, TheSizesThatTheDeviceTellsAreEnough) {
  auto descriptor = MTL::TextureDescriptor::texture2DDescriptor(MTL::PixelFormatRGBA32Float, 33, 17, true);
  const MTL::SizeAndAlign texture_size = device->heapTextureSizeAndAlign(descriptor);
  const MTL::SizeAndAlign buffer_size = device->heapBufferSizeAndAlign(1001, MTL::ResourceStorageModeShared);
  EXPECT_GE(buffer_size.size, 1001u);
  const NS::UInteger buffer_at = (texture_size.size + buffer_size.align - 1) / buffer_size.align * buffer_size.align;
  auto heap = new_heap(buffer_at + buffer_size.size, MTL::ResourceStorageModeShared, MTL::HeapTypePlacement);
  auto texture = NS::TransferPtr(heap->newTexture(descriptor, 0));
  auto buffer = NS::TransferPtr(heap->newBuffer(1001, MTL::ResourceStorageModeShared, buffer_at));
  ASSERT_TRUE(texture && buffer);
  EXPECT_EQ(texture->allocatedSize(), texture_size.size);
  EXPECT_EQ(texture->heap(), heap.get());
}

TEST_F(Heap, ManyResourcesThatComeAndGoNeverOverlap) {
  auto heap = new_heap(1 << 16);
  std::mt19937 random(7);
  std::vector<NS::SharedPtr<MTL::Buffer>> buffers;
  for (int step = 0; step < 5000; ++step) {
    if (!buffers.empty() && random() % 2 == 0) {
      const size_t at = random() % buffers.size();
      const auto* bytes = static_cast<const uint8_t*>(buffers[at]->contents());
      for (NS::UInteger i = 1; i < buffers[at]->length(); ++i) ASSERT_EQ(bytes[i], bytes[0]);
      buffers.erase(buffers.begin() + static_cast<std::ptrdiff_t>(at));
      continue;
    }
    auto buffer = NS::TransferPtr(heap->newBuffer(1 + random() % 3000, MTL::ResourceStorageModeShared));
    if (!buffer) continue;
    std::memset(buffer->contents(), static_cast<int>(random() % 256), buffer->length());
    buffers.push_back(buffer);
  }
  buffers.clear();
  EXPECT_EQ(heap->usedSize(), 0u);
  EXPECT_EQ(heap->maxAvailableSize(256), heap->size());
}

TEST_F(Heap, SeveralThreadsShareAHeapAndADevice) {
  auto heap = new_heap(1 << 20);
  const NS::UInteger before = device->currentAllocatedSize();
  std::atomic<int> damaged = 0;
  std::vector<std::thread> threads;
  for (int thread = 1; thread <= 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 2000; ++i) {
        auto in_heap = NS::TransferPtr(heap->newBuffer(700, MTL::ResourceStorageModeShared));
        auto alone = NS::TransferPtr(device->newBuffer(700, MTL::ResourceStorageModeShared));
        for (MTL::Buffer* buffer : {in_heap.get(), alone.get()}) {
          auto* bytes = static_cast<uint8_t*>(buffer->contents());
          std::memset(bytes, thread, 700);
          damaged += std::count(bytes, bytes + 700, thread) != 700;
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(damaged, 0);
  EXPECT_EQ(heap->usedSize(), 0u);
  EXPECT_EQ(device->currentAllocatedSize(), before);
}

TEST_F(Heap, PurgeableStateBelongsToTheHeap) {
  auto heap = new_heap(1 << 16);
  auto buffer = NS::TransferPtr(heap->newBuffer(256, MTL::ResourceStorageModeShared));
  EXPECT_EQ(heap->setPurgeableState(MTL::PurgeableStateVolatile), MTL::PurgeableStateNonVolatile);
  EXPECT_EQ(heap->setPurgeableState(MTL::PurgeableStateNonVolatile), MTL::PurgeableStateVolatile);
  EXPECT_EQ(buffer->setPurgeableState(MTL::PurgeableStateVolatile), MTL::PurgeableStateNonVolatile);
  EXPECT_EQ(buffer->setPurgeableState(MTL::PurgeableStateKeepCurrent), MTL::PurgeableStateNonVolatile);
}

}  // namespace

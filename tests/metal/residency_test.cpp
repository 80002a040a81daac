#include <vector>

#include "resource_program.hpp"

namespace {

class ResidencySet : public ResourceProgram {
 protected:
  NS::SharedPtr<MTL::ResidencySet> new_set(const char* label = "weights") {
    auto descriptor = NS::TransferPtr(MTL::ResidencySetDescriptor::alloc()->init());
    descriptor->setLabel(string(label));
    descriptor->setInitialCapacity(16);
    NS::Error* error = nullptr;
    auto set = NS::TransferPtr(device->newResidencySet(descriptor.get(), &error));
    EXPECT_EQ(error, nullptr);
    return set;
  }
  NS::SharedPtr<MTL::Buffer> new_buffer(NS::UInteger length) {
    return NS::TransferPtr(device->newBuffer(length, MTL::ResourceStorageModeShared));
  }
};

TEST_F(ResidencySet, ItKnowsItsLabelAndDevice) {
  auto set = new_set();
  ASSERT_TRUE(set);
  EXPECT_STREQ(set->label()->utf8String(), "weights");
  EXPECT_EQ(set->device(), device.get());
  EXPECT_EQ(set->allocationCount(), 0u);
  EXPECT_EQ(set->allocatedSize(), 0u);
}

TEST_F(ResidencySet, MembersShowAtOnceAndTheSizeWithCommit) {
  auto set = new_set();
  auto first = new_buffer(1 << 16), second = new_buffer(1 << 17);
  set->addAllocation(first.get());
  set->addAllocation(first.get());
  EXPECT_EQ(set->allocationCount(), 1u);
  EXPECT_TRUE(set->containsAllocation(first.get()));
  EXPECT_FALSE(set->containsAllocation(second.get()));
  EXPECT_EQ(set->allocatedSize(), 0u);
  set->commit();
  EXPECT_EQ(set->allocatedSize(), first->allocatedSize());
  set->requestResidency();
  set->addAllocation(second.get());
  set->commit();
  EXPECT_EQ(set->allocatedSize(), first->allocatedSize() + second->allocatedSize());
  set->removeAllocation(first.get());
  EXPECT_FALSE(set->containsAllocation(first.get()));
  set->commit();
  EXPECT_EQ(set->allocatedSize(), second->allocatedSize());
  set->endResidency();
}

TEST_F(ResidencySet, ManyAreAddedAndRemovedTogether) {
  auto set = new_set();
  std::vector<NS::SharedPtr<MTL::Buffer>> buffers;
  std::vector<const MTL::Allocation*> allocations;
  for (int i = 0; i < 1000; ++i) {
    buffers.push_back(new_buffer(64));
    allocations.push_back(buffers.back().get());
  }
  set->addAllocations(allocations.data(), allocations.size());
  EXPECT_EQ(set->allocationCount(), 1000u);
  set->removeAllocations(allocations.data(), 400);
  EXPECT_EQ(set->allAllocations()->count(), 600u);
  for (size_t i = 0; i < allocations.size(); ++i) EXPECT_EQ(set->containsAllocation(allocations[i]), i >= 400);
  set->removeAllAllocations();
  EXPECT_EQ(set->allocationCount(), 0u);
}

TEST_F(ResidencySet, ItHoldsHeapsAndTexturesAndKeepsThemAlive) {
  auto set = new_set();
  auto descriptor = NS::TransferPtr(MTL::HeapDescriptor::alloc()->init());
  descriptor->setSize(1 << 16);
  auto heap = NS::TransferPtr(device->newHeap(descriptor.get()));
  auto texture = NS::TransferPtr(
      device->newTexture(MTL::TextureDescriptor::texture2DDescriptor(MTL::PixelFormatR8Unorm, 16, 16, false)));
  set->addAllocation(heap.get());
  set->addAllocation(texture.get());
  set->commit();
  EXPECT_EQ(set->allocatedSize(), heap->allocatedSize() + texture->allocatedSize());
  EXPECT_GE(heap->allocatedSize(), NS::UInteger{1 << 16});
  EXPECT_EQ(heap->retainCount(), 2u);
  set->removeAllAllocations();
  EXPECT_EQ(heap->retainCount(), 1u);
}

}  // namespace

// Memory of a GPU, on a driver that is played.
#include <sys/mman.h>

#include "fake_gpu.hpp"

namespace metalloid::nvidia {
namespace {

class NvidiaMemory : public FakeGpu {};

TEST_F(NvidiaMemory, IsZeroAndAlignedInEveryStorage) {
  for (const size_t bytes : {size_t{1}, size_t{300}, size_t{4096}, size_t{65536}, size_t{65537}, size_t{1} << 20}) {
    const auto shared = memory(bytes);
    ASSERT_TRUE(shared && shared->host);
    EXPECT_EQ(shared->address, reinterpret_cast<uint64_t>(shared->host));
    EXPECT_EQ(shared->size, bytes);
    EXPECT_EQ(shared->address % (bytes < 4096 ? 256 : 4096), 0u);
    for (size_t i = 0; i < bytes; ++i) ASSERT_EQ(static_cast<const uint8_t*>(shared->host)[i], 0);
    const auto hidden = memory(bytes, device::Storage::private_to_device);
    ASSERT_TRUE(hidden);
    EXPECT_EQ(hidden->host, nullptr);
    EXPECT_EQ(hidden->address % (bytes < 4096 ? 256 : 4096), 0u);
    // The GPU that is played has the host's memory.
    for (size_t i = 0; i < bytes; ++i) ASSERT_EQ(reinterpret_cast<const uint8_t*>(hidden->address)[i], 0);
  }
}

TEST_F(NvidiaMemory, IsRefusedWhereThereIsNotEnough) {
  for (const auto storage : {device::Storage::shared, device::Storage::private_to_device}) {
    const auto more_than_there_is = device_->allocate(fake::total_memory * 2, storage);
    ASSERT_FALSE(more_than_there_is);
    EXPECT_NE(more_than_there_is.error().find("2147483648 bytes were asked for"), std::string::npos);
    const auto most = memory(fake::total_memory / 4 * 3, storage);
    const auto more_than_is_free = device_->allocate(fake::total_memory / 2, storage);
    ASSERT_FALSE(more_than_is_free);
    EXPECT_NE(more_than_is_free.error().find("are free"), std::string::npos);
  }
}

TEST_F(NvidiaMemory, OfTheProgramIsUsedWhereItIsEvenIfPagesAreShared) {
  const uint64_t pinned = controls_->pinned_regions;
  const size_t page = 4096;
  auto* pages =
      static_cast<std::byte*>(mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  {
    const auto middle = device_->adopt(pages + page + 512, page);
    const auto neighbour = device_->adopt(pages + page, 256);
    const auto around = device_->adopt(pages, 4 * page);
    ASSERT_TRUE(middle && neighbour && around);
    EXPECT_EQ((*middle)->address, reinterpret_cast<uint64_t>(pages + page + 512));
    EXPECT_GT(controls_->pinned_regions, pinned);
  }
  EXPECT_EQ(controls_->pinned_regions, pinned);
  munmap(pages, 4 * page);
}

TEST_F(NvidiaMemory, ThatMayBeOnTheHostIsFetchedOnce) {
  const auto add = kernel(adds);
  const auto values = memory(1 << 20);
  const int by = 1;
  const auto queue = device_->make_queue();
  const auto run = [&] {
    device::CommandList list;
    for (int i = 0; i < 3; ++i)
      list.commands.push_back(dispatch(*add, {argument(*values), {reinterpret_cast<uint64_t>(&by), 4}}, list));
    EXPECT_TRUE(submit(*queue, std::move(list)).get().faults.empty());
  };
  run();
  EXPECT_EQ(controls_->prefetches, 1u);
  run();
  EXPECT_EQ(controls_->prefetches, 1u);
  values->host_access();
  run();
  EXPECT_EQ(controls_->prefetches, 2u);
}

}  // namespace
}  // namespace metalloid::nvidia

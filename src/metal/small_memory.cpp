#include "metal/small_memory.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace metalloid::metal {

namespace {

constexpr size_t slab_bytes = 1 << 18, smallest = 256;
constexpr size_t size_classes = std::bit_width(largest_small_memory / smallest);

struct Slot {
  uint64_t address = 0;
  std::byte* host = nullptr;
};

// The slots of one device and storage, by size: 256 bytes, 512, and so on.
class Pool {
 public:
  Slot take(device::Device& device, device::Storage storage, size_t size_class) {
    std::lock_guard lock(mutex_);
    std::vector<Slot>& free = free_[size_class];
    if (free.empty()) cut_slab(device, storage, size_class);
    if (free.empty()) return {};
    const Slot slot = free.back();
    free.pop_back();
    return slot;
  }

  void give_back(Slot slot, size_t size_class) {
    std::lock_guard lock(mutex_);
    free_[size_class].push_back(slot);
  }

 private:
  void cut_slab(device::Device& device, device::Storage storage, size_t size_class) {
    const bool is_private = storage == device::Storage::private_to_device;
    auto slab = device.allocate(slab_bytes, is_private ? storage : device::Storage::shared_on_host);
    if (!slab || !(*slab)->host) return;
    const size_t bytes = smallest << size_class;
    for (size_t end = slab_bytes; end > 0; end -= bytes)
      free_[size_class].push_back(
          {(*slab)->address + end - bytes, static_cast<std::byte*>((*slab)->host) + end - bytes});
    slabs_.push_back(*std::move(slab));
  }

  std::mutex mutex_;
  std::array<std::vector<Slot>, size_classes> free_;
  std::vector<std::unique_ptr<device::Memory>> slabs_;
};

// Devices and their pools live as long as the process.
Pool& pool_of(const device::Device& device, device::Storage storage) {
  static std::mutex& mutex = *new std::mutex;
  static auto& pools = *new std::map<std::pair<const device::Device*, device::Storage>, Pool>;
  std::lock_guard lock(mutex);
  return pools[{&device, storage}];
}

class SmallMemory final : public device::Memory {
 public:
  SmallMemory(Pool& pool, Slot slot, size_t size_class) : pool_(pool), slot_(slot), size_class_(size_class) {
    address = slot.address;
    host = slot.host;
    size = smallest << size_class;
  }
  ~SmallMemory() override { pool_.give_back(slot_, size_class_); }

 private:
  Pool& pool_;
  Slot slot_;
  size_t size_class_;
};

}  // namespace

std::unique_ptr<device::Memory> take_small_memory(device::Device& device, size_t bytes, device::Storage storage) {
  const size_t size_class = std::bit_width((bytes + smallest - 1) / smallest - 1);
  Pool& pool = pool_of(device, storage);
  const Slot slot = pool.take(device, storage, size_class);
  if (!slot.host) return nullptr;
  std::memset(slot.host, 0, smallest << size_class);
  return std::make_unique<SmallMemory>(pool, slot, size_class);
}

}  // namespace metalloid::metal

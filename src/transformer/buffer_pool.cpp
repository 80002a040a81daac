#include "transformer/buffer_pool.hpp"

#include <algorithm>
#include <bit>

namespace metalloid::transformer {

namespace {

constexpr size_t smallest = 256, large = size_t{1} << 20;

size_t rounded(size_t bytes) {
  if (bytes <= large) return std::max(std::bit_ceil(bytes), smallest);
  return (bytes + large - 1) / large * large;
}

}  // namespace

BufferPool::BufferPool(Allocate allocate) : allocate_(std::move(allocate)) {}

std::shared_ptr<TensorMemory> BufferPool::take(size_t bytes) {
  const size_t size = rounded(bytes);
  std::unique_ptr<TensorMemory> memory;
  {
    std::lock_guard lock(shelves_->mutex);
    PoolStatistics& statistics = shelves_->statistics;
    ++statistics.requests;
    if (auto shelf = shelves_->of_size.find(size); shelf != shelves_->of_size.end() && !shelf->second.empty()) {
      memory = std::move(shelf->second.back());
      shelf->second.pop_back();
      ++statistics.hits;
      statistics.pooled_bytes -= size;
      --statistics.pooled_buffers;
    }
  }
  if (!memory) memory = allocate_(size);
  if (!memory) {
    trim();
    memory = allocate_(size);
  }
  if (!memory) return nullptr;
  {
    std::lock_guard lock(shelves_->mutex);
    PoolStatistics& statistics = shelves_->statistics;
    statistics.live_bytes += size;
    ++statistics.live_buffers;
    statistics.peak_bytes = std::max(statistics.peak_bytes, statistics.live_bytes);
  }
  return {memory.release(),
          [shelves = shelves_](TensorMemory* memory) { shelves->give_back(std::unique_ptr<TensorMemory>(memory)); }};
}

void BufferPool::Shelves::give_back(std::unique_ptr<TensorMemory> memory) {
  std::lock_guard lock(mutex);
  const size_t size = memory->bytes;
  statistics.live_bytes -= size;
  --statistics.live_buffers;
  statistics.pooled_bytes += size;
  ++statistics.pooled_buffers;
  of_size[size].push_back(std::move(memory));
}

PoolStatistics BufferPool::statistics() const {
  std::lock_guard lock(shelves_->mutex);
  return shelves_->statistics;
}

void BufferPool::trim() {
  shelves_->trim();
}

void BufferPool::Shelves::trim() {
  std::lock_guard lock(mutex);
  of_size.clear();
  statistics.pooled_bytes = statistics.pooled_buffers = 0;
}

}  // namespace metalloid::transformer

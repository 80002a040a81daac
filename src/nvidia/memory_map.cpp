#include "nvidia/memory_map.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>

namespace metalloid::nvidia {

void MemoryMap::add(VisibleMemory& memory) {
  std::lock_guard lock(mutex_);
  if (memory.kind == VisibleMemory::Kind::adopted)
    adopted_.push_back(&memory);
  else
    by_address_[memory.address] = &memory;
}

void MemoryMap::remove(const VisibleMemory& memory) {
  std::lock_guard lock(mutex_);
  if (memory.kind == VisibleMemory::Kind::adopted)
    std::erase(adopted_, &memory);
  else if (memory.is_lost)
    std::erase(lost_, &memory);
  else
    by_address_.erase(memory.address);
}

VisibleMemory* MemoryMap::find(uint64_t address) const {
  const auto holds = [address](const VisibleMemory* memory) { return address - memory->address < memory->size; };
  std::shared_lock lock(mutex_);
  if (const auto after = by_address_.upper_bound(address); after != by_address_.begin())
    if (VisibleMemory* memory = std::prev(after)->second; holds(memory)) return memory;
  for (const auto* memories : {&adopted_, &lost_})
    if (const auto found = std::ranges::find_if(*memories, holds); found != memories->end()) return *found;
  return nullptr;
}

void MemoryMap::context_has_gone() {
  std::lock_guard lock(mutex_);
  for (auto entry = by_address_.begin(); entry != by_address_.end();) {
    VisibleMemory* memory = entry->second;
    memory->context_has_gone();
    if (memory->is_lost) lost_.push_back(memory);
    entry = memory->is_lost ? by_address_.erase(entry) : std::next(entry);
  }
}

}  // namespace metalloid::nvidia

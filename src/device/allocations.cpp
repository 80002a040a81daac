#include "device/allocations.hpp"

#include <utility>

namespace metalloid::device {

Allocations& Allocations::shared() {
  static Allocations& allocations = *new Allocations;  // outlives every object that is removed from it
  return allocations;
}

void Allocations::add(Allocation allocation) {
  std::lock_guard lock(mutex_);
  by_address_.emplace(allocation.address, std::move(allocation));
}

void Allocations::set_label(uint64_t address, uint64_t length, std::string label) {
  std::lock_guard lock(mutex_);
  if (auto found = entry(address, length); found != by_address_.end()) found->second.label = std::move(label);
}

void Allocations::remove(uint64_t address, uint64_t length) {
  std::lock_guard lock(mutex_);
  if (auto found = entry(address, length); found != by_address_.end()) by_address_.erase(found);
}

std::multimap<uint64_t, Allocation>::iterator Allocations::entry(uint64_t address, uint64_t length) {
  auto [first, last] = by_address_.equal_range(address);
  for (; first != last; ++first)
    if (first->second.length == length) return first;
  return by_address_.end();
}

std::optional<Allocation> Allocations::find(uint64_t address) const {
  std::lock_guard lock(mutex_);
  // Allocations nest at most once (a buffer in a heap), but many may begin between a heap's start and the address.
  for (auto entry = by_address_.upper_bound(address); entry != by_address_.begin();) {
    --entry;
    const Allocation& allocation = entry->second;
    if (address - allocation.address < allocation.length) return allocation;
  }
  return std::nullopt;
}

bool Allocations::is_empty() const {
  std::lock_guard lock(mutex_);
  return by_address_.empty();
}

}  // namespace metalloid::device

#include "metal/kept_objects.hpp"

namespace metalloid::metal {

void KeptObjects::release_all() {
  last_ = nullptr;
  for (uint32_t place : used_) std::exchange(table_[place], nullptr)->release();
  used_.clear();
}

void KeptObjects::insert(NS::Object* object) {
  if (2 * (used_.size() + 1) > table_.size()) grow();
  const size_t place = place_of(object);
  if (table_[place]) return;
  table_[place] = object->retain();
  used_.push_back(static_cast<uint32_t>(place));
}

void KeptObjects::grow() {
  std::vector<NS::Object*> old(table_.empty() ? 64 : 2 * table_.size());
  old.swap(table_);
  for (uint32_t& place : used_) {
    NS::Object* object = old[place];
    place = static_cast<uint32_t>(place_of(object));
    table_[place] = object;
  }
}

size_t KeptObjects::place_of(const NS::Object* object) const {
  const size_t mask = table_.size() - 1;
  size_t place = (reinterpret_cast<uintptr_t>(object) >> 4) * 0x9E3779B97F4A7C15u >> 32 & mask;
  while (table_[place] && table_[place] != object) place = (place + 1) & mask;
  return place;
}

}  // namespace metalloid::metal

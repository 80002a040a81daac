#include "device/event.hpp"

#include <utility>
#include <vector>

namespace metalloid::device {

uint64_t Event::value() const {
  std::lock_guard lock(mutex_);
  return value_;
}

void Event::signal(uint64_t value) {
  change(value, false);
}

void Event::set(uint64_t value) {
  change(value, true);
}

void Event::change(uint64_t value, bool may_shrink) {
  std::vector<std::function<void(uint64_t)>> reached;
  {
    std::lock_guard lock(mutex_);
    if (value < value_ && !may_shrink) return;
    value_ = value;
    auto end = listeners_.upper_bound(value);
    for (auto listener = listeners_.begin(); listener != end; ++listener)
      reached.push_back(std::move(listener->second));
    listeners_.erase(listeners_.begin(), end);
    changed_.notify_all();
  }
  for (const auto& listener : reached) listener(value);
}

void Event::wait(uint64_t value) const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return value_ >= value; });
}

bool Event::wait_for(uint64_t value, std::chrono::milliseconds timeout) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, timeout, [&] { return value_ >= value; });
}

void Event::notify(uint64_t value, std::function<void(uint64_t)> listener) {
  uint64_t now;
  {
    std::lock_guard lock(mutex_);
    if (value_ < value) {
      listeners_.emplace(value, std::move(listener));
      return;
    }
    now = value_;
  }
  listener(now);
}

}  // namespace metalloid::device

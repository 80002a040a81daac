// A counter that queues and the host signal and wait for: what is behind Metal's events. It lives on the host, so that
// it orders work of any devices and threads. Signals let it only grow; the host may also set it to any value.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

namespace metalloid::device {

class Event {
 public:
  uint64_t value() const;

  // Signalling a smaller value than the present one changes nothing for those who wait. Listeners whose value is
  // reached are called by the signalling thread, after the lock is released.
  void signal(uint64_t value);

  // As signal(), but a smaller value counts too: who comes from now on waits until it is reached again.
  void set(uint64_t value);

  void wait(uint64_t value) const;
  bool wait_for(uint64_t value, std::chrono::milliseconds timeout) const;

  // Called once with the value reached; at once if it is reached already.
  void notify(uint64_t value, std::function<void(uint64_t)> listener);

 private:
  void change(uint64_t value, bool may_shrink);

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  uint64_t value_ = 0;
  std::multimap<uint64_t, std::function<void(uint64_t)>> listeners_;
};

}  // namespace metalloid::device

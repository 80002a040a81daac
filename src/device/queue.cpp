#include <chrono>
#include <thread>

#include "device/device.hpp"

namespace metalloid::device {

// It yields, because whoever does the work may need this core.
void Queue::look_out(const std::function<bool()>& is_reached) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(lookout);
  while (!is_reached() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

}  // namespace metalloid::device

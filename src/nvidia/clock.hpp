// The device's clock: nanoseconds of std::chrono::steady_clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace metalloid::nvidia {

inline uint64_t now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

}  // namespace metalloid::nvidia

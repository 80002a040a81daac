// How long a device lets a kernel run before it takes it for one that never ends: METALLOID_TIMEOUT, in seconds.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace metalloid::device {

// Nanoseconds; 0 is for ever.
inline uint64_t time_limit(double default_seconds) {
  const char* seconds = std::getenv("METALLOID_TIMEOUT");
  const double value = seconds && *seconds ? std::strtod(seconds, nullptr) : default_seconds;
  return value > 0 ? static_cast<uint64_t>(value * 1e9) : 0;
}

}  // namespace metalloid::device

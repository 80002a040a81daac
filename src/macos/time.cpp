#include <mach/mach_time.h>
#include <time.h>

namespace {

uint64_t nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

kern_return_t mach_timebase_info(mach_timebase_info_t info) {
  *info = {1, 1};
  return KERN_SUCCESS;
}

uint64_t mach_absolute_time() {
  return nanoseconds(CLOCK_MONOTONIC);
}

uint64_t mach_approximate_time() {
  return nanoseconds(CLOCK_MONOTONIC_COARSE);
}

uint64_t mach_continuous_time() {
  return nanoseconds(CLOCK_BOOTTIME);
}

uint64_t mach_continuous_approximate_time() {
  return nanoseconds(CLOCK_BOOTTIME);
}

kern_return_t mach_wait_until(uint64_t deadline) {
  const timespec until = {static_cast<time_t>(deadline / 1'000'000'000), static_cast<long>(deadline % 1'000'000'000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) {
  }
  return KERN_SUCCESS;
}

// How a thread waits for what will be there within microseconds: it looks again and again. A call of the system would
// take longer than that, so that others get their turn only now and then.
#pragma once

#include <cstdint>
#include <thread>

namespace metalloid::device {

// One turn of a loop that looks; `turn` counts them.
inline void look_again(uint64_t turn) {
  constexpr uint64_t turns_between_yields = 32;
  if (turn % turns_between_yields == 0) return std::this_thread::yield();
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace metalloid::device

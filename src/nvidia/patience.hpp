// How to wait for the GPU, or for work: first by looking again and again, because it is often there within
// microseconds, then with pauses, because the core is wanted elsewhere. A call of the system takes longer than the
// GPU's answer does to arrive, so that others get their turn only now and then.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

#include "nvidia/clock.hpp"

namespace metalloid::nvidia {

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

class Patience {
 public:
  // Waits a little. True now and then: time to look for faults, which nobody else tells of.
  bool pause() {
    ++turns_;
    if (!is_asleep_) {
      look_again(turns_);
      if (turns_ % clock_interval == 0) is_asleep_ = now() - start_ > eager;
      return turns_ % look_interval == 0;
    }
    std::this_thread::sleep_for(std::chrono::nanoseconds(nap));
    return turns_ % naps_between_looks == 0;
  }

 private:
  static constexpr uint64_t eager = 200'000, nap = 20'000;  // nanoseconds
  static constexpr uint64_t clock_interval = 16, look_interval = 4096, naps_between_looks = 4;

  uint64_t start_ = now();
  uint64_t turns_ = 0;
  bool is_asleep_ = false;
};

}  // namespace metalloid::nvidia

// How to wait for the GPU, or for work: first by looking again and again, because it is often there within
// microseconds, then with pauses, because the core is wanted elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

#include "device/look_again.hpp"
#include "nvidia/clock.hpp"

namespace metalloid::nvidia {

class Patience {
 public:
  // Waits a little. True now and then: time to look for faults, which nobody else tells of.
  bool pause() {
    ++turns_;
    if (!is_asleep_) {
      device::look_again(turns_);
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

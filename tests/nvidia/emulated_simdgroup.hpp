// One SIMD-group of NVIDIA's hardware on this processor: 32 lanes that run a lowered kernel, each on a stack of its
// own, and meet where instructions wait for each other. What instructions do is written down here from the PTX manual,
// so that tests find wrong code where there is no GPU. Lanes that have ended are not waited for; lanes that wait for
// each other in vain are reported.
#pragma once

#include <gtest/gtest.h>
#include <ucontext.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../support/jit.hpp"
#include "lowered_kernel.hpp"

namespace metalloid::nvidia {

namespace emulation {

constexpr uint32_t lanes = 32;
constexpr size_t stack_size = 128 * 1024;
using Words = std::array<uint32_t, lanes>;

// The lanes of a SIMD-group.
struct Simdgroup {
  struct Meeting {
    uint32_t arrived = 0, met = 0, number = 0;
    Words given = {}, seen = {};
  };

  ucontext_t scheduler;
  std::array<ucontext_t, lanes> contexts;
  std::function<void()> work;
  uint32_t number = 0, existing = 0, ended = 0, active = 0, lane = 0, turns = 0;
  bool progressed = false, is_stuck = false;
  std::map<std::pair<std::string, uint32_t>, Meeting> meetings;  // by what is executed and for whom it waits

  // `stacks` has room for 32.
  void start(uint32_t lanes_that_exist, std::function<void()> what, char* stacks) {
    existing = lanes_that_exist;
    work = std::move(what);
    for (uint32_t i = 0; i < lanes; ++i) {
      if (!(existing >> i & 1)) continue;
      getcontext(&contexts[i]);
      contexts[i].uc_stack.ss_sp = stacks + i * stack_size;
      contexts[i].uc_stack.ss_size = stack_size;
      contexts[i].uc_link = &scheduler;
      makecontext(&contexts[i], run_lane, 0);
    }
  }

  // Every lane runs until it waits, in another order each time. False: none got anywhere.
  bool take_turn();

  void let_others_run() { swapcontext(&contexts[lane], &scheduler); }

  bool is_complete(const std::pair<std::string, uint32_t>& key, const Meeting& meeting) const {
    return meeting.arrived != 0 && meeting.arrived == (key.second & existing & ~ended);
  }

  // Gives a word and sees those of all who came; the others' are nonsense.
  const Meeting& meet(const std::string& instruction, uint32_t mask, uint32_t word) {
    EXPECT_TRUE(mask >> lane & 1) << instruction << " by lane " << lane << " that is not in its mask";
    const auto key = std::pair(instruction, mask);
    Meeting& meeting = meetings[key];
    const uint32_t number = meeting.number;
    meeting.given[lane] = word;
    meeting.arrived |= 1u << lane;
    progressed = true;
    while (meeting.number == number && !is_stuck) {
      if (is_complete(key, meeting)) {
        meeting.seen.fill(0xDEADBEEF);
        for (uint32_t i = 0; i < lanes; ++i)
          if (meeting.arrived >> i & 1) meeting.seen[i] = meeting.given[i];
        meeting.met = meeting.arrived;
        meeting.arrived = 0;
        ++meeting.number;
        progressed = true;
        break;
      }
      let_others_run();
    }
    return meeting;
  }

 private:
  static void run_lane();
};

inline Simdgroup* simdgroup = nullptr;  // that runs

// By the names of LLVM's intrinsics.
using Instructions = std::map<std::string, void*>;
const Instructions& instructions_of_simdgroups();

// Calls of instructions become calls of the functions that emulate them.
void use_emulated_instructions(llvm::Module& module, const Instructions& emulated);

}  // namespace emulation

class EmulatedSimdgroup {
 public:
  explicit EmulatedSimdgroup(LoweredKernel kernel);

  // Runs the function @kernel, whose parameters are up to four pointers, in the lanes that exist. `active` are the
  // lanes that the hardware has active where the kernel asks it.
  void run(uint32_t existing, uint32_t active, std::vector<void*> arguments);

 private:
  using Kernel = void(void*, void*, void*, void*);

  Jit jit_;
  Kernel* kernel_ = nullptr;
};

}  // namespace metalloid::nvidia

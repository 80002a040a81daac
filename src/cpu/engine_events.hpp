// What an engine tells shader validation while a dispatch runs. All calls come from the thread that runs the
// threadgroup, at the moments in which no thread of the threadgroup is in the middle of an access.
#pragma once

#include "cpu/thread_state.hpp"

namespace metalloid::cpu {

class EngineEvents {
 public:
  virtual ~EngineEvents() = default;

  virtual void threadgroup_started(const ThreadgroupState& threadgroup) = 0;
  virtual void thread_started(const ThreadState& thread) = 0;
  virtual void thread_ended(const ThreadState& thread) = 0;

  // Lanes took part in a SIMD-group function: bit l stands for thread `first` + l.
  virtual void lanes_met(const ThreadgroupState& threadgroup, uint32_t first, uint32_t active) = 0;

  // All threads that had not ended arrived; `flags` are those of the last.
  virtual void barrier_passed(const ThreadgroupState& threadgroup, uint32_t flags) = 0;

  virtual void threadgroup_ended(const ThreadgroupState& threadgroup) = 0;
};

}  // namespace metalloid::cpu

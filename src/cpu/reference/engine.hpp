// The reference engine: runs a threadgroup by running every thread of it, exactly as its code says, on one thread of
// the host. It is the measure of every other engine, so it is simple before it is fast.
//
// Threads start one after the other on the same fiber, as long as they end without waiting. One that waits (at a
// barrier, in a SIMD-group function, in a loop that waits for memory) keeps its fiber, and the next goes on with
// another. SIMD-groups take turns; in each, lanes run until all wait or have ended, then those with the least key meet
// (meetings_pass.hpp).
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "cpu/faults.hpp"
#include "cpu/fiber.hpp"
#include "cpu/limits.hpp"
#include "cpu/reference/meeting.hpp"
#include "cpu/thread_state.hpp"
#include "cpu/threadgroup_arena.hpp"

namespace metalloid::cpu::reference {

class Engine {
 public:
  // Each thread of the host has its own.
  static Engine& of_this_thread();

  // What went wrong, if anything: then the rest of the threadgroup was abandoned.
  std::optional<FaultCause> run(const GridState& grid, device::Size threadgroup_position);

  // What kernels call, by way of runtime.cpp, for the thread that is running.
  void meet(uint32_t levels, const void* operand, void* result, Combine combine);
  void wait_at_barrier(uint32_t levels, uint32_t flags);
  void give_turn(bool counts);
  void check_key(uint32_t levels);
  KernelThread& kernel_thread() { return kernel_thread_; }

 private:
  enum class Status : uint8_t { not_started, ready, running, meeting, at_barrier, giving_turn, done };

  struct Thread {
    ThreadState state;
    Status status = Status::not_started;
    bool counts = false;  // giving its turn in a loop that counts
    bool leads = false;   // to combine the meeting that it takes part in
    uint32_t levels = 0;  // of its key
    Fiber* fiber = nullptr;
    const void* operand = nullptr;
    void* result = nullptr;
  };

  Engine();
  void start_threadgroup(const GridState& grid, device::Size position);
  void run_to_end();
  void run_simdgroup(uint32_t first, uint32_t last);
  bool hold_meeting(uint32_t first, uint32_t last);
  void release_barrier();
  void leave_kernel(const FaultCause& cause);
  void abandon();

  Fiber* next_fiber(Fiber* present);
  void run_threads();
  void run_thread(Thread& thread);
  device::Size take_position();
  void wait(Status status, uint32_t levels);

  KernelThread& kernel_thread_;
  std::optional<FaultCause> fault_;

  ThreadgroupState threadgroup_;
  void (*entry_)(ThreadState*) = nullptr;
  ThreadgroupArena arena_;
  uint32_t count_ = 0, done_ = 0, at_barrier_ = 0;
  device::Size next_position_;  // of the thread that starts next
  std::vector<Thread> threads_;
  std::unique_ptr<KeyLevel[]> keys_;
  std::array<uint32_t, max_threads_per_threadgroup / lanes_per_simdgroup> fruitless_rounds_;
  uint32_t barrier_flags_ = 0;

  Fiber own_;  // decides who runs
  FiberPool pool_;
  Fiber* running_ = nullptr;
  Thread* current_ = nullptr;
  uint32_t cursor_ = 0, end_ = 0;  // threads of the present SIMD-group that may still run in this turn
  Meeting meeting_;
};

}  // namespace metalloid::cpu::reference

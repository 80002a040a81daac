// The vector engine: runs threadgroups group by group, each group by one call of the pipeline's code.
//
// A kernel whose groups never wait for each other is a loop over threadgroups and groups, on one fiber, which is there
// to be left when the kernel goes wrong. If they wait, each group has its own fiber, and so has its number in every
// threadgroup: a fiber whose group has ended goes on with the group of that number in the next threadgroup. Fibers
// switch to each other directly, in a ring; the last that arrives at a barrier goes on without a switch.
#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "cpu/faults.hpp"
#include "cpu/fiber.hpp"
#include "cpu/object_code.hpp"
#include "cpu/thread_state.hpp"
#include "cpu/threadgroup_arena.hpp"
#include "cpu/vector/plan.hpp"

namespace metalloid::cpu::vector {

class Engine;

// What a group's code has as its state, and what the engine knows about it besides.
struct Group : ThreadState {
  Engine* engine = nullptr;
  Fiber* fiber = nullptr;
  Group* next = nullptr;  // of its threadgroup, in a ring
  uint32_t number = 0;
  uint32_t turns = 0;       // how often it let others run, or could have
  uint64_t resumes_at = 0;  // it can run when so many barriers are passed
};

class Engine {
 public:
  // Each thread of the host has its own.
  static Engine& of_this_thread();

  // What went wrong, and in which threadgroup: then the rest was abandoned.
  struct Stop {
    FaultCause cause;
    device::Size threadgroup;
  };

  // Threadgroups `first` to `last` - 1 of a grid that has a plan, as long as nobody says that it is over.
  std::optional<Stop> run(const GridState& grid, uint64_t first, uint64_t last, const std::atomic<bool>& is_over);

  // What kernels call, by way of runtime.cpp, for the group that is running.
  void wait_at_barrier(Group& group);
  void let_others_run(Group& group);
  void run_as_partial(Group& group);

 private:
  // The fibers of groups by their number. A group's private memory is that of all its lanes.
  struct Fibers {
    Fibers(Engine* engine, size_t stack_size, size_t stacks_per_slab);
    bool provide(size_t count);  // false if the system gives no more memory
    FiberPool pool;
    std::vector<Fiber*> of_group;
  };

  Engine();
  [[noreturn]] void run_on_fiber();
  void run_all_groups(Group& group);
  uint32_t threadgroups_at_once() const;
  std::optional<Stop> find_threadgroup(const Stop& stop, const GridState& grid);
  void run_group(Group& group);
  void place(Group& group, uint32_t number);
  bool start_next_threadgroup();
  void start_threadgroup();

  void make_ring(uint32_t size);
  void go_on_after_end_of(Group& group);
  Group& next_after(const Group& group);
  void switch_to(Group& group);
  void switch_to(Fiber& fiber);
  void pass_barrier();

  void leave_kernel(const FaultCause& cause);
  void abandon();

  KernelThread& kernel_thread_;
  std::optional<FaultCause> fault_;

  const GridPlan* grid_plan_ = nullptr;
  const std::atomic<bool>* is_over_ = nullptr;
  uint64_t left_ = 0;        // threadgroups after the present one
  bool one_by_one_ = false;  // even if the code can run several at once
  ThreadgroupState threadgroup_;
  const ThreadgroupPlan* plan_ = nullptr;
  ThreadgroupArena arena_;
  const ObjectLayout* layout_ = nullptr;

  std::vector<Group> groups_;
  uint32_t ring_size_ = 0;
  uint32_t alive_ = 0, at_barrier_ = 0;  // groups of the present threadgroup
  uint64_t barriers_passed_ = 0;

  // The code that run_as_partial found last.
  const ThreadgroupPlan* partial_plan_ = nullptr;
  Entry partial_entry_ = nullptr;

  Fiber own_;
  Fibers wide_fibers_, narrow_fibers_;
  Fibers* fibers_ = nullptr;
  Fiber* running_ = nullptr;
};

}  // namespace metalloid::cpu::vector

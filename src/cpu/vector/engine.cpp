#include "cpu/vector/engine.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <thread>

#include "cpu/grid.hpp"
#include "cpu/limits.hpp"
#include "cpu/pipeline.hpp"
#include "cpu/vector/variants.hpp"

namespace metalloid::cpu::vector {

namespace {

constexpr size_t stack_size_of_lane = 256 << 10;
constexpr uint32_t max_width = 32;

constexpr uint32_t calls_per_turn = 64;
constexpr uint32_t turns_per_yield = 16;

constexpr uint64_t never = ~uint64_t{0};

}  // namespace

Engine& Engine::of_this_thread() {
  thread_local std::unique_ptr<Engine> engine(new Engine);
  return *engine;
}

Engine::Engine()
    : kernel_thread_(KernelThread::of_this_thread()),
      wide_fibers_(this, stack_size_of_lane * max_width, 4),
      narrow_fibers_(this, stack_size_of_lane, 32) {
  groups_.reserve(max_threads_per_threadgroup);  // fibers know theirs by its address
}

Engine::Fibers::Fibers(Engine* engine, size_t stack_size, size_t stacks_per_slab)
    : pool([](void* self) { static_cast<Engine*>(self)->run_on_fiber(); }, engine, stack_size, stacks_per_slab) {}

bool Engine::Fibers::provide(size_t count) {
  while (of_group.size() < count) {
    Fiber* fiber = pool.take();
    if (!fiber) return false;
    of_group.push_back(fiber);
  }
  return true;
}

namespace {

// Stores past the caches, which kernels can ask for too, are not ordered with others.
void wait_for_streams() {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace

std::optional<Engine::Stop> Engine::run(const GridState& grid, uint64_t first, uint64_t last,
                                        const std::atomic<bool>& is_over) {
  grid_plan_ = grid.plan;
  is_over_ = &is_over;
  layout_ = &grid.pipeline->threadgroup_layout();
  partial_plan_ = nullptr;
  threadgroup_.grid = &grid;
  threadgroup_.memory = arena_.memory();
  threadgroup_.position = position_of(first, grid.threadgroups_per_grid);
  left_ = last - first - 1;

  const uint32_t fibers = grid_plan_->needs_fibers() ? grid_plan_->max_groups() : 1;
  fibers_ = grid.pipeline->width() == 1 ? &narrow_fibers_ : &wide_fibers_;
  if (!fibers_->provide(fibers)) return Stop{{device::FaultKind::out_of_memory}, threadgroup_.position};
  for (auto number = static_cast<uint32_t>(groups_.size()); number < fibers; ++number) {
    Group& group = groups_.emplace_back();
    group.engine = this;
    group.number = number;
    group.threadgroup = &threadgroup_;
  }
  for (uint32_t number = 0; number < fibers; ++number) groups_[number].fiber = fibers_->of_group[number];

  kernel_thread_.set_leave([](const FaultCause& cause) { of_this_thread().leave_kernel(cause); });
  kernel_thread_.set_validating(false);
  start_threadgroup();
  running_ = &own_;
  switch_to(groups_.front());
  kernel_thread_.threadgroup_ends();
  wait_for_streams();
  if (!fault_) return std::nullopt;
  abandon();
  const Stop stop{*std::exchange(fault_, std::nullopt), threadgroup_.position};
  return find_threadgroup(stop, grid).value_or(stop);
}

// Which of several that ran at once it was is found out by running them again, one by one.
std::optional<Engine::Stop> Engine::find_threadgroup(const Stop& stop, const GridState& grid) {
  const uint32_t count = threadgroups_at_once();
  if (count == 1) return std::nullopt;
  const device::Size &at = stop.threadgroup, &size = grid.threadgroups_per_grid;
  const uint64_t first = at.x + uint64_t{size.x} * (at.y + uint64_t{size.y} * at.z);
  const std::atomic<bool> is_over = false;
  one_by_one_ = true;
  const auto found = run(grid, first, first + count, is_over);
  one_by_one_ = false;
  return found;
}

void Engine::start_threadgroup() {
  plan_ = &grid_plan_->of(threadgroup_.position);
  threadgroup_.threads = plan_->threads;
  if (layout_->initial_bytes > 0) std::memcpy(arena_.memory(), layout_->initial, layout_->initial_bytes);
  if (grid_plan_->needs_fibers()) {
    if (alive_ = plan_->groups; alive_ != ring_size_) make_ring(alive_);
    at_barrier_ = 0;
    for (uint32_t number = 0; number < plan_->groups; ++number) groups_[number].resumes_at = 0;
  }
  kernel_thread_.threadgroup_starts();
}

void Engine::make_ring(uint32_t size) {
  for (uint32_t number = 0; number < size; ++number) groups_[number].next = &groups_[(number + 1) % size];
  ring_size_ = size;
}

bool Engine::start_next_threadgroup() {
  if (left_ == 0 || is_over_->load(std::memory_order_relaxed)) return false;
  --left_;
  kernel_thread_.threadgroup_ends();
  device::Size& position = threadgroup_.position;
  const device::Size& size = threadgroup_.grid->threadgroups_per_grid;
  if (++position.x == size.x) {
    position.x = 0;
    if (++position.y == size.y) {
      position.y = 0;
      ++position.z;
    }
  }
  start_threadgroup();
  return true;
}

// The body of every fiber.
void Engine::run_on_fiber() {
  Group& group = static_cast<Group&>(kernel_thread_.current_thread());
  for (;;) {
    if (grid_plan_->needs_fibers()) {
      run_group(group);
      go_on_after_end_of(group);
    } else {
      do run_all_groups(group);
      while (start_next_threadgroup());
      switch_to(own_);
    }
  }
}

void Engine::run_all_groups(Group& group) {
  const ThreadgroupPlan& plan = *plan_;
  const uint32_t full = plan.entry == plan.entry_of_last ? plan.groups : plan.groups - 1;
  kernel_thread_.enter_kernel();
  group.lanes = plan.variant.width;
  if (plan.runs_many_groups && full > 0) {
    place(group, 0);
    const uint32_t threadgroups = threadgroups_at_once();
    group.groups = full * threadgroups;
    group.row_end = plan.threads.x * threadgroups;
    group.layer_end = plan.threads.y;
    plan.entry(&group);
    left_ -= threadgroups - 1;
    threadgroup_.position.x += threadgroups - 1;
  } else {
    for (uint32_t number = 0; number < full; ++number) {
      place(group, number);
      plan.entry(&group);
    }
  }
  if (full < plan.groups) {
    place(group, full);
    group.lanes = plan.lanes_of_last;
    plan.entry_of_last(&group);
  }
  kernel_thread_.leave_kernel();
}

// How many the code runs in one call, from the present one on.
uint32_t Engine::threadgroups_at_once() const {
  if (plan_->at_once == 1 || one_by_one_) return 1;
  const uint32_t alike = std::min(plan_->at_once, grid_plan_->alike_from(threadgroup_.position));
  return static_cast<uint32_t>(std::min<uint64_t>(alike, left_ + 1));
}

void Engine::run_group(Group& group) {
  const bool is_last = group.number == plan_->groups - 1;
  place(group, group.number);
  group.lanes = is_last ? plan_->lanes_of_last : plan_->variant.width;
  kernel_thread_.enter_kernel();
  (is_last ? plan_->entry_of_last : plan_->entry)(&group);
  kernel_thread_.leave_kernel();
}

inline void Engine::place(Group& group, uint32_t number) {
  group.index = number * plan_->variant.width;
  group.position = plan_->positions[number];
  group.groups = 1;
  group.positions = &plan_->positions[number];
  group.lane_positions = plan_->lane_positions_of(number);
}

// Threads that have ended do not count at a barrier.
void Engine::go_on_after_end_of(Group& group) {
  group.resumes_at = never;
  if (--alive_ > 0) {
    if (at_barrier_ == alive_) pass_barrier();
    switch_to(next_after(group));
  } else if (start_next_threadgroup()) {
    switch_to(group.number < plan_->groups ? group : groups_.front());
  } else {
    switch_to(own_);
  }
}

// The next group in the ring that can run: `group` itself if there is no other.
inline Group& Engine::next_after(const Group& group) {
  Group* next = group.next;
  while (next->resumes_at > barriers_passed_) next = next->next;
  return *next;
}

inline void Engine::switch_to(Group& group) {
  kernel_thread_.set_current_thread(group);
  switch_to(*group.fiber);
}

inline void Engine::switch_to(Fiber& fiber) {
  Fiber& self = *running_;
  running_ = &fiber;
  if (&self != &fiber) self.switch_to(fiber);
}

inline void Engine::pass_barrier() {
  at_barrier_ = 0;
  ++barriers_passed_;
}

// Not a native section, but for the sanitizers, which cannot be left half-way through a switch that they were told of:
// a group that is interrupted here is left like one that is in the kernel's code.
void Engine::wait_at_barrier(Group& group) {
#if defined(METALLOID_ADDRESS_SANITIZER) || defined(METALLOID_THREAD_SANITIZER)
  const NativeSection native(kernel_thread_);
#endif
  if (++at_barrier_ == alive_) return pass_barrier();
  group.resumes_at = barriers_passed_ + 1;
  switch_to(next_after(group));
}

void Engine::let_others_run(Group& group) {
  if (++group.turns % calls_per_turn != 0) return;
  const NativeSection native(kernel_thread_);
  // Perhaps it waits for a threadgroup that runs elsewhere.
  if (group.turns % (calls_per_turn * turns_per_yield) == 0) std::this_thread::yield();
  if (alive_ > 1) switch_to(next_after(group));
}

void Engine::run_as_partial(Group& group) {
  if (partial_plan_ != plan_) {
    const NativeSection native(kernel_thread_);
    Variant variant = plan_->variant;
    variant.is_partial = true;
    kernel_thread_.threadgroup_ends();  // the kernel's time is not that of the compiler
    const CompiledVariant& compiled = threadgroup_.grid->pipeline->variant(variant);
    kernel_thread_.threadgroup_starts();
    if (!compiled.code) kernel_thread_.fail({.kind = device::FaultKind::internal, .message = compiled.error.c_str()});
    partial_plan_ = plan_;
    partial_entry_ = compiled.code->entry;
  }
  partial_entry_(&group);
}

// On the stack of a signal handler, or in one of the functions above.
void Engine::leave_kernel(const FaultCause& cause) {
  fault_ = cause;
  const auto* address = reinterpret_cast<const void*>(cause.address);
  if (cause.has_address &&
      std::ranges::any_of(fibers_->of_group, [&](const Fiber* fiber) { return fiber->is_guard(address); }))
    fault_->kind = device::FaultKind::stack_overflow;
  switch_to(own_);
}

void Engine::abandon() {
  kernel_thread_.forget_handler();
  for (Fiber* fiber : fibers_->of_group) fiber->reset();
}

}  // namespace metalloid::cpu::vector

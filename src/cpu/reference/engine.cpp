#include "cpu/reference/engine.hpp"

#include <algorithm>
#include <thread>

#include "cpu/engine_events.hpp"
#include "cpu/grid.hpp"
#include "cpu/pipeline.hpp"

namespace metalloid::cpu::reference {

namespace {

constexpr size_t stack_size = 256 << 10, stacks_per_slab = 32;

constexpr uint32_t iterations_per_turn = 64;

// How many turns a lane may take in a loop while others of its SIMD-group wait for it, before they go on without it.
constexpr uint32_t turns_of_waiting_loop = 64;
constexpr uint32_t turns_of_counting_loop = 100'000;

}  // namespace

Engine& Engine::of_this_thread() {
  thread_local std::unique_ptr<Engine> engine(new Engine);
  return *engine;
}

Engine::Engine()
    : kernel_thread_(KernelThread::of_this_thread()),
      threads_(max_threads_per_threadgroup),
      keys_(std::make_unique_for_overwrite<KeyLevel[]>(max_threads_per_threadgroup * max_key_levels)),
      pool_([](void* engine) { static_cast<Engine*>(engine)->run_threads(); }, this, stack_size, stacks_per_slab) {}

std::optional<FaultCause> Engine::run(const GridState& grid, device::Size position) {
  start_threadgroup(grid, position);
  kernel_thread_.set_leave([](const FaultCause& cause) { of_this_thread().leave_kernel(cause); });
  kernel_thread_.set_validating(grid.events != nullptr);
  kernel_thread_.threadgroup_starts();
  run_to_end();
  kernel_thread_.threadgroup_ends();
  if (fault_) abandon();
  if (grid.events) grid.events->threadgroup_ended(threadgroup_);
  return std::exchange(fault_, std::nullopt);
}

void Engine::start_threadgroup(const GridState& grid, device::Size position) {
  const Pipeline& pipeline = *grid.pipeline;
  entry_ = pipeline.entry();
  const ObjectLayout& layout = pipeline.threadgroup_layout();
  std::copy_n(reinterpret_cast<const std::byte*>(layout.initial), layout.initial_bytes, arena_.memory());

  threadgroup_.grid = &grid;
  threadgroup_.memory = arena_.memory();
  threadgroup_.position = position;
  threadgroup_.threads = threads_of(position, grid.threads_per_threadgroup, grid.threads_per_grid);
  count_ = static_cast<uint32_t>(threadgroup_.threads.count());
  done_ = at_barrier_ = 0;
  next_position_ = {0, 0, 0};
  fruitless_rounds_.fill(0);
  for (uint32_t i = 0; i < count_; ++i) threads_[i].status = Status::not_started;
  if (grid.events) grid.events->threadgroup_started(threadgroup_);
}

void Engine::run_to_end() {
  for (uint32_t round = 1; done_ < count_; ++round) {
    for (uint32_t first = 0; first < count_ && !fault_; first += lanes_per_simdgroup)
      run_simdgroup(first, std::min(count_, first + lanes_per_simdgroup));
    if (fault_) return;
    if (at_barrier_ > 0 && done_ + at_barrier_ == count_) release_barrier();
    if (round % 1024 == 0) std::this_thread::yield();  // perhaps it waits for a threadgroup that runs elsewhere
  }
}

// Everything the SIMD-group can do without others.
void Engine::run_simdgroup(uint32_t first, uint32_t last) {
  do {
    cursor_ = first;
    end_ = last;
    Fiber* fiber = next_fiber(nullptr);
    if (fiber != &own_) {
      running_ = fiber;
      own_.switch_to(*fiber);
      running_ = nullptr;
    }
  } while (!fault_ && hold_meeting(first, last));
}

// Lanes that give their turn are still on their way; a meeting waits for them, but not for ever.
bool Engine::hold_meeting(uint32_t first, uint32_t last) {
  uint32_t& fruitless = fruitless_rounds_[first / lanes_per_simdgroup];
  bool is_waited_for = false, counts = false;
  const Thread* least = nullptr;
  auto compare = [](const Thread& a, const Thread& b) {
    return std::lexicographical_compare_three_way(a.state.key, a.state.key + a.levels, b.state.key,
                                                  b.state.key + b.levels);
  };
  for (uint32_t i = first; i < last; ++i) {
    Thread& thread = threads_[i];
    if (thread.status == Status::giving_turn) {
      thread.status = Status::ready;
      is_waited_for = true;
      counts |= thread.counts;
    } else if (thread.status == Status::meeting) {
      if (!least || compare(thread, *least) < 0) least = &thread;
    }
  }
  if (!least) return false;
  if (is_waited_for && fruitless++ < (counts ? turns_of_counting_loop : turns_of_waiting_loop)) return false;
  fruitless = 0;

  meeting_.active = 0;
  for (uint32_t i = first; i < last; ++i) {
    Thread& thread = threads_[i];
    if (thread.status != Status::meeting || compare(thread, *least) != 0) continue;
    thread.status = Status::ready;
    thread.leads = meeting_.active == 0;
    meeting_.active |= 1u << (i - first);
    meeting_.operands[i - first] = thread.operand;
    meeting_.results[i - first] = thread.result;
  }
  if (EngineEvents* events = threadgroup_.grid->events) events->lanes_met(threadgroup_, first, meeting_.active);
  return true;
}

void Engine::release_barrier() {
  for (uint32_t i = 0; i < count_; ++i)
    if (threads_[i].status == Status::at_barrier) threads_[i].status = Status::ready;
  at_barrier_ = 0;
  if (threadgroup_.grid->events) threadgroup_.grid->events->barrier_passed(threadgroup_, barrier_flags_);
}

void Engine::leave_kernel(const FaultCause& cause) {
  fault_ = cause;
  if (cause.has_address && running_->is_guard(reinterpret_cast<const void*>(cause.address)))
    fault_->kind = device::FaultKind::stack_overflow;
  running_->switch_to(own_);
}

void Engine::abandon() {
  kernel_thread_.forget_handler();
  for (uint32_t i = 0; i < count_; ++i) {
    Thread& thread = threads_[i];
    if (!thread.fiber) continue;
    thread.fiber->reset();
    pool_.give_back(*std::exchange(thread.fiber, nullptr));
  }
}

// The fiber of the next thread of this turn, which becomes the current one; our own when there is none. A thread that
// starts gets `present`, if that has none any more.
Fiber* Engine::next_fiber(Fiber* present) {
  while (cursor_ < end_) {
    Thread& thread = threads_[cursor_++];
    if (thread.status == Status::not_started) {
      thread.fiber = present ? present : pool_.take();
      if (!thread.fiber) {
        fault_ = {device::FaultKind::out_of_memory};
        return &own_;
      }
    } else if (thread.status != Status::ready) {
      continue;
    }
    current_ = &thread;
    kernel_thread_.set_current_thread(thread.state);
    return thread.fiber;
  }
  return &own_;
}

// The body of every fiber.
void Engine::run_threads() {
  for (Fiber* self = running_;;) {
    run_thread(*current_);
    Fiber* next = next_fiber(self);
    if (next == self) continue;
    pool_.give_back(*self);
    running_ = next;
    self->switch_to(*next);
  }
}

void Engine::run_thread(Thread& thread) {
  const auto index = static_cast<uint32_t>(&thread - threads_.data());
  ThreadState& state = thread.state;
  state.threadgroup = &threadgroup_;
  state.position = take_position();
  state.index = index;
  state.key = &keys_[size_t{index} * max_key_levels];
  state.key_base = 0;
  state.patience = iterations_per_turn;
  thread.status = Status::running;
  EngineEvents* events = threadgroup_.grid->events;
  if (events) events->thread_started(state);
  kernel_thread_.enter_kernel();
  entry_(&state);
  kernel_thread_.leave_kernel();
  if (events) events->thread_ended(state);
  thread.status = Status::done;
  thread.fiber = nullptr;
  ++done_;
}

// Threads start in the order of their indices.
device::Size Engine::take_position() {
  const device::Size position = next_position_;
  if (++next_position_.x < threadgroup_.threads.x) return position;
  next_position_.x = 0;
  if (++next_position_.y < threadgroup_.threads.y) return position;
  next_position_.y = 0;
  ++next_position_.z;
  return position;
}

void Engine::wait(Status status, uint32_t levels) {
  Thread& thread = *current_;
  Fiber& self = *running_;
  thread.status = status;
  thread.levels = levels;
  running_ = next_fiber(nullptr);
  self.switch_to(*running_);
  thread.status = Status::running;
}

void Engine::meet(uint32_t levels, const void* operand, void* result, Combine combine) {
  Thread& thread = *current_;
  thread.operand = operand;
  thread.result = result;
  thread.leads = false;
  wait(Status::meeting, levels);
  if (!thread.leads) return;
  kernel_thread_.enter_kernel();
  combine(meeting_);
  kernel_thread_.leave_kernel();
}

void Engine::wait_at_barrier(uint32_t levels, uint32_t flags) {
  ++at_barrier_;
  barrier_flags_ = flags;
  wait(Status::at_barrier, levels);
}

void Engine::give_turn(bool counts) {
  current_->state.patience = iterations_per_turn;
  current_->counts = counts;
  wait(Status::giving_turn, 0);
}

void Engine::check_key(uint32_t levels) {
  if (levels > max_key_levels) kernel_thread_.fail({device::FaultKind::stack_overflow});
}

}  // namespace metalloid::cpu::reference

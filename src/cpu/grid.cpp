#include "cpu/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>

#include "cpu/limits.hpp"
#include "cpu/pipeline.hpp"
#include "cpu/reference/engine.hpp"
#include "cpu/sanitizers.hpp"
#include "cpu/threadgroup_arena.hpp"
#include "cpu/validation/validator.hpp"
#include "cpu/vector/engine.hpp"

namespace metalloid::cpu {

namespace {

constexpr uint64_t threadgroup_memory_alignment = 16;

// Sharing work pays if it takes about so many nanoseconds: with threads of the pool that have to be woken, and with
// those that look out for it.
constexpr uint64_t worth_waking = 20'000, worth_sharing = 4'000;

// In so many nanoseconds threadgroups touch less memory than any cache holds that is worth looking in.
constexpr uint64_t time_of_few = 16'000;

uint32_t groups(uint32_t threads, uint32_t per_group) {
  return static_cast<uint32_t>((uint64_t{threads} + per_group - 1) / per_group);
}

// Memory says how many threadgroups an indirect dispatch has; nothing if their threads are too many.
std::optional<device::Size> threads_per_grid(const device::Dispatch& dispatch) {
  if (!dispatch.indirect_threadgroups) return dispatch.threads_per_grid;
  const auto* threadgroups = reinterpret_cast<const uint32_t*>(dispatch.indirect_threadgroups);
  const device::Size& size = dispatch.threads_per_threadgroup;
  const uint64_t x = uint64_t{threadgroups[0]} * size.x, y = uint64_t{threadgroups[1]} * size.y,
                 z = uint64_t{threadgroups[2]} * size.z;
  if (x == 0 || y == 0 || z == 0) return device::Size{};
  if (std::max({x, y, z}) > UINT32_MAX) return std::nullopt;
  return device::Size{static_cast<uint32_t>(x), static_cast<uint32_t>(y), static_cast<uint32_t>(z)};
}

device::Fault refuse(const device::Dispatch& dispatch, const char* encoder_label, const std::string& why) {
  const std::string& kernel = dispatch.pipeline->name;
  return {device::FaultKind::invalid_resource, fmt::format("kernel '{}' was dispatched with {}", kernel, why), kernel,
          encoder_label ? encoder_label : ""};
}

device::Fault cannot_run(const device::Dispatch& dispatch, const char* encoder_label, const std::string& why) {
  return {device::FaultKind::internal, why, dispatch.pipeline->name, encoder_label ? encoder_label : ""};
}

device::Fault describe(const FaultCause& cause, const GridState& grid, device::Size at) {
  const std::string place = fmt::format("in threadgroup ({}, {}, {})", at.x, at.y, at.z);
  const std::string& kernel = grid.pipeline->name;
  device::Fault fault{cause.kind, {}, kernel, grid.encoder_label ? grid.encoder_label : ""};
  if (cause.message) {
    fault.message = cause.message;
    return fault;
  }
  switch (cause.kind) {
    case device::FaultKind::page_fault:
      fault.message =
          cause.has_address
              ? fmt::format("kernel '{}' accessed invalid memory at address {:#x} {}", kernel, cause.address, place)
              : fmt::format("kernel '{}' accessed memory by a pointer that is no address {}", kernel, place);
      break;
    case device::FaultKind::stack_overflow:
      fault.message = fmt::format("kernel '{}' overflowed the stack of a thread {}", kernel, place);
      break;
    case device::FaultKind::timeout:
      fault.message = fmt::format(
          "kernel '{}' ran for too long {}; METALLOID_TIMEOUT sets the limit in seconds, 0 for "
          "none",
          kernel, place);
      break;
    case device::FaultKind::out_of_memory:
      fault.message = fmt::format("there is not enough memory for the threads of kernel '{}' {}", kernel, place);
      break;
    default:
      fault.message = fmt::format("kernel '{}' {} {}", kernel,
                                  cause.is_division ? "divided an integer by zero or with a result that does not fit"
                                                    : "executed an illegal instruction",
                                  place);
  }
  return fault;
}

// One dispatch being carried out by several threads.
class Run {
 public:
  explicit Run(const GridState& grid, validation::Validator* validator) : grid_(grid), validator_(validator) {}

  // Threadgroups `first` to `last` - 1; whether others are still to follow.
  bool threadgroups(uint64_t first, uint64_t last) {
    if (failed_.load(std::memory_order_relaxed)) return false;
    return grid_.plan ? run_vector(first, last) : run_reference(first, last);
  }

  std::optional<device::Fault> fault() && { return std::move(fault_); }

 private:
  bool run_vector(uint64_t first, uint64_t last) {
    const auto stop = vector::Engine::of_this_thread().run(grid_, first, last, failed_);
    if (stop) fail(stop->cause, stop->threadgroup);
    return !stop;
  }

  bool run_reference(uint64_t first, uint64_t last) {
    for (uint64_t number = first; number < last; ++number) {
      if (failed_.load(std::memory_order_relaxed)) return false;
      const device::Size position = position_of(number, grid_.threadgroups_per_grid);
      const auto cause = reference::Engine::of_this_thread().run(grid_, position);
      if (!cause) continue;
      if (validator_) validator_->stopped(*cause);
      fail(*cause, position);
      return false;
    }
    return true;
  }

  void fail(const FaultCause& cause, device::Size position) {
    std::lock_guard lock(mutex_);
    if (!failed_.exchange(true)) fault_ = describe(cause, grid_, position);
  }

  const GridState& grid_;
  validation::Validator* const validator_;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::optional<device::Fault> fault_;
};

class Stopwatch {
 public:
  uint64_t nanoseconds() const {
    return static_cast<uint64_t>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start_).count());
  }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Runs threadgroups on this thread until others are to have the rest, if there is more than one left: how many it ran.
// After a fault, the rest count as run.
uint64_t run_alone(Run& run, uint64_t count, uint64_t nanoseconds) {
  const Stopwatch watch;
  uint64_t done = 0;
  // Ever more threadgroups before each look at the clock, which costs as much as a small one.
  for (uint64_t some = 1; done < count; some *= 2) {
    const uint64_t end = std::min(count, done + some);
    if (!run.threadgroups(done, end)) return count;
    done = end;
    if (done + 1 < count && watch.nanoseconds() > nanoseconds) break;
  }
  return done;
}

void run_together(Run& run, uint64_t first, uint64_t last, Order order, uint64_t few, ThreadPool& pool) {
  hand_over(&run);
  run_ranges(
      pool, first, last, order, few,
      [](void* run, uint64_t first, uint64_t last) {
        take_over(run);
        static_cast<Run*>(run)->threadgroups(first, last);
        hand_over(run);
      },
      &run);
  take_over(&run);
}

}  // namespace

device::Size position_of(uint64_t number, device::Size size) {
  return {static_cast<uint32_t>(number % size.x), static_cast<uint32_t>(number / size.x % size.y),
          static_cast<uint32_t>(number / size.x / size.y)};
}

device::Size threads_of(device::Size position, device::Size full_size, device::Size grid) {
  auto clip = [](uint32_t group, uint32_t threads, uint32_t all) {
    return static_cast<uint32_t>(std::min<uint64_t>(threads, all - uint64_t{group} * threads));
  };
  return {clip(position.x, full_size.x, grid.x), clip(position.y, full_size.y, grid.y),
          clip(position.z, full_size.z, grid.z)};
}

std::optional<device::Fault> GridRunner::run(const device::Dispatch& dispatch,
                                             const std::function<void(const device::Log&)>& log,
                                             const char* encoder_label) {
  const uint64_t threads_per_threadgroup = dispatch.threads_per_threadgroup.count();
  if (threads_per_threadgroup > max_threads_per_threadgroup)
    return refuse(dispatch, encoder_label,
                  fmt::format("threadgroups of {} threads; the device has at most {}", threads_per_threadgroup,
                              max_threads_per_threadgroup));
  const auto threads = threads_per_grid(dispatch);
  if (!threads)
    return refuse(dispatch, encoder_label,
                  "so many threadgroups by its indirect buffer that the grid has more than 2^32 - 1 threads in a "
                  "direction");
  GridState grid = prepare(dispatch, *threads);
  if (grid.threadgroup_memory > ThreadgroupArena::size)
    return refuse(dispatch, encoder_label,
                  fmt::format("{} bytes of threadgroup memory; the device has {}", grid.threadgroup_memory,
                              max_threadgroup_memory));
  grid.log = &log;
  grid.encoder_label = encoder_label;

  if (grid.pipeline->is_vector() && grid.threadgroups_per_grid.count() > 0) {
    if (auto planned = plan_.make(grid); !planned) return cannot_run(dispatch, encoder_label, planned.error());
    grid.plan = &plan_;
  }

  std::optional<validation::Validator> validator;
  if (const auto* sites = grid.pipeline->sites()) grid.events = &validator.emplace(grid, *sites, report_limit_);
  Run run(grid, grid.events ? &*validator : nullptr);
  const uint64_t count = grid.threadgroups_per_grid.count();
  std::atomic<uint32_t>& time_of_threadgroup = grid.pipeline->time_of_threadgroup();
  const uint64_t expected = count * time_of_threadgroup.load(std::memory_order_relaxed);
  const uint64_t worth = has_helpers(pool_) ? worth_sharing : worth_waking;
  Stopwatch watch;
  uint64_t done = 0;
  if (validator)
    run.threadgroups(0, done = count);
  else if (count == 1 || expected < 2 * worth)
    done = run_alone(run, count, worth);
  uint64_t time = watch.nanoseconds();
  if (done < count) {
    const Order order = grid.pipeline->threadgroup_layout().keeps_order ? Order::upwards : Order::to_and_fro;
    const uint64_t few = 1 + time_of_few * count / std::max<uint64_t>(expected, 1);
    run_together(run, done, count, order, few, pool_);
    time += (watch.nanoseconds() - time) * pool_.threads();
  }
  if (count > 1)  // what is left over for one says little about many
    time_of_threadgroup.store(static_cast<uint32_t>(std::min<uint64_t>(time / count, UINT32_MAX)),
                              std::memory_order_relaxed);
  return std::move(run).fault();
}

GridState GridRunner::prepare(const device::Dispatch& dispatch, device::Size threads) {
  GridState grid;
  grid.pipeline = static_cast<const Pipeline*>(dispatch.pipeline);
  grid.threads_per_threadgroup = dispatch.threads_per_threadgroup;
  const device::Size& size = grid.threads_per_threadgroup;
  grid.threads_per_grid = threads;
  if (size.count() > 0)
    grid.threadgroups_per_grid = {groups(threads.x, size.x), groups(threads.y, size.y), groups(threads.z, size.z)};

  const auto& slots = dispatch.pipeline->slots;
  arguments_.assign(dispatch.arguments, dispatch.arguments + slots.size());
  uint64_t memory = grid.pipeline->threadgroup_layout().threadgroup_bytes;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].kind != ParameterKind::threadgroup_memory) continue;
    arguments_[i].value = memory;
    memory += (arguments_[i].length + threadgroup_memory_alignment - 1) / threadgroup_memory_alignment *
              threadgroup_memory_alignment;
  }
  grid.arguments = arguments_.data();
  grid.threadgroup_memory = memory;
  return grid;
}

}  // namespace metalloid::cpu

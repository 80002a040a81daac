// Data races: two threads touch the same memory, at least one of them writes, not both with atomics, and nothing puts
// one before the other. What puts an access before another, by the rules that docs/validation.md gives:
//
// - in a threadgroup, a threadgroup_barrier between them whose flags name that memory, or fences of both threads;
// - in a SIMD-group also a SIMD-group function, barrier or matrix operation that both lanes took part in;
// - between threadgroups, an atomic that the first one executed after its access and the second one, on the same
//   memory, before its own.
//
// Time is a clock that such events advance: an access is before an event if its tick is lower.
#pragma once

#include <array>
#include <optional>
#include <unordered_map>
#include <vector>

#include "cpu/limits.hpp"
#include "cpu/validation/shadow.hpp"

namespace metalloid::cpu::validation {

enum class MemoryKind : uint8_t { device, threadgroup };

struct MemoryAccess {
  MemoryKind memory = MemoryKind::device;
  uint64_t address = 0, bytes = 0;  // threadgroup memory: from its start
  uint32_t thread = 0, site = 0;
  bool reads = false, writes = false, is_atomic = false, is_matrix = false;
};

class RaceDetector {
 public:
  void threadgroup_started(uint32_t number);
  void lanes_met(uint32_t first, uint32_t active);
  void barrier_passed(uint32_t flags);
  void fence_passed(uint32_t thread) { fenced_[thread] = ++clock_; }

  // The access before this one that it races with. `changes_memory` is asked about a write: one of what is there
  // already races with no other write.
  template <class ChangesMemory>
  std::optional<Access> access(const MemoryAccess& access, ChangesMemory changes_memory) {
    Access present;
    present.tick = clock_;
    present.threadgroup = threadgroup_;
    present.thread = access.thread;
    present.is_there = 1;
    present.is_atomic = access.is_atomic;
    present.is_matrix = access.is_matrix;
    present.site = access.site < max_site ? access.site : max_site;

    std::optional<Access> race;
    Shadow& shadow = access.memory == MemoryKind::device ? device_ : threadgroup_memory_;
    shadow.for_each_cell(access.address, access.bytes, [&](Cell& cell) {
      if (!race && conflict(cell.write, present, access.memory) &&
          (access.reads || access.is_atomic || changes_memory()))
        race = cell.write;
      if (!race && conflict(cell.atomic_write, present, access.memory)) race = cell.atomic_write;
      if (access.writes) {
        if (!race && conflict(cell.read, present, access.memory)) race = cell.read;
        if (!race && conflict(cell.other_read, present, access.memory)) race = cell.other_read;
        (access.is_atomic ? cell.atomic_write : cell.write) = present;
      } else {
        if (!cell.read.is_of_thread_of(present)) cell.other_read = cell.read;
        cell.read = present;
      }
    });
    if (access.is_atomic && access.memory == MemoryKind::device) note_atomic(access.address);
    return race;
  }

 private:
  // Atomic operations of a threadgroup on device memory: where, and when last.
  struct Atomics {
    static constexpr size_t max_places = 64;
    struct Place {
      uint64_t address, tick;
    };
    std::vector<Place> places;
    bool has_more = false;
  };

  bool conflict(const Access& before, const Access& present, MemoryKind memory) const {
    if (!before.is_there || (before.is_atomic && present.is_atomic)) return false;
    if (before.threadgroup != present.threadgroup)
      return memory == MemoryKind::device && !ordered_by_atomics(before, present);
    return before.thread != present.thread && !ordered_in_threadgroup(before, present, memory);
  }

  bool ordered_in_threadgroup(const Access& before, const Access& present, MemoryKind memory) const;
  bool ordered_by_atomics(const Access& before, const Access& present) const;
  void note_atomic(uint64_t address);

  uint64_t clock_ = 1;
  uint32_t threadgroup_ = 0;
  std::array<uint64_t, 2> barrier_ = {};  // by MemoryKind: the last that orders it
  std::array<uint64_t, max_threads_per_threadgroup> met_ = {}, fenced_ = {};
  std::unordered_map<uint32_t, Atomics> atomics_;
  Shadow device_, threadgroup_memory_;
};

}  // namespace metalloid::cpu::validation

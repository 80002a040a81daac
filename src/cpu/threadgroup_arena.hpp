// The memory of the threadgroup that a thread of the host runs, between pages that nobody may touch: a kernel that
// steps out of it faults, rather than writing into somebody else's memory.
#pragma once

#include <cstddef>

#include "cpu/limits.hpp"

namespace metalloid::cpu {

class ThreadgroupArena {
 public:
  static constexpr size_t size = 2 * max_threadgroup_memory;  // with room for what aligning its parts takes

  ThreadgroupArena();  // throws std::bad_alloc
  ~ThreadgroupArena();
  ThreadgroupArena(const ThreadgroupArena&) = delete;
  ThreadgroupArena& operator=(const ThreadgroupArena&) = delete;

  std::byte* memory() const { return mapping_ + guard; }

 private:
  static constexpr size_t guard = 1 << 20;

  std::byte* mapping_;
};

}  // namespace metalloid::cpu

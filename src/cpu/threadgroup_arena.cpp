#include "cpu/threadgroup_arena.hpp"

#include <sys/mman.h>

#include <new>

namespace metalloid::cpu {

ThreadgroupArena::ThreadgroupArena() {
  void* start = mmap(nullptr, guard + size + guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<std::byte*>(start);
  if (mprotect(memory(), size, PROT_READ | PROT_WRITE) == 0) return;
  munmap(mapping_, guard + size + guard);
  throw std::bad_alloc();
}

ThreadgroupArena::~ThreadgroupArena() {
  munmap(mapping_, guard + size + guard);
}

}  // namespace metalloid::cpu

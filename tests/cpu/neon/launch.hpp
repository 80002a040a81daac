// What a test tells the program that runs a kernel on another processor, and that kernel's view of its state. The
// program has no C++ library, so it has these structs instead of those of cpu/thread_state.hpp; neon_test.cpp sees that
// they agree.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace metalloid::cpu::neon {

struct Size {
  uint32_t x, y, z;
};

// The program's input begins with this and an ArgumentHeader for each argument; the bytes of all arguments follow. Its
// output is those bytes, as the kernel left them.
struct LaunchHeader {
  Size grid, threadgroup;  // threads
  uint32_t arguments;
};

struct ArgumentHeader {
  uint64_t length;
  uint64_t is_threadgroup_memory;  // then there are no bytes
};

constexpr uint32_t width = 32;
constexpr uint32_t most_arguments = 31;

struct Argument {
  uint64_t value, length;
};

struct GridState {
  const Argument* arguments;
  Size threads_per_grid;
  Size threadgroups_per_grid;
  Size threads_per_threadgroup;
};

struct ThreadgroupState {
  const GridState* grid;
  unsigned char* memory;
  Size position;
  Size threads;
};

struct ThreadState {
  const ThreadgroupState* threadgroup;
  Size position;
  uint32_t index;
  const uint32_t* lane_positions;
  uint32_t lanes;
  uint32_t groups;
  const Size* positions;
};

struct ObjectLayout {
  uint64_t threadgroup_bytes;
  uint64_t initial_bytes;
  const char* initial;
};

}  // namespace metalloid::cpu::neon

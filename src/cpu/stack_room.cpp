#include "cpu/stack_room.hpp"

#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace metalloid::cpu {

namespace {

constexpr size_t enough_room = 512 << 10;

struct Stack {
  uintptr_t lowest = 0, end = 0;  // nothing if the system does not say
};

Stack stack_of_thread() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* lowest = nullptr;
  size_t size = 0;
  const bool is_known = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
  pthread_attr_destroy(&attributes);
  if (!is_known) return {};
  const auto address = reinterpret_cast<uintptr_t>(lowest);
  return {address, address + size};
}

}  // namespace

bool has_room_on_stack() {
  thread_local const Stack stack = stack_of_thread();
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return here < stack.end && here > stack.lowest && here - stack.lowest >= enough_room;
}

}  // namespace metalloid::cpu

// What the sanitizers cannot see by themselves: libraries that they do not look into (oneTBB), stacks that are left for
// good. All of it is nothing in builds without them.
#pragma once

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define METALLOID_ADDRESS_SANITIZER
#endif
#if __has_feature(thread_sanitizer)
#define METALLOID_THREAD_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define METALLOID_ADDRESS_SANITIZER
#endif
#if defined(__SANITIZE_THREAD__)
#define METALLOID_THREAD_SANITIZER
#endif

#ifdef METALLOID_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#ifdef METALLOID_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

// Of functions that may interrupt the thread sanitizer's own code, which is not made for that: they call none of it.
#if defined(METALLOID_THREAD_SANITIZER) && defined(__clang__)
#define METALLOID_UNSANITIZED __attribute__((disable_sanitizer_instrumentation))
#elif defined(METALLOID_THREAD_SANITIZER)
#define METALLOID_UNSANITIZED __attribute__((no_sanitize_thread))
#else
#define METALLOID_UNSANITIZED
#endif

namespace metalloid::cpu {

// What this thread did before it hands over `place` happened before what another does after it took it over.
inline void hand_over([[maybe_unused]] void* place) {
#ifdef METALLOID_THREAD_SANITIZER
  __tsan_release(place);
#endif
}
inline void take_over([[maybe_unused]] void* place) {
#ifdef METALLOID_THREAD_SANITIZER
  __tsan_acquire(place);
#endif
}

// A library has it whose memory the leak sanitizer does not look into; the program may end before it is given back.
inline void lend([[maybe_unused]] const void* object) {
#ifdef METALLOID_ADDRESS_SANITIZER
  __lsan_ignore_object(object);
#endif
}

// The frames on this stack will never be returned to.
inline void forget_frames([[maybe_unused]] const void* stack, [[maybe_unused]] size_t size) {
#ifdef METALLOID_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(stack, size);
#endif
}

}  // namespace metalloid::cpu

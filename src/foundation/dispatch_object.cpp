#include "foundation/dispatch_object.hpp"

#include <Foundation/NSDefines.hpp>

// Present in programs that have blocks: clang links a runtime for them.
extern "C" __attribute__((weak)) void* _Block_copy(const void* block);
extern "C" __attribute__((weak)) void _Block_release(const void* block);

namespace metalloid::foundation::dispatch {
namespace {

using Clock = std::chrono::steady_clock;

struct BlockLayout {
  void* isa;
  int flags;
  int reserved;
  void (*invoke)();
};

uint64_t now() {
  return static_cast<uint64_t>(std::chrono::nanoseconds(Clock::now().time_since_epoch()).count());
}

constexpr uint64_t latest = INT64_MAX;

}  // namespace

std::optional<Clock::time_point> deadline(dispatch_time_t timeout) {
  if (timeout >= latest) return std::nullopt;
  return Clock::time_point(std::chrono::nanoseconds(timeout));
}

// Without a runtime every block is a constant of the program and needs no copy.
void* copy_block(const void* block) {
  return _Block_copy ? _Block_copy(block) : const_cast<void*>(block);
}

void release_block(void* block) {
  if (_Block_release) _Block_release(block);
}

void call_block(void* block) {
  reinterpret_cast<void (*)(void*)>(static_cast<BlockLayout*>(block)->invoke)(block);
}

void call_block(void* block, size_t argument) {
  reinterpret_cast<void (*)(void*, size_t)>(static_cast<BlockLayout*>(block)->invoke)(block, argument);
}

void call_and_release_block(void* block) {
  call_block(block);
  release_block(block);
}

}  // namespace metalloid::foundation::dispatch

using namespace metalloid::foundation::dispatch;

void dispatch_retain(dispatch_object_t object) {
  if (object) body<Object>(object)->retain();
}

void dispatch_release(dispatch_object_t object) {
  if (object) body<Object>(object)->release();
}

dispatch_time_t dispatch_time(dispatch_time_t when, int64_t delta) {
  if (when == DISPATCH_TIME_FOREVER) return when;
  const uint64_t start = when == DISPATCH_TIME_NOW ? now() : when;
  if (delta < 0) {
    const uint64_t back = 0 - static_cast<uint64_t>(delta);
    return back < start ? start - back : 1;
  }
  return static_cast<uint64_t>(delta) < latest - start ? start + static_cast<uint64_t>(delta) : DISPATCH_TIME_FOREVER;
}

// The predicate is 0 at first, 1 while the function runs, and -1 afterwards.
void dispatch_once_f(dispatch_once_t* predicate, void* context, dispatch_function_t function) {
  std::atomic_ref<dispatch_once_t> state(*predicate);
  dispatch_once_t expected = 0;
  if (state.compare_exchange_strong(expected, 1)) {
    function(context);
    state = -1;
    state.notify_all();
    return;
  }
  while (state == 1) state.wait(1);
}

extern "C" _NS_EXPORT void dispatch_once(dispatch_once_t* predicate, dispatch_block_t block) {
  dispatch_once_f(predicate, const_cast<void*>(reinterpret_cast<const void*>(block)),
                  [](void* context) { call_block(context); });
}

// What is behind the handles of <dispatch/dispatch.h>: a handle is the address of an Object, whose last release deletes
// it. Blocks come from a compiler that has them; we only copy, call and release them, through the layout that the
// blocks ABI gives every block.
#pragma once

#include <dispatch/dispatch.h>

#include <atomic>
#include <chrono>
#include <optional>

namespace metalloid::foundation::dispatch {

class Object {
 public:
  static constexpr size_t immortal = SIZE_MAX / 2;

  explicit Object(size_t count = 1) : count_(count) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  void retain() { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 protected:
  virtual ~Object() = default;

 private:
  std::atomic<size_t> count_;
};

template <class Handle>
Handle handle(Object* object) {
  return reinterpret_cast<Handle>(object);
}

template <class Body>
Body* body(void* handle) {
  return static_cast<Body*>(static_cast<Object*>(handle));
}

// When to stop waiting; none means never.
std::optional<std::chrono::steady_clock::time_point> deadline(dispatch_time_t timeout);

void* copy_block(const void* block);
void release_block(void* block);
void call_block(void* block);
void call_block(void* block, size_t argument);
void call_and_release_block(void* block);

}  // namespace metalloid::foundation::dispatch

// Fibers: stacks that one thread of the host switches between. A fiber can be abandoned at any moment, by never
// switching to it again; reset() then makes it new.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "cpu/sanitizers.hpp"
#include "cpu/stack_switch.hpp"

namespace metalloid::cpu {

class Fiber {
 public:
  using Body = void (*)(void* argument);  // never returns

  // The stack that the thread has by itself.
  Fiber();
  Fiber(std::byte* stack, size_t size, Body body, void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Goes on where `to` was left, or at the start of its body; returns when someone switches back to this one.
  void switch_to(Fiber& to);

  // Forgets where it was left: the next switch to it starts the body.
  void reset();

  // Whether an address lies just below the stack, where it would overflow to.
  bool is_guard(const void* address) const;

 private:
  static void start(void* fiber);
  void announce(Fiber& to);
  void arrive();

  StackPointer left_at_ = nullptr;
  [[maybe_unused]] Fiber* previous_ = nullptr;  // who switched to it last
  std::byte* stack_ = nullptr;                  // its lowest address
  size_t size_ = 0;
  Body body_ = nullptr;
  void* argument_ = nullptr;
  [[maybe_unused]] void* sanitizer_state_ = nullptr;
};

// Here, because switches are what kernels with barriers spend their time on.
inline void Fiber::switch_to(Fiber& to) {
  announce(to);
  metalloid_switch_stack(&left_at_, to.left_at_);
  arrive();
}

// What the sanitizers want to hear before a switch, and what a fiber does first when it was switched to.
inline void Fiber::announce([[maybe_unused]] Fiber& to) {
#ifdef METALLOID_ADDRESS_SANITIZER
  to.previous_ = this;
  __sanitizer_start_switch_fiber(&sanitizer_state_, to.stack_, to.size_);
#endif
#ifdef METALLOID_THREAD_SANITIZER
  __tsan_switch_to_fiber(to.sanitizer_state_, 0);
#endif
}

inline void Fiber::arrive() {
#ifdef METALLOID_ADDRESS_SANITIZER
  const void* stack = nullptr;
  size_t size = 0;
  __sanitizer_finish_switch_fiber(sanitizer_state_, &stack, &size);
  if (!previous_->body_) {
    previous_->stack_ = static_cast<std::byte*>(const_cast<void*>(stack));
    previous_->size_ = size;
  }
#endif
}

// The fibers of one thread of the host, made as they are needed and kept.
class FiberPool {
 public:
  // A stack's size is that of its addresses; its memory is what a kernel touches.
  FiberPool(Fiber::Body body, void* argument, size_t stack_size, size_t stacks_per_slab)
      : body_(body), argument_(argument), stack_size_(stack_size), stacks_per_slab_(stacks_per_slab) {}
  ~FiberPool();

  Fiber* take();  // null if the system gives no more memory
  void give_back(Fiber& fiber) { idle_.push_back(&fiber); }

 private:
  bool grow();
  size_t slab_size() const;

  Fiber::Body body_;
  void* argument_;
  const size_t stack_size_, stacks_per_slab_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;
  std::vector<std::byte*> slabs_;
};

}  // namespace metalloid::cpu

#include "cpu/reference/fiber.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>

#include "cpu/sanitizers.hpp"

namespace metalloid::cpu::reference {

namespace {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

constexpr size_t guard_size = 16 << 10;
constexpr size_t stack_size = 256 << 10;  // of address space; memory is what a kernel touches
constexpr size_t stacks_per_slab = 32;
constexpr size_t slab_size = stacks_per_slab * (guard_size + stack_size);

// A guard costs two mappings, of which Linux allows a process 65,530. On machines with very many cores, the stacks
// beyond this number have a guard only below the lowest of their slab.
constexpr size_t max_guarded_stacks = 16384;
std::atomic<size_t> stacks_made = 0;

}  // namespace

Fiber::Fiber() {
#ifdef METALLOID_THREAD_SANITIZER
  sanitizer_state_ = __tsan_get_current_fiber();
#endif
}

Fiber::Fiber(std::byte* stack, size_t size, Body body, void* argument)
    : stack_(stack), size_(size), body_(body), argument_(argument) {
#ifdef METALLOID_THREAD_SANITIZER
  sanitizer_state_ = __tsan_create_fiber(0);
#endif
  reset();
}

Fiber::~Fiber() {
#ifdef METALLOID_THREAD_SANITIZER
  if (body_) __tsan_destroy_fiber(sanitizer_state_);
#endif
}

void Fiber::switch_to(Fiber& to) {
#ifdef METALLOID_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(&sanitizer_state_, to.stack_, to.size_);
#endif
#ifdef METALLOID_THREAD_SANITIZER
  __tsan_switch_to_fiber(to.sanitizer_state_, 0);
#endif
  // Not on this stack: it may be that of a signal handler, which the next signal uses again.
  to.previous_ = this;
  arrive(jump_fcontext(to.context_, &to));
}

// What the fiber that is switched to does first: it notes where the other one is to be found.
void Fiber::arrive(transfer_t transfer) {
  const Fiber& self = *static_cast<const Fiber*>(transfer.data);
  Fiber& previous = *self.previous_;
  previous.context_ = transfer.fctx;
#ifdef METALLOID_ADDRESS_SANITIZER
  const void* stack = nullptr;
  size_t size = 0;
  __sanitizer_finish_switch_fiber(self.sanitizer_state_, &stack, &size);
  if (!previous.body_) {
    previous.stack_ = static_cast<std::byte*>(const_cast<void*>(stack));
    previous.size_ = size;
  }
#endif
}

void Fiber::start(transfer_t transfer) {
  const Fiber& self = *static_cast<const Fiber*>(transfer.data);
  arrive(transfer);
  self.body_(self.argument_);
  __builtin_unreachable();
}

void Fiber::reset() {
  forget_frames(stack_, size_);
#ifdef METALLOID_ADDRESS_SANITIZER
  sanitizer_state_ = nullptr;
#endif
  context_ = make_fcontext(stack_ + size_, size_, start);
}

bool Fiber::is_guard(const void* address) const {
  const auto place = reinterpret_cast<uintptr_t>(address), lowest = reinterpret_cast<uintptr_t>(stack_);
  return body_ && place < lowest && place >= lowest - guard_size;
}

FiberPool::~FiberPool() {
  for (std::byte* slab : slabs_) munmap(slab, slab_size);
  stacks_made -= slabs_.size() * stacks_per_slab;
}

Fiber* FiberPool::take() {
  if (idle_.empty() && !grow()) return nullptr;
  Fiber* fiber = idle_.back();
  idle_.pop_back();
  return fiber;
}

bool FiberPool::grow() {
  void* slab = mmap(nullptr, slab_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (slab == MAP_FAILED) return false;
  slabs_.push_back(static_cast<std::byte*>(slab));
  const bool guarded = stacks_made.fetch_add(stacks_per_slab) < max_guarded_stacks;
  for (size_t i = stacks_per_slab; i-- > 0;) {
    std::byte* stack = slabs_.back() + i * (guard_size + stack_size) + guard_size;
    std::byte* writable = guarded || i == 0 ? stack : stack - guard_size;
    if (mprotect(writable, stack + stack_size - writable, PROT_READ | PROT_WRITE) != 0) return !idle_.empty();
    fibers_.push_back(std::make_unique<Fiber>(stack, stack_size, body_, argument_));
    idle_.push_back(fibers_.back().get());
  }
  return true;
}

}  // namespace metalloid::cpu::reference

#include "cpu/fiber.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>

#include "cpu/sanitizers.hpp"

namespace metalloid::cpu {

namespace {

constexpr size_t guard_size = 16 << 10;

// Stacks begin at different offsets in their pages: if not, the frames of all would compete for the same few lines of
// the processor's first cache.
constexpr size_t stack_colours = 32, stack_colour_size = 17 * 64;

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
  reset();
}

Fiber::~Fiber() {
#ifdef METALLOID_THREAD_SANITIZER
  if (body_) __tsan_destroy_fiber(sanitizer_state_);
#endif
}

void Fiber::start(void* fiber) {
  Fiber& self = *static_cast<Fiber*>(fiber);
  self.arrive();
  self.body_(self.argument_);
  __builtin_unreachable();
}

void Fiber::reset() {
  forget_frames(stack_, size_);
#ifdef METALLOID_ADDRESS_SANITIZER
  sanitizer_state_ = nullptr;
#endif
#ifdef METALLOID_THREAD_SANITIZER
  // A fiber that was left in a signal handler would be in it for ever.
  if (sanitizer_state_) __tsan_destroy_fiber(sanitizer_state_);
  sanitizer_state_ = __tsan_create_fiber(0);
#endif
  left_at_ = make_stack(stack_ + size_, start, this);
}

bool Fiber::is_guard(const void* address) const {
  const auto place = reinterpret_cast<uintptr_t>(address), lowest = reinterpret_cast<uintptr_t>(stack_);
  return body_ && place < lowest && place >= lowest - guard_size;
}

FiberPool::~FiberPool() {
  for (std::byte* slab : slabs_) munmap(slab, slab_size());
  stacks_made -= slabs_.size() * stacks_per_slab_;
}

Fiber* FiberPool::take() {
  if (idle_.empty() && !grow()) return nullptr;
  Fiber* fiber = idle_.back();
  idle_.pop_back();
  return fiber;
}

size_t FiberPool::slab_size() const {
  return stacks_per_slab_ * (guard_size + stack_size_);
}

bool FiberPool::grow() {
  void* slab = mmap(nullptr, slab_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (slab == MAP_FAILED) return false;
  slabs_.push_back(static_cast<std::byte*>(slab));
  const bool guarded = stacks_made.fetch_add(stacks_per_slab_) < max_guarded_stacks;
  for (size_t i = stacks_per_slab_; i-- > 0;) {
    std::byte* stack = slabs_.back() + i * (guard_size + stack_size_) + guard_size;
    std::byte* writable = guarded || i == 0 ? stack : stack - guard_size;
    if (mprotect(writable, stack + stack_size_ - writable, PROT_READ | PROT_WRITE) != 0) return !idle_.empty();
    const size_t colour = fibers_.size() % stack_colours * stack_colour_size;
    fibers_.push_back(std::make_unique<Fiber>(stack, stack_size_ - colour, body_, argument_));
    idle_.push_back(fibers_.back().get());
  }
  return true;
}

}  // namespace metalloid::cpu

// Autorelease pools. Each thread has a stack of pools; an autoreleased object goes into the topmost. Below the first
// pool of a program there is the thread's own, which is emptied when the thread ends.
//
// A pool that is released drains itself and every pool above it; those stay valid, and empty, for their owners to
// release, so that pools held in SharedPtrs may die in any order. A pool belongs to the thread that made it: released
// from another thread it is only marked, and its thread drains it later.
#include <Foundation/NSAutoreleasePool.hpp>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "foundation/misuse.hpp"

namespace metalloid::foundation {
namespace {

using NS::Private::Counted;

class PoolObject;

// Objects in the order they came; the last goes first, as in Cocoa. Releasing one may add others.
struct Objects {
  std::vector<Counted*> list;

  void add(Counted* object) {
    list.push_back(object);
    NS::Private::enterPool(object);
  }

  void drain() {
    while (!list.empty()) {
      Counted* object = list.back();
      list.pop_back();
      NS::Private::leavePool(object);
    }
  }
};

struct ThreadPools {
  Objects base;
  std::vector<PoolObject*> stack;

  Objects& top();
  void pop_down_to(PoolObject* pool);
  void drain_all();
};

class PoolObject final : public NS::AutoreleasePool {
 public:
  // Popped: no longer on its thread's stack, drained. Abandoned: released by another thread; the last of the two that
  // have to do with it, owner or stack, destroys it.
  enum class State { Fresh, Stacked, Popped, Abandoned };

  ThreadPools* thread = nullptr;
  std::atomic<State> state = State::Fresh;
  Objects objects;

  const char* className() const override { return "NSAutoreleasePool"; }
  void dealloc() override;
  void destroy() { delete this; }

 private:
  ~PoolObject() override { objects.drain(); }
};

PoolObject* body(NS::AutoreleasePool* pool) {
  return static_cast<PoolObject*>(pool);
}

// A raw pointer outlives the thread_local destructors of its thread, so that objects destroyed even later may still
// autorelease others: those are kept for good.
thread_local ThreadPools* current = nullptr;

struct ThreadEnd {
  ~ThreadEnd() {
    current->drain_all();
    delete current;
    current = nullptr;
  }
};

ThreadPools& pools_of_this_thread() {
  static thread_local bool ending_registered = false;
  if (current) return *current;
  current = new ThreadPools;
  if (!ending_registered) {
    ending_registered = true;
    static thread_local ThreadEnd at_thread_end;
  }
  return *current;
}

bool reports_missing_pools() {
  static const bool asked = [] {
    const char* setting = std::getenv("OBJC_DEBUG_MISSING_POOLS");
    return setting && (std::strcmp(setting, "YES") == 0 || std::strcmp(setting, "1") == 0);
  }();
  return asked;
}

Objects& ThreadPools::top() {
  return stack.empty() ? base : stack.back()->objects;
}

void ThreadPools::pop_down_to(PoolObject* pool) {
  while (pool ? pool->state == PoolObject::State::Stacked : !stack.empty()) {
    PoolObject* last = stack.back();
    last->objects.drain();
    if (stack.empty() || stack.back() != last) continue;  // draining it made or released pools
    stack.pop_back();
    if (last->state.exchange(PoolObject::State::Popped) == PoolObject::State::Abandoned) last->destroy();
  }
}

void ThreadPools::drain_all() {
  while (!stack.empty() || !base.list.empty()) {
    pop_down_to(nullptr);
    base.drain();
  }
}

void PoolObject::dealloc() {
  if (state == State::Stacked && thread == current) current->pop_down_to(this);
  const State before = state.exchange(State::Abandoned);
  if (before != State::Stacked) return destroy();
  report_misuse("-[NSAutoreleasePool release]", "the pool was made by another thread, which will drain it");
}

}  // namespace
}  // namespace metalloid::foundation

namespace NS {

using namespace metalloid::foundation;

Private::Counted* Private::autorelease(Counted* object) {
  if (!object) return nullptr;
  ThreadPools& pools = pools_of_this_thread();
  if (pools.stack.empty() && reports_missing_pools())
    std::fprintf(stderr, "*** object %p autoreleased with no pool in place: it lives until its thread ends\n",
                 static_cast<void*>(object));
  pools.top().add(object);
  return object;
}

AutoreleasePool* AutoreleasePool::alloc() {
  return new PoolObject;
}

AutoreleasePool* AutoreleasePool::init() {
  PoolObject* self = body(this);
  if (!self || self->state != PoolObject::State::Fresh) return self;
  self->state = PoolObject::State::Stacked;
  self->thread = &pools_of_this_thread();
  self->thread->stack.push_back(self);
  return self;
}

void AutoreleasePool::drain() {
  release();
}

void AutoreleasePool::addObject(Object* object) {
  if (PoolObject* self = body(this); self && object) self->objects.add(object);
}

void AutoreleasePool::showPools() {
  const ThreadPools& pools = pools_of_this_thread();
  const auto show = [](const char* name, const void* pool, const Objects& objects) {
    std::fprintf(stderr, "%s %p: %zu objects\n", name, pool, objects.list.size());
    for (const Counted* object : objects.list)
      std::fprintf(stderr, "  %p, count %zu\n", static_cast<const void*>(object),
                   static_cast<std::size_t>(Private::retainCount(object)));
  };
  show("thread", &pools, pools.base);
  for (const PoolObject* pool : pools.stack) show("pool", pool, pool->objects);
}

}  // namespace NS

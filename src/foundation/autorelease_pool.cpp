// Autorelease pools. Each thread has a stack of pools; an autoreleased object goes into the topmost. Where there is
// none, the thread itself remembers the object until it ends.
//
// What is in a pool is the pool's, however often a program releases it. What only a thread remembers may be released
// like an object of one's own: programs without pools release command buffers and encoders.
//
// A pool that is released drains itself and every pool above it; those stay valid, and empty, for their owners to
// release, so that pools held in SharedPtrs may die in any order. A pool belongs to the thread that made it: released
// from another thread it is only marked, and its thread drains it later.
#include "foundation/autorelease_pool.hpp"

#include <Foundation/NSAutoreleasePool.hpp>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <unordered_map>
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

// Objects without a pool, and how often each was autoreleased. Other threads may take one out.
class Remembered {
 public:
  void add(Counted* object) {
    std::lock_guard lock(mutex_);
    ++times_[object];
    NS::Private::enterPool(object);
  }

  // False if the object is not here just so many times.
  bool take_out(Counted* object, size_t times) {
    std::lock_guard lock(mutex_);
    const auto found = times_.find(object);
    if (found == times_.end() || found->second != times) return false;
    times_.erase(found);
    return true;
  }

  // Releasing one may add others.
  bool drain_one() {
    std::unique_lock lock(mutex_);
    if (times_.empty()) return false;
    const auto [object, times] = *times_.begin();
    times_.erase(times_.begin());
    lock.unlock();
    for (size_t i = 0; i < times; ++i) NS::Private::leavePool(object);
    return true;
  }

  template <class Visit>
  void for_each(const Visit& visit) const {
    std::lock_guard lock(mutex_);
    for (const auto& [object, times] : times_) visit(object);
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<Counted*, size_t> times_;
};

struct ThreadPools {
  Remembered without_pool;
  std::vector<PoolObject*> stack;

  ThreadPools();
  ~ThreadPools();
  void pop_down_to(PoolObject* pool);
  void drain_all();
};

// Never destroyed: threads may end after static objects.
struct AllThreads {
  std::mutex mutex;
  std::vector<ThreadPools*> threads;
};
AllThreads& all_threads() {
  static AllThreads& all = *new AllThreads;
  return all;
}

ThreadPools::ThreadPools() {
  std::lock_guard lock(all_threads().mutex);
  all_threads().threads.push_back(this);
}
ThreadPools::~ThreadPools() {
  std::lock_guard lock(all_threads().mutex);
  std::erase(all_threads().threads, this);
}

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
  do {
    pop_down_to(nullptr);
  } while (without_pool.drain_one() || !stack.empty());
}

void PoolObject::dealloc() {
  if (state == State::Stacked && thread == current) current->pop_down_to(this);
  const State before = state.exchange(State::Abandoned);
  if (before != State::Stacked) return destroy();
  report_misuse("-[NSAutoreleasePool release]", "the pool was made by another thread, which will drain it");
}

}  // namespace

bool is_in_no_pool(Counted* object, NS::UInteger times) {
  AllThreads& all = all_threads();
  std::lock_guard lock(all.mutex);
  for (ThreadPools* thread : all.threads)
    if (thread->without_pool.take_out(object, times)) return true;
  return false;
}

}  // namespace metalloid::foundation

namespace NS {

using namespace metalloid::foundation;

Private::Counted* Private::autorelease(Counted* object) {
  if (!object) return nullptr;
  ThreadPools& pools = pools_of_this_thread();
  if (!pools.stack.empty()) {
    pools.stack.back()->objects.add(object);
    return object;
  }
  if (reports_missing_pools())
    std::fprintf(stderr, "*** object %p autoreleased with no pool in place: it lives until its thread ends\n",
                 static_cast<void*>(object));
  pools.without_pool.add(object);
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
  const auto show = [](const Counted* object) {
    std::fprintf(stderr, "  %p, count %zu\n", static_cast<const void*>(object),
                 static_cast<std::size_t>(Private::retainCount(object)));
  };
  std::fprintf(stderr, "thread %p\n", static_cast<const void*>(&pools));
  pools.without_pool.for_each(show);
  for (const PoolObject* pool : pools.stack) {
    std::fprintf(stderr, "pool %p: %zu objects\n", static_cast<const void*>(pool), pool->objects.list.size());
    for (const Counted* object : pool->objects.list) show(object);
  }
}

}  // namespace NS

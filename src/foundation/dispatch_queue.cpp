#include "foundation/dispatch_queue.hpp"

#include <Foundation/NSDefines.hpp>
#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

namespace metalloid::foundation::dispatch {
namespace {

// As many functions of a concurrent queue may wait for each other as on a Mac.
constexpr unsigned concurrent_width = 64;

Queue& main_queue() {
  static Queue* const queue = new Queue("com.apple.main-thread", 0, Object::immortal);
  return *queue;
}

// One round of dispatch_apply: helpers and the caller take iterations until none is left.
struct Apply {
  const size_t iterations;
  void* const context;
  void (*const work)(void*, size_t);
  std::atomic<size_t> next = 0;
  std::atomic<size_t> done = 0;

  void help() {
    for (size_t i; (i = next++) < iterations;) {
      work(context, i);
      if (++done == iterations) done.notify_all();
    }
  }
};

}  // namespace

Queue& global_queue() {
  static Queue* const queue = new Queue("com.apple.root.default-qos", concurrent_width, Object::immortal);
  return *queue;
}

Queue::Queue(std::string label, unsigned width, size_t count) : Object(count), label(std::move(label)), width_(width) {}

Queue::~Queue() {
  const std::lock_guard lock(shared_->mutex);
  shared_->closed = true;
  shared_->changed.notify_all();
}

void Queue::async(Work work) {
  std::unique_lock lock(shared_->mutex);
  shared_->work.push_back(work);
  shared_->changed.notify_one();
  if (shared_->work.size() <= shared_->idle || shared_->threads == width_) return;
  ++shared_->threads;
  try {
    std::thread([shared = shared_] { run(*shared); }).detach();
  } catch (const std::system_error&) {
    if (--shared_->threads > 0) return;  // those that there are will come to it
    shared_->work.pop_back();
    throw;
  }
}

void Queue::run_forever() {
  while (true) run(*shared_);
}

void Queue::run(Shared& shared) {
  std::unique_lock lock(shared.mutex);
  while (true) {
    if (shared.work.empty()) {
      if (shared.closed) return;
      ++shared.idle;
      shared.changed.wait(lock);
      --shared.idle;
      continue;
    }
    const Work work = shared.work.front();
    shared.work.pop_front();
    lock.unlock();
    work.function(work.context);
    lock.lock();
  }
}

}  // namespace metalloid::foundation::dispatch

using namespace metalloid::foundation::dispatch;

struct dispatch_queue_attr_s _dispatch_queue_attr_concurrent;

dispatch_queue_t dispatch_queue_create(const char* label, dispatch_queue_attr_t attribute) {
  const unsigned width = attribute == DISPATCH_QUEUE_CONCURRENT ? concurrent_width : 1;
  return handle<dispatch_queue_t>(new Queue(label ? label : "", width));
}

// There is one class of threads.
dispatch_queue_attr_t dispatch_queue_attr_make_with_qos_class(dispatch_queue_attr_t attribute, qos_class_t, int) {
  return attribute;
}

dispatch_queue_t dispatch_get_main_queue(void) {
  return handle<dispatch_queue_t>(&main_queue());
}

dispatch_queue_t dispatch_get_global_queue(intptr_t, uintptr_t) {
  return handle<dispatch_queue_t>(&global_queue());
}

const char* dispatch_queue_get_label(dispatch_queue_t queue) {
  return queue ? body<Queue>(queue)->label.c_str() : "";
}

void dispatch_main(void) {
  main_queue().run_forever();
}

void dispatch_async_f(dispatch_queue_t queue, void* context, dispatch_function_t work) {
  body<Queue>(queue)->async({context, work});
}

void dispatch_sync_f(dispatch_queue_t queue, void* context, dispatch_function_t work) {
  struct Call {
    Work work;
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
  } call{{context, work}, {}, {}};
  body<Queue>(queue)->async({&call, [](void* context) {
                               auto& call = *static_cast<Call*>(context);
                               call.work.function(call.work.context);
                               const std::lock_guard lock(call.mutex);
                               call.done = true;
                               call.changed.notify_one();
                             }});
  std::unique_lock lock(call.mutex);
  call.changed.wait(lock, [&] { return call.done; });
}

void dispatch_apply_f(size_t iterations, dispatch_queue_t, void* context, void (*work)(void*, size_t)) {
  if (iterations == 0) return;
  const auto apply = std::make_shared<Apply>(iterations, context, work);
  const size_t helpers = std::min<size_t>(iterations, std::max(1u, std::thread::hardware_concurrency())) - 1;
  for (size_t i = 0; i < helpers; ++i)
    global_queue().async({new std::shared_ptr(apply), [](void* context) {
                            const std::unique_ptr<std::shared_ptr<Apply>> apply(
                                static_cast<std::shared_ptr<Apply>*>(context));
                            (*apply)->help();
                          }});
  apply->help();
  for (size_t done; (done = apply->done) < iterations;) apply->done.wait(done);
}

extern "C" _NS_EXPORT void dispatch_async(dispatch_queue_t queue, dispatch_block_t block) {
  dispatch_async_f(queue, copy_block(reinterpret_cast<const void*>(block)), call_and_release_block);
}

extern "C" _NS_EXPORT void dispatch_sync(dispatch_queue_t queue, dispatch_block_t block) {
  dispatch_sync_f(queue, const_cast<void*>(reinterpret_cast<const void*>(block)),
                  [](void* context) { call_block(context); });
}

extern "C" _NS_EXPORT void dispatch_apply(size_t iterations, dispatch_queue_t queue, dispatch_block_t block) {
  dispatch_apply_f(iterations, queue, const_cast<void*>(reinterpret_cast<const void*>(block)),
                   [](void* context, size_t iteration) { call_block(context, iteration); });
}

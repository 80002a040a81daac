// Waiting for others: semaphores, and groups of work of which one wants to know when all is done.
#include <Foundation/NSDefines.hpp>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "foundation/dispatch_queue.hpp"
#include "foundation/misuse.hpp"

namespace metalloid::foundation::dispatch {
namespace {

// Whether `ready` came true before the time was over.
template <class Ready>
bool wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, dispatch_time_t timeout, Ready ready) {
  if (const auto time = deadline(timeout)) return changed.wait_until(lock, *time, ready);
  changed.wait(lock, ready);
  return true;
}

class Semaphore final : public Object {
 public:
  explicit Semaphore(intptr_t value) : value_(value) {}

  bool wait(dispatch_time_t timeout) {
    std::unique_lock lock(mutex_);
    ++waiting_;
    const bool ready = dispatch::wait(changed_, lock, timeout, [&] { return value_ > 0; });
    --waiting_;
    if (ready) --value_;
    return ready;
  }

  bool signal() {
    const std::lock_guard lock(mutex_);
    const bool wakes = waiting_ > value_;
    ++value_;
    changed_.notify_one();
    return wakes;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  intptr_t value_;
  intptr_t waiting_ = 0;
};

class Group final : public Object {
 public:
  void enter() {
    const std::lock_guard lock(mutex_);
    if (entered_++ == 0) retain();  // a group lives until all have left
  }

  void leave() {
    std::unique_lock lock(mutex_);
    if (entered_ == 0) {
      report_misuse("dispatch_group_leave", "nobody has entered the group");
      return;
    }
    if (--entered_ > 0) return;
    const std::vector<Notification> notifications = std::exchange(notifications_, {});
    changed_.notify_all();
    lock.unlock();
    for (const Notification& notification : notifications) send(notification);
    release();
  }

  bool wait(dispatch_time_t timeout) {
    std::unique_lock lock(mutex_);
    return dispatch::wait(changed_, lock, timeout, [&] { return entered_ == 0; });
  }

  void notify(Queue& queue, Work work) {
    queue.retain();
    const std::unique_lock lock(mutex_);
    if (entered_ == 0) return send({&queue, work});
    notifications_.push_back({&queue, work});
  }

 private:
  struct Notification {
    Queue* queue;
    Work work;
  };

  static void send(const Notification& notification) {
    notification.queue->async(notification.work);
    notification.queue->release();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  size_t entered_ = 0;
  std::vector<Notification> notifications_;
};

struct Member {
  Group* group;
  Work work;

  void run() {
    work.function(work.context);
    group->leave();
    delete this;
  }
};

}  // namespace
}  // namespace metalloid::foundation::dispatch

using namespace metalloid::foundation::dispatch;

dispatch_semaphore_t dispatch_semaphore_create(intptr_t value) {
  return value < 0 ? nullptr : handle<dispatch_semaphore_t>(new Semaphore(value));
}

intptr_t dispatch_semaphore_wait(dispatch_semaphore_t semaphore, dispatch_time_t timeout) {
  return body<Semaphore>(semaphore)->wait(timeout) ? 0 : 1;
}

intptr_t dispatch_semaphore_signal(dispatch_semaphore_t semaphore) {
  return body<Semaphore>(semaphore)->signal() ? 1 : 0;
}

dispatch_group_t dispatch_group_create(void) {
  return handle<dispatch_group_t>(new Group);
}

void dispatch_group_enter(dispatch_group_t group) {
  body<Group>(group)->enter();
}

void dispatch_group_leave(dispatch_group_t group) {
  body<Group>(group)->leave();
}

intptr_t dispatch_group_wait(dispatch_group_t group, dispatch_time_t timeout) {
  return body<Group>(group)->wait(timeout) ? 0 : 1;
}

void dispatch_group_async_f(dispatch_group_t group, dispatch_queue_t queue, void* context, dispatch_function_t work) {
  body<Group>(group)->enter();
  dispatch_async_f(queue, new Member{body<Group>(group), {context, work}},
                   [](void* member) { static_cast<Member*>(member)->run(); });
}

void dispatch_group_notify_f(dispatch_group_t group, dispatch_queue_t queue, void* context, dispatch_function_t work) {
  body<Group>(group)->notify(*body<Queue>(queue), {context, work});
}

extern "C" _NS_EXPORT void dispatch_group_async(dispatch_group_t group, dispatch_queue_t queue,
                                                dispatch_block_t block) {
  dispatch_group_async_f(group, queue, copy_block(reinterpret_cast<const void*>(block)), call_and_release_block);
}

extern "C" _NS_EXPORT void dispatch_group_notify(dispatch_group_t group, dispatch_queue_t queue,
                                                 dispatch_block_t block) {
  dispatch_group_notify_f(group, queue, copy_block(reinterpret_cast<const void*>(block)), call_and_release_block);
}

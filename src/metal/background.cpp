#include "metal/background.hpp"

#include <pthread.h>

#include <Foundation/NSAutoreleasePool.hpp>
#include <Foundation/NSSharedPtr.hpp>
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace metalloid::metal {
namespace {

// Threads come when there is work for them, up to one for each core.
class Workers {
 public:
  ~Workers() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
      queue_.clear();
    }
    changed_.notify_all();
    for (std::thread& thread : threads_)
      if (thread.get_id() == std::this_thread::get_id())
        thread.detach();  // a handler called exit()
      else
        thread.join();
  }

  void run(std::function<void()> work) {
    {
      std::lock_guard lock(mutex_);
      queue_.push_back(std::move(work));
      if (idle_ < queue_.size() && threads_.size() < most_) threads_.emplace_back([this] { serve(); });
    }
    changed_.notify_one();
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      ++idle_;
      changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      --idle_;
      if (stopping_) return;
      const std::function<void()> work = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      {
        const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
        work();
      }
      lock.lock();
    }
  }

  const size_t most_ = std::max(1U, std::thread::hardware_concurrency());
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
  bool stopping_ = false;
};

// A child of fork() has none of its parent's threads, and cannot wait for them to end: it starts with workers of its
// own, and leaves the others alone.
struct WorkersOfThisProcess {
  std::unique_ptr<Workers> workers = std::make_unique<Workers>();

  WorkersOfThisProcess() {
    pthread_atfork(nullptr, nullptr, [] {
      std::unique_ptr<Workers>& workers = instance().workers;
      static_cast<void>(workers.release());
      workers = std::make_unique<Workers>();
    });
  }

  static WorkersOfThisProcess& instance() {
    static WorkersOfThisProcess instance;
    return instance;
  }
};

}  // namespace

void in_background(std::function<void()> work) {
  WorkersOfThisProcess::instance().workers->run(std::move(work));
}

}  // namespace metalloid::metal

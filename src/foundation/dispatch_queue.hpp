// A queue of functions and the threads that run them. Threads are made when work arrives and none is free, up to the
// queue's width (1 for a serial queue), and stay until the queue is gone; they share the queue's work with it, so that
// work that was handed in before the last release is still done.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "foundation/dispatch_object.hpp"

namespace metalloid::foundation::dispatch {

struct Work {
  void* context;
  dispatch_function_t function;
};

class Queue final : public Object {
 public:
  Queue(std::string label, unsigned width, size_t count = 1);

  void async(Work work);
  [[noreturn]] void run_forever();  // lends the calling thread to the queue

  const std::string label;

 private:
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Work> work;
    unsigned threads = 0;
    unsigned idle = 0;
    bool closed = false;
  };

  ~Queue() override;
  static void run(Shared& shared);

  const unsigned width_;
  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

Queue& global_queue();

}  // namespace metalloid::foundation::dispatch

// <dispatch/dispatch.h>: queues, semaphores, groups, data.
#include <dispatch/dispatch.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

// Declared where the compiler has blocks.
extern "C" void dispatch_async(dispatch_queue_t queue, dispatch_block_t block);
extern "C" void dispatch_once(dispatch_once_t* predicate, dispatch_block_t block);

namespace {

// Runs a C++ callable, once, on a queue.
template <class Callable>
void async(dispatch_queue_t queue, Callable callable) {
  dispatch_async_f(queue, new Callable(std::move(callable)), [](void* context) {
    auto* callable = static_cast<Callable*>(context);
    (*callable)();
    delete callable;
  });
}

template <class Callable>
void sync(dispatch_queue_t queue, Callable callable) {
  dispatch_sync_f(queue, &callable, [](void* context) { (*static_cast<Callable*>(context))(); });
}

// A block as the blocks ABI lays it out, for compilers that have none.
template <class Capture>
struct Block {
  void* isa = nullptr;
  int flags = 1 << 28;  // a constant: copying it gives the same
  int reserved = 0;
  void (*invoke)(void*) = [](void* block) { static_cast<Block*>(block)->capture(); };
  void* descriptor = nullptr;
  Capture capture;

  dispatch_block_t block() { return reinterpret_cast<dispatch_block_t>(this); }
};

template <class Capture>
Block<Capture> make_block(Capture capture) {
  Block<Capture> block{.capture = capture};
  return block;
}

TEST(Dispatch, ASerialQueueRunsItsWorkInOrderAndOneAtATime) {
  dispatch_queue_t queue = dispatch_queue_create("serial", DISPATCH_QUEUE_SERIAL);
  std::vector<int> order;
  for (int i = 0; i < 1000; ++i) async(queue, [&order, i] { order.push_back(i); });
  std::vector<int> expected(1000);
  for (int i = 0; i < 1000; ++i) expected[i] = i;
  sync(queue, [&] { EXPECT_EQ(order, expected); });
  EXPECT_STREQ(dispatch_queue_get_label(queue), "serial");
  dispatch_release(queue);
}

TEST(Dispatch, WorkOfAReleasedQueueIsStillDone) {
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  dispatch_semaphore_t go = dispatch_semaphore_create(0);
  dispatch_queue_t queue = dispatch_queue_create(nullptr, DISPATCH_QUEUE_SERIAL);
  async(queue, [=] { dispatch_semaphore_wait(go, DISPATCH_TIME_FOREVER); });
  for (int i = 0; i < 10; ++i) async(queue, [=] { dispatch_semaphore_signal(done); });
  dispatch_release(queue);
  dispatch_semaphore_signal(go);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER), 0);
  dispatch_release(done);
  dispatch_release(go);
}

TEST(Dispatch, WorkOfAConcurrentQueueMayWaitForLaterWork) {
  for (dispatch_queue_t queue : {dispatch_queue_create("concurrent", DISPATCH_QUEUE_CONCURRENT),
                                 dispatch_get_global_queue(DISPATCH_QUEUE_PRIORITY_DEFAULT, 0)}) {
    constexpr int waiting = 16;
    dispatch_semaphore_t go = dispatch_semaphore_create(0);
    dispatch_group_t group = dispatch_group_create();
    for (int i = 0; i < waiting; ++i)
      dispatch_group_async_f(group, queue, go, [](void* go) {
        dispatch_semaphore_wait(static_cast<dispatch_semaphore_t>(go), DISPATCH_TIME_FOREVER);
      });
    async(queue, [=] {
      for (int i = 0; i < waiting; ++i) dispatch_semaphore_signal(go);
    });
    EXPECT_EQ(dispatch_group_wait(group, DISPATCH_TIME_FOREVER), 0);
    dispatch_release(group);
    dispatch_release(go);
    dispatch_release(queue);
  }
}

TEST(Dispatch, WaitingEndsWhenTheTimeIsOver) {
  dispatch_semaphore_t semaphore = dispatch_semaphore_create(1);
  EXPECT_EQ(dispatch_semaphore_wait(semaphore, DISPATCH_TIME_NOW), 0);
  EXPECT_NE(dispatch_semaphore_wait(semaphore, DISPATCH_TIME_NOW), 0);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_NE(dispatch_semaphore_wait(semaphore, dispatch_time(DISPATCH_TIME_NOW, 20 * NSEC_PER_MSEC)), 0);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(20));
  dispatch_release(semaphore);
}

TEST(Dispatch, TimesDoNotWrapAround) {
  EXPECT_EQ(dispatch_time(DISPATCH_TIME_FOREVER, -1), DISPATCH_TIME_FOREVER);
  EXPECT_EQ(dispatch_time(DISPATCH_TIME_NOW, INT64_MAX), DISPATCH_TIME_FOREVER);
  EXPECT_NE(dispatch_time(DISPATCH_TIME_NOW, INT64_MIN), DISPATCH_TIME_NOW);
  EXPECT_EQ(dispatch_time(1000, -10), 990u);
}

TEST(Dispatch, AGroupNotifiesOnceAllHaveLeft) {
  dispatch_queue_t queue = dispatch_queue_create("notified", DISPATCH_QUEUE_SERIAL);
  dispatch_group_t group = dispatch_group_create();
  dispatch_group_enter(group);
  dispatch_group_enter(group);
  std::atomic<int> notified = 0;
  const dispatch_function_t count = [](void* notified) { ++*static_cast<std::atomic<int>*>(notified); };
  dispatch_group_notify_f(group, queue, &notified, count);
  EXPECT_NE(dispatch_group_wait(group, DISPATCH_TIME_NOW), 0);
  dispatch_group_leave(group);
  sync(queue, [&] { EXPECT_EQ(notified, 0); });
  dispatch_group_leave(group);
  sync(queue, [&] { EXPECT_EQ(notified, 1); });
  dispatch_group_notify_f(group, queue, &notified, count);
  sync(queue, [&] { EXPECT_EQ(notified, 2); });
  dispatch_release(group);
  dispatch_release(queue);
}

TEST(Dispatch, ApplyRunsEveryIterationOnceEvenWhenNested) {
  std::vector<std::atomic<int>> runs(100);
  dispatch_apply_f(10, nullptr, &runs, [](void* context, size_t outer) {
    std::pair inner(static_cast<std::vector<std::atomic<int>>*>(context), outer);
    dispatch_apply_f(10, nullptr, &inner, [](void* context, size_t i) {
      auto& [runs, outer] = *static_cast<std::pair<std::vector<std::atomic<int>>*, size_t>*>(context);
      ++(*runs)[outer * 10 + i];
    });
  });
  for (const std::atomic<int>& count : runs) EXPECT_EQ(count, 1);
}

TEST(Dispatch, OnceRunsOnceAndAllWaitForIt) {
  static dispatch_once_t predicate;
  static std::atomic<int> runs = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([] {
      dispatch_once_f(&predicate, nullptr, [](void*) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        ++runs;
      });
      EXPECT_EQ(runs, 1);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Dispatch, DataIsCopiedUnlessItHasADestructor) {
  char bytes[] = "metal";
  dispatch_data_t copy = dispatch_data_create(bytes, 5, nullptr, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
  bytes[0] = 'p';
  const void* found = nullptr;
  size_t size = 0;
  dispatch_data_t map = dispatch_data_create_map(copy, &found, &size);
  dispatch_release(copy);
  EXPECT_EQ(std::string(static_cast<const char*>(found), size), "metal");
  EXPECT_EQ(dispatch_data_get_size(map), 5u);
  dispatch_release(map);

  void* owned = std::malloc(8);
  dispatch_data_t data = dispatch_data_create(owned, 8, nullptr, DISPATCH_DATA_DESTRUCTOR_FREE);
  map = dispatch_data_create_map(data, &found, nullptr);
  EXPECT_EQ(found, owned);
  dispatch_release(map);
  dispatch_release(data);
}

TEST(Dispatch, ADestructorBlockRunsOnItsQueueWhenDataIsGone) {
  dispatch_queue_t queue = dispatch_queue_create("destructor", DISPATCH_QUEUE_SERIAL);
  std::thread::id thread;
  auto destructor = make_block([&] { thread = std::this_thread::get_id(); });
  char bytes[4] = {};
  dispatch_release(dispatch_data_create(bytes, sizeof bytes, queue, destructor.block()));
  sync(queue, [&] { EXPECT_EQ(thread, std::this_thread::get_id()); });
  dispatch_release(queue);
}

TEST(Dispatch, BlocksAreCalledWithoutACompilerThatHasThem) {
  dispatch_queue_t queue = dispatch_queue_create("blocks", DISPATCH_QUEUE_SERIAL);
  int calls = 0;
  auto block = make_block([&] { ++calls; });
  dispatch_async(queue, block.block());
  sync(queue, [&] { EXPECT_EQ(calls, 1); });
  dispatch_once_t predicate = 0;
  dispatch_once(&predicate, block.block());
  dispatch_once(&predicate, block.block());
  EXPECT_EQ(calls, 2);
  dispatch_release(queue);
}

TEST(Dispatch, GlobalQueuesOutliveEveryRelease) {
  dispatch_queue_t queue = dispatch_get_global_queue(QOS_CLASS_USER_INITIATED, 0);
  for (int i = 0; i < 3; ++i) dispatch_release(queue);
  bool ran = false;
  sync(queue, [&] { ran = true; });
  EXPECT_TRUE(ran);
}

}  // namespace

#include "cpu/ranges.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "cpu/sanitizers.hpp"

namespace metalloid::cpu {
namespace {

// How often each number was in a range.
std::vector<uint32_t> counted(ThreadPool& pool, uint64_t first, uint64_t last) {
  std::vector<uint32_t> counts(last);
  hand_over(&counts);
  run_ranges(
      pool, first, last, Order::to_and_fro, /*few=*/1 + first,
      [](void* counts, uint64_t first, uint64_t last) {
        take_over(counts);
        for (uint64_t i = first; i < last; ++i) ++(*static_cast<std::vector<uint32_t>*>(counts))[i];
        hand_over(counts);
      },
      &counts);
  take_over(&counts);
  return counts;
}

std::vector<uint32_t> once_from(uint64_t first, uint64_t last) {
  std::vector<uint32_t> counts(last);
  std::fill(counts.begin() + static_cast<std::ptrdiff_t>(first), counts.end(), 1);
  return counts;
}

TEST(Ranges, HaveEachNumberOnceWhoeverHelps) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (uint64_t turn = 0; turn < 2000; ++turn) {
      const uint64_t first = turn % 7, last = first + 1 + turn % 100;
      ASSERT_EQ(counted(pool, first, last), once_from(first, last)) << threads << " threads, turn " << turn;
    }
  }
}

TEST(Ranges, HaveAllOfManyNumbers) {
  for (const int threads : {1, 2}) {
    ThreadPool pool(threads);
    std::atomic<uint64_t> sum = 0;
    constexpr uint64_t count = uint64_t{1} << 40;
    run_ranges(
        pool, 0, count, Order::to_and_fro, /*few=*/1,
        [](void* sum, uint64_t first, uint64_t last) { *static_cast<std::atomic<uint64_t>*>(sum) += last - first; },
        &sum);
    EXPECT_EQ(sum, count);
  }
}

TEST(Ranges, HaveEachNumberOnceWhenHelpersHaveLeft) {
  ThreadPool pool(4);
  for (const int microseconds : {0, 40, 50, 60, 200, 45, 55, 50, 50, 50}) {
    ASSERT_EQ(counted(pool, 0, 1000), once_from(0, 1000));
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
  }
}

TEST(Ranges, OfSeveralThreadsShareAPool) {
  ThreadPool pool(3);
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&pool] {
      for (uint64_t turn = 0; turn < 500; ++turn)
        ASSERT_EQ(counted(pool, 0, 1 + turn % 50), once_from(0, 1 + turn % 50)) << "turn " << turn;
    });
  for (std::thread& thread : threads) thread.join();
}

// Whether ranges came from the lowest on or from the highest, and how long they took.
struct Way {
  bool goes_up, goes_down;
  std::chrono::steady_clock::duration time;
};
Way way_of(ThreadPool& pool, Order order, std::chrono::microseconds at_least, uint64_t count = 1000) {
  struct Call {
    std::chrono::microseconds time;
    std::vector<uint64_t> firsts;
  } call{at_least, {}};
  const auto start = std::chrono::steady_clock::now();
  run_ranges(
      pool, 0, count, order, /*few=*/10,
      [](void* argument, uint64_t first, uint64_t) {
        auto& call = *static_cast<Call*>(argument);
        if (call.firsts.empty()) std::this_thread::sleep_for(call.time);
        call.firsts.push_back(first);
      },
      &call);
  EXPECT_GT(call.firsts.size(), 1u);
  return {std::ranges::is_sorted(call.firsts), std::ranges::is_sorted(call.firsts, std::ranges::greater()),
          std::chrono::steady_clock::now() - start};
}

TEST(Ranges, GoOnWhereTheLastOnesEndedUnlessTheyHaveAnOrder) {
  ThreadPool pool(1);
  constexpr std::chrono::microseconds time(100);
  EXPECT_TRUE(way_of(pool, Order::to_and_fro, time).goes_up);
  EXPECT_TRUE(way_of(pool, Order::to_and_fro, time).goes_down);
  EXPECT_TRUE(way_of(pool, Order::to_and_fro, time).goes_up);
  EXPECT_TRUE(way_of(pool, Order::upwards, time).goes_up);
  EXPECT_TRUE(way_of(pool, Order::to_and_fro, time).goes_down);
  EXPECT_TRUE(way_of(pool, Order::upwards, time).goes_up);
}

TEST(Ranges, AreNotTurnedAroundByShortOnes) {
  ThreadPool pool(1);
  constexpr uint64_t few_ranges = 40;  // which are short under sanitizers, too
  for (int attempt = 0; attempt < 1000; ++attempt) {
    EXPECT_TRUE(way_of(pool, Order::upwards, std::chrono::microseconds(100), few_ranges).goes_up);
    const Way next = way_of(pool, Order::to_and_fro, {}, few_ranges);
    EXPECT_TRUE(next.goes_down);
    if (next.time >= std::chrono::microseconds(50)) continue;  // somebody took the processor away
    EXPECT_TRUE(way_of(pool, Order::to_and_fro, {}, few_ranges).goes_down);
    return;
  }
  FAIL() << "no call was short";
}

TEST(Ranges, MayOutliveTheirPoolInHelpers) {
  for (int i = 0; i < 50; ++i) {
    ThreadPool pool(2);
    ASSERT_EQ(counted(pool, 0, 10), once_from(0, 10));
  }
}

}  // namespace
}  // namespace metalloid::cpu

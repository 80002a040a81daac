#include "cpu/ranges.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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
      pool, first, last, Order::to_and_fro,
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

TEST(Ranges, GoOnWhereTheLastOnesEndedUnlessTheyHaveAnOrder) {
  ThreadPool pool(1);
  const auto firsts = [&](Order order) {
    std::vector<uint64_t> ranges;
    run_ranges(
        pool, 0, 1000, order,
        [](void* ranges, uint64_t first, uint64_t) { static_cast<std::vector<uint64_t>*>(ranges)->push_back(first); },
        &ranges);
    return ranges;
  };
  const auto goes_up = [](const std::vector<uint64_t>& ranges) { return std::ranges::is_sorted(ranges); };
  const auto goes_down = [](const std::vector<uint64_t>& ranges) {
    return std::ranges::is_sorted(ranges, std::ranges::greater());
  };
  EXPECT_TRUE(goes_up(firsts(Order::to_and_fro)));
  EXPECT_TRUE(goes_down(firsts(Order::to_and_fro)));
  EXPECT_TRUE(goes_up(firsts(Order::to_and_fro)));
  EXPECT_TRUE(goes_up(firsts(Order::upwards)));
  EXPECT_TRUE(goes_down(firsts(Order::to_and_fro)));
  EXPECT_TRUE(goes_up(firsts(Order::upwards)));
}

TEST(Ranges, MayOutliveTheirPoolInHelpers) {
  for (int i = 0; i < 50; ++i) {
    ThreadPool pool(2);
    ASSERT_EQ(counted(pool, 0, 10), once_from(0, 10));
  }
}

}  // namespace
}  // namespace metalloid::cpu

// Events order threads: waits end when their value is reached, listeners are called once.
#include "device/event.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace metalloid::device {
namespace {

TEST(Event, WaitEndsWhenAnotherThreadSignals) {
  Event event;
  int written = 0;
  std::thread signaller([&] {
    written = 7;
    event.signal(3);
  });
  event.wait(2);
  EXPECT_EQ(written, 7);
  EXPECT_EQ(event.value(), 3u);
  signaller.join();
}

TEST(Event, TimedWaitGivesUp) {
  Event event;
  event.signal(1);
  EXPECT_TRUE(event.wait_for(1, std::chrono::milliseconds(0)));
  EXPECT_FALSE(event.wait_for(2, std::chrono::milliseconds(1)));
}

TEST(Event, ListenersAreCalledOnceWithTheValueReached) {
  Event event;
  std::vector<uint64_t> heard;
  event.notify(2, [&](uint64_t value) { heard.push_back(value); });
  event.notify(9, [&](uint64_t value) { heard.push_back(value); });
  event.signal(1);
  EXPECT_TRUE(heard.empty());
  event.signal(5);
  event.signal(6);
  EXPECT_EQ(heard, std::vector<uint64_t>{5});
  event.notify(4, [&](uint64_t value) { heard.push_back(value); });
  EXPECT_EQ(heard, (std::vector<uint64_t>{5, 6}));
}

TEST(Event, ListenerMaySignalTheSameEvent) {
  Event event;
  event.notify(1, [&](uint64_t) { event.signal(2); });
  event.signal(1);
  EXPECT_EQ(event.value(), 2u);
}

TEST(Event, PassesWorkBetweenTwoThreadsManyTimes) {
  Event ping, pong;
  uint64_t shared = 0;
  std::thread other([&] {
    for (uint64_t i = 1; i <= 1000; ++i) {
      ping.wait(i);
      shared += i;
      pong.signal(i);
    }
  });
  for (uint64_t i = 1; i <= 1000; ++i) {
    shared += i;
    ping.signal(i);
    pong.wait(i);
  }
  other.join();
  EXPECT_EQ(shared, 1001000u);
}

}  // namespace
}  // namespace metalloid::device

#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace metalloid::training {

namespace {

using namespace std::chrono_literals;

constexpr size_t bar_width = 24;

std::string bar(double share) {
  const auto filled = std::min(bar_width, static_cast<size_t>(share * bar_width));
  std::string text;
  for (size_t i = 0; i < bar_width; ++i) text += i < filled ? "█" : "░";
  return text;
}

}  // namespace

ProgressLine::ProgressLine() : is_terminal_(isatty(STDOUT_FILENO)), next_(Clock::now() + (is_terminal_ ? 100ms : 5s)) {}

void ProgressLine::show(const Progress& progress) {
  const double share = static_cast<double>(progress.done) / static_cast<double>(std::max<size_t>(1, progress.total));
  const std::string numbers = fmt::format("loss {:.4f}  {}  {} {}/s  {} left", progress.loss, progress.measure,
                                          with_commas(static_cast<size_t>(std::lround(progress.examples_per_second))),
                                          progress.examples, minutes_and_seconds(progress.seconds_left));
  if (is_terminal_)
    fmt::print("\r\033[K{} {} {:3.0f}%  {}", progress.stage, bar(share), 100 * share, numbers);
  else
    fmt::print("{} {:3.0f}%  {}\n", progress.stage, 100 * share, numbers);
  std::fflush(stdout);
  shown_ = true;
  next_ = Clock::now() + (is_terminal_ ? 100ms : 5s);
}

void ProgressLine::say(const std::string& words) {
  clear();
  fmt::print("{}\n", words);
  std::fflush(stdout);
}

void ProgressLine::clear() {
  if (shown_ && is_terminal_) fmt::print("\r\033[K");
  shown_ = false;
}

std::string with_commas(size_t number) {
  std::string digits = fmt::format("{}", number);
  for (size_t place = digits.size(); place > 3; place -= 3) digits.insert(place - 3, 1, ',');
  return digits;
}

std::string minutes_and_seconds(double seconds) {
  const auto all = static_cast<long>(std::lround(std::max(0.0, seconds)));
  return fmt::format("{}:{:02}", all / 60, all % 60);
}

}  // namespace metalloid::training

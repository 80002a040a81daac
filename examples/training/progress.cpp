#include "progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace metalloid::training {

namespace {

using namespace std::chrono_literals;

constexpr size_t widest_bar = 24;

size_t columns_of_terminal() {
  winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string bar(double share, size_t width) {
  const auto filled = std::min(width, static_cast<size_t>(share * static_cast<double>(width)));
  std::string text;
  for (size_t i = 0; i < width; ++i) text += i < filled ? "█" : "░";
  return text;
}

}  // namespace

ProgressLine::ProgressLine() : is_terminal_(isatty(STDOUT_FILENO)), next_(Clock::now() + (is_terminal_ ? 100ms : 5s)) {}

void ProgressLine::show(const Progress& progress) {
  const double share = static_cast<double>(progress.done) / static_cast<double>(std::max<size_t>(1, progress.total));
  const std::string numbers = fmt::format("loss {:.4f}  {}  {} {}/s  {} left", progress.loss, progress.measure,
                                          with_commas(static_cast<size_t>(std::lround(progress.examples_per_second))),
                                          progress.examples, minutes_and_seconds(progress.seconds_left));
  const std::string after_bar = fmt::format("{:3.0f}%  {}", 100 * share, numbers);
  if (is_terminal_) {
    // A line that the terminal would break could not be written over.
    const size_t columns = columns_of_terminal(), words = progress.stage.size() + 2 + after_bar.size();
    const size_t room = columns > words ? columns - words - 1 : 0;
    fmt::print("\r\033[K{} {} {:.{}}", progress.stage, bar(share, std::min(room, widest_bar)), after_bar,
               columns > progress.stage.size() + 3 ? columns - progress.stage.size() - 3 : 0);
  } else {
    fmt::print("{} {}\n", progress.stage, after_bar);
  }
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

#include "terminal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace metalloid::tool {

using namespace std::chrono_literals;

bool takes_colour(int descriptor) {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return ::isatty(descriptor) && !(no_colour && *no_colour) && !(terminal && std::string_view(terminal) == "dumb");
}

ProgressLine::ProgressLine(std::string name, size_t total)
    : name_(std::move(name)), total_(total), next_(Clock::now() + 500ms) {}

void ProgressLine::advance() {
  std::lock_guard lock(mutex_);
  ++done_;
  if (Clock::now() < next_ || !::isatty(STDERR_FILENO)) return;
  fmt::print(stderr, "\r\033[K{}: {}{}", name_, done_, total_ == 0 ? "" : fmt::format("/{}", total_));
  next_ = Clock::now() + 100ms;
  shown_ = true;
}

void ProgressLine::clear() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace metalloid::tool

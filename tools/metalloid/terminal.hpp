// What differs when a person is watching: colour, and a line of progress for what takes long.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>

namespace metalloid::tool {

// Whether a stream takes colour: it is a terminal, and neither NO_COLOR nor TERM=dumb says otherwise.
bool takes_colour(int descriptor);

// "name: done/total" on standard error, if that is a terminal, once half a second has passed. Advances from any
// thread. A total of 0 is none.
class ProgressLine {
 public:
  ProgressLine(std::string name, size_t total);
  ~ProgressLine() { clear(); }
  void advance();
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  std::mutex mutex_;
  std::string name_;
  size_t done_ = 0, total_;
  Clock::time_point next_;
  bool shown_ = false;
};

}  // namespace metalloid::tool

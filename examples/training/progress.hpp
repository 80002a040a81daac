// The line that says how a training goes: on a terminal one that is written over and over, else now and then a new one.
#pragma once

#include <chrono>
#include <string>

namespace metalloid::training {

struct Progress {
  std::string stage;           // "epoch 2/5"
  size_t done = 0, total = 1;  // steps of the stage
  double loss = 0;
  std::string measure;  // "accuracy 98.31%"
  double examples_per_second = 0;
  std::string examples;     // "images"
  double seconds_left = 0;  // of the stage
};

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Whether it is time for a new line.
  bool is_due() const { return Clock::now() >= next_; }
  void show(const Progress& progress);
  // A line that stays.
  void say(const std::string& words);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  const bool is_terminal_;
  bool shown_ = false;
  Clock::time_point next_;
};

// "1,234,567"
std::string with_commas(size_t number);
// "2:07"
std::string minutes_and_seconds(double seconds);

}  // namespace metalloid::training

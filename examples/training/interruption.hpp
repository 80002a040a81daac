// Ctrl-C, as a wish to stop that the training looks at between two steps. The second one ends the program at once.
#pragma once

#include <csignal>

namespace metalloid::training {

// There is one at a time.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  bool is_requested() const;

 private:
  struct sigaction interrupt_before_, terminate_before_;
};

}  // namespace metalloid::training

// Work in a process of its own: whatever it does to itself, the caller only reads about it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace metalloid::differ {

class ChildReport {
 public:
  explicit ChildReport(int descriptor) : descriptor_(descriptor) {}
  void line(std::string_view text);

  // Kills the child if it says nothing for longer than this.
  static void expect_a_line_within(unsigned seconds);

 private:
  int descriptor_;
};

// Runs the work in a forked process and calls `line` for every line that it reports. Returns how it died ("Segmentation
// fault"), or nothing if it came to its end. The caller must not have run kernels itself: a fork has no other threads.
std::string run_in_child(const std::function<void(ChildReport&)>& work,
                         const std::function<void(std::string_view)>& line);

}  // namespace metalloid::differ

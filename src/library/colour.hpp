// Text in a terminal's colours, or plain.
#pragma once

#include <string>
#include <string_view>

namespace metalloid {

enum class Ink { bold, red, green, magenta, cyan, grey };

class Palette {
 public:
  explicit Palette(bool colour) : colour_(colour) {}

  std::string operator()(Ink ink, std::string_view text) const {
    static constexpr std::string_view codes[] = {"1", "1;31", "1;32", "1;35", "36", "90"};
    if (!colour_ || text.empty()) return std::string(text);
    return "\x1b[" + std::string(codes[static_cast<size_t>(ink)]) + "m" + std::string(text) + "\x1b[0m";
  }

 private:
  bool colour_;
};

}  // namespace metalloid

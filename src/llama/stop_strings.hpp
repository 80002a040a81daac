// Lets text through until one of some strings appears in it. What may be the beginning of one is held back until it is
// known, and a character of which bytes are missing, until they come.
#pragma once

#include <string>
#include <vector>

namespace metalloid::llama {

class StopStrings {
 public:
  explicit StopStrings(std::vector<std::string> strings);

  // The text that is certain now.
  std::string add(const std::string& text);
  bool is_found() const { return is_found_; }
  // What was held back, when no more comes.
  std::string rest();

 private:
  std::vector<std::string> strings_;
  std::string held_;
  bool is_found_ = false;
};

}  // namespace metalloid::llama

#include "llama/stop_strings.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace metalloid::llama {
namespace {

// The bytes of a character at the text's end that is not whole.
size_t unfinished_character(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<uint8_t>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    const size_t length = byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : byte < 0xF8 ? 4 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

}  // namespace

StopStrings::StopStrings(std::vector<std::string> strings) : strings_(std::move(strings)) {
  std::erase(strings_, "");
}

std::string StopStrings::add(const std::string& text) {
  if (is_found_) return "";
  held_ += text;
  size_t stop = std::string::npos;
  for (const std::string& string : strings_) stop = std::min(stop, held_.find(string));
  if (stop != std::string::npos) {
    is_found_ = true;
    std::string certain = held_.substr(0, stop);
    held_.clear();
    return certain;
  }
  size_t unsure = unfinished_character(held_);
  for (const std::string& string : strings_)
    for (size_t length = std::min(string.size() - 1, held_.size()); length > unsure; --length)
      if (held_.ends_with(std::string_view(string).substr(0, length))) unsure = length;
  std::string certain = held_.substr(0, held_.size() - unsure);
  held_.erase(0, certain.size());
  return certain;
}

std::string StopStrings::rest() {
  return std::exchange(held_, "");
}

}  // namespace metalloid::llama

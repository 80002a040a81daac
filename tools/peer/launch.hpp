// One launch of a kernel, in words that Metal, OpenCL and a plain loop share. Benchmarks describe what they run with
// it, and send it to their peers as a line of text.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace metalloid::peer {

struct Argument {
  enum class Kind : char { buffer = 'b', scalar = 's' };
  Kind kind;
  uint32_t bits;  // the number of a buffer, or those of a 32-bit number
};

inline Argument buffer(uint32_t number) {
  return {Argument::Kind::buffer, number};
}
template <class Number>
Argument scalar(Number value) {
  return {Argument::Kind::scalar, std::bit_cast<uint32_t>(value)};
}

using Size = std::array<size_t, 3>;

struct Launch {
  std::string kernel;
  Size grid = {1, 1, 1};   // in threads
  Size group = {1, 1, 1};  // divides the grid
  std::vector<Argument> arguments;
};

std::string encode(const Launch& launch);
Launch decode(const std::string& line);  // throws std::runtime_error

}  // namespace metalloid::peer

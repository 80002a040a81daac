#include "launch.hpp"

#include <sstream>
#include <stdexcept>

namespace metalloid::peer {

std::string encode(const Launch& launch) {
  std::ostringstream line;
  line << launch.kernel;
  for (size_t extent : launch.grid) line << ' ' << extent;
  for (size_t extent : launch.group) line << ' ' << extent;
  for (const Argument& argument : launch.arguments) line << ' ' << static_cast<char>(argument.kind) << argument.bits;
  return line.str();
}

Launch decode(const std::string& line) {
  std::istringstream words(line);
  Launch launch;
  words >> launch.kernel;
  for (size_t& extent : launch.grid) words >> extent;
  for (size_t& extent : launch.group) words >> extent;
  if (!words) throw std::runtime_error("this is no launch: " + line);
  char kind = 0;
  uint32_t bits = 0;
  while (words >> kind >> bits) launch.arguments.push_back({static_cast<Argument::Kind>(kind), bits});
  return launch;
}

}  // namespace metalloid::peer

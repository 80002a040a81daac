// A peer of benchmarks (peer/serve.hpp), seen from the benchmark: a program beside this one that answers requests.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "peer/launch.hpp"

namespace metalloid::tool {

class Peer {
 public:
  // Starts the program; if that or what it needs is missing, `name` is empty and `why_not` says so.
  explicit Peer(const std::string& program);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  const std::string& name() const { return name_; }
  const std::string& why_not() const { return why_not_; }

  // All of these throw std::runtime_error with the peer's own words.
  void load(std::string_view source);
  void add_buffer(std::span<const std::byte> contents, bool restored);
  void add_launch(const peer::Launch& launch);
  std::vector<double> run(size_t times);  // microseconds of each
  std::string read_buffer(size_t number);
  void clear();

 private:
  std::string ask(const std::string& line, std::string_view bytes = {});
  std::string receive();

  pid_t process_ = -1;
  std::FILE *to_ = nullptr, *from_ = nullptr;
  std::string program_, name_, why_not_;
};

}  // namespace metalloid::tool

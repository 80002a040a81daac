// Every kernel of a library, with arguments made up, on the reference engine and on others. A kernel that shader
// validation has something to say about may do anything then, so it is not compared; other arguments are tried.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <metalloid/library.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "differ/run.hpp"

namespace metalloid::differ {

enum class Verdict : uint8_t {
  same,
  differs,
  undefined,  // all arguments that were tried lead it beyond what Metal defines
  not_run,    // an argument cannot be made up, or there is no pipeline on any engine
};

struct Survey {
  uint64_t first_seed = 0;
  unsigned tries = 6;     // seeds for each kernel
  unsigned enough = 2;    // comparisons that end them
  unsigned seconds = 20;  // of the processor that a threadgroup may take
  std::vector<Engine> engines = {{"vector", 0}};

  // Tells of each kernel in turn: what differs, what is undefined or cannot be run, in a sentence.
  using Tell = std::function<void(std::string_view kernel, Verdict verdict, const std::string& what)>;

  // In child processes: an engine that crashes differs. The caller must not have run kernels itself.
  void run(std::shared_ptr<const Library> library, const std::vector<std::string>& kernels, const Tell& tell) const;
};

}  // namespace metalloid::differ

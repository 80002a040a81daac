// Random kernels, one after the other, on the reference engine and on others, or other devices. They run in child
// processes, so that an engine or a compiler that crashes or never ends is a finding like any other; each finding is
// reduced.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "differ/compare.hpp"
#include "differ/program.hpp"

namespace metalloid::differ {

struct Finding {
  uint64_t seed = 0;
  std::string what;  // a sentence
  Program program;   // reduced
};

struct Campaign {
  uint64_t first_seed = 1;
  uint64_t count = 100;                                      // kernels
  std::chrono::seconds time = std::chrono::hours(24 * 365);  // whichever ends first
  std::chrono::seconds patience{120};                        // for reducing one finding
  size_t most_findings = 10;
  std::vector<Engine> engines = vector_engines();
  Disguise disguise;  // for tests

  // All may be empty.
  std::function<void(uint64_t seed)> at_kernel;
  std::function<void(const Finding&)> at_failure;  // not reduced yet
  std::function<void(const Finding&)> at_finding;

  // An error if this machine lacks a device that is to be compared; found out in a child, which alone sets it up.
  Status check_devices() const;

  // The caller must not have run kernels itself.
  std::vector<Finding> run() const;
};

}  // namespace metalloid::differ

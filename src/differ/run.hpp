// A kernel on one engine of the CPU at one width, or on another device: its pipeline is made once and then run on
// grids, with fresh arguments each time.
#pragma once

#include <memory>
#include <metalloid/library.hpp>
#include <metalloid/result.hpp>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "differ/argument_memory.hpp"
#include "differ/kernel_case.hpp"

namespace metalloid::differ {

struct Engine {
  std::string name = "vector";  // of the CPU, as METALLOID_ENGINE has it; or another device, as METALLOID_DEVICE has it
  unsigned width = 0;           // as METALLOID_WIDTH has it; 0: the engine chooses
  bool validates = false;       // with shader validation
};

std::string to_text(const Engine& engine);

// An error if this machine has no such device. Asking sets the device up, which children of fork() cannot use then.
Status check_presence(const Engine& engine);

// What a run leaves behind.
struct Remains {
  std::string fault;                         // empty: none
  std::vector<std::vector<uint8_t>> memory;  // of each argument; empty if it has none
  std::vector<std::string> logs;             // sorted: threads log in any order
  std::vector<std::string> reports;          // of shader validation
  bool stores_missed = false;                // something was written beside a buffer
};

Result<std::shared_ptr<const Library>> compile_source(const std::string& source);

// Whether a kernel calls functions that need more lanes than `width`: all 32 for SIMD-groups, four for quads.
bool needs_wider_groups(const Library& library, const std::string& kernel, unsigned width);

struct Place;

class Subject {
 public:
  static Result<Subject> make(const Engine& engine, std::shared_ptr<const Library> library, const KernelCase& kernel);

  Remains run(const KernelCase& kernel, const Launch& launch, Guard guard) const;

 private:
  Place* place_ = nullptr;
  std::shared_ptr<device::Pipeline> pipeline_;
};

}  // namespace metalloid::differ

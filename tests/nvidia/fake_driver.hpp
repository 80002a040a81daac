// A driver of NVIDIA's, played by a small library: its GPU is the host's memory and its streams are lists of work. What
// a launch does is up to the test. Opened as the real one is, through METALLOID_CUDA_DRIVER.
#pragma once

#include <atomic>
#include <cstdint>

namespace metalloid::nvidia::fake {

// What a launch was given.
struct Launch {
  unsigned grid[3], block[3], shared_memory;
  void** parameters;
};

// Gives the code of CUDA that the launch ends with: 0, or one that breaks the context.
using Kernel = int (*)(const Launch&);

struct Controls {
  std::atomic<Kernel> kernel = nullptr;      // what all launches do
  std::atomic<unsigned> parameters = 0;      // 64-bit values among theirs
  std::atomic<bool> holds_launches = false;  // streams stop before the next one
  std::atomic<bool> makes_contexts = true;   // else no more of them
  std::atomic<uint64_t> graphs = 0, node_changes = 0, stale_node_changes = 0, machine_code = 0;
  std::atomic<uint64_t> launches = 0, copies = 0, prefetches = 0, modules = 0;
  std::atomic<uint64_t> contexts = 0, pinned_regions = 0;  // made, present
};

constexpr uint64_t total_memory = uint64_t{1} << 30;

}  // namespace metalloid::nvidia::fake

extern "C" metalloid::nvidia::fake::Controls* metalloid_fake_controls();
extern "C" void metalloid_fake_go_on();  // lets streams do what they can, after controls were changed

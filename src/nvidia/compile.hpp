// A kernel of a library as PTX, the assembly language that NVIDIA's driver takes.
//
// The kernel's parameters are, in this order: for each slot (device/pipeline.hpp) a 64-bit number, the argument's value
// (of threadgroup memory, its offset in bytes in the dynamic shared memory); then one LaunchSize.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <metalloid/result.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "device/pipeline.hpp"
#include "device/size.hpp"

namespace metalloid::nvidia {

// What code is made for: compute capability 9.0 is 90.
struct Architecture {
  uint32_t capability = 75;

  std::string name() const { return "sm_" + std::to_string(capability); }  // as LLVM and ptxas call it
  bool operator==(const Architecture&) const = default;
};

constexpr uint32_t least_capability = 75;

// Whether a kernel may be put on the GPU while the one before it ends, and then waits for that itself.
constexpr bool overlaps_launches(const Architecture& architecture) {
  return architecture.capability >= 90;
}

// How large a launch is. A grid of threadgroups too long in y or z for the hardware is launched as a row of x * y * z
// threadgroups, each of which works out its own position.
struct LaunchSize {
  device::Size threads_per_grid;
  device::Size threads_per_threadgroup;
  device::Size threadgroups_per_grid;
  uint32_t is_row = 0;             // the threadgroups are
  uint32_t is_row_of_threads = 0;  // each of them is: it is deeper than the hardware's may be
  uint32_t padding = 0;            // sizes are compared and hashed byte by byte
  uint64_t log = 0;                // address of a LogBuffer, if the kernel logs
};
static_assert(std::has_unique_object_representations_v<LaunchSize>);

// Memory that kernels write messages to: records of whole 64-bit words. When it is full, messages are counted only.
struct LogBuffer {
  uint32_t used = 0, capacity = 0;  // words
  uint32_t lost = 0;                // messages that did not fit
  uint32_t padding = 0;
  // Then records: one word, the number of the site (LogSite) in its lower half and of the words that follow in its
  // upper half; the slots of the message's arguments (docs/builtins.md, Logging); and the strings among these, whose
  // slots have the number of their first word in the record, or 0 for a null pointer.
};

// A call of os_log in a kernel.
struct LogSite {
  int level = 3;
  std::string subsystem, category, format;
};

// What a launch lets the code take for granted.
struct Assumptions {
  bool is_even = false;            // threadgroups fill the grid, which is no row
  bool are_buffers_apart = false;  // all begin at multiples of 16 bytes, and none that is written overlaps another

  static const std::array<Assumptions, 4> all;

  size_t place() const { return size_t{is_even} + 2 * size_t{are_buffers_apart}; }  // in `all`
  bool operator==(const Assumptions&) const = default;
};

inline constexpr std::array<Assumptions, 4> Assumptions::all{
    {{false, false}, {true, false}, {false, true}, {true, true}}};

constexpr std::string_view entry_symbol = "metalloid_entry";

struct CompiledKernel {
  std::string ptx;
  uint32_t static_threadgroup_memory = 0;  // bytes
  bool variables_are_dynamic = false;      // a launch's dynamic memory begins with these bytes, before its arguments
  std::vector<bool> uses_argument;         // of each slot
  std::vector<bool> writes_argument;       // of each slot: it is a buffer that may be written to
  std::vector<LogSite> log_sites;          // by number; empty: the kernel never logs
};

// From the first archive that has it, else from the disk cache, else compiled now; then archives that asked for it and
// did not have it are given it.
Result<CompiledKernel> compile(const device::PipelineRequest& request, std::span<const device::Slot> slots,
                               const Architecture& architecture, const Assumptions& assumptions = {});

// What visible function number `place` of the request is called through in a table.
uint64_t visible_function_handle(size_t place);

// Of the sources that PTX is made by.
std::string_view compiler_fingerprint();

}  // namespace metalloid::nvidia

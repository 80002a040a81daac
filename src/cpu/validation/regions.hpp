// The memory that a dispatch may use: what its slots are bound to, threadgroup memory, variables in constant memory,
// and whatever else the program has allocated, which kernels reach through pointers in memory.
#pragma once

#include <string>
#include <vector>

#include "cpu/thread_state.hpp"
#include "cpu/validation/site_table.hpp"

namespace metalloid::cpu::validation {

struct Region {
  enum class Kind : uint8_t { buffer, threadgroup, constant, allocation, unwatched };
  Kind kind = Kind::buffer;
  uint64_t start = 0, bytes = 0;
  uint64_t bytes_before = 0;  // of the same buffer, where one is bound with an offset
  bool is_written = true;     // perhaps, by this kernel
  uint32_t slot = ~0u;        // of a buffer or dynamic threadgroup memory
  std::string name;           // of the argument or variable; of an allocation its label

  bool contains(uint64_t address, uint64_t length) const {
    const uint64_t offset = address - start + bytes_before, all = bytes_before + bytes;
    return offset <= all && length <= all - offset;
  }
};

class Regions {
 public:
  Regions(const GridState& grid, const SiteTable& table);

  // Threadgroup memory is where this threadgroup has it.
  void threadgroup_started(const ThreadgroupState& threadgroup);

  // The region that the whole access lies in, among those that its pointer may come from; null if there is none.
  const Region* find(const Site& site, uint64_t address, uint64_t bytes);

  // The region that it was meant for, most likely: the nearest of those; null if that cannot be said.
  const Region* nearest(const Site& site, uint64_t address) const;

  // "buffer 3 "data" (label "weights")"
  std::string describe(const Region& region) const;

 private:
  void find_what_is_only_read();
  const Region* region_of(const Root& root) const;
  const Region* find_anywhere(uint64_t address, uint64_t bytes);
  const Region* find_private(uint64_t address) const;
  const Region* find_allocation(uint64_t address, uint64_t bytes);

  const GridState& grid_;
  const SiteTable& table_;
  std::vector<Region> slots_, variables_, constants_, allocations_;
  Region unwatched_;  // private memory
};

}  // namespace metalloid::cpu::validation

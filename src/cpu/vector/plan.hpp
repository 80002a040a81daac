// How the threadgroups of a dispatch are cut into groups, and the code that runs each: worked out once, before the
// first threadgroup runs.
#pragma once

#include <array>
#include <cstdint>
#include <metalloid/result.hpp>
#include <vector>

#include "cpu/thread_state.hpp"
#include "cpu/vector/variant.hpp"

namespace metalloid::cpu::vector {

// How the lanes of all groups of a threadgroup of this size lie.
Variant variant_for(device::Size threads, uint32_t width);

// Threadgroups of one size. Threads are numbered along x, then y, then z; each `width` of them are a group, what is
// left the last one.
struct ThreadgroupPlan {
  device::Size threads;
  Variant variant;
  uint32_t groups = 0;
  uint32_t lanes_of_last = 0;
  Entry entry = nullptr;                 // of all groups but the last
  Entry entry_of_last = nullptr;         // the same, unless the last is partial
  bool runs_many_groups = false;         // `entry` does
  uint32_t at_once = 1;                  // threadgroups in a row that it runs
  std::vector<device::Size> positions;   // of the first lane of each group, of all that are run at once
  std::vector<uint32_t> lane_positions;  // ThreadState::lane_positions of each group, if the code looks there

  const uint32_t* lane_positions_of(uint32_t group) const {
    return lane_positions.empty() ? nullptr : &lane_positions[size_t{group} * 3 * variant.width];
  }
};

class GridPlan {
 public:
  // For a grid whose pipeline and sizes are known; an error if code for it cannot be compiled.
  Status make(const GridState& grid);

  // Whether groups of a threadgroup wait for each other.
  bool needs_fibers() const { return needs_fibers_; }

  uint32_t max_groups() const { return max_groups_; }

  const ThreadgroupPlan& of(device::Size position) const { return plans_[edges_at(position) & ragged_]; }

  // How many threadgroups have the same plan from this one on, along x.
  uint32_t alike_from(device::Size position) const {
    const bool is_last_apart = (ragged_ & 1) != 0 && position.x < last_.x;
    return last_.x - position.x + (is_last_apart ? 0 : 1);
  }

 private:
  // Bits 0, 1 and 2 stand for x, y and z.
  uint32_t edges_at(device::Size position) const {
    return uint32_t{position.x == last_.x} | uint32_t{position.y == last_.y} << 1 |
           uint32_t{position.z == last_.z} << 2;
  }
  Status make(ThreadgroupPlan& plan, const Pipeline& pipeline, device::Size threads, const Variant& variant);

  device::Size last_;                     // position of the last threadgroup
  uint32_t ragged_ = 0;                   // directions in which it is smaller than others
  std::array<ThreadgroupPlan, 8> plans_;  // by the edges that the threadgroup is at and that are ragged
  bool needs_fibers_ = false, streams_ = false;
  uint32_t max_groups_ = 0;
};

}  // namespace metalloid::cpu::vector

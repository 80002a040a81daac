// What the code of a pipeline is made for besides its kernel. A pipeline has one width; its other variants are compiled
// when a dispatch first needs them.
#pragma once

#include <array>
#include <cstdint>

namespace metalloid::cpu::vector {

// How the lanes of a group lie in their threadgroup, counted from the position of the group's first lane. Lanes are
// numbered along x, then y, then z.
enum class LanePositions : uint8_t {
  row,     // all in one row: lane l is l further in x
  blocks,  // rows of 2^log2_x lanes, layers of 2^log2_y rows, both powers of two
  any,     // wherever the table of the thread's state says
};

// Lanes that a group can have: of several SIMD-groups that go together, of one, or of a part of one. any_width: as many
// as suit the kernel.
constexpr std::array<uint32_t, 7> widths = {256, 128, 64, 32, 16, 8, 1};
constexpr uint32_t lanes_of_simdgroup = 32;
constexpr uint32_t widest_choice = 128;  // of a pipeline; more only if they are a whole threadgroup
constexpr uint32_t any_width = 0;

// Threadgroups that a kernel cannot tell apart are run as one, a row of so many threads.
constexpr uint32_t most_threads_of_row = 1 << 14;

// In place of a width: threads that cannot run as lanes run on the reference engine.
constexpr uint32_t each_thread_by_itself = UINT32_MAX;

struct Variant {
  uint32_t width = 32;  // one of `widths`, or any_width
  LanePositions positions = LanePositions::row;
  uint8_t log2_x = 0, log2_y = 0;  // of blocks
  bool is_aligned = true;          // of a row: groups start at multiples of the width in the grid, too
  bool is_partial = false;         // the group has `lanes` of the thread's state; if not, it has `width`
  bool if_cheaper = false;         // of blocks, or whole: there is no code if threads cost less in fewer lanes
  bool is_whole = false;           // the group is its threadgroup: it starts at 0, and waits for nobody at barriers
  bool streams = false;            // a grid that writes more than caches hold writes past them

  bool operator==(const Variant&) const = default;
};

// What a pipeline is made with.
inline bool is_first(const Variant& variant) {
  return variant == Variant{.width = variant.width};
}

}  // namespace metalloid::cpu::vector

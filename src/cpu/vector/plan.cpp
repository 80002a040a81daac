#include "cpu/vector/plan.hpp"

#include <algorithm>
#include <bit>

#include "cpu/grid.hpp"
#include "cpu/pipeline.hpp"
#include "cpu/vector/variants.hpp"

namespace metalloid::cpu::vector {

namespace {

// What so many threads write, each at least a few bytes, does not stay in caches until it is read.
constexpr uint64_t threads_that_fill_caches = uint64_t{1} << 23;

uint8_t log2(uint32_t power) {
  return static_cast<uint8_t>(std::bit_width(power) - 1);
}

void place_groups(ThreadgroupPlan& plan) {
  plan.positions.clear();
  plan.lane_positions.clear();
  const uint32_t width = plan.variant.width, count = static_cast<uint32_t>(plan.threads.count());
  if (plan.at_once > 1)
    for (uint32_t first = 0; first < plan.at_once * count; first += width) plan.positions.push_back({first, 0, 0});
  else
    for (uint32_t first = 0; first < count; first += width) plan.positions.push_back(position_of(first, plan.threads));
  if (plan.variant.positions != LanePositions::any) return;
  plan.lane_positions.resize(plan.positions.size() * 3 * width);
  for (uint32_t thread = 0; thread < count; ++thread) {
    const device::Size position = position_of(thread, plan.threads);
    uint32_t* x = &plan.lane_positions[size_t{thread / width} * 3 * width + thread % width];
    x[0] = position.x;
    x[width] = position.y;
    x[2 * width] = position.z;
  }
}

// How many lanes the groups of such a threadgroup have, at most so many. Groups of several SIMD-groups are full, and
// their rows are long enough that lanes find what they access in a few vectors.
uint32_t width_for(device::Size threads, uint32_t most) {
  constexpr uint8_t log2_of_shortest_row = 4;
  for (uint32_t width : widths) {
    if (width <= lanes_of_simdgroup) break;
    if (width > most || threads.count() % width != 0) continue;
    const Variant variant = variant_for(threads, width);
    if (variant.positions == LanePositions::row ||
        (variant.positions == LanePositions::blocks && variant.log2_x >= log2_of_shortest_row))
      return width;
  }
  return std::min(most, lanes_of_simdgroup);
}

// How many lanes suit threadgroups that fill no SIMD-group: a lane without a thread costs as much as one that has one.
// For a few threadgroups, code of their own is not worth it.
uint32_t width_of_small(device::Size threads, uint64_t threadgroups, uint32_t least) {
  constexpr uint64_t many = 64;
  constexpr uint32_t narrowest = 8;
  const uint64_t count = threads.count();
  if (threadgroups < many || count >= lanes_of_simdgroup) return widest_choice;
  if (count == 1 && least == 1) return 1;
  return std::max({std::bit_ceil(static_cast<uint32_t>(count)), narrowest, least});
}

// Whether there is no code for a variant because another one is better.
bool is_refused(const Variant& variant, const Pipeline& pipeline) {
  const CompiledVariant& compiled = pipeline.variant(variant);
  return !compiled.code && compiled.error.empty();
}

// Of groups that are blocks: one SIMD-group, or one row of it. 0: there are no narrower ones that are better at times.
uint32_t narrower_than(const Variant& blocks) {
  constexpr uint32_t shortest_row = 8;
  if (blocks.width > lanes_of_simdgroup) return lanes_of_simdgroup;
  const uint32_t row = uint32_t{1} << blocks.log2_x;
  return row >= shortest_row && row < blocks.width ? row : 0;
}

// The variant for all groups of such a threadgroup, which most of a grid are.
Variant best_variant(device::Size threads, uint32_t width, const Pipeline& pipeline) {
  Variant variant = variant_for(threads, width_for(threads, width));
  while (pipeline.chose_width() && variant.positions == LanePositions::blocks) {
    const uint32_t narrower = narrower_than(variant);
    if (narrower == 0) break;
    variant.if_cheaper = true;
    if (!is_refused(variant, pipeline)) break;
    variant = variant_for(threads, narrower);
  }
  return variant;
}

// Such a threadgroup as one group, where several SIMD-groups go together in any case and would wait for others at
// barriers. Groups that are wider than the kernel's own have to be cheaper.
Variant best_variant_of_all(device::Size threads, uint32_t width, const Pipeline& pipeline) {
  const Variant parts = best_variant(threads, width, pipeline);
  const auto count = static_cast<uint32_t>(threads.count());
  if (parts.width <= lanes_of_simdgroup || count < parts.width || !pipeline.threadgroup_layout().needs_fibers ||
      std::ranges::find(widths, count) == widths.end())
    return parts;
  Variant whole = variant_for(threads, count);
  whole.is_whole = true;
  whole.if_cheaper = count > parts.width;
  if (whole.if_cheaper && (!pipeline.chose_width() || is_refused(whole, pipeline))) return parts;
  return whole;
}

}  // namespace

Variant variant_for(device::Size threads, uint32_t width) {
  Variant variant{.width = width};
  if (threads.x % width == 0) return variant;
  if (threads.y == 1 && threads.z == 1) {
    variant.is_aligned = false;
    return variant;
  }
  variant.positions = LanePositions::any;
  if (!std::has_single_bit(threads.x) || threads.x > width) return variant;
  const uint32_t layer = threads.x * threads.y;
  const bool has_layers = threads.z > 1 && layer % width != 0;
  if (has_layers && !std::has_single_bit(threads.y)) return variant;
  variant.positions = LanePositions::blocks;
  variant.log2_x = log2(threads.x);
  variant.log2_y = has_layers ? log2(threads.y) : log2(width / threads.x);
  return variant;
}

Status GridPlan::make(const GridState& grid) {
  const device::Size &size = grid.threads_per_threadgroup, &all = grid.threads_per_grid,
                     &threadgroups = grid.threadgroups_per_grid;
  const device::Size rest{all.x % size.x, all.y % size.y, all.z % size.z};
  last_ = {threadgroups.x - 1, threadgroups.y - 1, threadgroups.z - 1};
  ragged_ = uint32_t{rest.x > 0} | uint32_t{rest.y > 0} << 1 | uint32_t{rest.z > 0} << 2;
  const uint32_t always = edges_at({0, 0, 0}) & ragged_;  // directions in which all threadgroups are smaller
  needs_fibers_ = false;
  max_groups_ = 0;

  const ObjectLayout& layout = grid.pipeline->threadgroup_layout();
  uint32_t width = are_small({layout.strides, layout.stride_count}, grid.arguments) ? grid.pipeline->width() : 1;
  if (grid.pipeline->chose_width())
    width = std::min(width, width_of_small(size, threadgroups.count(), layout.least_width));
  streams_ = all.count() >= threads_that_fill_caches && !layout.needs_fibers;
  const bool is_narrower = streams_ && grid.pipeline->chose_width() && layout.lanes_of_streams < width &&
                           size.x % layout.lanes_of_streams == 0;
  const Variant usual =
      is_narrower ? variant_for(size, layout.lanes_of_streams) : best_variant_of_all(size, width, *grid.pipeline);
  for (uint32_t edges = 0; edges < plans_.size(); ++edges) {
    if ((edges & ~ragged_) != 0 || (always & ~edges) != 0) continue;
    const device::Size threads{edges & 1 ? rest.x : size.x, edges & 2 ? rest.y : size.y, edges & 4 ? rest.z : size.z};
    Variant variant = variant_for(threads, width_for(threads, usual.width));
    variant.is_whole = usual.is_whole && threads == size;
    variant.if_cheaper = usual.if_cheaper && (variant.is_whole || variant.positions == LanePositions::blocks);
    // Code for one kind of blocks is not made for the sake of an edge.
    if (variant.positions == LanePositions::blocks && variant != usual)
      variant = {.width = std::min(usual.width, lanes_of_simdgroup), .positions = LanePositions::any};
    if (variant.positions == LanePositions::row)
      variant.is_aligned = size.x % variant.width == 0 || threadgroups.x == 1;
    if (auto made = make(plans_[edges], *grid.pipeline, threads, variant); !made) return made;
  }
  return success();
}

Status GridPlan::make(ThreadgroupPlan& plan, const Pipeline& pipeline, device::Size threads, const Variant& variant) {
  const auto count = static_cast<uint32_t>(threads.count());
  const uint32_t rest = count % variant.width;
  uint32_t at_once = 1;
  plan.groups = (count + variant.width - 1) / variant.width;
  plan.lanes_of_last = rest == 0 ? variant.width : rest;
  plan.entry = nullptr;
  plan.runs_many_groups = false;
  max_groups_ = std::max(max_groups_, plan.groups);
  for (const bool is_partial : {false, true}) {
    if (is_partial ? rest == 0 : count < variant.width) continue;
    Variant wanted = variant;
    wanted.is_partial = is_partial;
    wanted.streams = streams_ && !is_partial && variant.positions == LanePositions::row;
    const CompiledVariant& compiled = pipeline.variant(wanted);
    if (!compiled.code) return Error{compiled.error};
    if (!is_partial) {
      plan.entry = compiled.code->entry;
      plan.runs_many_groups = compiled.code->layout->runs_many_groups;
      const bool has_whole_simdgroups = count % std::max(lanes_of_simdgroup, variant.width) == 0;
      if (compiled.code->layout->spans_threadgroups && has_whole_simdgroups && threads.x == count)
        at_once = std::max(1u, most_threads_of_row / count);
    }
    plan.entry_of_last = compiled.code->entry;
    needs_fibers_ |= compiled.code->layout->needs_fibers;
  }
  if (plan.threads != threads || plan.variant != variant || plan.at_once != at_once) {
    plan.threads = threads;
    plan.variant = variant;
    plan.at_once = at_once;
    place_groups(plan);
  }
  return success();
}

}  // namespace metalloid::cpu::vector

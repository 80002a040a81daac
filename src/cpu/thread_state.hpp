// What the code of a kernel reads about the thread it runs as. Compiled code knows these structs by the offsets of
// their members (lower/thread_values.cpp); whoever runs a kernel fills them in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "device/commands.hpp"
#include "device/size.hpp"

namespace metalloid::device {
struct Log;
}

namespace metalloid::cpu {

class EngineEvents;
class Pipeline;
namespace vector {
class GridPlan;
}

// The same for all threads of a dispatch.
struct GridState {
  const device::Argument* arguments = nullptr;  // one for each slot; of threadgroup memory, `value` is its offset
  device::Size threads_per_grid;
  device::Size threadgroups_per_grid;
  device::Size threads_per_threadgroup;  // of a threadgroup that the grid fills
  uint64_t threadgroup_memory = 0;       // bytes, static and dynamic
  const Pipeline* pipeline = nullptr;
  const std::function<void(const device::Log&)>* log = nullptr;
  const char* encoder_label = nullptr;
  EngineEvents* events = nullptr;          // of shader validation; null without
  const vector::GridPlan* plan = nullptr;  // of the vector engine; null on the reference engine
};

// The same for all threads of a threadgroup.
struct ThreadgroupState {
  const GridState* grid = nullptr;
  std::byte* memory = nullptr;
  device::Size position;
  device::Size threads;  // smaller than the grid's threads_per_threadgroup at a ragged edge
};

// One level of the position of a thread in its own control flow: the place in the code (a loop, a call) in the upper
// half, the iteration of that loop in the lower. Comparing keys level by level says who comes first.
using KeyLevel = uint64_t;
constexpr uint32_t max_key_levels = 128;

// On the vector engine, of a group: its threads are the lanes, and `position` and `index` are those of the first.
struct ThreadState {
  const ThreadgroupState* threadgroup = nullptr;
  device::Size position;  // in the threadgroup
  uint32_t index = 0;     // in the threadgroup

  // The vector engine's.
  const uint32_t* lane_positions = nullptr;  // in the threadgroup: x of all lanes, then y, then z (LanePositions::any)
  uint32_t lanes = 1;
  uint32_t groups = 1;                      // that one call runs, if the code runs many
  const device::Size* positions = nullptr;  // of their first lanes
  uint32_t row_end = 0, layer_end = 0;      // x and y that are the next row's 0, and the next layer's

  // The reference engine's.
  KeyLevel* key = nullptr;
  uint32_t key_base = 0;  // levels of the functions that called the present one
  uint32_t patience = 0;  // back edges of waiting loops until the next turn of others
};

// The code of a pipeline: runs a thread of the reference engine, a group of the vector engine.
using Entry = void (*)(ThreadState*);

}  // namespace metalloid::cpu

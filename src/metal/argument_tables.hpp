// The tables that a compute encoder binds arguments into, by index, and what a pipeline takes from them. Tables of
// functions share the indices of buffers, as in Metal.
#pragma once

#include <array>

#include "device/commands.hpp"

namespace metalloid::metal {

struct ArgumentTables {
  std::array<device::Argument, 31> buffers = {};
  std::array<device::Argument, 31> threadgroup_memory = {};
  std::array<device::Argument, 128> textures = {};
  std::array<device::Argument, 16> samplers = {};

  // What is bound for a slot; zeros if nothing is.
  device::Argument operator[](const device::Slot& slot) const;

  // One argument for each slot of the pipeline.
  const device::Argument* arguments_of(const device::Pipeline& pipeline, device::Arena& arena) const;
};

// Static and dynamic threadgroup memory of a pipeline with these arguments, in bytes.
uint64_t threadgroup_memory_of(const device::Pipeline& pipeline, const device::Argument* arguments);

}  // namespace metalloid::metal

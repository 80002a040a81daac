// Numbers among a kernel's arguments that keep the memory of neighbouring threads apart: the stride of a convolution,
// or the length of the rows of a matrix of which each thread has one. While they are small, lanes that go together find
// what they read in few lines of the cache; while they are not, threads are better run one at a time. A dispatch says
// which it is.
#pragma once

#include <cstdint>
#include <span>

#include "device/commands.hpp"

namespace metalloid::cpu {

// A number in constant memory. Part of object files.
struct Stride {
  uint64_t slot;    // of the argument that it is in
  uint64_t offset;  // there, in bytes
  uint64_t bytes;   // of the number: 1, 2, 4 or 8
  uint64_t most;    // small: at most so far from 0

  bool operator==(const Stride&) const = default;
};

// Whether all are. One that is not there is not.
bool are_small(std::span<const Stride> strides, const device::Argument* arguments);

}  // namespace metalloid::cpu

// What the CPU device allows; Apple's GPUs have the same.
#pragma once

#include <cstdint>

namespace metalloid::cpu {

constexpr uint32_t max_threads_per_threadgroup = 1024;
constexpr uint32_t max_threadgroup_memory = 32768;  // bytes

}  // namespace metalloid::cpu

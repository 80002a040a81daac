// Copies and fills memory: large pieces on all threads of the device, and very large ones past the caches, which would
// read what is to be overwritten, and lose what they have for what nobody reads soon.
#pragma once

#include "cpu/ranges.hpp"

namespace metalloid::cpu {

// The two may overlap.
void copy_memory(ThreadPool& pool, void* destination, const void* source, uint64_t bytes);

void fill_memory(ThreadPool& pool, void* destination, uint8_t value, uint64_t bytes);

}  // namespace metalloid::cpu

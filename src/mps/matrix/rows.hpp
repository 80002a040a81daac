// How threads are laid over the rows of matrices.
#pragma once

#include <Metal/Metal.hpp>

namespace metalloid::mps {

// How many threads of a threadgroup share a row that they need as a whole: SIMD-groups, as many as are worth it on the
// device.
MTL::Size threads_for_row(MTL::Device* device, size_t columns);

// Threads of a threadgroup that do a number each, side by side in a row.
MTL::Size threads_along_row(size_t columns);

// How many rows a SIMD-group of a CPU does in turn, where it does better with some than with one.
size_t rows_in_turn(size_t rows);

// Whether a CPU's kernel that writes so much does better to write past the caches.
bool fills_caches(size_t bytes);

}  // namespace metalloid::mps

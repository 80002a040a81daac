// How threads are laid over the rows of matrices.
#pragma once

#include <Metal/Metal.hpp>
#include <cstdint>

namespace metalloid::mps {

// How many threads of a threadgroup share a row that they need as a whole: SIMD-groups, as many as are worth it on the
// device.
MTL::Size threads_for_row(MTL::Device* device, size_t columns);

// Threads of a threadgroup that do a number each, side by side in a row.
MTL::Size threads_along_row(size_t columns);

// For work that takes number by number: the columns of a threadgroup, as kernels/rows.h has them, and the threads of
// one. On GPUs a thread has one number; on CPUs a SIMD-group has many, one after the other.
struct Span {
  uint32_t columns, most;
};
struct SpanThreads {
  Span span;
  MTL::Size threads, threadgroup;
};
SpanThreads threads_over_spans(MTL::Device* device, size_t columns, size_t rows, size_t matrices);

// How many rows a SIMD-group of a CPU does in turn, where it does better with some than with one.
size_t rows_in_turn(size_t rows);

// The same of images, which are so large that few make a SIMD-group busy.
size_t images_in_turn(size_t images);

// Whether a kernel that writes so much does better to write past the caches: on CPUs.
bool fills_caches(MTL::Device* device, size_t bytes);

}  // namespace metalloid::mps

// A pipeline's code as an object file: what is compiled once, kept in caches and archives, and loaded.
#pragma once

#include <metalloid/result.hpp>
#include <span>
#include <string>
#include <string_view>

#include "cpu/host_processor.hpp"
#include "cpu/small_strides.hpp"
#include "cpu/vector/variant.hpp"
#include "device/pipeline.hpp"

namespace metalloid::cpu {

// Symbols of an object file: the entry (lower/entry.hpp), the layout of threadgroup memory with the use of arguments,
// and the visible functions linked in, by their place in the request.
constexpr std::string_view layout_symbol = "metalloid.layout";
std::string visible_function_symbol(size_t place);

struct ObjectLayout {
  uint64_t threadgroup_bytes;
  uint64_t initial_bytes;
  const char* initial;        // what the first bytes of threadgroup memory are when a threadgroup starts
  const bool* uses_argument;  // of each slot
  uint64_t source_bytes;      // of threadgroup memory, those that the source asks for
  uint32_t width;             // lanes that one call of the entry runs, or each_thread_by_itself
  uint32_t lanes_of_streams;  // on the vector engine: the width for grids that stream
  uint32_t least_width;       // on the vector engine: of the narrowest groups that can run the kernel
  const Stride* strides;      // on the vector engine, of the first variant: if one is not small,
  uint64_t stride_count;      // its threads are better run one at a time
  bool keeps_order;           // threadgroups may wait for those before them
  bool needs_fibers;          // on the vector engine: groups of a threadgroup wait for each other
  bool runs_many_groups;      // on the vector engine: one call of the entry runs ThreadState::groups
  bool spans_threadgroups;    // and they may be those of several threadgroups in a row, which it cannot tell apart
};

// For the reference engine, or for the vector engine in a variant. From the first archive that has it, else from the
// disk cache, else compiled now; then archives that asked for it and did not have it are given it. Empty: the variant
// was to be made if it is cheaper than another, and is not.
Result<std::string> object_code(const device::PipelineRequest& request, std::span<const device::Slot> slots,
                                const vector::Variant* variant, const Processor& processor);

// What keeps the kernel from being fast on the vector engine, for people. Compiles it once more, for that only.
Result<std::string> explain(const device::PipelineRequest& request, std::span<const device::Slot> slots,
                            const vector::Variant& variant, const Processor& processor);

// Of the sources that object code is made by.
std::string_view compiler_fingerprint();

}  // namespace metalloid::cpu

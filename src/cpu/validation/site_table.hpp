// What compiled code knows about itself for shader validation: every place that touches memory (a site), what its
// pointer may come from (its roots), and the variables that a root can be. The table is a constant in the pipeline's
// object code, kept and loaded with it; the structs are laid out the same by LLVM and by C++ (site_table_builder.cpp).
#pragma once

#include <cstdint>
#include <string_view>

namespace metalloid::cpu::validation {

constexpr std::string_view site_table_symbol = "metalloid.validation";

// What a site does; bits.
enum AccessFlags : uint32_t {
  access_reads = 1,
  access_writes = 2,
  access_is_atomic = 4,     // or volatile: meant to be seen by other threads
  access_is_copy = 8,       // of a whole object, padding included
  access_is_matrix = 16,    // a lane's part of simdgroup_load or simdgroup_store
  access_is_fill = 32,      // with one byte, again and again
  access_is_constant = 64,  // of memory that no kernel writes
  access_is_exchange = 128  // reads a value for other lanes, in a scan or shuffle: not all of them need be used
};

// Where a pointer can come from.
enum class RootKind : uint32_t {
  slot,                  // index: in the pipeline's slots
  switched_off,          // an argument that function constants switch off; index: the parameter
  threadgroup_variable,  // index: in `threadgroup_variables`
  constant_variable,     // index: in `constant_variables`
  private_memory,        // the thread's own
  null,                  //
  unknown                // loaded from memory, or passed by a function that was not inlined
};

struct Root {
  RootKind kind;
  uint32_t index;
};

struct Site {
  const char* file;  // never null; empty if it is not known
  uint32_t line, column;
  uint32_t flags, alignment;
  uint32_t first_root, root_count;
};

struct ThreadgroupVariable {
  const char* name;
  uint64_t offset, bytes;  // in the memory of the threadgroup
  uint64_t is_initialised;
};

struct ConstantVariable {
  const char* name;
  const void* address;
  uint64_t bytes;
};

struct SiteTable {
  uint64_t site_count;
  const Site* sites;
  const Root* roots;
  uint64_t threadgroup_variable_count;
  const ThreadgroupVariable* threadgroup_variables;
  uint64_t constant_variable_count;
  const ConstantVariable* constant_variables;
};

}  // namespace metalloid::cpu::validation

// Atomics: every operation on every type in both memories, and what Metal does not have.
#include "compile_source.hpp"

namespace metalloid {
namespace {

TEST(StdlibAtomic, EveryOperationWorksInDeviceAndThreadgroupMemory) {
  EXPECT_EQ(functions_of(R"(
#define INTEGERS(A, T) { \
  T old = atomic_load_explicit(A, memory_order_relaxed); \
  atomic_store_explicit(A, old, memory_order_relaxed); \
  old = atomic_exchange_explicit(A, old, memory_order_relaxed); \
  if (atomic_compare_exchange_weak_explicit(A, &old, T(1), memory_order_relaxed, memory_order_relaxed)) out[0] = old; \
  old += atomic_fetch_add_explicit(A, 1, memory_order_relaxed) + atomic_fetch_sub_explicit(A, T(2), memory_order_relaxed); \
  old += atomic_fetch_and_explicit(A, old, memory_order_relaxed) + atomic_fetch_or_explicit(A, old, memory_order_relaxed); \
  old += atomic_fetch_xor_explicit(A, old, memory_order_relaxed) + atomic_fetch_min_explicit(A, old, memory_order_relaxed); \
  out[1] = old + atomic_fetch_max_explicit(A, old, memory_order_relaxed); \
}
kernel void k(device atomic_int* di, volatile device atomic_uint* du, threadgroup atomic_int* ti, threadgroup atomic<uint>* tu, device int* out) {
  INTEGERS(di, int) INTEGERS(du, uint) INTEGERS(ti, int) INTEGERS(tu, uint) INTEGERS(&di[3], int)
}
kernel void other(device atomic_float* f, threadgroup atomic_float* t, device atomic_bool* b, device atomic<ulong>* u, device float* out) {
  float old = atomic_load_explicit(f, memory_order_relaxed);
  atomic_store_explicit(t, old, memory_order_relaxed);
  old += atomic_fetch_add_explicit(f, 1.0f, memory_order_relaxed) + atomic_fetch_sub_explicit(f, 2, memory_order_relaxed);
  old += atomic_exchange_explicit(t, old, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(f, &old, max(old, out[1]), memory_order_relaxed, memory_order_relaxed)) {}
  bool was = atomic_exchange_explicit(b, true, memory_order_relaxed);
  atomic_compare_exchange_weak_explicit(b, &was, false, memory_order_relaxed, memory_order_relaxed);
  atomic_max_explicit(u, 5ul, memory_order_relaxed);
  atomic_min_explicit(u, 3ul, memory_order_relaxed);
  out[0] = old + was + atomic_load_explicit(b, memory_order_relaxed);
}
)"),
            "k other");
}

TEST(StdlibAtomic, AtomicObjectsAreFourOrEightBytesAndLiveInStructsAndArrays) {
  EXPECT_EQ(functions_of(R"(
static_assert(sizeof(atomic_int) == 4 && sizeof(atomic_uint) == 4 && sizeof(atomic_bool) == 4 && sizeof(atomic_float) == 4);
static_assert(sizeof(atomic_ulong) == 8 && is_same_v<atomic<int>, atomic_int>);
struct Counters { atomic_uint head; uint pad; atomic_int cells[4]; };
kernel void k(device Counters& c, uint i [[thread_position_in_grid]]) {
  threadgroup atomic_uint shared[8];
  threadgroup atomic_int single;
  if (i == 0) atomic_store_explicit(&single, 0, memory_order_relaxed);
  atomic_fetch_add_explicit(&c.head, atomic_fetch_add_explicit(&shared[i & 7], 1u, memory_order_relaxed), memory_order_relaxed);
  atomic_fetch_max_explicit(&c.cells[i & 3], atomic_load_explicit(&single, memory_order_relaxed), memory_order_relaxed);
}
)"),
            "k");
}

TEST(StdlibAtomic, OrdersOtherThanRelaxedAreErrors) {
  expect_error(R"(
kernel void k(device atomic_int* a) { atomic_fetch_add_explicit(a, 1, memory_order_seq_cst$); }
)",
               "atomic operations have no order but memory_order_relaxed; use atomic_thread_fence", 2);
  expect_error(R"(
kernel void k(device atomic_int* a, device int* o) { o[0] = atomic_load_explicit(a, memory_order_acquire$); }
)",
               "atomic operations have no order but memory_order_relaxed; use atomic_thread_fence", 2);
}

TEST(StdlibAtomic, WhatIsNotAtomicIsAnError) {
  expect_error(R"(
kernel void k(device int* a) { $atomic_fetch_add_explicit(a, 1, memory_order_relaxed); }
)",
               "no matching function for call to 'atomic_fetch_add_explicit'", 4);
  expect_error(R"(
kernel void k(constant atomic_int* a) { $atomic_store_explicit(a, 1, memory_order_relaxed); }
)",
               "no matching function for call to 'atomic_store_explicit'", 4);
  expect_error(R"(
kernel void k(device atomic_float* a) { $atomic_fetch_and_explicit(a, 1, memory_order_relaxed); }
)",
               "bitwise atomic operations need an atomic integer", 4);
  expect_error(R"(
kernel void k(device atomic_bool* a) { $atomic_fetch_add_explicit(a, 1, memory_order_relaxed); }
)",
               "an atomic bool has no arithmetic", 4);
  expect_error(R"(
kernel void k(device atomic<float4>* a) { a$[0]; }
)",
               "an atomic holds an int, uint, bool, float, long or ulong", 4);
}

}  // namespace
}  // namespace metalloid

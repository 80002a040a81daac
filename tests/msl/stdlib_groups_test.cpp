// What threads do together: SIMD-groups, quad-groups, simdgroup matrices, barriers and fences.
#include "compile_source.hpp"

namespace metalloid {
namespace {

// Every function of a group, for scalars and vectors of T; GROUP is simd or quad.
constexpr std::string_view group_functions = R"(
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define G(name) JOIN(GROUP, name)
template <class V> void moving(device V* p, ushort lane) {
  p[0] = G(_broadcast)(p[1], lane); p[1] = G(_broadcast_first)(p[2]); p[2] = G(_shuffle)(p[3], lane);
  p[3] = G(_shuffle_xor)(p[0], 1); p[4] = G(_shuffle_up)(p[1], 1u); p[5] = G(_shuffle_down)(p[2], 2);
  p[6] = G(_shuffle_rotate_up)(p[3], lane); p[7] = G(_shuffle_rotate_down)(p[4], 1);
  p[8] = G(_shuffle_and_fill_up)(p[0], p[1], 1); p[9] = G(_shuffle_and_fill_down)(p[0], p[1], 1);
  p[10] = G(_shuffle_and_fill_up)(p[0], p[1], 1, 2); p[11] = G(_shuffle_and_fill_down)(p[0], p[1], 1, 4);
  static_assert(is_same_v<decltype(G(_shuffle)(p[0], lane)), V>);
}
template <class V> void summing(device V* p) {
  p[0] = G(_sum)(p[1]); p[1] = G(_product)(p[2]); p[2] = G(_min)(p[3]); p[3] = G(_max)(p[0]);
  p[4] = G(_prefix_inclusive_sum)(p[1]); p[5] = G(_prefix_exclusive_sum)(p[2]);
  p[6] = G(_prefix_inclusive_product)(p[3]); p[7] = G(_prefix_exclusive_product)(p[4]);
  static_assert(is_same_v<decltype(G(_sum)(p[0])), V>);
}
template <class V> void logic(device V* p) { p[0] = G(_and)(p[1]); p[1] = G(_or)(p[2]); p[2] = G(_xor)(p[3]); }
template <class T> void number(device void* m, ushort lane) {
  moving((device T*)m, lane); moving((device vec<T, 2>*)m, lane); moving((device vec<T, 3>*)m, lane); moving((device vec<T, 4>*)m, lane);
  summing((device T*)m); summing((device vec<T, 2>*)m); summing((device vec<T, 3>*)m); summing((device vec<T, 4>*)m);
}
template <class T> void integer(device void* m, ushort lane) {
  number<T>(m, lane);
  logic((device T*)m); logic((device vec<T, 2>*)m); logic((device vec<T, 3>*)m); logic((device vec<T, 4>*)m);
}
kernel void k8(device void* m, ushort lane [[thread_index_in_simdgroup]]) { integer<char>(m, lane); integer<uchar>(m, lane); }
kernel void k16(device void* m, ushort lane [[thread_index_in_simdgroup]]) { integer<short>(m, lane); integer<ushort>(m, lane); }
kernel void k32(device void* m, ushort lane [[thread_index_in_simdgroup]]) { integer<int>(m, lane); integer<uint>(m, lane); }
kernel void k64(device void* m, ushort lane [[thread_index_in_simdgroup]]) { integer<long>(m, lane); integer<ulong>(m, lane); }
kernel void kf(device void* m, ushort lane [[thread_index_in_simdgroup]]) {
  number<half>(m, lane); number<float>(m, lane); number<bfloat>(m, lane);
}
kernel void kb(device bool* b, device ulong* u, ushort lane [[thread_index_in_quadgroup]]) {
  b[0] = G(_all)(b[1]); b[1] = G(_any)(b[2]); b[2] = G(_is_first)(); b[3] = G(_is_helper_thread)(); b[4] = G(_shuffle)(b[5], lane);
  auto vote = G(_ballot)(b[0]) & ~G(_active_threads_mask)();
  u[0] = JOIN(GROUP, _vote)::vote_t(vote);
  b[5] = vote.all() | vote.any();
}
)";

TEST(StdlibGroups, EverySimdFunctionTakesEveryType) {
  EXPECT_EQ(functions_of("\n#define GROUP simd" + std::string(group_functions)), "k8 k16 k32 k64 kf kb");
}

TEST(StdlibGroups, EveryQuadFunctionTakesEveryType) {
  EXPECT_EQ(functions_of("\n#define GROUP quad" + std::string(group_functions)), "k8 k16 k32 k64 kf kb");
}

TEST(StdlibGroups, ProgramsAddOverloadsForTheirOwnTypes) {
  EXPECT_EQ(functions_of(R"(
struct complex { float re, im; };
complex simd_sum(complex c) { return {metal::simd_sum(c.re), metal::simd_sum(c.im)}; }
template <class T> enable_if_t<sizeof(T) == 8, T> simd_shuffle_down(T v, ushort n) {
  return as_type<T>(metal::simd_shuffle_down(as_type<uint2>(v), n));
}
kernel void k(device complex* c, device ulong* u) { c[0] = simd_sum(c[1]); u[0] = simd_shuffle_down(u[1], 1); }
)"),
            "k");
}

TEST(StdlibGroups, MatricesLoadStoreAndMultiplyInEveryTypeAndMemory) {
  EXPECT_EQ(functions_of(R"(
template <class T> void matrices(const device T* a, constant T* b, device T* c, threadgroup T* t) {
  simdgroup_matrix<T, 8, 8> x, y, z(T(0)), w = make_filled_simdgroup_matrix<T, 8, 8>(T(1)), d = make_diagonal_simdgroup_matrix<T, 8, 8>(T(2));
  simdgroup_load(x, a); simdgroup_load(x, a, 16); simdgroup_load(x, a, 16, ulong2(8, 0)); simdgroup_load(y, b, 8, ulong2(0), true);
  simdgroup_load(z, t, 32, 0, false);
  simdgroup_multiply(w, x, y);
  simdgroup_multiply_accumulate(z, x, y, w);
  simdgroup_multiply_accumulate(d, x, y, d);
  d = x * y;
  z.thread_elements()[0] += T(1);
  thread auto& e = z.thread_elements();
  e = vec<T, 2>(e.y, e.x);
  simdgroup_store(z, c); simdgroup_store(z, c, 64, ulong2(8, 16)); simdgroup_store(w, t, 8, ulong2(0), true); simdgroup_store(d, c, 8);
}
kernel void kf(const device float* a, constant float* b, device float* c, threadgroup float* t) { matrices(a, b, c, t); }
kernel void kh(const device half* a, constant half* b, device half* c, threadgroup half* t) { matrices(a, b, c, t); }
kernel void kb(const device bfloat* a, constant bfloat* b, device bfloat* c, threadgroup bfloat* t) { matrices(a, b, c, t); }
kernel void mixed(device float* f, device half* h, device bfloat* b) {
  simdgroup_float8x8 sum(0.0f); simdgroup_half8x8 x; simdgroup_bfloat8x8 y; simdgroup_float8x8 z;
  simdgroup_load(x, h); simdgroup_load(y, b); simdgroup_load(z, f);
  simdgroup_multiply_accumulate(sum, x, x, sum); simdgroup_multiply_accumulate(sum, y, y, sum);
  simdgroup_multiply_accumulate(sum, x, z, sum); simdgroup_multiply_accumulate(x, x, x, x);
  simdgroup_store(sum, f); simdgroup_store(x, h);
}
)"),
            "kf kh kb mixed");
}

TEST(StdlibGroups, MatricesOfOtherTypesAndSizesAreErrors) {
  expect_error(R"(
kernel void k(device float* f) { simdgroup_matrix<float, 4, 4> $m(0.0f); }
)",
               "a simdgroup_matrix has 8 rows and 8 columns", 2);
  expect_error(R"(
kernel void k(device float* f) { simdgroup_half8x8 m; $simdgroup_load(m, f); }
)",
               "no matching function for call to 'simdgroup_load'", 3);
  expect_error(R"(
kernel void k(constant float* f) { simdgroup_float8x8 m(1.0f); $simdgroup_store(m, f); }
)",
               "no matching function for call to 'simdgroup_store'", 3);
}

TEST(StdlibGroups, BarriersTakeEveryFlagAndScope) {
  EXPECT_EQ(functions_of(R"(
static_assert((mem_flags::mem_device | mem_flags::mem_threadgroup) == mem_flags::mem_device_and_threadgroup);
kernel void k(threadgroup int* t) {
  threadgroup_barrier(mem_flags::mem_none); threadgroup_barrier(mem_flags::mem_device);
  threadgroup_barrier(mem_flags::mem_threadgroup); threadgroup_barrier(mem_flags::mem_texture);
  threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup | mem_flags::mem_threadgroup_imageblock);
  simdgroup_barrier(mem_flags::mem_threadgroup); simdgroup_barrier(mem_flags::mem_none);
  threadgroup_barrier(mem_flags::mem_device, thread_scope_device);
  atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst);
  atomic_thread_fence(mem_flags::mem_threadgroup, memory_order_acq_rel, thread_scope_threadgroup);
  atomic_thread_fence(mem_flags::mem_device, memory_order_release, thread_scope_simdgroup);
  t[0] = 1;
}
)"),
            "k");
}

}  // namespace
}  // namespace metalloid

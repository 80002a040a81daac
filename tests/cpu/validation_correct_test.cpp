// Kernels without bugs: shader validation has nothing to say, and they compute what they compute without it.
#include "validated_kernel.hpp"

namespace metalloid::cpu {
namespace {

class CorrectKernel : public testing::TestWithParam<KernelCase> {};

TEST_P(CorrectKernel, GivesNoReport) {
  const KernelCase& correct = GetParam();
  ValidatedKernel kernel(correct.source);
  kernel.run(correct.grid, correct.threadgroup, correct.arguments);
  EXPECT_EQ(kernel.reports(), "");
  EXPECT_EQ(kernel.fault, "");

  ValidatedKernel plain(correct.source, /*constants=*/{}, /*validate=*/false);
  plain.run(correct.grid, correct.threadgroup, correct.arguments);
  EXPECT_EQ(kernel.buffers, plain.buffers);
}

std::string name_of(const testing::TestParamInfo<KernelCase>& info) {
  return info.param.name;
}

// clang-format off
const KernelCase whole_grids[] = {
    {"VectorAddition", {1000, 1, 1}, {64, 1, 1}, {memory(4000), memory(4000), memory(4000)}, R"(
kernel void f(device const float* a, device const float* b, device float* c, uint i [[thread_position_in_grid]]) {
  c[i] = a[i] + b[i];
})"},
    {"InPlace", {100, 1, 1}, {32, 1, 1}, {memory(400)}, R"(
kernel void f(device uint* a, uint i [[thread_position_in_grid]]) { a[i] = a[i] * 3 + 1; })"},
    {"CheckedIndex", {128, 1, 1}, {64, 1, 1}, {memory(400), memory(4)}, R"(
kernel void f(device uint* a, constant uint& count, uint i [[thread_position_in_grid]]) {
  if (i >= count + 100) return;
  a[i] += 1;
})"},
    {"VectorTypes", {16, 1, 1}, {16, 1, 1}, {memory(256), memory(256)}, R"(
kernel void f(device const float4* a, device float4* b, uint i [[thread_position_in_grid]]) {
  b[i] = a[15 - i].wzyx;
  b[i].xy += float2(1, 2);
})"},
    {"VectorsOfThree", {16, 1, 1}, {16, 1, 1}, {memory(256), memory(256)}, R"(
kernel void f(device const uint3* a, device uint3* b, uint i [[thread_position_in_grid]]) {
  b[i] = a[15 - i].zyx;
})"},
    {"PackedVectors", {16, 1, 1}, {16, 1, 1}, {memory(192), memory(192)}, R"(
kernel void f(device const packed_uint3* a, device packed_uint3* b, uint i [[thread_position_in_grid]]) {
  b[i] = a[15 - i];
})"},
    {"BytesOfAWord", {256, 1, 1}, {64, 1, 1}, {memory(256)}, R"(
kernel void f(device uchar* out, uint i [[thread_position_in_grid]]) { out[i] = uchar(i * 7); })"},
    {"HalvesOfAWord", {256, 1, 1}, {64, 1, 1}, {memory(512)}, R"(
kernel void f(device half* out, uint i [[thread_position_in_grid]]) { out[i] = half(i) + out[i] * 0; })"},
    {"StructsWithPadding", {16, 1, 1}, {16, 1, 1}, {memory(512)}, R"(
struct Item { uchar tag; uint value; ushort rest; uint4 more; };
kernel void f(device Item* items, uint i [[thread_position_in_grid]]) {
  Item item = items[i];
  item.value += item.tag;
  items[i] = item;
})"},
    {"MembersByDifferentThreads", {32, 1, 1}, {32, 1, 1}, {memory(128)}, R"(
struct Pair { uint a, b; };
kernel void f(device Pair* pairs, uint i [[thread_position_in_grid]]) {
  if (i % 2) pairs[i / 2].a = i; else pairs[i / 2].b = i;
})"},
    {"SameValueFromAll", {256, 1, 1}, {32, 1, 1}, {memory(4)}, R"(
kernel void f(device uint* flag, uint i [[thread_position_in_grid]]) { if (i % 3 == 0) flag[0] = 7; })"},
    {"AtomicCounter", {256, 1, 1}, {32, 1, 1}, {memory(8)}, R"(
kernel void f(device atomic_uint* count, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(count, i, memory_order_relaxed);
  atomic_fetch_max_explicit(count + 1, i, memory_order_relaxed);
})"},
    {"Compaction", {256, 1, 1}, {64, 1, 1}, {memory(1024), memory(4)}, R"(
kernel void f(device uint* out, device atomic_uint* count, uint i [[thread_position_in_grid]]) {
  uint place = atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
  out[place] = 5;
})"},
    {"GatherAndTable", {64, 1, 1}, {64, 1, 1}, {memory(256), memory(256)}, R"(
constant uint table[4] = {1, 2, 4, 8};
kernel void f(device const uint* in, device uint* out, uint i [[thread_position_in_grid]]) {
  out[i] = in[(i * 37) % 64] + table[i % 4];
})"},
    {"PrivateArrays", {64, 1, 1}, {64, 1, 1}, {memory(256), memory(256)}, R"(
struct Stack { uint values[8]; uint count; };
[[gnu::noinline]] void push(thread Stack& stack, uint value) { stack.values[stack.count++] = value; }
kernel void f(device const uint* in, device uint* out, uint i [[thread_position_in_grid]]) {
  Stack stack;
  stack.count = 0;
  for (uint k = 0; k < in[i] % 8; ++k) push(stack, k * i);
  uint sum = 0;
  for (uint k = 0; k < stack.count; ++k) sum += stack.values[k];
  out[i] = sum;
})"},
    {"PrivateOrDeviceMemory", {64, 1, 1}, {64, 1, 1}, {memory(256), memory(256)}, R"(
[[gnu::noinline]] uint sum(const device uint* in, uint n) { return n == 0 ? 0 : in[n - 1] + sum(in, n - 1); }
kernel void f(device const uint* in, device uint* out, uint i [[thread_position_in_grid]]) {
  out[i] = sum(in, i % 5);
})"},
    {"ReadsUnderACondition", {64, 1, 1}, {64, 1, 1}, {memory(4), memory(256)}, R"(
kernel void f(device uint* first, device uint* out, uint i [[thread_position_in_grid]]) {
  uint value = i;
  if (i == 0) { first[0] = 3; value = first[0] + 1; }
  out[i] = value;
})"},
    {"CopiesOfBlocks", {4, 1, 1}, {4, 1, 1}, {memory(1024), memory(1024)}, R"(
struct Block { uint values[64]; };
kernel void f(device const Block* in, device Block* out, uint i [[thread_position_in_grid]]) { out[i] = in[3 - i]; })"},
    {"TwoDimensions", {20, 12, 1}, {8, 8, 1}, {memory(960), memory(960)}, R"(
kernel void f(device const uint* in, device uint* out, uint2 i [[thread_position_in_grid]],
              uint2 size [[threads_per_grid]]) {
  out[i.y * size.x + i.x] = in[(size.y - 1 - i.y) * size.x + i.x];
})"},
};
INSTANTIATE_TEST_SUITE_P(WholeGrids, CorrectKernel, testing::ValuesIn(whole_grids), name_of);

const KernelCase threadgroups[] = {
    {"Reverse", {256, 1, 1}, {64, 1, 1}, {memory(1024), memory(1024)}, R"(
kernel void f(device const uint* in, device uint* out, uint i [[thread_position_in_grid]],
              uint l [[thread_position_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
  threadgroup uint shared[64];
  shared[l] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = shared[n - 1 - l];
})"},
    {"TreeReduction", {512, 1, 1}, {128, 1, 1}, {memory(2048), memory(16)}, R"(
kernel void f(device const uint* in, device uint* out, uint i [[thread_position_in_grid]],
              uint l [[thread_position_in_threadgroup]], uint g [[threadgroup_position_in_grid]]) {
  threadgroup uint sums[128];
  sums[l] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint stride = 64; stride > 0; stride /= 2) {
    if (l < stride) sums[l] += sums[l + stride];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (l == 0) out[g] = sums[0];
})"},
    {"TreeReductionWithinASimdgroup", {64, 1, 1}, {32, 1, 1}, {memory(256), memory(8)}, R"(
kernel void f(device const uint* in, device uint* out, uint i [[thread_position_in_grid]],
              uint l [[thread_position_in_threadgroup]], uint g [[threadgroup_position_in_grid]]) {
  threadgroup uint sums[32];
  sums[l] = in[i];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  for (uint stride = 16; stride > 0; stride /= 2) {
    if (l < stride) sums[l] += sums[l + stride];
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (l == 0) out[g] = sums[0];
})"},
    {"SimdSumsOfASum", {1024, 1, 1}, {256, 1, 1}, {memory(4096), memory(16)}, R"(
kernel void f(device const uint* in, device uint* out, uint i [[thread_position_in_grid]],
              uint lane [[thread_index_in_simdgroup]], uint s [[simdgroup_index_in_threadgroup]],
              uint n [[simdgroups_per_threadgroup]], uint g [[threadgroup_position_in_grid]]) {
  threadgroup uint sums[32];
  uint sum = simd_sum(in[i]);
  if (lane == 0) sums[s] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (s == 0) {
    sum = simd_sum(lane < n ? sums[lane] : 0);
    if (lane == 0) out[g] = sum;
  }
})"},
    {"SimdFunctionsOrderLanes", {64, 1, 1}, {64, 1, 1}, {memory(256)}, R"(
kernel void f(device uint* out, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
              uint s [[simdgroup_index_in_threadgroup]]) {
  threadgroup uint shared[2];
  uint first = simd_broadcast_first(i);
  if (lane == 0) shared[s] = first;
  uint all = simd_sum(i);
  out[i] = shared[s] + all;
})"},
    {"ScanOfFewerSumsThanLanes", {128, 1, 1}, {128, 1, 1}, {memory(512)}, R"(
kernel void f(device uint* data, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
              uint s [[simdgroup_index_in_threadgroup]]) {
  threadgroup uint sums[32];
  uint sum = simd_prefix_inclusive_sum(data[i]);
  if (lane == 31) sums[s] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (s == 0) sums[lane] = simd_prefix_exclusive_sum(sums[lane]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  data[i] = sum + sums[s];
})"},
    {"Scan", {256, 1, 1}, {128, 1, 1}, {memory(1024)}, R"(
kernel void f(device uint* data, uint i [[thread_position_in_grid]], uint l [[thread_position_in_threadgroup]]) {
  threadgroup uint values[2][128];
  uint from = 0;
  values[0][l] = data[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint step = 1; step < 128; step *= 2) {
    values[1 - from][l] = values[from][l] + (l >= step ? values[from][l - step] : 0);
    from = 1 - from;
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  data[i] = values[from][l];
})"},
    {"TiledProduct", {32, 32, 1}, {16, 16, 1}, {memory(4096), memory(4096), memory(4096)}, R"(
kernel void f(device const float* a, device const float* b, device float* c, uint2 i [[thread_position_in_grid]],
              uint2 l [[thread_position_in_threadgroup]]) {
  threadgroup float tile_a[16][16], tile_b[16][16];
  float sum = 0;
  for (uint k = 0; k < 32; k += 16) {
    tile_a[l.y][l.x] = a[i.y * 32 + k + l.x];
    tile_b[l.y][l.x] = b[(k + l.y) * 32 + i.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint n = 0; n < 16; ++n) sum += tile_a[l.y][n] * tile_b[n][l.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  c[i.y * 32 + i.x] = sum;
})"},
    {"DoubleBuffering", {64, 1, 1}, {64, 1, 1}, {memory(2048), memory(256)}, R"(
kernel void f(device const uint* in, device uint* out, uint l [[thread_position_in_threadgroup]]) {
  threadgroup uint tiles[2][64];
  tiles[0][l] = in[l];
  uint sum = 0;
  for (uint k = 0; k < 8; ++k) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (k + 1 < 8) tiles[(k + 1) % 2][l] = in[(k + 1) * 64 + l];
    sum += tiles[k % 2][63 - l];
  }
  out[l] = sum;
})"},
    {"TransposeWithPadding", {32, 32, 1}, {16, 16, 1}, {memory(4096), memory(4096)}, R"(
kernel void f(device const uint* in, device uint* out, uint2 g [[threadgroup_position_in_grid]],
              uint2 l [[thread_position_in_threadgroup]]) {
  threadgroup uint tile[16][17];
  tile[l.y][l.x] = in[(g.y * 16 + l.y) * 32 + g.x * 16 + l.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[(g.x * 16 + l.y) * 32 + g.y * 16 + l.x] = tile[l.x][l.y];
})"},
    {"SimdgroupMatrixProduct", {64, 1, 1}, {64, 1, 1}, {memory(1024), memory(1024), memory(1024)}, R"(
kernel void f(device const float* a, device const float* b, device float* c, uint s [[simdgroup_index_in_threadgroup]],
              uint l [[thread_position_in_threadgroup]]) {
  threadgroup float tile[256];
  for (uint k = l; k < 256; k += 64) tile[k] = a[k];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint column = 0; column < 2; ++column) {
    simdgroup_float8x8 sum(0);
    for (uint k = 0; k < 2; ++k) {
      simdgroup_float8x8 left, right;
      simdgroup_load(left, tile + s * 8 * 16 + k * 8, 16);
      simdgroup_load(right, b + k * 8 * 16 + column * 8, 16);
      simdgroup_multiply_accumulate(sum, left, right, sum);
    }
    simdgroup_store(sum, c + s * 8 * 16 + column * 8, 16);
  }
})"},
    {"MatrixThroughThreadgroupMemory", {32, 1, 1}, {32, 1, 1}, {memory(256), memory(256)}, R"(
kernel void f(device const float* in, device float* out, uint l [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  simdgroup_float8x8 m;
  simdgroup_load(m, in, 8, ulong2(0, 0), true);
  simdgroup_store(m, tile, 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  out[l] = tile[l + 32];
  out[l + 32] = tile[l];
})"},
    {"Histogram", {512, 1, 1}, {128, 1, 1}, {memory(2048), memory(64)}, R"(
kernel void f(device const uint* in, device atomic_uint* histogram, uint i [[thread_position_in_grid]],
              uint l [[thread_position_in_threadgroup]]) {
  threadgroup atomic_uint bins[16];
  if (l < 16) atomic_store_explicit(bins + l, 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(bins + in[i] % 16, 1, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (l < 16)
    atomic_fetch_add_explicit(histogram + l, atomic_load_explicit(bins + l, memory_order_relaxed),
                              memory_order_relaxed);
})"},
    {"LastThreadgroupSumsUp", {256, 1, 1}, {64, 1, 1}, {memory(1024), memory(16), memory(4), memory(4)}, R"(
kernel void f(device const uint* in, device uint* partial, device atomic_uint* count, device uint* total,
              uint i [[thread_position_in_grid]], uint l [[thread_position_in_threadgroup]],
              uint g [[threadgroup_position_in_grid]], uint groups [[threadgroups_per_grid]]) {
  threadgroup uint sums[2];
  threadgroup bool is_last;
  uint sum = simd_sum(in[i]);
  if (l % 32 == 0) sums[l / 32] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (l == 0) {
    partial[g] = sums[0] + sums[1];
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
    is_last = atomic_fetch_add_explicit(count, 1, memory_order_relaxed) == groups - 1;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  if (is_last && l == 0) {
    uint all = 0;
    for (uint k = 0; k < groups; ++k) all += partial[k];
    total[0] = all;
  }
})"},
    {"DynamicMemory", {128, 1, 1}, {64, 1, 1}, {memory(512), threadgroup(256), threadgroup(16)}, R"(
kernel void f(device uint* data, threadgroup uint* values [[threadgroup(0)]],
              threadgroup uint* total [[threadgroup(1)]],
              uint i [[thread_position_in_grid]], uint l [[thread_position_in_threadgroup]]) {
  values[l] = data[i];
  if (l < 4) total[l] = l;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  data[i] = values[63 - l] + total[l % 4];
})"},
    {"DynamicOrStaticMemory", {64, 1, 1}, {64, 1, 1}, {memory(256), threadgroup(256)}, R"(
kernel void f(device uint* data, threadgroup uint* values [[threadgroup(0)]],
              uint l [[thread_position_in_threadgroup]]) {
  threadgroup uint others[64];
  threadgroup uint* to = l % 2 ? values : others;
  values[l] = l;
  others[l] = 2 * l;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  data[l] = to[63 - l];
})"},
    {"DeviceMemoryAsScratch", {128, 1, 1}, {64, 1, 1}, {memory(512), memory(512)}, R"(
kernel void f(device uint* scratch, device uint* out, uint i [[thread_position_in_grid]],
              uint l [[thread_position_in_threadgroup]]) {
  scratch[i] = i * i;
  threadgroup_barrier(mem_flags::mem_device);
  out[i] = scratch[i - l + 63 - l];
})"},
    {"BarriersThatAllReachInALoop", {128, 1, 1}, {64, 1, 1}, {memory(512)}, R"(
kernel void f(device uint* data, uint i [[thread_position_in_grid]], uint l [[thread_position_in_threadgroup]],
              uint g [[threadgroup_position_in_grid]]) {
  threadgroup uint shared[64];
  for (uint k = 0; k < 2 + g; ++k) {
    shared[l] = data[i] + k;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint next = shared[(l + 1) % 64];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    data[i] = next;
  }
})"},
    {"WholeThreadgroupsReturn", {256, 1, 1}, {64, 1, 1}, {memory(1024)}, R"(
kernel void f(device uint* data, uint i [[thread_position_in_grid]], uint g [[threadgroup_position_in_grid]]) {
  if (g % 2) return;
  data[i] += 1;
  threadgroup_barrier(mem_flags::mem_device);
  data[i] += 1;
})"},
    {"RaggedEdge", {100, 1, 1}, {64, 1, 1}, {memory(400)}, R"(
kernel void f(device uint* data, uint i [[thread_position_in_grid]], uint l [[thread_position_in_threadgroup]],
              uint n [[threads_per_threadgroup]]) {
  threadgroup uint shared[64];
  shared[l] = data[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  data[i] = shared[n - 1 - l];
})"},
    {"StructsInThreadgroupMemory", {64, 1, 1}, {64, 1, 1}, {memory(256), memory(256)}, R"(
struct Best { uchar tag; float value; uint3 place; };
kernel void f(device uint* out, device const uint* in, uint l [[thread_position_in_threadgroup]]) {
  threadgroup Best best[64];
  Best mine;
  mine.tag = l;
  mine.value = in[l];
  mine.place = uint3(l, 1, 2);
  best[l] = mine;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  Best other = best[63 - l];
  out[l] = other.tag + uint(other.value) + other.place.x;
})"},
    {"StructsWrittenByMembersAndCopied", {64, 1, 1}, {64, 1, 1}, {memory(2048)}, R"(
struct Best { uchar tag; float value; packed_ushort3 place; };
kernel void f(device Best* out, uint l [[thread_position_in_threadgroup]]) {
  threadgroup Best best[64];
  best[l].tag = l;
  best[l].value = l;
  best[l].place = packed_ushort3(1, 2, 3);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[l].tag = best[63 - l].tag;
  out[l].value = best[63 - l].value;
  thread Best copy = best[63 - l];
  out[l].place = copy.place;
})"},
    {"VectorsOfThreeInThreadgroupMemory", {64, 1, 1}, {64, 1, 1}, {memory(1024)}, R"(
kernel void f(device uint3* out, uint l [[thread_position_in_threadgroup]]) {
  threadgroup uint3 places[64];
  places[l].x = l;
  places[l].y = 1;
  places[l].z = 2;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint3 other = places[63 - l];
  out[l].x = other.x + other.y * other.z;
})"},
    {"SameValueFlag", {64, 1, 1}, {64, 1, 1}, {memory(256)}, R"(
kernel void f(device uint* out, uint l [[thread_position_in_threadgroup]]) {
  threadgroup bool found;
  found = false;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (l % 5 == 2) found = true;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[l] = found ? l : 0;
})"},
    {"FlagBetweenThreads", {64, 1, 1}, {64, 1, 1}, {memory(4), memory(4), memory(256)}, R"(
kernel void f(device atomic_uint* flag, device uint* message, device uint* out,
              uint l [[thread_position_in_threadgroup]]) {
  if (l == 0) {
    message[0] = 42;
    atomic_thread_fence(mem_flags::mem_device, memory_order_release, thread_scope_threadgroup);
    atomic_store_explicit(flag, 1, memory_order_relaxed);
  }
  if (l == 40) {
    while (atomic_load_explicit(flag, memory_order_relaxed) == 0) {}
    atomic_thread_fence(mem_flags::mem_device, memory_order_acquire, thread_scope_threadgroup);
    out[l] = message[0];
  }
})"},
    {"BitonicSort", {64, 1, 1}, {64, 1, 1}, {memory(256)}, R"(
kernel void f(device uint* data, uint l [[thread_position_in_threadgroup]]) {
  threadgroup uint values[64];
  values[l] = (data[l] * 37) % 64;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint size = 2; size <= 64; size *= 2)
    for (uint step = size / 2; step > 0; step /= 2) {
      uint other = l ^ step;
      if (other > l) {
        uint a = values[l], b = values[other];
        if ((a > b) == ((l & size) == 0)) { values[l] = b; values[other] = a; }
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
  data[l] = values[l];
})"},
    {"ReadsOfThreadgroupMemoryUnderACondition", {64, 1, 1}, {64, 1, 1}, {memory(256)}, R"(
kernel void f(device uint* out, uint l [[thread_position_in_threadgroup]]) {
  threadgroup uint first;
  uint value = l;
  if (l == 0) {
    first = 3;
    value = first;
  }
  if (l == 0) value += first;
  out[l] = value;
})"},
    {"QuadFunctions", {64, 1, 1}, {64, 1, 1}, {memory(256)}, R"(
kernel void f(device uint* out, uint l [[thread_position_in_threadgroup]]) {
  threadgroup uint sums[16];
  uint sum = quad_sum(l);
  if (l % 4 == 0) sums[l / 4] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[l] = sums[15 - l / 4];
})"},
};
INSTANTIATE_TEST_SUITE_P(Threadgroups, CorrectKernel, testing::ValuesIn(threadgroups), name_of);
// clang-format on

TEST(CorrectKernelWithConstants, GivesNoReport) {
  const char* source = R"(
constant bool has_bias [[function_constant(0)]];
constant uint width [[function_constant(1)]];
constant uint last = max(width, 1u) - 1;
kernel void f(device uint* data, device const uint* bias [[function_constant(has_bias)]],
              uint l [[thread_position_in_threadgroup]]) {
  threadgroup uint shared[width];
  shared[l] = data[l];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  data[l] = shared[last - l] + (has_bias ? bias[l] : 0);
})";
  ValidatedKernel with(source, {constant(0, true), constant(1, 64u)});
  with.run({64, 1, 1}, {64, 1, 1}, {memory(256), memory(256)});
  EXPECT_EQ(with.reports(), "");
  ValidatedKernel without(source, {constant(0, false), constant(1, 64u)});
  without.run({64, 1, 1}, {64, 1, 1}, {memory(256)});
  EXPECT_EQ(without.reports(), "");
}

}  // namespace
}  // namespace metalloid::cpu

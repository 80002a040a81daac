// Kernels with planted bugs: shader validation finds every one, says what it is, and names the line ("// here") and,
// where two lines are at odds, the other one ("// there").
#include <cstdlib>

#include "validated_kernel.hpp"

namespace metalloid::cpu {
namespace {

// Read when the first kernel runs.
const bool short_timeout = setenv("METALLOID_TIMEOUT", "2", 1) == 0;

constexpr const char* out_of_bounds = "out-of-bounds access";
constexpr const char* unbound = "access to a null buffer";
constexpr const char* misaligned = "misaligned access";
constexpr const char* uninitialised = "read of uninitialised memory";
constexpr const char* race = "data race";
constexpr const char* barrier = "barrier that not all threads reach";
constexpr const char* endless = "endless execution";

class PlantedBug : public testing::TestWithParam<KernelCase> {};

TEST_P(PlantedBug, IsFound) {
  ASSERT_TRUE(short_timeout);
  const KernelCase& planted = GetParam();
  ValidatedKernel kernel(planted.source);
  kernel.run(planted.grid, planted.threadgroup, planted.arguments);
  const uint32_t here = line_of(planted.source, "// here"), there = line_of(planted.source, "// there");
  ASSERT_FALSE(kernel.kernel.logs.empty()) << kernel.fault;
  bool is_found = false;
  for (const device::Log& log : kernel.kernel.logs) {
    EXPECT_EQ(log.kind, device::Log::Kind::validation);
    EXPECT_NE(log.message.find(std::string(planted.mistake) + " in kernel \"f\""), std::string::npos) << log.message;
    const std::string other = ":" + std::to_string(there) + ":";
    const bool at_here = log.location.line == here && (there == 0 || log.message.find(other) != std::string::npos);
    const bool at_there =
        log.location.line == there && log.message.find(":" + std::to_string(here) + ":") != std::string::npos;
    is_found |= (at_here || at_there) && log.message.find(planted.says) != std::string::npos;
  }
  EXPECT_TRUE(is_found) << "line " << here << " and " << there << ", \"" << planted.says << "\" in\n"
                        << kernel.reports();
  EXPECT_EQ(kernel.fault.empty(), std::string_view(planted.mistake) != endless) << kernel.fault;
}

std::string name_of(const testing::TestParamInfo<KernelCase>& info) {
  return info.param.name;
}

// clang-format off
const KernelCase bounds[] = {
    {"IndexOneTooFar", {65, 1, 1}, {65, 1, 1}, {memory(256)}, R"(
kernel void f(device float* data [[buffer(3)]], uint i [[thread_position_in_grid]]) {
  data[i] = i;  // here
})", out_of_bounds, "write of bytes 256..259 of buffer 3 \"data\", which has 256 bytes"},
    {"NegativeIndex", {4, 1, 1}, {4, 1, 1}, {memory(64), memory(64)}, R"(
kernel void f(device const float* in, device float* out, uint i [[thread_position_in_grid]]) {
  out[i] = in[int(i) - 1];  // here
})", out_of_bounds, "read of bytes -4..-1 of buffer 0 \"in\""},
    {"BytesOfTheWrongSize", {1, 1, 1}, {1, 1, 1}, {memory(4), memory(64)}, R"(
struct Parameters { uint width, height; };
kernel void f(constant Parameters& parameters, device uint* out) {
  out[0] = parameters.height;  // here
})", out_of_bounds, "bytes 4..7 of buffer 0 \"parameters\", which has 4 bytes"},
    {"StructPastTheEnd", {4, 1, 1}, {4, 1, 1}, {memory(90), memory(96)}, R"(
struct Body { packed_float3 place, speed; };
kernel void f(device const Body* in, device Body* out, uint i [[thread_position_in_grid]]) {
  out[i] = in[i];  // here
})", out_of_bounds, "buffer 0 \"in\", which has 90 bytes"},
    {"VectorHalfInside", {2, 1, 1}, {2, 1, 1}, {memory(24), memory(32)}, R"(
kernel void f(device const uint4* in, device uint4* out, uint i [[thread_position_in_grid]]) {
  out[i] = in[i];  // here
})", out_of_bounds, "buffer 0 \"in\", which has 24 bytes"},
    {"AtomicAfterTheEnd", {32, 1, 1}, {32, 1, 1}, {memory(4)}, R"(
kernel void f(device atomic_uint* counters, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(counters + i / 16, 1, memory_order_relaxed);  // here
})", out_of_bounds, "atomic access of bytes 4..7 of buffer 0 \"counters\""},
    {"CompareExchangeAfterTheEnd", {1, 1, 1}, {1, 1, 1}, {memory(4)}, R"(
kernel void f(device atomic_uint* lock) {
  uint expected = 0;
  atomic_compare_exchange_weak_explicit(lock + 1, &expected, 1, memory_order_relaxed, memory_order_relaxed);  // here
})", out_of_bounds, "buffer 0 \"lock\""},
    {"ThreadgroupArrayTooSmall", {64, 1, 1}, {64, 1, 1}, {memory(256)}, R"(
kernel void f(device float* out, uint i [[thread_position_in_grid]]) {
  threadgroup float shared[63];
  shared[i] = i;  // here
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = shared[i / 2];
})", out_of_bounds, "bytes 252..255 of threadgroup variable \"shared\", which has 252 bytes"},
    {"NextThreadgroupArrayIsNotThisOne", {1, 1, 1}, {1, 1, 1}, {memory(4)}, R"(
kernel void f(device float* out) {
  threadgroup float first[4];
  threadgroup float second[4];
  second[0] = 1;
  first[4] = 2;  // here
  out[0] = second[0];
})", out_of_bounds, "threadgroup variable \"first\""},
    {"ThreadgroupMatrixRow", {8, 8, 1}, {8, 8, 1}, {memory(256)}, R"(
kernel void f(device float* out, uint2 i [[thread_position_in_grid]]) {
  threadgroup float tile[8][8];
  tile[i.y + 1][i.x] = i.x;  // here
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i.y * 8 + i.x] = i.y == 0 ? 0 : tile[i.y][i.x];
})", out_of_bounds, "bytes 256..259 of threadgroup variable \"tile\""},
    {"DynamicThreadgroupMemoryTooSmall", {64, 1, 1}, {64, 1, 1}, {memory(256), threadgroup(128)}, R"(
kernel void f(device float* out, threadgroup float* scratch [[threadgroup(0)]], uint i [[thread_position_in_grid]]) {
  scratch[i] = i;  // here
  out[i] = i;
})", out_of_bounds, "bytes 128..131 of threadgroup memory 0 \"scratch\", which has 128 bytes"},
    {"DynamicThreadgroupMemoryForgotten", {1, 1, 1}, {1, 1, 1}, {threadgroup(0)}, R"(
kernel void f(threadgroup float* scratch [[threadgroup(0)]]) {
  scratch[0] = 1;  // here
})", out_of_bounds, "which has 0 bytes"},
    {"ConstantTable", {5, 1, 1}, {5, 1, 1}, {memory(32)}, R"(
constant uint table[4] = {1, 2, 4, 8};
kernel void f(device uint* out, uint i [[thread_position_in_grid]]) {
  out[i] = table[out[i]];  // here
})", out_of_bounds, "bytes 16..19 of constant \"table\""},
    {"SimdgroupMatrixLoad", {32, 1, 1}, {32, 1, 1}, {memory(252), memory(256)}, R"(
kernel void f(device const float* in, device float* out) {
  simdgroup_float8x8 m;
  simdgroup_load(m, in, 8);  // here
  simdgroup_store(m, out, 8);
})", out_of_bounds, "read of bytes 252..255 of buffer 0 \"in\""},
    {"SimdgroupMatrixStore", {32, 1, 1}, {32, 1, 1}, {memory(256), memory(256)}, R"(
kernel void f(device const float* in, device float* out) {
  simdgroup_float8x8 m;
  simdgroup_load(m, in, 8);
  simdgroup_store(m, out, 9);  // here
})", out_of_bounds, "write of bytes 256..259 of buffer 1 \"out\""},
    {"IndexFromABuffer", {8, 1, 1}, {8, 1, 1}, {memory(32), memory(16), memory(32)}, R"(
kernel void f(device const uint* indices, device const float* in, device float* out,
              uint i [[thread_position_in_grid]]) {
  out[i] = in[indices[i]];  // here
})", out_of_bounds, "buffer 1 \"in\", which has 16 bytes"},
    {"LoopOneTooLong", {1, 1, 1}, {1, 1, 1}, {memory(40), memory(4)}, R"(
kernel void f(device const uint* in, device uint* out) {
  uint sum = 0;
  for (uint i = 0; i <= 10; ++i)
    sum += in[i];  // here
  out[0] = sum;
})", out_of_bounds, "bytes 40..43 of buffer 0 \"in\""},
    {"PointerChosenAtRunTime", {4, 1, 1}, {4, 1, 1}, {memory(16), memory(8), memory(16)}, R"(
kernel void f(device const uint* a, device const uint* b, device uint* out, uint i [[thread_position_in_grid]]) {
  device const uint* from = i % 2 ? a : b;
  out[i] = from[i];  // here
})", out_of_bounds, "buffer 1 \"b\", which has 8 bytes"},
    {"InAFunctionThatIsNotInlined", {1, 1, 1}, {1, 1, 1}, {memory(16), memory(4)}, R"(
[[gnu::noinline]] uint sum(device const uint* in, uint n) {
  return n == 0 ? 0 : in[n] + sum(in, n - 1);  // here
}
kernel void f(device const uint* in, device uint* out) { out[0] = sum(in, 4); })",
     out_of_bounds, "buffer 0 \"in\", which has 16 bytes"},
    {"InAFunctionThatIsInlined", {1, 1, 1}, {1, 1, 1}, {memory(16), memory(4)}, R"(
inline uint element(device const uint* in, uint i) {
  return in[i];  // here
}
kernel void f(device const uint* in, device uint* out) { out[0] = element(in, 4); })",
     out_of_bounds, "buffer 0 \"in\", which has 16 bytes"},
    {"UnboundBuffer", {4, 1, 1}, {4, 1, 1}, {nothing(), memory(16)}, R"(
kernel void f(device const uint* in [[buffer(7)]], device uint* out, uint i [[thread_position_in_grid]]) {
  out[i] = in[i];  // here
})", unbound, "buffer 7 \"in\", which nothing is bound to"},
    {"UnboundConstant", {1, 1, 1}, {1, 1, 1}, {nothing(), memory(16)}, R"(
kernel void f(constant uint& n, device uint* out) {
  out[0] = n;  // here
})", unbound, "setBytes(…, 0)"},
    {"UnboundBufferWritten", {1, 1, 1}, {1, 1, 1}, {nothing()}, R"(
kernel void f(device uint* out) {
  out[3] = 1;  // here
})", unbound, "write of 4 bytes at byte 12"},
};
INSTANTIATE_TEST_SUITE_P(Bounds, PlantedBug, testing::ValuesIn(bounds), name_of);

const KernelCase alignment[] = {
    {"VectorAtAFloatsPlace", {1, 1, 1}, {1, 1, 1}, {memory(64), memory(64)}, R"(
kernel void f(device const float* in, device float4* out) {
  out[0] = *(device const float4*)(in + 1);  // here
})", misaligned, "alignment of 16"},
    {"NumberAtAnOddByte", {1, 1, 1}, {1, 1, 1}, {memory(64), memory(64)}, R"(
kernel void f(device const uchar* in, device uint* out) {
  out[0] = *(device const uint*)(in + 3);  // here
})", misaligned, "bytes 3..6 of buffer 0 \"in\""},
    {"ThreadgroupMemoryAsVectors", {1, 1, 1}, {1, 1, 1}, {memory(64), threadgroup(64)}, R"(
kernel void f(device float* out, threadgroup float* scratch [[threadgroup(0)]]) {
  *(threadgroup float2*)(scratch + 1) = float2(1, 2);  // here
  out[0] = scratch[1];
})", misaligned, "threadgroup memory 0 \"scratch\""},
    {"AtomicAtAnOddByte", {1, 1, 1}, {1, 1, 1}, {memory(64)}, R"(
kernel void f(device uchar* out) {
  atomic_fetch_add_explicit((device atomic_uint*)(out + 2), 1, memory_order_relaxed);  // here
})", misaligned, "alignment of 4"},
};
INSTANTIATE_TEST_SUITE_P(Alignment, PlantedBug, testing::ValuesIn(alignment), name_of);

const KernelCase initialisation[] = {
    {"NeverWritten", {1, 1, 1}, {1, 1, 1}, {memory(4)}, R"(
kernel void f(device float* out) {
  threadgroup float shared[4];
  out[0] = shared[2];  // here
})", uninitialised, "bytes 8..11 of threadgroup variable \"shared\""},
    {"HalfWritten", {32, 1, 1}, {32, 1, 1}, {memory(128)}, R"(
kernel void f(device float* out, uint i [[thread_position_in_grid]]) {
  threadgroup float shared[32];
  if (i % 2) shared[i] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = shared[31 - i];  // here
})", uninitialised, "threadgroup variable \"shared\""},
    {"PartOfANumber", {1, 1, 1}, {1, 1, 1}, {memory(4)}, R"(
kernel void f(device uint* out) {
  threadgroup uint number;
  ((threadgroup uchar*)&number)[0] = 1;
  ((threadgroup uchar*)&number)[1] = 1;
  out[0] = number;  // here
})", uninitialised, "threadgroup variable \"number\""},
    {"CounterNotSetToZero", {32, 1, 1}, {32, 1, 1}, {memory(4)}, R"(
kernel void f(device uint* out, uint i [[thread_position_in_grid]]) {
  threadgroup atomic_uint count;
  atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);  // here
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i == 0) out[0] = atomic_load_explicit(&count, memory_order_relaxed);
})", uninitialised, "threadgroup variable \"count\""},
    {"OfTheThreadgroupBefore", {64, 1, 1}, {32, 1, 1}, {memory(256)}, R"(
kernel void f(device float* out, uint i [[thread_position_in_grid]], uint l [[thread_position_in_threadgroup]]) {
  threadgroup float shared[32];
  if (i < 32) shared[l] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = shared[l];  // here
})", uninitialised, "threadgroup (1, 0, 0)"},
    {"DynamicMemory", {1, 1, 1}, {1, 1, 1}, {memory(4), threadgroup(16)}, R"(
kernel void f(device float* out, threadgroup float* scratch [[threadgroup(0)]]) {
  out[0] = scratch[3];  // here
})", uninitialised, "bytes 12..15 of threadgroup memory 0 \"scratch\""},
    {"StructMember", {1, 1, 1}, {1, 1, 1}, {memory(8)}, R"(
struct Pair { float value; uint index; };
kernel void f(device uint* out) {
  threadgroup Pair best;
  best.value = 1;
  out[0] = best.index;  // here
})", uninitialised, "bytes 4..7 of threadgroup variable \"best\""},
    {"WholeStruct", {1, 1, 1}, {1, 1, 1}, {memory(64)}, R"(
struct Pair { float values[8]; };
kernel void f(device Pair* out) {
  threadgroup Pair best;
  out[0] = best;  // here
})", uninitialised, "threadgroup variable \"best\""},
    {"MatrixLoad", {32, 1, 1}, {32, 1, 1}, {memory(256)}, R"(
kernel void f(device float* out) {
  threadgroup float tile[64];
  simdgroup_float8x8 m;
  simdgroup_load(m, tile, 8);  // here
  simdgroup_store(m, out, 8);
})", uninitialised, "threadgroup variable \"tile\""},
};
INSTANTIATE_TEST_SUITE_P(Initialisation, PlantedBug, testing::ValuesIn(initialisation), name_of);

const KernelCase races[] = {
    {"MissingBarrier", {64, 1, 1}, {64, 1, 1}, {memory(256)}, R"(
kernel void f(device uint* out, uint i [[thread_position_in_grid]]) {
  threadgroup uint shared[64];
  shared[i] = i;  // here
  out[i] = shared[63 - i];  // there
})", race, "threadgroup_barrier(mem_flags::mem_threadgroup)"},
    {"BarrierForOtherMemory", {64, 1, 1}, {64, 1, 1}, {memory(256)}, R"(
kernel void f(device uint* out, uint i [[thread_position_in_grid]]) {
  threadgroup uint shared[64];
  shared[i] = i;  // here
  threadgroup_barrier(mem_flags::mem_device);
  out[i] = shared[63 - i];  // there
})", race, "threadgroup variable \"shared\""},
    {"BarrierForNoMemory", {64, 1, 1}, {64, 1, 1}, {memory(256)}, R"(
kernel void f(device uint* out, uint i [[thread_position_in_grid]]) {
  threadgroup uint shared[64];
  shared[i] = i;  // here
  threadgroup_barrier(mem_flags::mem_none);
  out[i] = shared[63 - i];  // there
})", race, "threadgroup variable \"shared\""},
    {"DeviceMemoryNeedsItsOwnFlag", {64, 1, 1}, {64, 1, 1}, {memory(256), memory(256)}, R"(
kernel void f(device uint* a, device uint* b, uint i [[thread_position_in_grid]]) {
  a[i] = i + 1;  // here
  threadgroup_barrier(mem_flags::mem_threadgroup);
  b[i] = a[63 - i];  // there
})", race, "threadgroup_barrier(mem_flags::mem_device)"},
    {"SimdgroupBarrierIsTooSmall", {64, 1, 1}, {64, 1, 1}, {memory(256)}, R"(
kernel void f(device uint* out, uint i [[thread_position_in_grid]]) {
  threadgroup uint shared[64];
  shared[i] = i;  // here
  simdgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = shared[63 - i];  // there
})", race, "threadgroup variable \"shared\""},
    {"WriteAfterReadAtTheEndOfALoop", {64, 1, 1}, {64, 1, 1}, {memory(256)}, R"(
kernel void f(device uint* out, uint i [[thread_position_in_grid]]) {
  threadgroup uint shared[64];
  uint sum = 0;
  for (uint k = 0; k < 4; ++k) {
    shared[i] = i * k + 1;  // here
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += shared[(i + 40) % 64];  // there
  }
  out[i] = sum;
})", race, "threadgroup variable \"shared\""},
    {"ReductionWithoutBarrier", {128, 1, 1}, {128, 1, 1}, {memory(512)}, R"(
kernel void f(device uint* data, uint i [[thread_position_in_grid]]) {
  threadgroup uint sums[128];
  sums[i] = data[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint stride = 64; stride > 0; stride /= 2) {
    if (i < stride) sums[i] += sums[i + stride];  // here
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i == 0) data[0] = sums[0];
})", race, "threadgroup variable \"sums\""},
    {"ReductionInStep", {32, 1, 1}, {32, 1, 1}, {memory(128)}, R"(
kernel void f(device uint* data, uint i [[thread_position_in_grid]]) {
  threadgroup uint sums[32];
  sums[i] = data[i];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  for (uint stride = 16; stride > 0; stride /= 2)
    if (i < stride) sums[i] += sums[i + stride];  // here
  if (i == 0) data[0] = sums[0];
})", race, "simdgroup_barrier(mem_flags::mem_threadgroup)"},
    {"TwoThreadgroupsOneElement", {64, 1, 1}, {32, 1, 1}, {memory(128)}, R"(
kernel void f(device uint* out, uint i [[thread_position_in_grid]], uint l [[thread_position_in_threadgroup]]) {
  out[l] = i;  // here
})", race, "threadgroups run in any order"},
    {"TwoThreadsOneElement", {64, 1, 1}, {64, 1, 1}, {memory(128)}, R"(
kernel void f(device uint* out, uint i [[thread_position_in_grid]]) {
  out[i / 2] = i;  // here
})", race, "buffer 0 \"out\""},
    {"OutputOfAnotherThreadgroup", {64, 1, 1}, {32, 1, 1}, {memory(256), memory(256)}, R"(
kernel void f(device uint* a, device uint* b, uint i [[thread_position_in_grid]]) {
  a[i] = i + 5;  // here
  threadgroup_barrier(mem_flags::mem_device);
  b[i] = a[63 - i];  // there
})", race, "threadgroup (0, 0, 0)"},
    {"InputOfAnotherThreadgroup", {64, 1, 1}, {32, 1, 1}, {memory(260)}, R"(
kernel void f(device uint* a, uint i [[thread_position_in_grid]]) {
  uint next = a[i + 1];  // here
  threadgroup_barrier(mem_flags::mem_device);
  a[i] = next;  // there
})", race, "buffer 0 \"a\""},
    {"AtomicAndPlain", {64, 1, 1}, {64, 1, 1}, {memory(4), memory(256)}, R"(
kernel void f(device atomic_uint* count, device uint* out, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(count, 1, memory_order_relaxed);  // here
  out[i] = *(device uint*)count;  // there
})", race, "atomic"},
    {"CounterWithoutAtomics", {256, 1, 1}, {32, 1, 1}, {memory(4)}, R"(
kernel void f(device uint* count) {
  count[0] += 1;  // here
})", race, "buffer 0 \"count\""},
    {"HistogramWithoutAtomics", {64, 1, 1}, {64, 1, 1}, {memory(64), memory(256)}, R"(
kernel void f(device uint* histogram, device const uint* values, uint i [[thread_position_in_grid]]) {
  threadgroup uint bins[16];
  if (i < 16) bins[i] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  bins[values[i] % 16] += 1;  // here
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < 16) histogram[i] = bins[i];
})", race, "threadgroup variable \"bins\""},
    {"LanesWithoutABarrier", {32, 1, 1}, {32, 1, 1}, {memory(128)}, R"(
kernel void f(device uint* out, uint i [[thread_position_in_grid]]) {
  threadgroup uint shared[32];
  shared[i] = i;  // here
  out[i] = shared[31 - i];  // there
})", race, "lanes of a SIMD-group do not run in step"},
    {"InitialisedByOneThread", {64, 1, 1}, {64, 1, 1}, {memory(256)}, R"(
kernel void f(device uint* out, uint i [[thread_position_in_grid]]) {
  threadgroup atomic_uint count;
  if (i == 0) *(threadgroup uint*)&count = 0;  // here
  out[i] = atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);  // there
})", race, "threadgroup variable \"count\""},
    {"NeighboursOfATile", {16, 16, 1}, {16, 16, 1}, {memory(1024)}, R"(
kernel void f(device uint* out, uint2 i [[thread_position_in_grid]]) {
  threadgroup uint tile[16][16];
  tile[i.y][i.x] = i.x;  // here
  out[i.y * 16 + i.x] = tile[i.x][i.y];  // there
})", race, "threadgroup variable \"tile\""},
    {"BytesThatOverlap", {64, 1, 1}, {64, 1, 1}, {memory(132)}, R"(
kernel void f(device uchar* out, uint i [[thread_position_in_grid]]) {
  *(device packed_uchar3*)(out + 2 * i) = packed_uchar3(i, i + 1, i + 2);  // here
})", race, "buffer 0 \"out\""},
    {"MatrixStoredWhileRead", {64, 1, 1}, {64, 1, 1}, {memory(256)}, R"(
kernel void f(device float* out, uint i [[thread_position_in_grid]], uint s [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile[64];
  simdgroup_float8x8 m(1);
  if (s == 0) simdgroup_store(m, tile, 8);  // here
  if (s == 1) out[i] = tile[i];  // there
})", race, "threadgroup variable \"tile\""},
    {"AtomicsOnOtherMemoryOrderNothing", {64, 1, 1}, {32, 1, 1}, {memory(8), memory(4)}, R"(
kernel void f(device atomic_uint* counts, device uint* out, uint i [[thread_position_in_grid]],
              uint g [[threadgroup_position_in_grid]], uint l [[thread_position_in_threadgroup]]) {
  if (l == 0) {
    out[0] = i + 1;  // here
    atomic_fetch_add_explicit(counts + g, 1, memory_order_relaxed);
  }
})", race, "buffer 1 \"out\""},
};
INSTANTIATE_TEST_SUITE_P(Races, PlantedBug, testing::ValuesIn(races), name_of);

const KernelCase barriers[] = {
    {"AfterAReturn", {64, 1, 1}, {64, 1, 1}, {memory(256)}, R"(
kernel void f(device uint* out, uint i [[thread_position_in_grid]]) {
  if (i >= 60) return;
  out[i] = i;
  threadgroup_barrier(mem_flags::mem_device);  // here
  out[i] = i + 1;
})", barrier, "thread (60, 0, 0) of threadgroup (0, 0, 0), (60, 0, 0) in the grid has ended"},
    {"InABranch", {64, 1, 1}, {64, 1, 1}, {memory(256)}, R"(
kernel void f(device uint* out, uint i [[thread_position_in_grid]]) {
  if (i % 2) threadgroup_barrier(mem_flags::mem_threadgroup);  // here
  out[i] = i;
})", barrier, "thread (0, 0, 0) of threadgroup (0, 0, 0), (0, 0, 0) in the grid has ended"},
    {"InBothBranches", {64, 1, 1}, {64, 1, 1}, {memory(256)}, R"(
kernel void f(device uint* out, uint i [[thread_position_in_grid]]) {
  if (i < 32) {
    out[i] = 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);  // here
  } else {
    out[i] = 2;
    threadgroup_barrier(mem_flags::mem_threadgroup);  // there
  }
})", barrier, "wait at another barrier"},
    {"SomeLoopLonger", {64, 1, 1}, {64, 1, 1}, {memory(256)}, R"(
kernel void f(device uint* out, uint i [[thread_position_in_grid]]) {
  for (uint k = 0; k < 2 + i / 32; ++k) {
    out[i] += k;
    threadgroup_barrier(mem_flags::mem_device);  // here
  }
})", barrier, "have ended without it"},
    {"LoopAndWhatFollows", {64, 1, 1}, {64, 1, 1}, {memory(256)}, R"(
kernel void f(device uint* out, uint i [[thread_position_in_grid]]) {
  for (uint k = 0; k < 2 + i / 32; ++k)
    threadgroup_barrier(mem_flags::mem_device);  // here
  out[i] = i;
  threadgroup_barrier(mem_flags::mem_device);  // there
})", barrier, "wait at another barrier"},
};
INSTANTIATE_TEST_SUITE_P(Barriers, PlantedBug, testing::ValuesIn(barriers), name_of);

const KernelCase endless_loops[] = {
    {"ThatTouchesMemory", {1, 1, 1}, {1, 1, 1}, {memory(8)}, R"(
kernel void f(device uint* x) {
  while (x[0] == 0) x[1] += 1;  // here
})", endless, "1 of 1 threads"},
    {"ThatDoesNothing", {4, 1, 1}, {4, 1, 1}, {memory(16)}, R"(
kernel void f(device uint* x, uint i [[thread_position_in_grid]]) {
  uint n = 0;
  while (i == 2) ++n;  // here
  x[i] = n;
})", endless, "thread (2, 0, 0)"},
    {"ThatWaitsForAnotherThread", {64, 1, 1}, {64, 1, 1}, {memory(4)}, R"(
kernel void f(device atomic_uint* x) {
  while (atomic_load_explicit(x, memory_order_relaxed) == 0) {}  // here
})", endless, "64 of 64 threads"},
};
INSTANTIATE_TEST_SUITE_P(EndlessLoops, PlantedBug, testing::ValuesIn(endless_loops), name_of);
// clang-format on

}  // namespace
}  // namespace metalloid::cpu

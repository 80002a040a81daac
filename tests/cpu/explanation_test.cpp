// What METALLOID_EXPLAIN says: the width that suits a kernel, and the source lines that keep it from being fast.
#include <algorithm>
#include <sstream>

#include "cpu/host_processor.hpp"
#include "cpu/object_code.hpp"
#include "device/pipeline.hpp"
#include "run_kernel.hpp"

namespace metalloid::cpu {
namespace {

std::string explanation_of(std::string_view source, uint32_t width, const Processor& processor) {
  const auto library = library_of(source);
  if (!library) return "";
  device::PipelineRequest request;
  request.kernel = {library, "f", {}};
  const auto slots = device::argument_slots(*library->find("f"), {});
  const auto text = explain(request, slots, vector::Variant{.width = width}, processor);
  EXPECT_TRUE(text) << text.error();
  return text ? *text : "";
}

std::string explanation_of(std::string_view source, uint32_t width = vector::any_width) {
  const auto processor = host_processor();
  EXPECT_TRUE(processor);
  return processor ? explanation_of(source, width, *processor) : "";
}

// The line of the source that ends with "// here", counted with the two that library_of puts before.
std::string place_of_here(std::string_view source) {
  const auto before = source.substr(0, source.find("// here"));
  return ":" + std::to_string(3 + std::ranges::count(before, '\n')) + ":";
}

// One line of the explanation names the marked line and says this.
void expect_named(std::string_view source, std::string_view what, uint32_t width = vector::any_width) {
  const std::string text = explanation_of(source, width);
  const std::string place = place_of_here(source);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.find(place) < line.find(what) && line.find(what) != std::string::npos) return;
  ADD_FAILURE() << "no line has " << place << " and then \"" << what << "\":\n" << text;
}

void expect_start(const std::string& text, const std::string& start) {
  EXPECT_TRUE(text.starts_with(start)) << text;
}

TEST(Explanation, NamesADivergentBranch) {
  expect_named(R"(kernel void f(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
  y[i] = x[i];
  if (x[i] > 0)  // here
    for (int j = 0; j < 100; ++j) y[i] += sin(y[i]);
})",
               "branch: lanes disagree", 32);
}

TEST(Explanation, NamesTheLoopThatRunsOutOfRegisters) {
  const std::string_view source = R"(kernel void f(device float* x, uint i [[thread_position_in_grid]]) {
  float v[24];
  for (int j = 0; j < 24; ++j) v[j] = x[i + j];
  for (int k = 0; k < 1000; ++k) {  // here
#pragma unroll
    for (int j = 0; j < 24; ++j) v[j] = v[j] * v[(j + 7) % 24] + v[(j + 13) % 24];
  }
  for (int j = 0; j < 24; ++j) x[i + j] = v[j];
})";
  expect_named(source, "in each iteration of this loop", 32);
  EXPECT_EQ(explanation_of(source, 32).find("(somewhere)"), std::string::npos);
}

TEST(Explanation, NamesALoopOfOneLane) {
  expect_named(R"(kernel void f(device float* x, constant uint& n, uint i [[thread_position_in_grid]]) {
  x[i] += 1;
  if (i == 0) {  // here
    float sum = 0;
    for (uint k = 0; k < n; ++k) sum += x[k];
    x[0] = sum;
  }
})",
               "branch: one lane runs loops", 32);
}

TEST(Explanation, NamesABranchBeforeWhichAGroupCanStartAgain) {
  expect_named(R"(kernel void f(device float* x, constant uint& n, uint i [[thread_position_in_grid]]) {
  if (i >= n) return;  // here
  x[i] = exp(x[i]);
})",
               "branch: a group whose lanes disagree here starts again");
}

TEST(Explanation, NamesALoopThatLanesLeaveAtDifferentTimes) {
  expect_named(R"(kernel void f(device const uint* x, device uint* y, uint i [[thread_position_in_grid]]) {
  uint n = x[i], steps = 0;
  while (n != 1) {  // here
    n = n & 1 ? 3 * n + 1 : n / 2;
    ++steps;
  }
  y[i] = steps;
})",
               "loop: lanes leave it at different times", 32);
}

TEST(Explanation, NamesAGatherAndWhereItsIndexComesFrom) {
  constexpr const char* source = R"(
kernel void f(device const uint* index, device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
  const uint from = index[i];
  y[i] = x[from];  // here
})";
  expect_named(source, "gather: lanes read one by one; the index is read from memory at");
}

TEST(Explanation, HasNoGatherOfSmallTablesOfConstants) {
  constexpr const char* source = R"(
struct Entry { int a; float b; };
constant float numbers[16] = {1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597};
constant Entry entries[5] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}};
kernel void f(device const uint* index, device float* y, uint i [[thread_position_in_grid]]) {
  y[i] = numbers[index[i] & 15] + numbers[(index[i] & 7) + 8] + entries[index[i] % 5].b;
})";
  struct Case {
    const char *name, *features;
    bool gathers;
  };
  for (const Case& c :
       {Case{"haswell", "+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+popcnt", false}, Case{"nehalem", "+sse4.2,+popcnt", true}}) {
    const std::string text = explanation_of(source, 32, {"x86_64-pc-linux-gnu", c.name, c.features});
    EXPECT_EQ(text.find("gather") != std::string::npos, c.gathers) << c.name << ": " << text;
  }
}

TEST(Explanation, NamesAScatterByItsStride) {
  expect_named(R"(kernel void f(device const float* x, device float* y, ulong i [[thread_index_in_threadgroup]]) {
  y[i * 100] = x[i];  // here
})",
               "scatter: lanes write one by one; they are 400 bytes apart", 32);
}

TEST(Explanation, NamesAnAccessGuardedAgainstWrapAround) {
  expect_named(R"(
kernel void f(device const float* x, device float* y, constant uint& from, uint i [[thread_position_in_grid]]) {
  y[i] = x[i + from];  // here
})",
               "guard: lanes are accessed together unless the 32-bit index");
}

TEST(Explanation, NamesLongDivisionsAndAtomics) {
  expect_named(R"(kernel void f(device const ulong* x, device ulong* y, uint i [[thread_position_in_grid]]) {
  y[i] = x[i] / y[i];  // here
})",
               "division: 64-bit", 32);
  expect_named(R"(kernel void f(device const uint* x, device atomic_uint* y, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&y[x[i]], 1, memory_order_relaxed);  // here
})",
               "atomic: lanes one after another", 32);
}

TEST(Explanation, NamesABarrierInALoop) {
  expect_named(R"(kernel void f(device float* x, constant uint& n, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float shared[256];
  shared[i] = x[i];
  for (uint step = n; step > 0; step /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);  // here
    if (i < step) shared[i] += shared[i + step];
  }
  x[i] = shared[i];
})",
               "barrier: in a loop");
}

TEST(Explanation, NamesTheCallerOfTheStandardLibrary) {
  const std::string text = explanation_of(R"(
kernel void f(texture2d<uint, access::read_write> image, uint i [[thread_position_in_grid]]) {
  image.atomic_fetch_add(uint2(i, 0), uint4(i));
})");
  EXPECT_NE(text.find("call: lanes one after another"), std::string::npos) << text;
  EXPECT_EQ(text.find("metal-stdlib"), std::string::npos) << text;
}

TEST(Explanation, HasNothingToSayAboutASimpleKernel) {
  const std::string text =
      explanation_of("kernel void f(device float* x, uint i [[thread_position_in_threadgroup]]) { x[i] += 1; }");
  expect_start(text, "f: 32 threads at a time\n  because the estimated cycles of a thread are ");
  EXPECT_NE(text.find("nothing is in its way"), std::string::npos) << text;
}

TEST(Width, IsWhatTheEnvironmentSays) {
  constexpr const char* source = "kernel void f(device float* x, uint i [[thread_position_in_grid]]) { x[i] += 1; }";
  expect_start(explanation_of(source, 16), "f: 16 threads at a time\n  because METALLOID_WIDTH says so\n");
  expect_start(explanation_of(source, 1), "f: one thread at a time\n  because METALLOID_WIDTH says so\n");
}

TEST(Width, Is32ForArithmeticAndForSimdGroups) {
  expect_start(explanation_of(R"(
kernel void f(device float* x, uint i [[thread_position_in_grid]]) { x[i] = exp(sin(x[i])); })"),
               "f: 32 threads at a time");
  const std::string text = explanation_of(R"(
kernel void f(device float* x, uint i [[thread_position_in_grid]]) { x[i] = simd_sum(x[i]); })");
  expect_start(text, "f: 32 threads at a time\n  because it calls metal.simd_sum");
}

TEST(Width, IsOneWhereAThreadHasARowOfItsOwn) {
  constexpr const char* source = R"(
kernel void f(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint j = 0; j < 512; ++j) sum += x[i * 512 + j];
  y[i] = sum;
})";
  const std::string text = explanation_of(source);
  expect_start(text, "f: one thread at a time");
  EXPECT_NE(text.find("gather: lanes read one by one; they are 2048 bytes apart"), std::string::npos) << text;
}

// A thread alone adds such numbers one after the other.
TEST(Width, IsNotOneWhereSumsAreToBeMadeInOrder) {
  constexpr const char* source = R"(
kernel void f(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
#pragma clang fp reassociate(off)
  float sum = 0;
  for (uint j = 0; j < 512; ++j) sum += x[i * 512 + j];
  y[i] = sum;
})";
  const std::string text = explanation_of(source);
  EXPECT_TRUE(text.starts_with("f: ") && !text.starts_with("f: one thread")) << text;
}

// What only the last threads do does not count: alone, they would be as fast as lanes are in the loop, which scatters.
TEST(Width, IsForThreadsThatHaveAllTheirNumbers) {
  expect_start(explanation_of(R"(
kernel void f(device const bfloat* x, device bfloat* y, constant long& size, uint i [[thread_position_in_grid]]) {
  const long first = 4 * long(i);
  if (first + 4 > size)
    for (int j = 0; first + j < size; ++j) y[first + j] = bfloat(precise::log2(float(x[first + j])));
  else
    for (int j = 0; j < 4; ++j) y[first + j] = bfloat(precise::log2(float(x[first + j])));
})"),
               "f: 32 threads at a time");
}

TEST(Width, IsLessWhereFewLanesCanBeLoadedWithoutAGather) {
  expect_start(explanation_of(R"(
kernel void f(device const uchar* x, device uint* y, uint i [[thread_position_in_grid]]) {
  uint sum = 0;
  for (uint j = 0; j < 64; ++j) sum = sum * 31 + x[i * 64 + j];
  y[i] = sum;
})"),
               "f: 8 threads at a time");
}

// A pipeline runs as it was explained, and gives what it gives in any width.
TEST(Width, ChosenForAKernelChangesNoResult) {
  Kernel kernel(R"(
kernel void f(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint j = 0; j < 512; ++j) sum += x[i * 512 + j];
  y[i] = sum;
})");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  constexpr uint32_t rows = 77;
  std::vector<float> x(rows * 512), y(rows);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7);
  EXPECT_EQ(kernel.run({{rows, 1, 1}, {32, 1, 1}, {buffer(x), buffer(y)}}), "");
  for (uint32_t row = 0; row < rows; ++row) {
    float sum = 0;  // of small whole numbers: exact in any order
    for (uint32_t j = 0; j < 512; ++j) sum += x[row * 512 + j];
    EXPECT_EQ(y[row], sum) << "row " << row;
  }
}

}  // namespace
}  // namespace metalloid::cpu

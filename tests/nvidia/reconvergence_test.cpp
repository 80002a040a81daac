// Which lanes take part in a group function: whole kernels, lowered and run on an emulated GPU, and on the CPU's
// reference engine, which says who meets. The emulation runs lanes in any order, so only what is waited for counts.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>

#include "differ/compare.hpp"
#include "differ/program.hpp"
#include "emulated_gpu.hpp"

namespace metalloid::nvidia {
namespace {

void expect_what_the_reference_gives(const differ::KernelCase& kernel) try {
  const auto library = differ::compile_source(kernel.source);
  ASSERT_TRUE(library) << library.error();
  const auto reference = differ::Subject::make({"reference"}, *library, kernel);
  ASSERT_TRUE(reference) << reference.error();
  for (const uint32_t capability : {75u, 90u}) {
    const EmulatedGpu gpu(*library, kernel.kernel, {capability});
    for (const differ::Launch& launch : kernel.launches) {
      const auto difference = differ::difference_between(kernel, reference->run(kernel, launch, differ::Guard::end),
                                                         gpu.run(kernel, launch));
      ASSERT_FALSE(difference) << *difference << " on a grid of " << differ::to_text(launch) << " for sm_" << capability
                               << "\n"
                               << kernel.source;
    }
  }
} catch (const std::exception& problem) {
  FAIL() << problem.what();
}

// A kernel of one buffer of random numbers, `x` being the thread's, that leaves results in `r`.
void expect_in_kernel(const std::string& body) {
  const auto cases = differ::parse_cases(
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "//@ buffer uint random N\n//@ buffer uint zeros N\n//@ grid 32 group 32\n//@ grid 77 group 45\n"
      "kernel void f(device const uint* in, device uint* out, uint i [[thread_position_in_grid]],\n"
      "              uint lane [[thread_index_in_simdgroup]]) {\n"
      "  const uint x = in[i];\n  uint r = 0;\n" +
      body + "\n  out[i] = r;\n}\n");
  ASSERT_TRUE(cases) << cases.error();
  expect_what_the_reference_gives(cases->front());
}

TEST(Reconvergence, BothSidesOfABranchMeetApartAndTogetherAfterIt) {
  expect_in_kernel("if (x & 1) r = simd_sum(x); else r = simd_sum(x) * 3; r += simd_sum(r);");
}

TEST(Reconvergence, LanesLeaveALoopOneByOne) {
  expect_in_kernel("for (uint k = 0; k < x % 9; ++k) r += simd_sum(k + lane); r += simd_sum(1u) << 20;");
}

TEST(Reconvergence, TheBranchThatLeavesALoopMeetsByIterations) {
  expect_in_kernel(R"(
  while (true) {
    const uint first = simd_broadcast_first(x & 3);
    if (first == (x & 3)) { r = simd_sum(x); break; }
  })");
}

TEST(Reconvergence, IterationsAreToldApartWhereLanesSkipThem) {
  expect_in_kernel("for (uint k = 0; k < 10; ++k) { if ((k + x) % 3 == 0) continue; r = r * 5 + simd_sum(lane); }");
}

TEST(Reconvergence, NestedLoopsWithBreaksContinuesAndReturns) {
  expect_in_kernel(R"(
  for (uint k = 0; k < 6; ++k) {
    if (((x >> k) & 7) == 1) continue;
    for (uint j = 0; j <= x % 4; ++j) {
      r += simd_sum(k + j);
      if (k == 3 && j == 1 && (x & 8)) { out[i] = r; return; }
      if ((k + j) % 3 == 2) break;
      r ^= simd_prefix_inclusive_sum(lane);
    }
    r += simd_sum(1u) * 1000;
  })");
}

TEST(Reconvergence, CasesOfASwitchMeetApartAndFallThrough) {
  expect_in_kernel(R"(
  switch (x % 5) {
    case 0: r = simd_sum(1u); break;
    case 1: r = simd_sum(1u) + 100;
    case 2: r += simd_sum(1u) * 1000; break;
    default: if (x & 64) break; r = simd_sum(lane);
  }
  r += simd_sum(1u) << 24;)");
}

TEST(Reconvergence, LanesThatEnterALoopInItsMiddleMeetBehindIt) {
  expect_in_kernel(R"(
  uint rounds = 3;
  switch (x % 4) {
    case 0: do { ++r;
    case 3:      ++r;
    case 2:      ++r;
    case 1:      ++r;
            } while (--rounds > 0);
  }
  if (x & 16) r += simd_sum(1u) * 1000;)");
}

TEST(Reconvergence, LanesThatEndInABranchAreGoneAfterIt) {
  expect_in_kernel(R"(
  if (x & 1) {
    r = simd_sum(lane);
    if (x & 2) { out[i] = r; return; }
    r += simd_sum(1u);
  } else if (x & 4) {
    out[i] = 7;
    return;
  }
  r += simd_sum(1u) * 1000;
  if (x & 8) r += popcount(uint(uint64_t(simd_vote::vote_t(simd_active_threads_mask())))) << 20;)");
}

TEST(Reconvergence, LoopsWithoutGroupFunctionsAreLeftInAnyOrder) {
  expect_in_kernel(R"(
  if (x & 1) {
    for (uint k = 0; k < x % 50; ++k) r = r * 3 + k;
    r += simd_sum(r);
  } else {
    for (uint k = 0; k < x % 20; ++k) { r ^= k * x; if (r % 7 == 3) break; }
    r += quad_sum(r);
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  if (x & 2) simdgroup_barrier(mem_flags::mem_device);)");
}

TEST(Reconvergence, LanesLeaveSeveralLoopsAtOnce) {
  expect_in_kernel(R"(
  bool done = false;
  for (uint k = 0; k < 5 && !done; ++k)
    for (uint j = 0; j < 4; ++j) {
      if (((x >> (4 * k + j)) & 15) == 3) { done = true; break; }
      r += simd_sum(j);
      if (((x >> j) & 5) == 5) r += simd_max(lane) << j;
    }
  r += simd_sum(1u) << 22;)");
}

TEST(Reconvergence, LanesEndInALoopThatTheOthersNeverLeave) {
  expect_in_kernel(R"(
  for (uint round = 0; round < 2; ++round)
    switch (x & 3) {
      case 0:
        for (uint k = 0;; ++k) {
          if (k > (x >> 8) % 5) { out[i] = r; return; }
          if (quad_all(x >> k & 1)) ++r; else r += simd_sum(lane);
        }
      case 1: r += simd_sum(1u); break;
      default: r += lane;
    }
  r += simd_sum(1u);)");
}

TEST(Reconvergence, LanesArePartedBeforeALoopThatOnlyEndsThem) {
  expect_in_kernel(R"(
  if (x & 1) {
    r = lane != 3 ? in[3] : simd_shuffle_rotate_down(x, 9);
    r += simd_prefix_inclusive_sum(x);
  }
  uint k = 0;
  do r += simd_product(1u); while (++k < 7 && lane * lane == (x & 1));)");
}

TEST(Reconvergence, UniformLoopsInABranchAndBranchesInUniformLoops) {
  expect_in_kernel(R"(
  const uint n = simd_max(x) % 7 + 2;
  if (x & 1)
    for (uint k = 0; k < n; ++k) r += simd_sum(k ^ lane);
  for (uint k = 0; k < n; ++k) {
    if (((x >> k) & 1) == 0) r += simd_sum(lane) << 3;
    else if (k & 1) r ^= simd_broadcast_first(r) & 255;
    r += simd_min(lane + k);
  })");
}

// What the CPU's engines are compared by (tests/cpu/differential_test.cpp), as far as it is about control flow.
class KernelsOfTheCpu : public testing::TestWithParam<const char*> {};

TEST_P(KernelsOfTheCpu, GiveWhatTheReferenceEngineGives) {
  std::ifstream file(std::string(METALLOID_SOURCE_DIR "/tests/cpu/kernels/") + GetParam() + ".metal");
  const std::string source(std::istreambuf_iterator<char>(file), {});
  const auto cases = differ::parse_cases(source);
  ASSERT_TRUE(cases) << cases.error();
  ASSERT_FALSE(cases->empty());
  for (const differ::KernelCase& kernel : *cases) {
    SCOPED_TRACE(kernel.kernel);
    expect_what_the_reference_gives(kernel);
  }
}

INSTANTIATE_TEST_SUITE_P(File, KernelsOfTheCpu, testing::Values("control_flow", "groups", "shared_memory"),
                         [](const auto& info) { return std::string(info.param); });

// Some in every test run, and as many as METALLOID_FUZZ_KERNELS says.
std::vector<uint64_t> seeds() {
  const char* count = std::getenv("METALLOID_FUZZ_KERNELS");
  if (!count) return {5, 8, 21, 33, 34, 55};
  std::vector<uint64_t> all(std::strtoul(count, nullptr, 10));
  std::iota(all.begin(), all.end(), 1);
  return all;
}

class RandomKernels : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomKernels, GiveWhatTheReferenceEngineGives) {
  expect_what_the_reference_gives(differ::case_of(differ::random_program(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Seed, RandomKernels, testing::ValuesIn(seeds()));

}  // namespace
}  // namespace metalloid::nvidia

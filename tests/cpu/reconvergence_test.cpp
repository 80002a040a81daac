// Which lanes take part in a SIMD-group function: those that are at the same call, in the same iteration of every loop
// around it. Each test has a kernel that counts or adds over active lanes, and the same thing computed by hand.
#include <functional>

#include "run_kernel.hpp"

namespace metalloid::cpu {
namespace {

std::vector<uint32_t> run_lanes(std::string_view body, uint32_t per_lane = 1, uint32_t lanes = 32) {
  Kernel kernel("kernel void f(device uint* out, uint lane [[thread_position_in_grid]]) {" + std::string(body) + "}");
  EXPECT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<uint32_t> out(lanes * per_lane, 9999);
  if (!kernel.pipeline) return out;
  EXPECT_EQ(kernel.run({{lanes, 1, 1}, {lanes, 1, 1}, {buffer(out)}}), "");
  return out;
}

void expect_lanes(const std::vector<uint32_t>& out, const std::function<uint32_t(uint32_t)>& expected) {
  for (uint32_t lane = 0; lane < out.size(); ++lane) EXPECT_EQ(out[lane], expected(lane)) << "lane " << lane;
}

TEST(Reconvergence, BothSidesOfABranchMeetApartAndTogetherAfterIt) {
  const auto out = run_lanes(R"(
    uint x;
    if (lane % 3 == 0) x = simd_sum(1u); else x = simd_sum(1u) * 100;
    out[lane] = x + simd_sum(1u) * 10000;)");
  expect_lanes(out, [](uint32_t lane) { return lane % 3 == 0 ? 320011 : 322100; });
}

TEST(Reconvergence, LanesLeaveALoopOneByOne) {
  const auto out = run_lanes(R"(
    uint x = 0;
    for (uint i = 0; i < lane; ++i) x += simd_sum(1u);
    out[lane] = x * 100 + simd_sum(1u);)");
  // In iteration i, lanes above i are active.
  expect_lanes(out, [](uint32_t lane) {
    uint32_t x = 0;
    for (uint32_t i = 0; i < lane; ++i) x += 31 - i;
    return x * 100 + 32;
  });
}

TEST(Reconvergence, IterationsAreToldApart) {
  // Odd lanes skip the call in even iterations: the same call site, but never the same iteration as those that lag.
  const auto out = run_lanes(R"(
    uint x = 0;
    for (uint i = 0; i < 10; ++i) {
      if ((i + lane) % 2 == 0) continue;
      x = x * 2 + (simd_sum(1u) == 16 ? 1 : 0);
    }
    out[lane] = x;)");
  expect_lanes(out, [](uint32_t) { return 31; });
}

TEST(Reconvergence, LanesThatBreakWaitBehindTheLoop) {
  const auto out = run_lanes(R"(
    uint x = 0, i = 0;
    while (true) {
      x += simd_sum(1u);
      if (i == lane / 4) break;
      ++i;
    }
    out[lane] = x * 100 + simd_sum(1u);)");
  expect_lanes(out, [](uint32_t lane) {
    uint32_t x = 0;
    for (uint32_t i = 0; i <= lane / 4; ++i) x += 32 - 4 * i;
    return x * 100 + 32;
  });
}

// Lanes that leave in different iterations are at the call in different iterations, wherever the compiler puts it.
TEST(Reconvergence, LanesThatMeetOnTheirWayOutOfALoopAreThoseOfOneIteration) {
  const std::string_view bodies[] = {
      "uint s = 0; while (true) { if (simd_broadcast_first(k) == k) { s = simd_sum(1u); break; } } out[lane] = s;",
      "while (true) { if (simd_broadcast_first(k) == k) { out[lane] = simd_sum(1u); return; } }",
      "for (;;) if (simd_broadcast_first(k) == k) { out[lane] = simd_sum(1u); break; }",
      "uint s; do { if (simd_broadcast_first(k) == k) { s = simd_sum(1u); goto end; } } while (true); end: out[lane] = "
      "s;",
      "while (true) { if (simd_broadcast_first(k) != k) continue; out[lane] = simd_sum(1u); break; }",
      "while (true) switch (simd_broadcast_first(k) == k) { case true: out[lane] = simd_sum(1u); return; default: ; }",
      "for (uint i = 0; i < 99; ++i) for (uint j = 0; j < 99; ++j) if (simd_broadcast_first(k) == k) {"
      "  out[lane] = simd_sum(1u); return; }",
      "bool done = false; do { if (simd_broadcast_first(k) == k) { out[lane] = simd_sum(1u); done = true; } }"
      "while (!done);",
      "auto f = [&] { while (true) { if (simd_broadcast_first(k) == k) return simd_sum(1u); } }; out[lane] = f();"};
  for (const std::string_view body : bodies) {
    const auto out = run_lanes("const uint k = lane % 5;" + std::string(body));
    expect_lanes(out, [](uint32_t lane) { return lane % 5 < 2 ? 7 : 6; });
  }
}

TEST(Reconvergence, NestedLoopsWithBreaksAndReturns) {
  const auto out = run_lanes(R"(
    uint x = 0;
    out[lane] = 0;
    for (uint i = 0; i < 6; ++i) {
      for (uint j = 0; j <= lane % 4; ++j) {
        x += simd_sum(1u);
        if (i == 3 && j == 1 && lane % 8 == 7) { out[lane] = x; return; }
        if ((i + j) % 3 == 2) break;
      }
      x += simd_sum(1u) * 1000;
    }
    out[lane] = x;)");
  // The same, all lanes in lockstep by hand.
  std::vector<uint32_t> x(32, 0);
  std::vector<bool> gone(32, false);
  for (uint32_t i = 0; i < 6; ++i) {
    std::vector<bool> inside(32, true);
    for (uint32_t j = 0; j < 4; ++j) {
      uint32_t active = 0;
      for (uint32_t l = 0; l < 32; ++l) active += !gone[l] && inside[l] && j <= l % 4;
      for (uint32_t l = 0; l < 32; ++l) {
        if (gone[l] || !inside[l] || j > l % 4) continue;
        x[l] += active;
        if (i == 3 && j == 1 && l % 8 == 7) gone[l] = true;
        if ((i + j) % 3 == 2) inside[l] = false;
      }
    }
    const auto left = static_cast<uint32_t>(std::count(gone.begin(), gone.end(), false));
    for (uint32_t l = 0; l < 32; ++l)
      if (!gone[l]) x[l] += left * 1000;
  }
  expect_lanes(out, [&](uint32_t lane) { return x[lane]; });
}

TEST(Reconvergence, SwitchCasesMeetApart) {
  const auto out = run_lanes(R"(
    uint x = 0;
    switch (lane % 5) {
      case 0: x = simd_sum(1u); break;
      case 1: x = simd_sum(1u) + 100;  // falls through
      case 2: x += simd_sum(1u) * 1000; break;
      default: x = simd_sum(lane);
    }
    out[lane] = x;)");
  uint32_t others = 0;
  for (uint32_t l = 0; l < 32; ++l) others += l % 5 > 2 ? l : 0;
  expect_lanes(out, [&](uint32_t lane) -> uint32_t {
    switch (lane % 5) {
      case 0:
        return 7;
      case 1:
        return 107 + 13000;
      case 2:
        return 13000;
      default:
        return others;
    }
  });
}

TEST(Reconvergence, LanesThatEnterALoopInItsMiddleMeetBehindIt) {
  const auto out = run_lanes(R"(
    uint own = 0, odd = 0, rounds = 3;
    switch (lane % 4) {
      case 0: do { ++own; odd += simd_sum(1u) > 32;
      case 3:      ++own;
      case 2:      ++own; odd += simd_sum(1u) == 0;
      case 1:      ++own;
              } while (--rounds > 0);
    }
    out[lane] = own + odd * 100 + simd_sum(1u) * 1000;)");
  expect_lanes(out, [](uint32_t lane) { return 32000 + (lane % 4 == 0 ? 12 : 8 + lane % 4); });
}

TEST(Reconvergence, HoldsInFunctionsThatAreNotInlined) {
  Kernel kernel(R"(
    [[gnu::noinline]] uint count(uint n) {
      uint x = 0;
      for (uint i = 0; i < n; ++i) x += simd_sum(1u);
      return x;
    }
    uint depth(uint n) { return n == 0 ? 0 : depth(n - 1) + simd_sum(1u); }
    kernel void f(device uint* out, uint lane [[thread_position_in_grid]]) {
      uint x = 0;
      for (uint i = 0; i < 2; ++i) x += count(lane % 4);
      if (lane % 2) x += count(2) * 1000; else x += count(1) * 1000;
      out[lane] = x + depth(lane % 3) * 100000;
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<uint32_t> out(32);
  EXPECT_EQ(kernel.run({{32, 1, 1}, {32, 1, 1}, {buffer(out)}}), "");
  expect_lanes(out, [](uint32_t lane) {
    uint32_t x = 0;
    for (uint32_t i = 0; i < lane % 4; ++i) x += 2 * (24 - 8 * i);
    x += lane % 2 ? 32000 : 16000;
    // All meet on the first level after those that go deeper have come back; lanes of depth 2 meet on the second too.
    const uint32_t d = lane % 3 == 0 ? 0 : lane % 3 == 1 ? 21 : 21 + 10;
    return x + d * 100000;
  });
}

TEST(Reconvergence, ShufflesReadFromLanesOfTheSameCallOnly) {
  const auto out = run_lanes(R"(
    uint x = 0;
    if (lane & 1) x = simd_shuffle_xor(lane, 2) + simd_prefix_exclusive_sum(1u) * 100;
    else x = simd_broadcast_first(lane + 5);
    out[lane] = x;)");
  expect_lanes(out, [](uint32_t lane) { return lane & 1 ? (lane ^ 2) + lane / 2 * 100 : 5; });
}

TEST(Reconvergence, BarriersBetweenSimdFunctionsOfManySimdgroups) {
  Kernel kernel(R"(
    kernel void f(device const float* in, device float* out, uint i [[thread_position_in_grid]],
                  uint lane [[thread_index_in_simdgroup]], uint group [[simdgroup_index_in_threadgroup]],
                  uint groups [[simdgroups_per_threadgroup]]) {
      threadgroup float sums[32];
      float sum = simd_sum(in[i]);
      if (lane == 0) sums[group] = sum;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (group == 0) {
        float all = simd_sum(lane < groups ? sums[lane] : 0);
        if (lane == 0) sums[0] = all;
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
      out[i] = sums[0];
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<float> in(1000), out(1000);
  for (int i = 0; i < 1000; ++i) in[i] = static_cast<float>(i);
  EXPECT_EQ(kernel.run({{1000, 1, 1}, {1000, 1, 1}, {buffer(in), buffer(out)}}), "");
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(out[i], 499500) << i;
}

}  // namespace
}  // namespace metalloid::cpu

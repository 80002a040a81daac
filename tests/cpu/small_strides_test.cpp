// Strides among arguments: when they are small, and what runs a kernel then.
#include "cpu/small_strides.hpp"

#include "run_kernel.hpp"

namespace metalloid::cpu {
namespace {

TEST(SmallStrides, AreThoseNearZeroOfEverySizeAndSign) {
  struct {
    uint64_t before = ~uint64_t{0};
    int64_t number = 0;
  } memory;
  const device::Argument argument = bytes(memory);
  for (const uint64_t size : {1, 2, 4, 8}) {
    const Stride stride{.slot = 0, .offset = 8, .bytes = size, .most = 4};
    for (const int64_t number : {0, 1, 4, -1, -4}) {
      memory.number = number;
      EXPECT_TRUE(are_small({&stride, 1}, &argument)) << number << " of " << size << " bytes";
    }
    for (const int64_t number : {5, -5, 100, -128}) {
      memory.number = number;
      EXPECT_FALSE(are_small({&stride, 1}, &argument)) << number << " of " << size << " bytes";
    }
  }
}

TEST(SmallStrides, OneThatIsNotThereIsNotSmall) {
  const uint32_t number = 1;
  const Stride stride{.slot = 0, .offset = 0, .bytes = 8, .most = 4};
  const device::Argument too_short = bytes(number), none;
  EXPECT_FALSE(are_small({&stride, 1}, &too_short));
  EXPECT_FALSE(are_small({&stride, 1}, &none));
}

TEST(SmallStrides, AllAreWhereThereAreNone) {
  EXPECT_TRUE(are_small({}, nullptr));
}

constexpr const char* windows = R"(
kernel void f(device const float* in, device float* out, constant int& stride, constant int& width,
              constant int& size, uint2 at [[thread_position_in_grid]], uint2 grid [[threads_per_grid]]) {
  float sum = 0;
  for (int a = 0; a < size; ++a)
    for (int b = 0; b < size; ++b) sum += in[(int(at.y) * stride + a) * width + int(at.x) * stride + b];
  out[at.y * grid.x + at.x] = sum;
})";

TEST(SmallStrides, OthersHaveCodeForOneThreadAtATime) {
  ArchivedKernel archived(windows);
  EXPECT_EQ(archived.count(true), 1u);
  std::vector<float> in(64 * 40 + 40, 1), out(64);
  const int width = 0, size = 3;
  const auto run = [&](int stride) {
    const device::Argument arguments[] = {buffer(in), buffer(out), bytes(stride), bytes(width), bytes(size)};
    EXPECT_EQ(archived.kernel.run({{64, 1, 1}, {32, 1, 1}, {std::begin(arguments), std::end(arguments)}}), "");
    EXPECT_EQ(out, std::vector<float>(64, 9));
  };
  run(1), run(4);
  EXPECT_EQ(archived.count(true), 1u);
  run(5), run(40);
  EXPECT_EQ(archived.count(true), 2u);
}

TEST(RowsOfThreadgroups, AreGroupsWhereLanesOfOneRowHaveMoreInCommon) {
  ArchivedKernel archived(windows);
  std::vector<float> in(64 * 64, 1), out(256);
  const int stride = 1, width = 64, size = 3;
  const device::Argument arguments[] = {buffer(in), buffer(out), bytes(stride), bytes(width), bytes(size)};
  EXPECT_EQ(archived.kernel.run({{16, 16, 1}, {16, 16, 1}, {std::begin(arguments), std::end(arguments)}}), "");
  EXPECT_EQ(out, std::vector<float>(256, 9));
  EXPECT_EQ(archived.count(true), 2u);
  EXPECT_EQ(archived.count(false), 1u) << "groups of two rows are not worth it";
}

TEST(RowsOfThreadgroups, AreNotWhereTwoAreAsGood) {
  ArchivedKernel archived(R"(
kernel void f(device const float* a, device const float* b, device float* out, constant uint& n,
              uint2 at [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint k = 0; k < n; ++k) sum += a[at.y * n + k] * b[k * n + at.x];
  out[at.y * n + at.x] = sum;
})");
  std::vector<float> a(64, 1), b(64, 2), out(64);
  const uint32_t n = 8;
  EXPECT_EQ(archived.kernel.run({{8, 8, 1}, {8, 8, 1}, {buffer(a), buffer(b), buffer(out), bytes(n)}}), "");
  EXPECT_EQ(out, std::vector<float>(64, 16));
  EXPECT_EQ(archived.count(false), 0u);
}

}  // namespace
}  // namespace metalloid::cpu

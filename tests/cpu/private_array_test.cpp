// Arrays of a thread, and indices outside of them.
#include "run_kernel.hpp"

namespace metalloid::cpu {
namespace {

constexpr int threads = 64, size = 8;

// `n` is negative in most threads, as it is in kernels that round the number of threads up and forget to stop there.
std::string kernel_that(std::string_view touches) {
  return "kernel void f(device const float* in, device float* out, constant int& length,"
         "              uint i [[thread_position_in_grid]]) {"
         "  float a[8] = {0}, b[8] = {0}, c[8] = {0};"
         "  const int n = length - int(i) * 8;"
         "  for (int k = 0; k < min(n, 8); ++k) { a[k] = in[i * 8 + k]; b[k] = 2 * a[k]; c[k] = 3 * a[k]; }" +
         std::string(touches) +
         "  float sum = 0;"
         "  for (int k = 0; k < 8; ++k) { const uint at = (k + i) & 7; sum += a[at] + b[at] + c[at]; }"
         "  out[i] = sum;"
         "}";
}

std::vector<float> run(std::string_view touches) {
  Kernel kernel(kernel_that(touches));
  EXPECT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<float> in(threads * size, 1), out(threads);
  const int length = 13;
  if (kernel.pipeline) {
    EXPECT_EQ(kernel.run({{threads, 1, 1}, {threads, 1, 1}, {buffer(in), buffer(out), bytes(length)}}), "");
  }
  return out;
}

TEST(PrivateArray, StoresOutsideOfItAreLost) {
  for (const std::string array : {"a", "b", "c"}) {
    const auto sums = run(array + "[n] = 100;");
    EXPECT_EQ(sums[0], 48) << array;
    EXPECT_EQ(sums[1], 5 * 6 + 100) << array;
    for (int i = 2; i < threads; ++i) EXPECT_EQ(sums[i], 0) << array << " in thread " << i;
  }
}

TEST(PrivateArray, FillingMoreThanItFillsIt) {
  const auto sums = run("for (int k = 0; k < 8; ++k) b[k] = 10 + in[k]; for (int k = n; k < 8; ++k) b[k] = 0;");
  EXPECT_EQ(sums[0], 4 * 8 + 11 * 8);
  EXPECT_EQ(sums[1], 4 * 5 + 11 * 5);
  for (int i = 2; i < threads; ++i) EXPECT_EQ(sums[i], 0) << i;
}

TEST(PrivateArray, LoadsOutsideOfItGiveZero) {
  const auto sums = run("float more = 0; for (int k = n; k < 16; ++k) more += b[k]; a[0] += more;");
  EXPECT_EQ(sums[0], 48);
  EXPECT_EQ(sums[1], 30);
  for (int i = 2; i < threads; ++i) EXPECT_EQ(sums[i], 0) << i;
}

}  // namespace
}  // namespace metalloid::cpu

#include <fmt/format.h>

#include <cmath>

#include "workloads.hpp"

namespace metalloid::tool {

namespace {

using peer::buffer, peer::scalar;

// Square matrices A, B and C = A B. A sum of n products of numbers up to 1 is off by about sqrt(n) roundings.
Workload product(const char* name, uint32_t n) {
  Workload work{.name = name, .size = fmt::format("{0} x {0} x {0}", n), .source = "matmul", .unit = "GFLOP/s"};
  work.work = 2.0 * n * n * n;
  Numbers numbers(4);
  const auto a = numbers.floats(n * n), b = numbers.floats(n * n);
  work.add_input(bytes_of(a));
  work.add_input(bytes_of(b));
  work.add_output(n * n * sizeof(float));
  Expectation c{.buffer = 2, .values = std::vector<double>(n * n), .absolute = 1e-6 * n, .relative = 1e-5};
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t k = 0; k < n; ++k)
      for (uint32_t j = 0; j < n; ++j) c.values[i * n + j] += static_cast<double>(a[i * n + k]) * b[k * n + j];
  work.expectations.push_back(std::move(c));
  return work;
}

std::vector<peer::Argument> product_arguments(uint32_t n) {
  return {buffer(0), buffer(1), buffer(2), scalar(n), scalar(n), scalar(n)};
}

}  // namespace

Workload make_matmul_naive(bool quick) {
  const uint32_t n = quick ? 64 : 512;
  Workload work = product("matmul_naive", n);
  work.launch({{"matmul_naive", {n, n, 1}, {32, 8, 1}, product_arguments(n)}});
  work.loop("matmul", product_arguments(n));
  return work;
}

Workload make_matmul_tiled(bool quick) {
  const uint32_t n = quick ? 64 : 512;
  Workload work = product("matmul_tiled", n);
  work.launch({{"matmul_tiled", {n, n, 1}, {16, 16, 1}, product_arguments(n)}});
  work.loop("matmul", product_arguments(n));
  return work;
}

// OpenCL has no SIMD-group matrices: the peers are OpenBLAS, and the machine's own multiply-adds.
Workload make_matmul_simdgroup(bool quick) {
  const uint32_t n = quick ? 64 : 1024;
  const uint32_t steps = quick ? 16 : 1024;
  Workload work = product("matmul_simdgroup", n);
  const uint32_t sums = work.add_output(steps * sizeof(float));
  work.parts.push_back(
      {Contender::metal, {{"matmul_simdgroup", {n / 64 * 128, n / 64, 1}, {128, 1, 1}, product_arguments(n)}}});
  work.loop("matmul", product_arguments(n));
  work.parts.push_back({Contender::openblas, {{"sgemm", {1, 1, 1}, {1, 1, 1}, product_arguments(n)}}});
  work.parts.push_back({Contender::machine,
                        {{"multiply_add", {1, 1, 1}, {1, 1, 1}, {buffer(sums), scalar(steps)}}},
                        std::ldexp(steps, 21),
                        false});
  return work;
}

}  // namespace metalloid::tool

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "workloads.hpp"

namespace metalloid::tool {

namespace {

using peer::buffer, peer::scalar;

// Bytes are counted as if each number were read once and written once.
Workload softmax(const char* name, const char* metal_kernel, bool quick) {
  const uint32_t n = quick ? 64 : 1024;
  Workload work{.name = name, .size = fmt::format("{0} x {0}", n), .source = "softmax", .unit = "GB/s"};
  work.work = 8.0 * n * n;
  const auto x = Numbers(5).floats(n * n, -5, 5);
  work.add_input(bytes_of(x));
  work.add_output(n * n * sizeof(float));
  peer::Launch launch{metal_kernel, {256 * n, 1, 1}, {256, 1, 1}, {buffer(0), buffer(1), scalar(n)}};
  work.parts.push_back({Contender::metal, {launch}});
  launch.kernel = "softmax_tree";
  work.parts.push_back({Contender::opencl, {launch}});
  work.loop("softmax", {buffer(0), buffer(1), scalar(n), scalar(n)});

  Expectation result{.buffer = 1, .absolute = 1e-9, .relative = 2e-5};
  for (auto row = x.begin(); row != x.end(); row += n) {
    const double largest = *std::max_element(row, row + n);
    double sum = 0;
    for (uint32_t i = 0; i < n; ++i) sum += std::exp(row[i] - largest);
    for (uint32_t i = 0; i < n; ++i) result.values.push_back(std::exp(row[i] - largest) / sum);
  }
  work.expectations.push_back(std::move(result));
  return work;
}

}  // namespace

Workload make_softmax_tree(bool quick) {
  return softmax("softmax_tree", "softmax_tree", quick);
}
Workload make_softmax_simd(bool quick) {
  return softmax("softmax_simd", "softmax_simd", quick);
}

}  // namespace metalloid::tool

#include <fmt/format.h>

#include "workloads.hpp"

namespace metalloid::tool {

using peer::buffer, peer::scalar;

Workload make_transpose(bool quick) {
  const uint32_t n = quick ? 64 : 2048;
  Workload work{.name = "transpose", .size = fmt::format("{0} x {0}", n), .source = "transpose", .unit = "GB/s"};
  work.work = 8.0 * n * n;
  const auto x = Numbers(10).floats(n * n);
  work.add_input(bytes_of(x));
  work.add_output(n * n * sizeof(float));
  const std::vector<peer::Argument> arguments = {buffer(0), buffer(1), scalar(n), scalar(n)};
  work.launch({{"transpose", {n, n / 4, 1}, {32, 8, 1}, arguments}});
  work.loop("transpose", arguments);
  Expectation result{.buffer = 1};
  for (uint32_t column = 0; column < n; ++column)
    for (uint32_t row = 0; row < n; ++row) result.values.push_back(x[row * n + column]);
  work.expectations.push_back(std::move(result));
  return work;
}

}  // namespace metalloid::tool

#include <fmt/format.h>

#include "workloads.hpp"

namespace metalloid::tool {

using peer::buffer, peer::scalar;

// Seven operations a step. Near the edge of the set a rounding changes the number of steps: a few points may differ.
Workload make_mandelbrot(bool quick) {
  const uint32_t n = quick ? 64 : 1024, limit = 256;
  Workload work{.name = "mandelbrot", .size = fmt::format("{0} x {0}", n), .source = "mandelbrot", .unit = "GFLOP/s"};
  work.add_output(n * n * sizeof(uint32_t));
  const std::vector<peer::Argument> arguments = {buffer(0), scalar(n), scalar(n), scalar(limit)};
  work.launch({{"mandelbrot", {n, n, 1}, {32, 8, 1}, arguments}});
  work.loop("mandelbrot", arguments);
  Expectation steps{.buffer = 0, .element = Element::u32, .outliers = 0.02};
  for (uint32_t py = 0; py < n; ++py)
    for (uint32_t px = 0; px < n; ++px) {
      const double cx = static_cast<double>(px) / n * 3.0 - 2.25, cy = static_cast<double>(py) / n * 2.5 - 1.25;
      double x = 0, y = 0;
      uint32_t count = 0;
      while (count < limit && x * x + y * y < 4) {
        const double next_x = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next_x;
        ++count;
      }
      steps.values.push_back(count);
      work.work += 7.0 * count;
    }
  work.expectations.push_back(std::move(steps));
  return work;
}

}  // namespace metalloid::tool

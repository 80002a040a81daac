#include <fmt/format.h>

#include "workloads.hpp"

namespace metalloid::tool {

namespace {

using peer::buffer, peer::scalar;

Workload convolution(const char* name, peer::Size group, bool quick) {
  const int n = quick ? 64 : 1024, radius = 3, filter_width = 2 * radius + 1;
  Workload work{.name = name, .size = fmt::format("{0} x {0}, 7 x 7", n), .source = "convolution", .unit = "GFLOP/s"};
  work.work = 2.0 * filter_width * filter_width * n * n;
  Numbers numbers(11);
  const auto image = numbers.floats(static_cast<size_t>(n * n)), filter = numbers.floats(filter_width * filter_width);
  work.add_input(bytes_of(image));
  work.add_input(bytes_of(filter));
  work.add_output(image.size() * sizeof(float));
  const std::vector<peer::Argument> arguments = {buffer(0), buffer(1), buffer(2), scalar(n), scalar(n)};
  work.launch({{name, {static_cast<size_t>(n), static_cast<size_t>(n), 1}, group, arguments}});
  work.loop("convolution", arguments);
  Expectation result{.buffer = 2, .absolute = 5e-5};
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      double sum = 0;
      for (int dy = -radius; dy <= radius; ++dy)
        for (int dx = -radius; dx <= radius; ++dx)
          if (y + dy >= 0 && y + dy < n && x + dx >= 0 && x + dx < n)
            sum +=
                static_cast<double>(image[(y + dy) * n + x + dx]) * filter[(dy + radius) * filter_width + dx + radius];
      result.values.push_back(sum);
    }
  work.expectations.push_back(std::move(result));
  return work;
}

}  // namespace

Workload make_convolution_naive(bool quick) {
  return convolution("convolution_naive", {32, 8, 1}, quick);
}
Workload make_convolution_tiled(bool quick) {
  return convolution("convolution_tiled", {16, 16, 1}, quick);
}

}  // namespace metalloid::tool

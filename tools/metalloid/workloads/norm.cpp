#include <fmt/format.h>

#include <cmath>

#include "workloads.hpp"

namespace metalloid::tool {

namespace {

using peer::buffer, peer::scalar;
constexpr float epsilon = 1e-5f;

struct Rows {
  Workload work;
  uint32_t n;
  std::vector<float> x, weight, bias;
};

Rows rows_to_normalise(const char* name, bool quick) {
  const uint32_t n = quick ? 64 : 1024;
  Numbers numbers(6);
  Rows rows{{.name = name, .size = fmt::format("{0} x {0}", n), .source = "norm", .work = 8.0 * n * n, .unit = "GB/s"},
            n,
            numbers.floats(n * n, -2, 3),
            numbers.floats(n),
            numbers.floats(n)};
  rows.work.add_input(bytes_of(rows.x));
  rows.work.add_input(bytes_of(rows.weight));
  return rows;
}

}  // namespace

Workload make_rms_norm(bool quick) {
  auto [work, n, x, weight, bias] = rows_to_normalise("rms_norm", quick);
  work.add_output(n * n * sizeof(float));
  work.launch(
      {{"rms_norm", {256 * n, 1, 1}, {256, 1, 1}, {buffer(0), buffer(1), buffer(2), scalar(n), scalar(epsilon)}}});
  work.loop("rms_norm", {buffer(0), buffer(1), buffer(2), scalar(n), scalar(n), scalar(epsilon)});
  Expectation result{.buffer = 2, .absolute = 1e-5, .relative = 1e-5};
  for (auto row = x.begin(); row != x.end(); row += n) {
    double squares = 0;
    for (uint32_t i = 0; i < n; ++i) squares += static_cast<double>(row[i]) * row[i];
    for (uint32_t i = 0; i < n; ++i) result.values.push_back(row[i] / std::sqrt(squares / n + epsilon) * weight[i]);
  }
  work.expectations.push_back(std::move(result));
  return work;
}

Workload make_layer_norm(bool quick) {
  auto [work, n, x, weight, bias] = rows_to_normalise("layer_norm", quick);
  work.add_input(bytes_of(bias));
  work.add_output(n * n * sizeof(float));
  work.launch({{"layer_norm",
                {256 * n, 1, 1},
                {256, 1, 1},
                {buffer(0), buffer(1), buffer(2), buffer(3), scalar(n), scalar(epsilon)}}});
  work.loop("layer_norm", {buffer(0), buffer(1), buffer(2), buffer(3), scalar(n), scalar(n), scalar(epsilon)});
  Expectation result{.buffer = 3, .absolute = 1e-5, .relative = 1e-5};
  for (auto row = x.begin(); row != x.end(); row += n) {
    double mean = 0, squares = 0;
    for (uint32_t i = 0; i < n; ++i) mean += row[i] / static_cast<double>(n);
    for (uint32_t i = 0; i < n; ++i) squares += (row[i] - mean) * (row[i] - mean);
    for (uint32_t i = 0; i < n; ++i)
      result.values.push_back((row[i] - mean) / std::sqrt(squares / n + epsilon) * weight[i] + bias[i]);
  }
  work.expectations.push_back(std::move(result));
  return work;
}

}  // namespace metalloid::tool

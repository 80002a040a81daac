#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "workloads.hpp"

namespace metalloid::tool {

using peer::buffer, peer::scalar;

Workload make_attention(bool quick) {
  const uint32_t length = quick ? 64 : 1024, depth = 64;
  const float scale = 0.125f;
  Workload work{
      .name = "attention", .size = fmt::format("{} x {}", length, depth), .source = "attention", .unit = "GFLOP/s"};
  work.work = 4.0 * length * length * depth;
  Numbers numbers(14);
  const auto queries = numbers.floats(length * depth, -2, 2), keys = numbers.floats(length * depth, -2, 2),
             values = numbers.floats(length * depth);
  for (const auto* input : {&queries, &keys, &values}) work.add_input(bytes_of(*input));
  work.add_output(length * depth * sizeof(float));
  const std::vector<peer::Argument> arguments = {buffer(0), buffer(1),      buffer(2),
                                                 buffer(3), scalar(length), scalar(scale)};
  work.parts.push_back({Contender::metal, {{"attention", {length * 32, 1, 1}, {128, 1, 1}, arguments}}});
  work.parts.push_back({Contender::opencl, {{"attention", {length * depth, 1, 1}, {depth, 1, 1}, arguments}}});
  work.loop("attention", arguments);

  Expectation result{.buffer = 3, .values = std::vector<double>(length * depth), .absolute = 2e-5};
  std::vector<double> scores(length);
  for (uint32_t row = 0; row < length; ++row) {
    for (uint32_t i = 0; i < length; ++i) {
      scores[i] = 0;
      for (uint32_t j = 0; j < depth; ++j)
        scores[i] += static_cast<double>(scale) * queries[row * depth + j] * keys[i * depth + j];
    }
    const double largest = *std::max_element(scores.begin(), scores.end());
    double total = 0;
    for (double& score : scores) total += score = std::exp(score - largest);
    for (uint32_t i = 0; i < length; ++i)
      for (uint32_t j = 0; j < depth; ++j) result.values[row * depth + j] += scores[i] / total * values[i * depth + j];
  }
  work.expectations.push_back(std::move(result));
  return work;
}

}  // namespace metalloid::tool

#include <fmt/format.h>

#include "workloads.hpp"

namespace metalloid::tool {

namespace {

using peer::buffer, peer::scalar;

// Four SIMD-groups to a threadgroup, in OpenCL a work-group of 32, for each few rows.
void launch_rows(Workload& work, const char* name, uint32_t rows, uint32_t rows_per_group, uint32_t width) {
  const std::vector<peer::Argument> arguments = {buffer(0), buffer(1), buffer(2), scalar(width)};
  const uint32_t threads = rows / rows_per_group * 32;
  work.parts.push_back({Contender::metal, {{name, {threads, 1, 1}, {128, 1, 1}, arguments}}});
  work.parts.push_back({Contender::opencl, {{name, {threads, 1, 1}, {32, 1, 1}, arguments}}});
  work.loop(name, {buffer(0), buffer(1), buffer(2), scalar(rows), scalar(width)});
}

}  // namespace

Workload make_matvec(bool quick) {
  const uint32_t n = quick ? 128 : 4096;
  Workload work{.name = "matvec", .size = fmt::format("{0} x {0}", n), .source = "matvec", .unit = "GB/s"};
  work.work = 4.0 * n * n;
  Numbers numbers(12);
  const auto matrix = numbers.floats(n * n), vector = numbers.floats(n);
  work.add_input(bytes_of(matrix));
  work.add_input(bytes_of(vector));
  work.add_output(n * sizeof(float));
  launch_rows(work, "matvec", n, 1, n);
  Expectation result{.buffer = 2, .absolute = 1e-6 * n, .relative = 1e-5};
  for (uint32_t row = 0; row < n; ++row) {
    double sum = 0;
    for (uint32_t i = 0; i < n; ++i) sum += static_cast<double>(matrix[row * n + i]) * vector[i];
    result.values.push_back(sum);
  }
  work.expectations.push_back(std::move(result));
  return work;
}

Workload make_matvec_q4(bool quick) {
  const uint32_t n = quick ? 128 : 4096, blocks = n / 32;
  struct Block {
    uint16_t scale;
    uint8_t quants[16];
  };
  Workload work{.name = "matvec_q4", .size = fmt::format("{0} x {0}", n), .source = "matvec", .unit = "GB/s"};
  work.work = static_cast<double>(sizeof(Block)) * n * blocks;
  Numbers numbers(13);
  const auto vector = numbers.floats(n);
  std::vector<Block> matrix(n * blocks);
  Expectation result{.buffer = 2, .absolute = 1e-6 * n, .relative = 1e-5};
  for (uint32_t row = 0; row < n; ++row) {
    double sum = 0;
    for (uint32_t i = 0; i < blocks; ++i) {
      Block& block = matrix[row * blocks + i];
      block.scale = static_cast<uint16_t>(device::to_half(numbers.between(0.01f, 0.12f)));
      double block_sum = 0;
      for (uint32_t j = 0; j < 16; ++j) {
        block.quants[j] = static_cast<uint8_t>(numbers.integer());
        block_sum +=
            vector[i * 32 + j] * ((block.quants[j] & 15) - 8) + vector[i * 32 + j + 16] * ((block.quants[j] >> 4) - 8);
      }
      sum += device::from_half(block.scale) * block_sum;
    }
    result.values.push_back(sum);
  }
  work.add_input(bytes_of(matrix));
  work.add_input(bytes_of(vector));
  work.add_output(n * sizeof(float));
  launch_rows(work, "matvec_q4", n, 4, n);
  work.expectations.push_back(std::move(result));
  return work;
}

}  // namespace metalloid::tool

#include <cmath>

#include "workloads.hpp"

namespace metalloid::tool {

using peer::buffer, peer::scalar;

// What is read is larger than the last cache of large processors (260 MiB), so that memory sets the pace; copying is
// measured on the same buffers.
Workload make_add(bool quick) {
  const uint32_t count = quick ? 1 << 12 : 1 << 26;
  Workload work{.name = "add", .size = quick ? "4 Ki" : "64 Mi", .source = "elementwise", .unit = "GB/s"};
  work.work = 12.0 * count;
  Numbers numbers(1);
  const auto x = numbers.floats(count), y = numbers.floats(count);
  work.add_input(bytes_of(x));
  work.add_input(bytes_of(y));
  work.add_output(count * sizeof(float));
  work.launch({{"add", {count, 1, 1}, {256, 1, 1}, {buffer(0), buffer(1), buffer(2)}}});
  work.loop("add", {buffer(0), buffer(1), buffer(2), scalar(count)});
  for (const char* copy : {"copy", "copy_streaming"})
    work.parts.push_back({Contender::machine,
                          {{copy, {1, 1, 1}, {1, 1, 1}, {buffer(0), buffer(2), scalar(count)}}},
                          8.0 * count,
                          false});
  Expectation sums{.buffer = 2, .absolute = 1e-6, .relative = 1e-6};
  for (uint32_t i = 0; i < count; ++i) sums.values.push_back(static_cast<double>(x[i]) + y[i]);
  work.expectations.push_back(std::move(sums));
  return work;
}

namespace {

Workload map_of_one(const char* name, const char* kernel, bool quick, float range, double (*function)(double),
                    double tolerance) {
  const uint32_t count = quick ? 1 << 12 : 1 << 20;
  Workload work{.name = name, .size = quick ? "4 Ki" : "1 Mi", .source = "elementwise", .unit = "GB/s"};
  work.work = 8.0 * count;
  const auto x = Numbers(2).floats(count, -range, range);
  work.add_input(bytes_of(x));
  work.add_output(count * sizeof(float));
  work.launch({{kernel, {count, 1, 1}, {256, 1, 1}, {buffer(0), buffer(1)}}});
  work.loop(kernel, {buffer(0), buffer(1), scalar(count)});
  Expectation results{.buffer = 1, .absolute = tolerance, .relative = tolerance};
  for (float value : x) results.values.push_back(function(value));
  work.expectations.push_back(std::move(results));
  return work;
}

double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(0.7978845608 * x * (1 + 0.044715 * x * x)));
}

}  // namespace

Workload make_exp(bool quick) {
  return map_of_one("exp", "exponential", quick, 10, std::exp, 5e-6);
}
Workload make_gelu(bool quick) {
  return map_of_one("gelu", "gelu_float", quick, 4, gelu, 5e-6);
}

Workload make_gelu_half(bool quick) {
  const uint32_t count = quick ? 1 << 12 : 1 << 20;
  Workload work{.name = "gelu_half", .size = quick ? "4 Ki" : "1 Mi", .source = "elementwise", .unit = "GB/s"};
  work.work = 4.0 * count;
  std::vector<uint16_t> x;
  Expectation results{.buffer = 1, .element = Element::f16, .absolute = 1e-3, .relative = 1e-3};
  Numbers numbers(3);
  for (uint32_t i = 0; i < count; ++i) {
    x.push_back(static_cast<uint16_t>(device::to_half(numbers.between(-4, 4))));
    results.values.push_back(gelu(device::from_half(x.back())));
  }
  work.add_input(bytes_of(x));
  work.add_output(count * sizeof(uint16_t));
  work.launch({{"gelu_half", {count, 1, 1}, {256, 1, 1}, {buffer(0), buffer(1)}}});
  work.loop("gelu_half", {buffer(0), buffer(1), scalar(count)});
  work.expectations.push_back(std::move(results));
  return work;
}

}  // namespace metalloid::tool

#include "workloads.hpp"

namespace metalloid::tool {

namespace {

using peer::buffer, peer::scalar;

// 12 bytes an element: an index, a number read, a number written.
Workload moved_by_index(const char* name, bool quick, bool gathers) {
  const uint32_t count = quick ? 1 << 12 : 1 << 22;
  Workload work{.name = name, .size = quick ? "4 Ki" : "4 Mi", .source = "gather", .unit = "GB/s"};
  work.work = 12.0 * count;
  Numbers numbers(16);
  const auto x = numbers.floats(count);
  const auto indices = numbers.permutation(count);
  work.add_input(bytes_of(x));
  work.add_input(bytes_of(indices));
  work.add_output(count * sizeof(float));
  work.launch({{name, {count, 1, 1}, {256, 1, 1}, {buffer(0), buffer(1), buffer(2)}}});
  work.loop(name, {buffer(0), buffer(1), buffer(2), scalar(count)});
  Expectation result{.buffer = 2, .values = std::vector<double>(count)};
  for (uint32_t i = 0; i < count; ++i)
    (gathers ? result.values[i] : result.values[indices[i]]) = x[gathers ? indices[i] : i];
  work.expectations.push_back(std::move(result));
  return work;
}

}  // namespace

Workload make_gather(bool quick) {
  return moved_by_index("gather", quick, true);
}
Workload make_scatter(bool quick) {
  return moved_by_index("scatter", quick, false);
}

}  // namespace metalloid::tool

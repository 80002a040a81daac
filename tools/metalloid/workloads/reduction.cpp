#include "workloads.hpp"

namespace metalloid::tool {

using peer::buffer, peer::scalar;

Workload make_reduction(bool quick) {
  const uint32_t count = quick ? 1 << 12 : 1 << 22, groups = quick ? 4 : 256;
  Workload work{.name = "reduction", .size = quick ? "4 Ki" : "4 Mi", .source = "reduction", .unit = "GB/s"};
  work.work = 4.0 * count;
  const auto x = Numbers(7).floats(count, 0, 1);
  work.add_input(bytes_of(x));
  work.add_output(groups * sizeof(float));
  work.add_output(sizeof(float));
  work.launch({{"reduction", {groups * 256, 1, 1}, {256, 1, 1}, {buffer(0), buffer(1), scalar(count)}},
               {"reduction", {256, 1, 1}, {256, 1, 1}, {buffer(1), buffer(2), scalar(groups)}}});
  work.loop("reduction", {buffer(0), buffer(2), scalar(count)});
  double sum = 0;
  for (float value : x) sum += value;
  work.expectations.push_back({.buffer = 2, .values = {sum}, .relative = 1e-4});
  return work;
}

}  // namespace metalloid::tool

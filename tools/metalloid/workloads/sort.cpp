#include <algorithm>

#include "workloads.hpp"

namespace metalloid::tool {

using peer::buffer, peer::scalar;

Workload make_sort(bool quick) {
  const uint32_t count = quick ? 1 << 12 : 1 << 20, threads = count / 2;
  Workload work{.name = "sort", .size = quick ? "4 Ki" : "1 Mi", .source = "sort", .unit = "Gkeys/s"};
  work.work = count;
  std::vector<uint32_t> keys(count);
  Numbers numbers(9);
  for (uint32_t& key : keys) key = numbers.integer();
  work.add_changing(bytes_of(keys));
  std::vector<peer::Launch> launches = {{"sort_blocks", {threads, 1, 1}, {512, 1, 1}, {buffer(0)}}};
  for (uint32_t run = 2048; run <= count; run *= 2) {
    for (uint32_t distance = run / 2; distance >= 1024; distance /= 2)
      launches.push_back({"sort_step", {threads, 1, 1}, {512, 1, 1}, {buffer(0), scalar(run), scalar(distance)}});
    launches.push_back({"sort_finish", {threads, 1, 1}, {512, 1, 1}, {buffer(0), scalar(run)}});
  }
  work.launch(std::move(launches));
  work.loop("sort", {buffer(0), scalar(count)});
  std::sort(keys.begin(), keys.end());
  work.expectations.push_back({.buffer = 0, .element = Element::u32, .values = {keys.begin(), keys.end()}});
  return work;
}

}  // namespace metalloid::tool

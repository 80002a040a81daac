#include "workloads.hpp"

namespace metalloid::tool {

using peer::buffer, peer::scalar;

Workload make_scan(bool quick) {
  const uint32_t count = quick ? 1 << 12 : 1 << 20, blocks = count / 1024;
  Workload work{.name = "scan", .size = quick ? "4 Ki" : "1 Mi", .source = "scan", .unit = "GB/s"};
  work.work = 8.0 * count;
  std::vector<uint32_t> x(count);
  Expectation sums{.buffer = 1, .element = Element::u32};
  Numbers numbers(8);
  uint32_t sum = 0;
  for (uint32_t& value : x) {
    value = numbers.integer();
    sums.values.push_back(sum += value);
  }
  work.add_input(bytes_of(x));
  work.add_output(count * sizeof(uint32_t));
  work.add_output(blocks * sizeof(uint32_t));
  work.launch({{"scan_blocks", {count / 4, 1, 1}, {256, 1, 1}, {buffer(0), buffer(1), buffer(2)}},
               {"scan_sums", {256, 1, 1}, {256, 1, 1}, {buffer(2), scalar(blocks)}},
               {"scan_finish", {count, 1, 1}, {256, 1, 1}, {buffer(1), buffer(2)}}});
  work.loop("scan", {buffer(0), buffer(1), scalar(count)});
  work.expectations.push_back(std::move(sums));
  return work;
}

}  // namespace metalloid::tool

#include "workloads.hpp"

namespace metalloid::tool {

using peer::buffer, peer::scalar;

Workload make_histogram(bool quick) {
  const uint32_t count = quick ? 1 << 14 : 1 << 24, threads = quick ? 1 << 10 : 1 << 14;
  Workload work{.name = "histogram", .size = quick ? "16 KiB" : "16 MiB", .source = "histogram", .unit = "GB/s"};
  work.work = count;
  std::vector<uint8_t> bytes(count);
  Expectation counts{.buffer = 1, .element = Element::u32, .values = std::vector<double>(256)};
  Numbers numbers(15);
  for (uint8_t& byte : bytes) {
    byte = static_cast<uint8_t>(numbers.integer() >> (numbers.integer() % 8 + 24));  // small ones are more frequent
    ++counts.values[byte];
  }
  work.add_input(bytes_of(bytes));
  work.add_changing(bytes_of(std::vector<uint32_t>(256)));
  const std::vector<peer::Argument> arguments = {buffer(0), buffer(1), scalar(count)};
  work.launch({{"histogram", {threads, 1, 1}, {256, 1, 1}, arguments}});
  work.loop("histogram", arguments);
  work.expectations.push_back(std::move(counts));
  return work;
}

}  // namespace metalloid::tool

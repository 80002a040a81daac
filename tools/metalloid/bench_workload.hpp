// What a benchmark of kernels runs: the data, who does what with it, how much work that is, and what must come out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/small_float.hpp"
#include "peer/launch.hpp"

namespace metalloid::tool {

// Who takes part. The machine is what it can do at most, measured with the same clock.
enum class Contender { metal, opencl, openmp, openblas, machine };
inline constexpr Contender contenders[] = {Contender::metal, Contender::opencl, Contender::openmp, Contender::openblas,
                                           Contender::machine};
inline constexpr size_t contender_count = std::size(contenders);

enum class Element { f32, f16, u32, u8 };

struct WorkBuffer {
  std::vector<std::byte> contents;
  bool changes = false;  // the kernel reads and writes it: it is restored before every run
};

// What a buffer must hold afterwards, up to `absolute + relative * |expected|`; up to `outliers` of the numbers may
// differ by more, where a rounding decides which way a computation goes.
struct Expectation {
  uint32_t buffer = 0;
  Element element = Element::f32;
  std::vector<double> values = {};
  double absolute = 0, relative = 0, outliers = 0;
};

struct Part {
  Contender contender;
  std::vector<peer::Launch> launches;
  double work = 0;      // 0: as much as the workload says
  bool checked = true;  // whether it computes what is expected
};

struct Workload {
  std::string name = {}, size = {};
  std::string source = {};  // the kernels are in source.metal and source.cl
  double work = 0;          // in units of `unit` seconds
  std::string unit = {};    // what 10^9 of the work in a second is called
  std::vector<WorkBuffer> buffers = {};
  std::vector<Part> parts = {};
  std::vector<Expectation> expectations = {};

  uint32_t add_input(std::vector<std::byte> contents) { return add({std::move(contents), false}); }
  uint32_t add_output(size_t bytes) { return add({std::vector<std::byte>(bytes, std::byte{0xff}), false}); }
  uint32_t add_changing(std::vector<std::byte> contents) { return add({std::move(contents), true}); }

  // The same launches in Metal and in OpenCL, and one loop.
  void launch(std::vector<peer::Launch> launches) {
    parts.push_back({Contender::metal, launches});
    parts.push_back({Contender::opencl, std::move(launches)});
  }
  void loop(std::string name, std::vector<peer::Argument> arguments) {
    parts.push_back({Contender::openmp, {{std::move(name), {1, 1, 1}, {1, 1, 1}, std::move(arguments)}}});
  }

 private:
  uint32_t add(WorkBuffer buffer) {
    buffers.push_back(std::move(buffer));
    return static_cast<uint32_t>(buffers.size() - 1);
  }
};

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

// Numbers that look random and are the same in every run.
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed) {}
  uint32_t integer() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t mixed = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return static_cast<uint32_t>(mixed >> 32);
  }
  float between(float low, float high) { return low + (high - low) * static_cast<float>(integer() >> 8) * 0x1p-24f; }
  std::vector<float> floats(size_t count, float low = -1, float high = 1) {
    std::vector<float> values(count);
    for (float& value : values) value = between(low, high);
    return values;
  }
  std::vector<uint32_t> permutation(uint32_t count) {
    std::vector<uint32_t> values(count);
    for (uint32_t i = 0; i < count; ++i) values[i] = i;
    for (uint32_t i = count; i > 1; --i) std::swap(values[i - 1], values[integer() % i]);
    return values;
  }

 private:
  uint64_t state_;
};

// Every workload there is, in the order of the table; made one at a time, because some are large. A quick one is small.
struct WorkloadEntry {
  std::string_view name;
  Workload (*make)(bool quick);
};
std::span<const WorkloadEntry> all_workloads();

// The text of kernels that were embedded at build time.
std::string_view kernel_source(std::string_view file);

}  // namespace metalloid::tool

// What the tests of shader validation share: a kernel with validation on, arguments made to order, and the places that
// comments mark in its source.
#pragma once

#include <algorithm>
#include <deque>
#include <ostream>

#include "run_kernel.hpp"

namespace metalloid::cpu {

// Memory for an argument: `bytes` of it, holding 0, 1, 2, ... as uint; threadgroup memory; or nothing at all.
struct MadeArgument {
  enum class Kind { memory, threadgroup, nothing } kind;
  uint64_t bytes;
};
inline MadeArgument memory(uint64_t bytes) {
  return {MadeArgument::Kind::memory, bytes};
}
inline MadeArgument threadgroup(uint64_t bytes) {
  return {MadeArgument::Kind::threadgroup, bytes};
}
inline MadeArgument nothing() {
  return {MadeArgument::Kind::nothing, 0};
}

// A case of a table of kernels; each is called f.
struct KernelCase {
  const char* name;
  device::Size grid, threadgroup;
  std::vector<MadeArgument> arguments;
  const char* source;
  const char* mistake = "";  // what reports begin with
  const char* says = "";     // something that a report says

  friend void PrintTo(const KernelCase& c, std::ostream* out) { *out << c.name; }
};

class ValidatedKernel {
 public:
  explicit ValidatedKernel(std::string_view source, std::vector<device::ConstantValue> constants = {},
                           bool validate = true)
      : kernel(request(source, std::move(constants), validate)) {
    EXPECT_TRUE(kernel.pipeline) << kernel.error;
  }

  void run(device::Size grid, device::Size size, const std::vector<MadeArgument>& made) {
    if (!kernel.pipeline) return;
    Launch launch{grid, size, {}};
    for (const MadeArgument& argument : made) {
      if (argument.kind == MadeArgument::Kind::nothing) launch.arguments.push_back({0, 0});
      if (argument.kind == MadeArgument::Kind::threadgroup) launch.arguments.push_back({0, argument.bytes});
      if (argument.kind != MadeArgument::Kind::memory) continue;
      std::vector<uint32_t>& values = buffers.emplace_back(argument.bytes / 4 + 1);
      for (uint32_t i = 0; i < values.size(); ++i) values[i] = i;
      launch.arguments.push_back({reinterpret_cast<uint64_t>(values.data()), argument.bytes});
    }
    fault = kernel.run(launch);
  }

  std::string reports() const {
    std::string text;
    for (const device::Log& log : kernel.logs) text += log.message + "\n";
    return text;
  }

  Kernel kernel;
  std::deque<std::vector<uint32_t>> buffers;
  std::string fault;

 private:
  static device::PipelineRequest request(std::string_view source, std::vector<device::ConstantValue> constants,
                                         bool validate) {
    device::PipelineRequest request;
    request.kernel = {library_of(source), "f", std::move(constants)};
    request.validate = validate;
    return request;
  }
};

// The line of a source as the compiler counts it that has this text; 0 if there is none.
inline uint32_t line_of(std::string_view source, std::string_view text) {
  constexpr uint32_t lines_before = 2;
  const size_t at = source.find(text);
  if (at == std::string_view::npos) return 0;
  return lines_before + 1 + static_cast<uint32_t>(std::count(source.begin(), source.begin() + at, '\n'));
}

}  // namespace metalloid::cpu

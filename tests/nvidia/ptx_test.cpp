// Every kernel that the CPU's engines are compared on becomes PTX for the oldest architecture there is code for, for
// the first with all kinds of tensor cores that we use, and for the newest; LLVM's verifier and, where it is installed,
// NVIDIA's assembler take it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "assembler.hpp"
#include "differ/run.hpp"
#include "nvidia/compile.hpp"

namespace metalloid::nvidia {
namespace {

std::vector<std::string> files() {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(METALLOID_SOURCE_DIR "/tests/cpu/kernels"))
    if (entry.path().extension() == ".metal") found.push_back(entry.path().stem().string());
  std::ranges::sort(found);
  return found;
}

class Ptx : public testing::TestWithParam<std::tuple<std::string, uint32_t>> {};

TEST_P(Ptx, IsMadeOfEveryKernelAndTakenByTheAssembler) {
  const auto& [file, capability] = GetParam();
  std::stringstream source;
  source << std::ifstream(METALLOID_SOURCE_DIR "/tests/cpu/kernels/" + file + ".metal").rdbuf();
  auto library = differ::compile_source(source.str());
  ASSERT_TRUE(library) << library.error();
  const auto assembler = find_assembler();
  const Architecture architecture{capability};
  std::string all;
  for (const Function& function : (*library)->functions()) {
    if (function.kind != FunctionKind::kernel) continue;
    device::PipelineRequest request;
    request.kernel = {*library, function.name, {}};
    const auto slots = device::argument_slots(function, {});
    for (const Assumptions& assumptions : {Assumptions{}, Assumptions{.is_even = true, .are_buffers_apart = true}}) {
      auto kernel = compile(request, slots, architecture, assumptions);
      ASSERT_TRUE(kernel) << function.name << ": " << kernel.error();
      EXPECT_EQ(kernel->uses_argument.size(), slots.size());
      const bool waits_first =
          kernel->ptx.find("{\n\tgriddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;\n") != std::string::npos;
      EXPECT_EQ(waits_first, overlaps_launches(architecture)) << function.name;
      if (assembler) {
        EXPECT_EQ(problem_of(kernel->ptx, architecture.name(), *assembler), "") << function.name;
      }
    }
  }
  if (!assembler) GTEST_SKIP() << "there is no ptxas; install NVIDIA's CUDA toolkit to have PTX assembled";
}

INSTANTIATE_TEST_SUITE_P(Of, Ptx, testing::Combine(testing::ValuesIn(files()), testing::Values(75u, 80u, 90u)),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_sm_" + std::to_string(std::get<1>(info.param));
                         });

// The texels' code is there once, however often a filter samples.
TEST(PtxOfTextures, GrowsLittleWithEverySample) {
  const auto length_with = [](int samples) {
    std::string sum = "0";
    for (int i = 0; i < samples; ++i) sum += " + in.sample(s, where + " + std::to_string(i) + ")";
    auto library = differ::compile_source(
        "#include <metal_stdlib>\nusing namespace metal;\n"
        "kernel void filter(texture2d<float> in, texture2d<float, access::write> out,\n"
        "                   uint2 at [[thread_position_in_grid]]) {\n"
        "  constexpr sampler s(filter::linear);\n"
        "  const float2 where = float2(at) / 64;\n"
        "  out.write(" +
        sum + ", at);\n}\n");
    if (!library) throw std::runtime_error(library.error());
    device::PipelineRequest request;
    request.kernel = {*library, "filter", {}};
    const auto slots = device::argument_slots((*library)->functions().front(), {});
    auto kernel = compile(request, slots, Architecture{90}, {});
    if (!kernel) throw std::runtime_error(kernel.error());
    return kernel->ptx.size();
  };
  const size_t two = length_with(2);
  EXPECT_LT(length_with(16), two + two / 2);
}

}  // namespace
}  // namespace metalloid::nvidia

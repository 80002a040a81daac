// What shader validation's reports say, how many there are, and what it costs.
#include <chrono>

#include "device/allocations.hpp"
#include "validated_kernel.hpp"

namespace metalloid::cpu {
namespace {

// Known to shader validation as long as it lives, as the API's buffers are.
class Registered {
 public:
  Registered(std::vector<uint32_t>& values, std::string label)
      : address_(reinterpret_cast<uint64_t>(values.data())), bytes_(values.size() * sizeof(uint32_t)) {
    device::Allocations::shared().add({address_, bytes_, std::move(label)});
  }
  ~Registered() { device::Allocations::shared().remove(address_, bytes_); }

 private:
  uint64_t address_, bytes_;
};

TEST(ValidationReport, NamesEverythingAboutARace) {
  ValidatedKernel kernel(R"(
kernel void f(device uint* out, uint2 i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
  threadgroup uint shared[64];
  shared[l] = l;
  out[i.y * 16 + i.x] = shared[63 - l];
})");
  kernel.run({16, 8, 1}, {8, 8, 1}, {memory(512)});
  EXPECT_EQ(kernel.reports(),
            "program_source:6:13: data race in kernel \"f\": bytes 128..131 of threadgroup variable \"shared\"\n"
            "  write by thread (0, 4, 0) of threadgroup (0, 0, 0), (0, 4, 0) in the grid, after\n"
            "  program_source:7:25: read by thread (7, 3, 0) of threadgroup (0, 0, 0), (7, 3, 0) in the grid\n"
            "  hint: put threadgroup_barrier(mem_flags::mem_threadgroup) between them\n");
  ASSERT_EQ(kernel.kernel.logs.size(), 1u);
  EXPECT_EQ(kernel.kernel.logs[0].location, (SourceLocation{"program_source", 6, 13}));
  EXPECT_EQ(kernel.kernel.logs[0].kernel, "f");
}

TEST(ValidationReport, GivesTheLabelOfABuffer) {
  std::vector<uint32_t> weights(4);
  const Registered registered(weights, "layer 3, weights");
  ValidatedKernel kernel("kernel void f(device uint* data, uint i [[thread_position_in_grid]]) { data[i] = i; }");
  EXPECT_EQ(kernel.kernel.run({{5, 1, 1}, {5, 1, 1}, {buffer(weights)}}), "");
  EXPECT_NE(kernel.reports().find("buffer 0 \"data\" (label \"layer 3, weights\"), which has 16 bytes"),
            std::string::npos)
      << kernel.reports();
  EXPECT_NE(kernel.reports().find("thread (4, 0, 0)"), std::string::npos) << kernel.reports();
}

TEST(ValidationReport, ABufferBoundWithAnOffsetHasWhatIsBeforeIt) {
  std::vector<uint32_t> data = {1, 2, 3, 4}, out(4);
  const Registered registered(data, "");
  const device::Argument last{reinterpret_cast<uint64_t>(data.data() + 3), 4};
  const char* source = R"(
kernel void f(device const uint* data, device uint* out, uint i [[thread_position_in_grid]]) {
  out[i] = data[-int(i)];
})";
  ValidatedKernel reverse(source);
  EXPECT_EQ(reverse.kernel.run({{4, 1, 1}, {4, 1, 1}, {last, buffer(out)}}), "");
  EXPECT_EQ(reverse.reports(), "");
  EXPECT_EQ(out, (std::vector<uint32_t>{4, 3, 2, 1}));

  ValidatedKernel too_far(source);
  out.resize(5);
  EXPECT_EQ(too_far.kernel.run({{5, 1, 1}, {5, 1, 1}, {last, buffer(out)}}), "");
  EXPECT_NE(too_far.reports().find("bytes -16..-13 of buffer 0"), std::string::npos) << too_far.reports();
}

TEST(ValidationReport, BadWritesGoNowhereAndBadReadsGiveZero) {
  std::vector<uint32_t> data = {1, 2, 3, 4, 5, 6, 7, 8}, out(8, 99);
  ValidatedKernel kernel(R"(
kernel void f(device uint* data, device uint* out, uint i [[thread_position_in_grid]]) {
  out[i] = data[i];
  data[i] = 100;
})");
  const uint64_t half = 16;
  EXPECT_EQ(kernel.kernel.run(
                {{8, 1, 1}, {8, 1, 1}, {device::Argument{reinterpret_cast<uint64_t>(data.data()), half}, buffer(out)}}),
            "");
  EXPECT_EQ(data, (std::vector<uint32_t>{100, 100, 100, 100, 5, 6, 7, 8}));
  EXPECT_EQ(out, (std::vector<uint32_t>{1, 2, 3, 4, 0, 0, 0, 0}));
}

TEST(ValidationReport, BadReadsOfTheWidestTypesGiveZeroToo) {
  std::vector<uint64_t> in(8, 7), out(64, 99);
  for (int i = 0; i < 8; ++i) {  // each has its own place where bad accesses do no harm
    ValidatedKernel kernel(R"(
struct Large { long4 parts[12]; };
kernel void f(device const long4* in, device long4* out) {
  out[0] = in[100];
  *(device Large*)(out + 1) = *(device const Large*)(in + 1000);
})");
    EXPECT_EQ(kernel.kernel.run({{1, 1, 1}, {1, 1, 1}, {buffer(in), buffer(out)}}), "");
    EXPECT_EQ(std::count(out.begin(), out.begin() + 52, 0u), 52);
    EXPECT_EQ(out[52], 99u);
  }
}

TEST(ValidationReport, KnowsWhereBindlessPointersMayPoint) {
  const char* source = R"(
struct Arguments { device const uint* in; device uint* out; };
kernel void f(constant Arguments& arguments, uint i [[thread_position_in_grid]]) {
  arguments.out[i] = arguments.in[i];  // here
})";
  std::vector<uint32_t> in(8, 3), out(8);
  const Registered registered_in(in, "input"), registered_out(out, "output");
  struct {
    const void* in;
    void* out;
  } arguments = {in.data(), out.data()};

  ValidatedKernel good(source);
  EXPECT_EQ(good.kernel.run({{8, 1, 1}, {8, 1, 1}, {bytes(arguments)}}), "");
  EXPECT_EQ(good.reports(), "");
  EXPECT_EQ(out, in);

  ValidatedKernel too_far(source);
  EXPECT_EQ(too_far.kernel.run({{9, 1, 1}, {9, 1, 1}, {bytes(arguments)}}), "");
  ASSERT_FALSE(too_far.kernel.logs.empty());
  EXPECT_EQ(too_far.kernel.logs[0].location.line, line_of(source, "// here"));
  EXPECT_NE(too_far.reports().find("which is in no buffer"), std::string::npos) << too_far.reports();

  arguments.in = reinterpret_cast<const void*>(0x123456);
  ValidatedKernel garbage(source);
  EXPECT_EQ(garbage.kernel.run({{8, 1, 1}, {8, 1, 1}, {bytes(arguments)}}), "");
  EXPECT_NE(garbage.reports().find("read of 4 bytes at address 0x123456"), std::string::npos) << garbage.reports();
}

TEST(ValidationReport, FindsRacesThroughBindlessPointers) {
  std::vector<uint32_t> values(8);
  const Registered registered(values, "shared by all");
  const uint64_t pointer = reinterpret_cast<uint64_t>(values.data());
  ValidatedKernel kernel(R"(
struct Arguments { device uint* values; };
kernel void f(constant Arguments& arguments, uint i [[thread_position_in_grid]]) { arguments.values[i / 2] = i; })");
  EXPECT_EQ(kernel.kernel.run({{16, 1, 1}, {16, 1, 1}, {bytes(pointer)}}), "");
  EXPECT_NE(kernel.reports().find("data race in kernel \"f\": bytes 0..3 of the buffer with label \"shared by all\""),
            std::string::npos)
      << kernel.reports();
}

TEST(ValidationReport, ComesOnceForEachPlaceAndDispatch) {
  ValidatedKernel kernel(R"(
kernel void f(device uint* data, uint i [[thread_position_in_grid]]) {
  data[i + 1000] = i;
  data[i + 2000] = i;
})");
  kernel.run({1000, 1, 1}, {100, 1, 1}, {memory(4)});
  EXPECT_EQ(kernel.kernel.logs.size(), 2u) << kernel.reports();
  kernel.run({1000, 1, 1}, {100, 1, 1}, {memory(4)});
  EXPECT_EQ(kernel.kernel.logs.size(), 4u) << kernel.reports();
}

TEST(ValidationReport, StopsAtAHundredPerSubmissionAndCountsTheRest) {
  std::string source = "kernel void f(device uint* data, uint i [[thread_position_in_grid]]) {\n";
  for (int i = 0; i < 130; ++i) source += "  data[i + " + std::to_string(100 + i) + "] = i;\n";
  ValidatedKernel kernel(source + "}");
  kernel.run({1, 1, 1}, {1, 1, 1}, {memory(4)});
  ASSERT_EQ(kernel.kernel.logs.size(), 101u);
  EXPECT_EQ(kernel.kernel.logs[100].message, "shader validation: 30 more reports were left out");
}

TEST(ValidationReport, IsTheSameEveryTime) {
  std::string first;
  for (int i = 0; i < 5; ++i) {
    ValidatedKernel kernel(R"(
kernel void f(device uint* data, uint i [[thread_position_in_grid]], uint l [[thread_position_in_threadgroup]]) {
  data[i / 3] += l;
  if (l < 20) threadgroup_barrier(mem_flags::mem_device);
  data[(i * 7) % 64] = l;
})");
    kernel.run({256, 1, 1}, {32, 1, 1}, {memory(300)});
    EXPECT_FALSE(kernel.reports().empty());
    if (i == 0) first = kernel.reports();
    EXPECT_EQ(kernel.reports(), first);
  }
}

TEST(ValidationReport, VisibleFunctionsAreCheckedToo) {
  const char* source = R"(
[[visible]] uint element(device const uint* in, uint i) {
  return in[i];  // here
}
kernel void f(visible_function_table<uint(device const uint*, uint)> table [[buffer(2)]],
              device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
              uint i [[thread_position_in_grid]]) {
  out[i] = table[0](in, i);
})";
  device::PipelineRequest request;
  request.kernel = {library_of(source), "f", {}};
  request.linked = {{request.kernel.library, "element", {}}};
  request.validate = true;
  Kernel kernel(request);
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<uint32_t> in(4), out(8);
  const Registered registered(in, "");
  struct {
    uint64_t size, entry;
  } table = {1, kernel.pipeline->function_address("element")};
  EXPECT_EQ(kernel.run({{5, 1, 1}, {5, 1, 1}, {bytes(table), buffer(in), buffer(out)}}), "");
  ASSERT_EQ(kernel.logs.size(), 1u);
  EXPECT_EQ(kernel.logs[0].location.line, line_of(source, "// here")) << kernel.logs[0].message;
}

TEST(ValidationReport, CodeThatWasNotOptimisedIsUnderstood) {
  const char* source = R"(
#include <metal_stdlib>
using namespace metal;
inline uint element(device const uint* in, uint i) { return in[i]; }
kernel void f(device const uint* in, device uint* out, uint i [[thread_position_in_grid]]) {
  threadgroup uint shared[8];
  device const uint* from = in + 1;
  shared[i] = element(from, i);
  out[i] = shared[7 - i];
})";
  CompileOptions options;
  options.cache = false;
  options.optimization = Optimization::none;
  device::PipelineRequest request;
  request.kernel = {compile(source, options).library, "f", {}};
  request.validate = true;
  ASSERT_TRUE(request.kernel.library);
  Kernel kernel(request);
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<uint32_t> in(8), out(8);
  EXPECT_EQ(kernel.run({{8, 1, 1}, {8, 1, 1}, {buffer(in), buffer(out)}}), "");
  std::string reports;
  for (const device::Log& log : kernel.logs) reports += log.message + "\n";
  EXPECT_EQ(kernel.logs.size(), 2u) << reports;
  EXPECT_NE(reports.find("bytes 32..35 of buffer 0 \"in\""), std::string::npos) << reports;
  EXPECT_NE(reports.find("of threadgroup variable \"shared\""), std::string::npos) << reports;
}

TEST(ValidationReport, AMillionThreadsTakeSeconds) {
  ValidatedKernel kernel(R"(
kernel void f(device const float* a, device const float* b, device float* c, uint i [[thread_position_in_grid]]) {
  c[i] = a[i] + b[i];
})");
  constexpr uint32_t count = 1 << 20;
  const auto start = std::chrono::steady_clock::now();
  kernel.run({count, 1, 1}, {256, 1, 1}, {memory(4 * count), memory(4 * count), memory(4 * count)});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));  // 0.5 s on an idle machine
  EXPECT_EQ(kernel.reports(), "");
}

}  // namespace
}  // namespace metalloid::cpu

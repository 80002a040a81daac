// Every kind of argument reaches its parameter; function constants; visible functions.
#include "device/texture.hpp"
#include "run_kernel.hpp"

namespace metalloid::cpu {
namespace {

TEST(Arguments, StructsReferencesAndPointersAreReadInPlace) {
  Kernel kernel(R"(
    struct Params { int n; float scale; float4 offset; half2 pair; };
    struct Node { device float* data; constant Params* params; uint n; };
    kernel void f(device float* out [[buffer(2)]], constant Params& p [[buffer(0)]], constant float* table [[buffer(1)]],
                  device const Node& node [[buffer(3)]]) {
      out[0] = p.n * p.scale + p.offset.w + p.pair.y;
      out[1] = table[3];
      out[2] = node.data[node.n - 1] + node.params->n;
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  struct alignas(16) Params {
    int n;
    float scale;
    float unused[2];
    float offset[4];
    uint16_t pair[2];
  } params{3, 2.5f, {}, {1, 2, 3, 4}, {0x3c00, 0x4000}};
  std::vector<float> out(3), table{1, 2, 3, 4}, data{7, 8, 9};
  struct Node {
    float* data;
    const Params* params;
    uint32_t n;
  } node{data.data(), &params, 3};
  EXPECT_EQ(kernel.run({{1, 1, 1}, {1, 1, 1}, {buffer(out), bytes(params), buffer(table), bytes(node)}}), "");
  EXPECT_EQ(out, (std::vector<float>{13.5, 4, 12}));
}

TEST(Arguments, TexturesArriveAloneAndInArrays) {
  Kernel kernel(R"(
    kernel void f(texture2d<float> one [[texture(0)]], array<texture2d<float, access::read>, 3> many [[texture(4)]],
                  texture2d<float, access::write> to [[texture(1)]], device uint* out) {
      out[0] = one.get_width();
      for (uint i = 0; i < 3; ++i) out[1 + i] = many[i].get_width();
      out[4] = to.get_width();
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  ASSERT_EQ(kernel.pipeline->slots.size(), 6u);
  std::vector<device::TextureDescription> textures(5);
  for (unsigned i = 0; i < 5; ++i) {
    textures[i] = {};
    textures[i].type = 2;
    textures[i].width = 10 + i;
    textures[i].height = textures[i].depth = textures[i].slices = textures[i].levels = textures[i].samples = 1;
  }
  auto handle = [&](unsigned i) { return device::Argument{reinterpret_cast<uint64_t>(&textures[i]), 0}; };
  std::vector<uint32_t> out(5);
  EXPECT_EQ(kernel.run({{1, 1, 1}, {1, 1, 1}, {handle(0), handle(1), handle(2), handle(3), handle(4), buffer(out)}}),
            "");
  EXPECT_EQ(out, (std::vector<uint32_t>{10, 11, 12, 13, 14}));
}

TEST(Arguments, SwitchedOffByAConstantHaveNoSlot) {
  const auto library = library_of(R"(
    constant bool has_bias [[function_constant(0)]];
    kernel void f(device float* out, device const float* bias [[buffer(1), function_constant(has_bias)]],
                  device const float* in [[buffer(2)]], uint i [[thread_position_in_grid]]) {
      float x = in[i];
      if (has_bias) x += bias[i];
      out[i] = x;
    })");
  std::vector<float> out(4), bias{10, 20, 30, 40}, in{1, 2, 3, 4};
  Kernel with(library, {constant(0, true)}), without(library, {constant(0, false)});
  ASSERT_TRUE(with.pipeline && without.pipeline) << with.error << without.error;
  EXPECT_EQ(with.run({{4, 1, 1}, {4, 1, 1}, {buffer(out), buffer(bias), buffer(in)}}), "");
  EXPECT_EQ(out, (std::vector<float>{11, 22, 33, 44}));
  EXPECT_EQ(without.run({{4, 1, 1}, {4, 1, 1}, {buffer(out), buffer(in)}}), "");
  EXPECT_EQ(out, in);
}

TEST(FunctionConstants, OfEveryTypeReachTheKernelWithWhatIsDerivedFromThem) {
  Kernel kernel(R"(
    constant bool b [[function_constant(0)]];
    constant int i [[function_constant(1)]];
    constant float x [[function_constant(2)]];
    constant half h [[function_constant(3)]];
    constant ushort2 u [[function_constant(4)]];
    constant float4 v [[function_constant(5)]];
    constant char c [[function_constant(6)]];
    constant float3 w [[function_constant(7)]];
    constant int twice = i * 2 + (b ? 1 : 0);
    constant float4 scaled = v * 2.0f;
    constant float root = sqrt(float(i) - 4) + exp2(float(u.x));
    constant float2x2 diagonal = float2x2(x);
    constant int unset [[function_constant(9)]];
    constant int or_default = is_function_constant_defined(unset) ? unset : 16;
    kernel void f(device float* out) {
      out[0] = twice; out[1] = x; out[2] = h; out[3] = u.y; out[4] = scaled.w; out[5] = c; out[6] = or_default;
      out[7] = w.z; out[8] = is_function_constant_defined(i) ? 1 : 0; out[9] = root;
      out[10] = diagonal[1][1] + diagonal[0][1];
    })",
                {constant(0, true), constant(1, 20), constant(2, 1.5f), constant<uint16_t>(3, 0x4200),
                 constant(4, std::array<uint16_t, 2>{5, 6}), constant(5, std::array<float, 4>{1, 2, 3, 4}),
                 constant<int8_t>(6, -3), constant(7, std::array<float, 4>{7, 8, 9, 0})});
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<float> out(11);
  EXPECT_EQ(kernel.run({{1, 1, 1}, {1, 1, 1}, {buffer(out)}}), "");
  EXPECT_EQ(out, (std::vector<float>{41, 1.5, 3, 6, 8, -3, 16, 9, 1, 36, 1.5}));
}

TEST(FunctionConstants, OfBooleansAreTrueForEveryByteButZero) {
  const char* source = R"(
    constant bool on [[function_constant(0)]];
    constant bool4 many [[function_constant(1)]];
    constant int derived = on ? 1 : 0;
    kernel void f(device int* out) {
      out[0] = on; out[1] = derived; out[2] = on && many.y; out[3] = int(many.x) + many.y + many.z + many.w;
    })";
  Kernel kernel(source, {constant<uint8_t>(0, 2), constant(1, std::array<uint8_t, 4>{0, 255, 4, 1})});
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<int> out(4);
  EXPECT_EQ(kernel.run({{1, 1, 1}, {1, 1, 1}, {buffer(out)}}), "");
  EXPECT_EQ(out, (std::vector<int>{1, 1, 1, 3}));
}

TEST(FunctionConstants, OfThreeComponentsTakeTheRoomOfFour) {
  Kernel kernel(
      R"(
    constant char3 c [[function_constant(0)]];
    constant half3 h [[function_constant(1)]];
    constant bool3 b [[function_constant(2)]];
    constant long3 l [[function_constant(3)]];
    constant ulong big [[function_constant(4)]];
    kernel void f(device long* out) {
      out[0] = c.z; out[1] = long(h.z); out[2] = b.x * 4 + b.y * 2 + b.z; out[3] = l.z; out[4] = long(big);
    })",
      {constant(0, std::array<int8_t, 4>{1, 2, -3, 99}), constant(1, std::array<uint16_t, 4>{0, 0, 0x4500, 0x7c00}),
       constant(2, std::array<uint8_t, 4>{1, 0, 1, 0}), constant(3, std::array<int64_t, 4>{1, 2, int64_t{-1} << 40, 5}),
       constant(4, uint64_t{1} << 63)});
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<int64_t> out(5);
  EXPECT_EQ(kernel.run({{1, 1, 1}, {1, 1, 1}, {buffer(out)}}), "");
  EXPECT_EQ(out, (std::vector<int64_t>{-3, 5, 5, int64_t{-1} << 40, INT64_MIN}));
}

TEST(FunctionConstants, SizeThreadgroupArrays) {
  const auto library = library_of(R"(
    constant int n [[function_constant(0)]];
    kernel void f(device int* out, uint l [[thread_index_in_threadgroup]]) {
      threadgroup int ours[n];
      threadgroup half more[n * 2];
      ours[l] = l; more[2 * l + 1] = l;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      out[l] = ours[n - 1 - l] * 1000 + int(more[2 * l + 1]);
    })");
  Kernel kernel(library, {constant(0, 40)}), huge(library, {constant(0, 20000)}), negative(library, {constant(0, -1)});
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  EXPECT_EQ(kernel.pipeline->static_threadgroup_memory, 320u);
  std::vector<int> out(40);
  EXPECT_EQ(kernel.run({{40, 1, 1}, {40, 1, 1}, {buffer(out)}}), "");
  for (int l = 0; l < 40; ++l) EXPECT_EQ(out[l], (39 - l) * 1000 + l);
  EXPECT_EQ(huge.error, "'f' needs 160000 bytes of threadgroup memory; the device has 32768");
  EXPECT_NE(negative.error.find("impossible size"), std::string::npos) << negative.error;
}

TEST(FunctionConstants, ThatAreMissingOrOfTheWrongSizeAreNamed) {
  const auto library = library_of(R"(
    constant int rows [[function_constant(3)]];
    kernel void f(device int* out) { out[0] = rows; })");
  EXPECT_EQ(Kernel(library).error, "'f' needs a value for the function constant 'rows' (index 3), and none was given");
  EXPECT_EQ(Kernel(library, {constant<int64_t>(3, 1)}).error,
            "the function constant 'rows' (index 3) of 'f' is a int of 4 bytes; its value has 8");
}

TEST(VisibleFunctions, AreCalledThroughTables) {
  const auto library = library_of(R"(
    constant float factor [[function_constant(0)]];
    [[visible]] float twice(float x) { return 2 * x; }
    [[visible]] float times(float x) { return factor * x; }
    [[visible]] float over_lanes(float x) { return simd_sum(x); }
    [[visible]] float factorial(float x) { return x < 2 ? 1 : x * factorial(x - 1); }
    kernel void f(device float* out, visible_function_table<float(float)> table [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
      out[i] = table.size() > i % 4 ? table[i % 4](i) : -1;
    })");
  device::PipelineRequest request;
  request.kernel = {library, "f", {}};
  request.linked = {{library, "twice", {}},
                    {library, "times", {constant(0, 10.0f)}},
                    {library, "over_lanes", {}},
                    {library, "factorial", {}}};
  Kernel kernel(request);
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  EXPECT_EQ(kernel.pipeline->function_address("unknown"), 0u);
  std::vector<uint64_t> table{4};
  for (const auto& function : request.linked) table.push_back(kernel.pipeline->function_address(function.name));
  std::vector<float> out(12);
  EXPECT_EQ(kernel.run({{12, 1, 1}, {12, 1, 1}, {buffer(out), buffer(table)}}), "");
  const float factorials[] = {6, 5040, 39916800};
  for (uint32_t i = 0; i < 12; ++i) {
    const float expected[] = {2.0f * i, 10.0f * i, 2 + 6 + 10, factorials[i / 4]};
    EXPECT_EQ(out[i], expected[i % 4]) << i;
  }
}

TEST(VisibleFunctions, MeetOnlyInTheSameFunction) {
  const auto library = library_of(R"(
    [[visible]] uint sum(uint x) { return simd_sum(x); }
    [[visible]] uint greatest(uint x) { return simd_max(x); }
    [[visible]] uint pick(uint x) { return simd_shuffle(ulong(x) << 32, ushort(x / 3 * 3 + 2)) >> 32; }
    kernel void f(device uint* out, visible_function_table<uint(uint)> table [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
      out[i] = table[i % 3](i);
    })");
  device::PipelineRequest request;
  request.kernel = {library, "f", {}};
  request.linked = {{library, "sum", {}}, {library, "greatest", {}}, {library, "pick", {}}};
  Kernel kernel(request);
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<uint64_t> table{3};
  for (const auto& function : request.linked) table.push_back(kernel.pipeline->function_address(function.name));
  std::vector<uint32_t> out(12);
  EXPECT_EQ(kernel.run({{12, 1, 1}, {12, 1, 1}, {buffer(out), buffer(table)}}), "");
  for (uint32_t i = 0; i < 12; ++i) {
    const uint32_t expected[] = {0 + 3 + 6 + 9, 10, i};
    EXPECT_EQ(out[i], expected[i % 3]) << i;
  }
}

TEST(VisibleFunctions, MayAlsoBeCalledByName) {
  const auto library = library_of(R"(
    [[visible]] int twice(int x) { return 2 * x; }
    [[visible]] int four_times(int x) { return twice(twice(x)); }
    kernel void f(device int* out, visible_function_table<int(int)> table [[buffer(1)]]) {
      out[0] = twice(5) + table[0](100) + table[1](1000);
    })");
  device::PipelineRequest request;
  request.kernel = {library, "f", {}};
  request.linked = {{library, "twice", {}}, {library, "four_times", {}}};
  Kernel kernel(request);
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<uint64_t> table{2};
  for (const auto& function : request.linked) table.push_back(kernel.pipeline->function_address(function.name));
  std::vector<int> out(1);
  EXPECT_EQ(kernel.run({{1, 1, 1}, {1, 1, 1}, {buffer(out), buffer(table)}}), "");
  EXPECT_EQ(out[0], 10 + 200 + 4000);
}

TEST(Logging, GivesMessagesToTheSubmission) {
  Kernel kernel(R"(
    #include <metal_logging>
    constant os_log mine("com.example", "test");
    kernel void f(device int* out, uint i [[thread_position_in_grid]]) {
      out[i] = 1;
      if (i == 3) { os_log_default.log_error("thread %u of %s: %f", i, "f", 2.5f); mine.log("quiet"); }
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<int> out(8);
  EXPECT_EQ(kernel.run({{8, 1, 1}, {8, 1, 1}, {buffer(out)}}), "");
  ASSERT_EQ(kernel.logs.size(), 2u);
  EXPECT_EQ(kernel.logs[0].message, "thread 3 of f: 2.500000");
  EXPECT_EQ(kernel.logs[0].level, 4);
  EXPECT_EQ(kernel.logs[0].kernel, "f");
  EXPECT_EQ(kernel.logs[1].subsystem, "com.example");
  EXPECT_EQ(kernel.logs[1].category, "test");
}

}  // namespace
}  // namespace metalloid::cpu

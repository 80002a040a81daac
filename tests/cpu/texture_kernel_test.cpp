// Textures, samplers and function tables as kernels use them. What single builtins do is tested beside their bodies
// (tests/builtins); here it is that Metal's members reach them.
#include <cmath>

#include "../builtins/test_texture.hpp"
#include "device/sampler.hpp"
#include "run_kernel.hpp"

namespace metalloid::cpu {
namespace {

using namespace builtins;

device::Argument handle(const TestTexture& texture) {
  return {texture.handle(), 0};
}
device::Argument sampler(const device::Sampler& state) {
  return {device::pack(state), 0};
}

TEST(TextureKernel, ReadsAndWritesTexels) {
  Kernel kernel(R"(
    kernel void f(texture2d<half, access::read> in, texture2d<float, access::write> out, uint2 at [[thread_position_in_grid]]) {
      if (at.x >= out.get_width() || at.y >= out.get_height()) return;
      const half4 c = in.read(at);
      out.write(float4(1 - float3(c.bgr), float(c.a)), at);
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  TestTexture in(rgba8_unorm, {Form::plane, 13, 7}), out(rgba8_unorm, {Form::plane, 13, 7});
  in.for_each_texel(
      [&](unsigned x, unsigned y, unsigned, unsigned) { in.set(x * 19 | y * 31 << 8 | 5u << 16 | 200u << 24, x, y); });
  ASSERT_EQ(kernel.run({{16, 8, 1}, {8, 8, 1}, {handle(in), handle(out)}}), "");
  out.for_each_texel([&](unsigned x, unsigned y, unsigned, unsigned) {
    ASSERT_EQ(out.get<uint32_t>(x, y), 250u | (255 - y * 31) << 8 | (255 - x * 19) << 16 | 200u << 24) << x << " " << y;
  });
}

TEST(TextureKernel, SamplersOfTheSourceAndOfTheHostFilterAlike) {
  Kernel kernel(R"(
    constexpr sampler fixed(coord::normalized, address::repeat, filter::linear);
    kernel void f(texture2d<float> in, sampler bound, device float4* out, uint i [[thread_position_in_grid]]) {
      const float2 at = float2(float(i) * 0.173f - 1, float(i) * 0.311f - 2);
      out[2 * i] = in.sample(fixed, at);
      out[2 * i + 1] = in.sample(bound, at);
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  TestTexture in(rgba32_float, {Form::plane, 4, 4});
  in.for_each_texel(
      [&](unsigned x, unsigned y, unsigned, unsigned) { in.set(Float4{float(x), float(y), 1, 2}, x, y); });
  device::Sampler state;
  state.address[0] = state.address[1] = state.address[2] = device::AddressMode::repeat;
  state.magnification = state.minification = device::Filter::linear;
  std::vector<Float4> out(200);
  ASSERT_EQ(kernel.run({{100, 1, 1}, {32, 1, 1}, {handle(in), sampler(state), buffer(out)}}), "");
  for (size_t i = 0; i < 100; ++i) {
    ASSERT_EQ(out[2 * i], out[2 * i + 1]);
    ASSERT_FLOAT_EQ(out[2 * i][3], 2);
    const double u = (i * 0.173 - 1) * 4 - 0.5, x = u - 4 * std::floor(u / 4);
    const double expected = x <= 3 ? x : 3 * (4 - x);  // from texel 3 back to texel 0
    ASSERT_NEAR(out[2 * i][0], expected, 1e-4) << i;
  }
}

TEST(TextureKernel, EveryKindOfTextureIsSampled) {
  Kernel kernel(R"(
    constexpr sampler s(filter::nearest, mip_filter::nearest);
    kernel void f(texture1d<float> a, texture2d_array<float> b, texture3d<float> c, texturecube<float> d,
                  depth2d<float> e, texture2d<uint> g, device float* out) {
      out[0] = a.sample(s, 0.9f).x;
      out[1] = b.sample(s, float2(0.9f, 0.1f), 1, level(1)).x;
      out[2] = c.sample(s, float3(0.1f, 0.9f, 0.9f)).x;
      out[3] = d.sample(s, float3(0, -1, 0)).x;
      out[4] = e.sample_compare(sampler(compare_func::less), float2(0.5f), 0.25f);
      out[5] = float(g.sample(s, float2(0.75f)).y);
      const float4 gathered = b.gather(s, float2(0.5f), 0);
      out[6] = gathered.x, out[7] = gathered.y, out[8] = gathered.z, out[9] = gathered.w;
      out[10] = b.sample(s, float2(0.9f, 0.1f), 1, gradient2d(float2(1, 0), float2(0, 1))).x;
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  const auto numbered = [](const Shape& shape) {
    TestTexture texture(r32_float, shape);
    texture.for_each_texel([&](unsigned x, unsigned y, unsigned image, unsigned level) {
      texture.set(float(x + 10 * y + 100 * image + 1000 * level), x, y, image, level);
    });
    return texture;
  };
  const TestTexture a = numbered({Form::line, 4}), b = numbered({Form::plane_array, 2, 2, 1, 2, 2});
  const TestTexture c = numbered({Form::volume, 2, 2, 2}), d = numbered({Form::cube, 1, 1, 1, 6});
  TestTexture e(depth32_float, {}), g(rgba8_uint, {Form::plane, 2, 2});
  e.set(0.5f, 0);
  g.set(uint32_t{0xFF00}, 1, 1);
  std::vector<float> out(11);
  ASSERT_EQ(
      kernel.run(
          {{1, 1, 1}, {1, 1, 1}, {handle(a), handle(b), handle(c), handle(d), handle(e), handle(g), buffer(out)}}),
      "");
  EXPECT_EQ(out, (std::vector<float>{3, 1100, 110, 300, 1, 255, 10, 11, 1, 0, 1100}));
}

TEST(TextureKernel, AtomicsOnTexelsLoseNothing) {
  Kernel kernel(R"(
    kernel void f(texture2d<uint, access::read_write> counts, texture_buffer<float, access::read_write> numbers,
                  uint i [[thread_position_in_grid]]) {
      counts.atomic_fetch_add(uint2(i % 2, 0), uint4(i));
      if (i < numbers.get_width()) numbers.write(numbers.read(i) + 1, i);
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  TestTexture counts(r32_uint, {Form::plane, 2, 1}), numbers(r32_float, {Form::line, 10});
  counts.set(0u, 0), counts.set(0u, 1);
  for (unsigned i = 0; i < 10; ++i) numbers.set(float(i), i);
  ASSERT_EQ(kernel.run({{10000, 1, 1}, {128, 1, 1}, {handle(counts), handle(numbers)}}), "");
  EXPECT_EQ(counts.get<uint32_t>(0), 24995000u);
  EXPECT_EQ(counts.get<uint32_t>(1), 25000000u);
  for (unsigned i = 0; i < 10; ++i) EXPECT_EQ(numbers.get<float>(i), float(i + 1));
}

TEST(TextureKernel, TexturesAndSamplersComeOutOfArgumentBuffers) {
  Kernel kernel(R"(
    struct Bindings { texture2d<float> image; sampler how; array<texture2d<float>, 2> more; };
    kernel void f(constant Bindings& bindings, device float* out) {
      out[0] = bindings.image.sample(bindings.how, float2(0.5f)).x;
      out[1] = bindings.more[1].read(uint2(0)).x;
      out[2] = is_null_texture(bindings.more[0]);
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  TestTexture first(r32_float, {}), second(r32_float, {});
  first.set(3.0f, 0), second.set(4.0f, 0);
  std::vector<uint64_t> bindings = {first.handle(), device::pack({}), 0, second.handle()};
  std::vector<float> out(3);
  ASSERT_EQ(kernel.run({{1, 1, 1}, {1, 1, 1}, {buffer(bindings), buffer(out)}}), "");
  EXPECT_EQ(out, (std::vector<float>{3, 4, 1}));
}

TEST(TextureKernel, ATextureThatIsNoneFailsTheSubmission) {
  for (const char* grid : {"uint i [[thread_position_in_grid]]", "uint i [[threads_per_grid]]"}) {
    Kernel kernel("kernel void f(constant texture2d<float>& image, device float4* out, " + std::string(grid) +
                  ") { out[i] = image.read(uint2(i, 0)); }");
    ASSERT_TRUE(kernel.pipeline) << kernel.error;
    const uint64_t handle = 0x1000;
    std::vector<Float4> out(65);
    EXPECT_NE(kernel.run({{64, 1, 1}, {32, 1, 1}, {bytes(handle), buffer(out)}}).find("0x1"), std::string::npos);
  }
}

TEST(TextureKernel, FunctionTablesGiveFunctionsToCall) {
  const auto library = library_of(R"(
    [[visible]] float twice(float x) { return 2 * x; }
    [[visible]] float square(float x) { return x * x; }
    kernel void f(visible_function_table<float(float)> table, device float* out, uint i [[thread_position_in_grid]]) {
      out[i] = i < table.size() ? table[i](5) : -1;
    })");
  ASSERT_TRUE(library);
  device::PipelineRequest request;
  request.kernel = {library, "f", {}};
  request.linked = {{library, "twice", {}}, {library, "square", {}}};
  Kernel kernel(request);
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  const std::vector<uint64_t> table = {2, kernel.pipeline->function_address("twice"),
                                       kernel.pipeline->function_address("square")};
  std::vector<float> out(3);
  ASSERT_EQ(kernel.run({{3, 1, 1}, {32, 1, 1}, {{reinterpret_cast<uint64_t>(table.data()), 0}, buffer(out)}}), "");
  EXPECT_EQ(out, (std::vector<float>{10, 25, -1}));
}

TEST(TextureKernel, MessagesAreFormattedFromTheirArguments) {
  Kernel kernel(R"(
    #include <metal_logging>
    kernel void f(device float* x, uint i [[thread_position_in_grid]]) {
      os_log_default.log_error("%u of %s: %.2f, %v2d, %lu", i, "f", x[0], int2(-1, 2), ~0ul);
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<float> x = {1.25f};
  ASSERT_EQ(kernel.run({{1, 1, 1}, {1, 1, 1}, {buffer(x)}}), "");
  ASSERT_EQ(kernel.logs.size(), 1u);
  EXPECT_EQ(kernel.logs[0].message, "0 of f: 1.25, -1,2, 18446744073709551615");
  EXPECT_EQ(kernel.logs[0].level, 4);
}

}  // namespace
}  // namespace metalloid::cpu

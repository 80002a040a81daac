// Textures and samplers as compute functions use them.
#include "compile_source.hpp"

namespace metalloid {
namespace {

TEST(StdlibTexture, EveryKindIsReadWrittenAndAsked) {
  EXPECT_EQ(functions_of(R"(
template <class T> void all_kinds(texture1d<T, access::read_write> a, texture1d_array<T, access::read_write> b,
    texture2d<T, access::read_write> c, texture2d_array<T, access::read_write> d, texture3d<T, access::read_write> e,
    texturecube<T, access::write> f, texturecube_array<T, access::write> g, texture_buffer<T, access::read_write> h, ushort2 p) {
  vec<T, 4> v = a.read(1u) + b.read(ushort(1), 2) + c.read(uint2(1, 2)) + d.read(p, 3) + e.read(uint3(1)) + h.read(5);
  a.write(v, 0u); b.write(v, 1u, 2u); c.write(v, p); d.write(v, uint2(0), 1); e.write(v, ushort3(1)); f.write(v, uint2(1), 2);
  g.write(v, uint2(1), 2, 3); h.write(v, 7);
  c.fence();
  const uint n = a.get_width() + b.get_array_size() + c.get_width() + c.get_height() + d.get_array_size() + e.get_depth() +
                 f.get_width() + g.get_array_size() + h.get_width() + c.get_num_mip_levels();
  c.write(vec<T, 4>(T(n)), uint2(n));
}
#define KERNEL(T) kernel void k_##T(texture1d<T, access::read_write> a [[texture(0)]], texture1d_array<T, access::read_write> b [[texture(1)]], \
  texture2d<T, access::read_write> c [[texture(2)]], texture2d_array<T, access::read_write> d [[texture(3)]], texture3d<T, access::read_write> e [[texture(4)]], \
  texturecube<T, access::write> f [[texture(5)]], texturecube_array<T, access::write> g [[texture(6)]], texture_buffer<T, access::read_write> h [[texture(7)]], \
  ushort2 p [[thread_position_in_grid]]) { all_kinds<T>(a, b, c, d, e, f, g, h, p); }
KERNEL(float) KERNEL(half) KERNEL(int) KERNEL(uint) KERNEL(short) KERNEL(ushort)
)"),
            "k_float k_half k_int k_uint k_short k_ushort");
}

TEST(StdlibTexture, EveryKindIsSampledWithItsOptions) {
  EXPECT_EQ(functions_of(R"(
kernel void k(texture1d<float> a, texture2d<float> b, texture2d_array<half> c, texture3d<float> d, texturecube<float> e,
              texturecube_array<float> f, depth2d<float> g, depth2d_array<float> h, depthcube<float> i, sampler s, device float4* out) {
  constexpr sampler mine(coord::normalized, address::repeat, filter::linear, mip_filter::linear, compare_func::less, lod_clamp(0, 4), max_anisotropy(4));
  float4 v = a.sample(s, 0.5f) + b.sample(s, float2(0.5f)) + b.sample(mine, float2(0), level(2)) + b.sample(s, float2(0), bias(1));
  v += b.sample(s, float2(0), gradient2d(float2(1), float2(1))) + b.sample(s, float2(0), int2(1)) + b.sample(s, float2(0), level(1), int2(1));
  v += float4(c.sample(s, float2(0), 1)) + float4(c.sample(s, float2(0), 1, level(0))) + d.sample(s, float3(0)) + d.sample(s, float3(0), int3(1));
  v += d.sample(s, float3(0), gradient3d(float3(1), float3(1))) + e.sample(s, float3(1)) + e.sample(s, float3(1), level(1)) + f.sample(s, float3(1), 2);
  v += b.sample(s, float2(0), min_lod_clamp(1)) + e.sample(s, float3(0), gradientcube(float3(1), float3(1)));
  v += b.gather(s, float2(0)) + b.gather(s, float2(0), int2(0), component::y) + float4(c.gather(s, float2(0), 1)) + e.gather(s, float3(1));
  v += g.gather(s, float2(0)) + g.gather_compare(mine, float2(0), 0.5f) + h.gather_compare(mine, float2(0), 1, 0.5f);
  v += g.sample(s, float2(0)) + g.sample_compare(mine, float2(0), 0.5f) + g.sample_compare(mine, float2(0), 0.5f, level(0));
  v += h.sample_compare(mine, float2(0), 1, 0.5f) + i.sample_compare(mine, float3(1), 0.5f) + g.read(uint2(0)) + h.read(uint2(0), 1);
  out[0] = v + float4(b.get_width(1), b.get_height(), b.get_num_mip_levels(), is_null_texture(b));
}
kernel void ms(texture2d_ms<float, access::read> a, depth2d_ms<float> b, device float4* out) {
  out[0] = a.read(uint2(1), 2) + b.read(uint2(1), 2) + a.get_num_samples();
}
)"),
            "k ms");
}

TEST(StdlibTexture, AtomicsWorkOnTexturesOfIntegers) {
  EXPECT_EQ(functions_of(R"(
kernel void k(texture2d<uint, access::read_write> t, texture_buffer<int, access::read_write> b, texture2d_array<ulong, access::read_write> u, device uint4* out) {
  out[0] = t.atomic_load(uint2(0)) + t.atomic_exchange(uint2(0), uint4(1)) + t.atomic_fetch_add(uint2(0), uint4(1)) +
           t.atomic_fetch_sub(uint2(0), uint4(1)) + t.atomic_fetch_min(uint2(0), uint4(1)) + t.atomic_fetch_max(uint2(0), uint4(1)) +
           t.atomic_fetch_and(uint2(0), uint4(1)) + t.atomic_fetch_or(uint2(0), uint4(1)) + t.atomic_fetch_xor(uint2(0), uint4(1));
  uint4 expected = 0;
  if (t.atomic_compare_exchange_weak(uint2(0), &expected, uint4(2))) t.atomic_store(uint4(3), uint2(1));
  b.atomic_fetch_add(3u, int4(1));
  u.atomic_max(uint2(0), 1, ulong4(7));
}
)"),
            "k");
}

TEST(StdlibTexture, SamplersAreConstantsOfEightBytes) {
  EXPECT_EQ(functions_of(R"(
constexpr sampler global(filter::linear, s_address::clamp_to_zero, t_address::mirrored_repeat, r_address::clamp_to_border, border_color::opaque_white);
static_assert(sizeof(sampler) == 8 && sizeof(texture2d<float>) == 8);
constant constexpr sampler other(mag_filter::nearest, min_filter::linear, coord::pixel);
struct Arguments { texture2d<float> t [[id(0)]]; sampler s [[id(1)]]; array<texture2d<half, access::write>, 3> many [[id(2)]]; };
kernel void k(constant Arguments& a, device float4* out) {
  out[0] = a.t.sample(global, float2(0)) + a.t.sample(other, float2(1)) + a.t.sample(a.s, float2(0.5f));
  a.many[1].write(half4(out[0]), uint2(0));
}
)"),
            "k");
}

TEST(StdlibTexture, AnAccessThatTheTextureDoesNotHaveIsAnError) {
  expect_error(R"(
kernel void k(texture2d<float> t) { t.$write(float4(1), uint2(0)); }
)",
               "writing to a texture needs access::write or access::read_write");
  expect_error(R"(
kernel void k(texture2d<float, access::write> t, device float4* p) { p[0] = t.$read(uint2(0)); }
)",
               "this texture has access::write: it cannot be read");
  expect_error(R"(
kernel void k(texture2d<float, access::read> t, sampler s, device float4* p) { p[0] = t.$sample(s, float2(0)); }
)",
               "sampling a texture needs access::sample");
  expect_error(R"(
kernel void k(texture2d<float, access::read_write> t) { t.$atomic_fetch_add(uint2(0), float4(1)); }
)",
               "texture atomics need access::read_write and elements of type int, uint or ulong");
  expect_error(R"(
kernel void k(texture2d<float> t, sampler s, device float4* p) { p[0] = t.$sample(s, float3(0)); }
)",
               "no matching member function for call to 'sample'");
}

}  // namespace
}  // namespace metalloid

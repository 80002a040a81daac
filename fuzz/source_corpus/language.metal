#include <metal_stdlib>
using namespace metal;

constant bool has_bias [[function_constant(0)]];
constant int width [[function_constant(1)]];
constant int doubled = is_function_constant_defined(width) ? width * 2 : 8;
constexpr constant float table[4] = {1.0, .5f, 0x1p-2, 1e-1h};

struct Arguments {
  device float* data [[id(0)]];
  constant int4& shape [[id(1)]];
  array<texture2d<float, access::read>, 2> images [[id(2)]];
};

struct Accumulator {
  float total;
  void add(float x) thread { total += x; }
  float get() const device { return total; }
  float get() const thread { return total; }
};

template <typename T, int N>
[[kernel, max_total_threads_per_threadgroup(N * 32)]] void reduce(
    device const T* in [[buffer(0)]], device T* out [[buffer(1)]],
    device const T* bias [[buffer(2), function_constant(has_bias)]], threadgroup T* scratch [[threadgroup(0)]],
    ushort lane [[thread_index_in_simdgroup]], uint2 group [[threadgroup_position_in_grid]]) {
  threadgroup T partial[N];
  const auto square = [](T x) { return x * x; };
  T sum = simd_sum(square(in[group.x]));
#pragma unroll
  for (int i = 0; i < N; ++i) partial[i] = i < doubled ? sum : T(table[i & 3]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  scratch[lane] = has_bias ? bias[lane] : partial[0];
  out[group.x] = static_cast<T>(scratch[lane]);
}
template [[host_name("reduce_float")]] [[kernel]] void reduce<float, 4>(
    device const float*, device float*, device const float*, threadgroup float*, ushort, uint2);
template [[host_name("reduce_half")]] kernel decltype(reduce<half, 8>) reduce<half, 8>;

[[visible]] float twice(float x) { return x * 2; }

kernel void gather(constant Arguments& arguments, visible_function_table<float(float)> functions,
                   device atomic_uint& count, uint i [[thread_position_in_grid]]) {
  float4 colour = arguments.images[0].read(uint2(i, 0));
  Accumulator sum = {0};
  sum.add(colour.x + functions[i](colour.yz.x));
  simdgroup_float8x8 tile = make_filled_simdgroup_matrix<float, 8>(0.f);
  simdgroup_store(tile, arguments.data + i, 8);
  arguments.data[i] = sum.get() + as_type<float>(popcount(i));
  atomic_fetch_add_explicit(&count, 1u, memory_order_relaxed);
}

vertex float4 position(uint i [[vertex_id]]) { return float4(i); }

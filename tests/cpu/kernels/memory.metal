// Buffers, structs, arrays of a thread's own, index arithmetic that wraps around, and what lies at the edge of buffers.
#include <metal_stdlib>
using namespace metal;

#define INDEX                                                                                        \
  uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]
#define I (at.x + grid.x * (at.y + grid.y * at.z))

//@ buffer uint random N
//@ buffer uint zeros N
kernel void indices_that_wrap(device const uint* in, device uint* out, INDEX) {
  const uint i = I + 0xFFFFFFF0u;
  out[i - 0xFFFFFFF0u] = in[i + 16u];
}

//@ buffer uint random 1024
//@ buffer uint zeros 2N
kernel void products_that_wrap(device const uint* in, device uint* out, INDEX) {
  out[2 * I] = in[(I * 0x10000001u) & 1023];
  out[2 * I + 1] = in[(0x80000000u * I + (I << 30) + I) & 1023];
}

//@ buffer uint random 256
//@ buffer uint zeros 4N
kernel void narrow_indices_that_wrap(device const uint* in, device uint* out, INDEX) {
  const uchar narrow = uchar(I * 3 + 250);
  const ushort middle = ushort(I + 65500);
  const char sign = char(I);
  out[4 * I] = in[narrow];
  out[4 * I + 1] = in[uchar(narrow + 7)];
  out[4 * I + 2] = in[ushort(middle + 40) & 255];
  out[4 * I + 3] = in[uint(sign) & 255] + in[128 + sign];
}

//@ buffer uint random N
//@ buffer uint zeros N
kernel void reversed(device const uint* in, device uint* out, INDEX) {
  const uint n = grid.x * grid.y * grid.z;
  out[n - 1 - I] = in[I] + in[n - 1 - I];
}

//@ buffer float random 3N
//@ buffer float zeros 3N
kernel void stride_of_three(device const float* in, device float* out, INDEX) {
  out[3 * I] = in[3 * I + 2];
  out[3 * I + 1] = in[3 * I];
  out[3 * I + 2] = in[3 * I + 1] * 2;
}

// The last threads may not touch what lies behind the end.
//@ buffer uint random N
//@ buffer uint zeros N
kernel void stencil(device const uint* in, device uint* out, INDEX) {
  const uint n = grid.x * grid.y * grid.z, i = I;
  uint sum = in[i];
  if (i > 0) sum += in[i - 1] * 3;
  if (i + 1 < n) sum += in[i + 1] * 5;
  if (i + 2 < n) sum ^= in[i + 2];
  out[i] = sum;
}

//@ buffer uint random N
//@ buffer uchar random N
//@ buffer uchar zeros N
kernel void gather_of_bytes_under_a_condition(device const uint* where, device const uchar* in, device uchar* out, INDEX) {
  const uint n = grid.x * grid.y * grid.z, i = I, k = where[i];
  if (k & 1) out[i] = in[k % n];
  else if (k & 2) out[i] = in[i];
}

struct Item {
  uchar tag, flags;
  short count;
  float weight;
  ulong id;
};

//@ buffer ulong below:200 2N
//@ buffer ulong zeros 2N
kernel void structs_in_device_memory(device const Item* in, device Item* out, INDEX) {
  Item item = in[I];
  item.tag += uchar(I);
  item.flags ^= item.tag;
  item.count = short(item.count * 3 - 1);
  item.weight = float(item.count) + 0.5f;
  if (I % 3 == 0) item.id ^= ulong(I) << 40;
  out[I] = item;
  if (I % 5 == 1) out[I].count = 7;
}

struct Node {
  uint next, value;
};

//@ buffer uint below:64 128
//@ buffer uint zeros N
kernel void pointers_that_are_followed(device const Node* nodes, device uint* out, INDEX) {
  device const Node* node = nodes + I % 64;
  uint sum = 0;
  for (uint k = 0; k < I % 9; ++k) {
    sum = sum * 7 + node->value;
    device const Node* next = nodes + node->next;
    if (next == node) break;
    node = next;
  }
  out[I] = sum;
}

//@ buffer uint random N
//@ buffer uint zeros N
kernel void private_array_indexed_dynamically(device const uint* in, device uint* out, INDEX) {
  uint a[16];
  for (uint k = 0; k < 16; ++k) a[k] = in[I] * (k + 1);
  for (uint k = 0; k < 10; ++k) {
    const uint where = (a[k] >> 7) & 15;
    a[where] += a[15 - k];
    if (a[where] & 1) a[(where + 1) & 15] = k;
  }
  uint sum = 0;
  for (uint k = 0; k < 16; ++k) sum = sum * 31 + a[k];
  out[I] = sum;
}

struct Particle {
  float3 position;
  short kind;
  uint2 cells[2];
};

//@ buffer float random N
//@ buffer float zeros 2N
kernel void private_array_of_structs(device const float* in, device float* out, INDEX) {
  Particle p[4];
  for (uint k = 0; k < 4; ++k) {
    p[k].position = float3(in[I], float(k), 1);
    p[k].kind = short(k * 3 + I);
    p[k].cells[0] = uint2(k, I);
    p[k].cells[1] = uint2(I * k, 7);
  }
  const uint a = I & 3, b = (I >> 2) & 3;
  p[a].position.yz = p[b].position.xy;
  p[b].cells[a & 1] = p[a].cells[b & 1] + 1;
  p[a] = p[(b + 1) & 3];
  Particle q = p[a];
  out[2 * I] = q.position.x + q.position.y * 2 + q.position.z * 4 + q.kind;
  out[2 * I + 1] = float((p[b].cells[0].x + p[b].cells[1].y) & 0xFFFF);
}

//@ buffer float random 4N
//@ buffer float zeros 4N
kernel void private_arrays_of_vectors_and_vector_components(device const float4* in, device float4* out, INDEX) {
  float4 v[3] = {in[I], in[I] * 2, float4(1, 2, 3, 4)};
  float4 w = v[I % 3];
  w[I & 3] = -1;
  v[(I + 1) % 3][(I >> 1) & 3] = w[(I + 2) & 3];
  half4 h = half4(v[(I + 2) % 3]);
  h[I % 4] += 1.0h;
  out[I] = v[0] + v[1] + v[2] + w + float4(h);
}

// Stores outside are lost, loads outside give 0.
//@ buffer uint random N
//@ buffer uint zeros N
kernel void private_array_out_of_range(device const uint* in, device uint* out, INDEX) {
  uint a[4] = {1, 2, 3, 4};
  const uint k = in[I] & 7;
  a[k] = 100 + I;
  out[I] = a[0] + a[1] * 3 + a[2] * 5 + a[3] * 7 + a[(k + 3) & 7];
}

//@ buffer float random 3N
//@ buffer float zeros 3N
//@ buffer half zeros 3N
kernel void packed_vectors(device const packed_float3* in, device packed_float3* out, device packed_half3* halves, INDEX) {
  const float3 v = in[I];
  out[I] = packed_float3(v.zxy + 1);
  halves[I] = packed_half3(half3(v * 2));
  if (I % 4 == 2) out[I].y = 9;
}

//@ buffer float random 16N
//@ buffer float zeros 16N
//@ tolerance 1e-3
kernel void matrices(device const float4x4* in, device float4x4* out, INDEX) {
  float4x4 m = in[I];
  m = m * transpose(m) + m * 0.5f;
  m[I & 3] = m * in[I][(I + 1) & 3];
  float3x2 r = float3x2(float2(m[0][0], 1), m[1].xy, float2(2, 3));
  m[3] = float4(r * float3(1, 2, 3), determinant(float2x2(m[0].xy, m[1].xy)), 0);
  out[I] = m;
}

//@ buffer ulong random N
//@ buffer long zeros 3N
kernel void wide_integers(device const ulong* in, device long* out, INDEX) {
  const ulong x = in[I];
  const long y = long(x) >> (I & 63);
  out[3 * I] = long(x * 0x9E3779B97F4A7C15ul) ^ y;
  out[3 * I + 1] = y / long((I & 31) + 1) + y % 1000;
  out[3 * I + 2] = long(popcount(x) + clz(x) * 100) + long(mulhi(uint(x), uint(x >> 32))) + (x > 1000000000000ul ? min(long(x), y) : 3);
}

//@ buffer int special N
//@ buffer int special N
//@ buffer int zeros 4N
kernel void division_by_zero(device const int* a, device const int* b, device int* out, INDEX) {
  const int x = a[I], y = b[I];
  out[4 * I] = x / y;
  out[4 * I + 1] = x % y;
  out[4 * I + 2] = int(uint(x) / uint(y));
  out[4 * I + 3] = int(uint(x) % uint(y)) + int(ushort(x)) / int(ushort(y));
}

//@ buffer uint random N
//@ buffer uchar zeros N
//@ buffer short zeros N
//@ buffer ushort zeros N
kernel void narrow_integers(device const uint* in, device uchar* a, device short* b, device ushort* c, INDEX) {
  const uint x = in[I];
  const char s = char(x >> 3);
  a[I] = uchar(uchar(x) * 7 + uchar(x >> 8)) >> 1;
  b[I] = short(s * s + short(x) / 3);
  c[I] = addsat(ushort(x), ushort(x >> 5)) ^ rotate(ushort(x), ushort(I)) ^ ushort(clz(uchar(x)));
}

//@ buffer uint random N
//@ buffer uint zeros N
//@ bytes uint 3,0,7,1
kernel void uniform_tables(device const uint* in, device uint* out, constant uint* table, INDEX) {
  constexpr uint fixed[8] = {5, 3, 8, 1, 9, 2, 7, 4};
  out[I] = table[in[I] & 3] * 100 + fixed[(in[I] >> 2) & 7] + table[0];
}

//@ buffer float random N
//@ buffer float zeros 2N
kernel void copy_between_lanes_layouts(device const float* in, device float* out, INDEX,
                                       uint3 local [[thread_position_in_threadgroup]],
                                       uint3 group [[threadgroup_position_in_grid]],
                                       uint lid [[thread_index_in_threadgroup]]) {
  out[2 * I] = in[I] + float(local.x) + 2 * float(local.y) + 4 * float(local.z);
  out[2 * I + 1] = float(lid) + float(group.x + 10 * group.y + 100 * group.z);
}

// The factor of the lanes is a narrow unsigned number whose highest bit is set; the index is signed.
//@ buffer uint random 50000
//@ buffer uint zeros N
//@ bytes ushort 40000
//@ bytes int 5
kernel void index_extended_twice(device const uint* in, device uint* out, constant ushort& far, constant int& start,
                                 INDEX, uint lane [[thread_index_in_simdgroup]]) {
  const ushort i = ushort(lane / 16 * far);
  out[I] = in[int(i) + start];
}

// More places that some lanes store to than LLVM is trusted with (Widener::may_scatter_in_place).
//@ buffer uint random N
//@ buffer uint zeros 96N
//@ grid 150 group 64
kernel void many_places_of_some_lanes(device const uint* in, device uint* out, uint i [[thread_position_in_grid]]) {
  const uint x = in[i];
  if (x % 3 == 0) return;
#pragma unroll
  for (uint k = 0; k < 66; ++k) out[96 * i + (x ^ k * 7) % 96] = x + k;
}

// Places so far apart that eight lanes are eight runs of one.
//@ buffer int random N
//@ buffer int zeros 40N
//@ grid 150 group 64
kernel void far_places_of_some_lanes(device const int* in, device int* out, uint i [[thread_position_in_grid]]) {
  const int x = in[i];
  if (x > 0) {
    out[40 * i + 5] = x;
    out[40 * i + 17] = -x;
    if (x & 1) out[40 * i + 39] = x * 3;
  }
}

// Index arithmetic that means something in some lanes only, where compilers like to do it in all: what is guarded by a
// condition of the lane must not be worked out from a lane for which the condition does not hold. Lane 0 is off, wraps
// around or overflows in each of these.
#include <metal_stdlib>
using namespace metal;

#define INDEX                                                                                        \
  uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]
#define I (at.x + grid.x * (at.y + grid.y * at.z))

//@ buffer uint random N
//@ buffer uint zeros N
kernel void unsigned_difference(device const uint* in, device uint* out, INDEX) {
  const uint i = at.x;
  uint value = 7;
  if (i >= 5) value = in[i - 5];
  out[I] = value;
}

//@ buffer uint random N
//@ buffer uint zeros N
kernel void unsigned_difference_twice(device const uint* in, device uint* out, INDEX) {
  const uint i = at.x, back = i - 5;
  uint value = 7;
  if (i >= 5) value = in[back];
  if (i >= 5 && in[back] > 3) value ^= in[back + 1];
  out[I] = value;
}

//@ buffer uint random N
//@ buffer uint zeros N
//@ bytes uint 5
kernel void unsigned_difference_at_run_time(device const uint* in, device uint* out, constant uint& n, INDEX) {
  const uint i = at.x;
  uint value = 7;
  for (uint k = 0; k < 3; ++k)
    if (i >= n) value = value * 3 + in[i - n];
  out[I] = value;
}

// Lane 0 overflows: INT_MAX and more.
//@ buffer uint random N
//@ buffer uint zeros N
//@ bytes int 2147483640
kernel void signed_sum(device const uint* in, device uint* out, constant int& big, INDEX) {
  const int i = int(at.x);
  uint value = 7;
  if (i < 4)
    value = uint(big - i);
  else if (i >= 20)
    value = in[(i + big) - big];
  out[I] = value;
}

//@ buffer uint random 64
//@ buffer uint zeros N
//@ bytes int -2147483640
kernel void signed_difference(device const uint* in, device uint* out, constant int& least, INDEX) {
  const int i = int(at.x & 63u);
  uint value = 7;
  if (i >= 16) value = in[least + i - 8 + 2147483632];
  out[I] = value;
}

//@ buffer uint random 4N
//@ buffer uint zeros N
kernel void product_of_difference(device const uint* in, device uint* out, INDEX) {
  const uint i = at.x;
  uint value = 1;
  if (i >= 7) {
    const uint place = (i - 7) * 4;
    value = in[place] + 3 * in[place + 1] + 5 * in[place + 2] + 7 * in[place + 3];
  }
  out[I] = value;
}

//@ buffer uint random N
//@ buffer uint zeros 2N
kernel void stores(device const uint* in, device uint* out, INDEX) {
  if (at.y + at.z != 0) return;
  const uint i = at.x;
  if (i >= 5) out[i - 5] = in[i];
  if (i >= 9 && (i & 1) != 0) out[(i - 9) / 2 + grid.x] = in[i] * 3;
}

//@ buffer uint random N
//@ buffer uint zeros N
kernel void counts_down_to_wrap(device const uint* in, device uint* out, INDEX) {
  const uint i = min(at.x, 40u);
  uint sum = 0;
  for (uint k = i; k != 0xFFFFFFFFu; --k) sum = sum * 3 + in[k];
  out[I] = sum;
}

//@ buffer uint random N
//@ buffer uint zeros N
kernel void counts_down_past_the_start(device const uint* in, device uint* out, INDEX) {
  const int i = int(at.x);
  uint sum = 0;
  for (int k = 0; k < 10; ++k)
    if (i - 3 * k >= 0) sum = sum * 5 + in[i - 3 * k];
  out[I] = sum;
}

//@ buffer uint random N
//@ buffer uint zeros N
kernel void counts_down_past_the_start_unsigned(device const uint* in, device uint* out, INDEX) {
  uint i = at.x, sum = 0;
  for (uint k = 0; k < 10; ++k, i -= 3)
    if (i < 0x80000000u) sum = sum * 5 + in[i];
  out[I] = sum;
}

// The difference does not change in the loop.
//@ buffer uint random N+16
//@ buffer uint zeros N
//@ bytes uint 9
kernel void hoisted(device const uint* in, device uint* out, constant uint& n, INDEX) {
  const uint i = at.x;
  uint sum = 0;
  for (uint k = 0; k < n; ++k)
    if (i >= 6) sum = sum * 5 + in[(i - 6) + k];
  out[I] = sum;
}

//@ buffer uint random N+64
//@ buffer uint zeros N
kernel void shifted(device const uint* in, device uint* out, INDEX) {
  const uint i = at.x;
  uint value = 1;
  if (i >= 32 || i == 9) value = in[((i - 9) << 1) >> 1];
  if (i >= 3) value += in[((i - 3) << 1 | 1) >> 1];
  out[I] = value;
}

//@ buffer ushort random N+64
//@ buffer uint zeros N
kernel void narrow(device const ushort* in, device uint* out, INDEX) {
  const ushort i = ushort(at.x);
  uint value = 1;
  if (i >= 5) value = in[ushort(i - 5)];
  const uchar small = uchar(at.x);
  if (small >= 3) value ^= in[min(uint(uchar(small - 3)), at.x)];
  out[I] = value;
}

//@ buffer uint random 2N
//@ buffer uint zeros N
kernel void pairs(device const uint2* in, device uint* out, INDEX) {
  const uint i = at.x;
  uint2 value = 1;
  if (i >= 5) value = in[i - 5];
  out[I] = value.x * 3 + value.y;
}

// A signed index that is known not to be negative where it is used.
//@ buffer uint random N
//@ buffer uint zeros N
kernel void never_negative(device const uint* in, device uint* out, INDEX) {
  const int i = int(at.x) - 11;
  uint value = 1;
  if (i >= 0) value = in[i];
  if (i > 4) value += in[uint(i - 5)];
  if (i > 4) value ^= in[ulong(uint(i)) - 4];
  out[I] = value;
}

//@ buffer uint random N
//@ buffer uint zeros N
kernel void chosen(device const uint* in, device uint* out, INDEX) {
  const uint i = at.x;
  const uint from = i >= 5 ? i - 5 : i;
  out[I] = in[from] + (i >= 8 ? in[i - 8] : 3);
}

//@ buffer uint random N
//@ buffer uint zeros N
kernel void window(device const uint* in, device uint* out, INDEX) {
  const int i = int(at.x), n = int(grid.x);
  uint sum = 0;
  for (int k = -4; k <= 4; ++k) {
    const int j = i + k;
    if (j >= 0 && j < n) sum = sum * 3 + in[j];
  }
  out[I] = sum;
}

//@ threadgroup 4096
//@ buffer uint random N
//@ buffer uint zeros N
kernel void scan(threadgroup uint* shared, device const uint* in, device uint* out, INDEX,
                 uint lid [[thread_index_in_threadgroup]], uint3 size [[threads_per_threadgroup]]) {
  const uint count = size.x * size.y * size.z;
  shared[lid] = in[I];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint step = 1; step < count; step *= 2) {
    uint value = shared[lid];
    if (lid >= step) value += shared[lid - step];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    shared[lid] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[I] = shared[lid];
}

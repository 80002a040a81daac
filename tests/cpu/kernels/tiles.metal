// Tiles of matrices as kernels bring them to threadgroup memory and to the elements of simdgroup matrices: pieces that
// lanes copy, and segments of memory whose scalars belong to lanes in another order.
#include <metal_stdlib>
using namespace metal;

template <class T, int count>
struct alignas(sizeof(T)) Piece {
  T values[count];
};

// A tile of `rows` x `columns`, each thread `count` of it, in rows that are `count` / 2 longer; then each thread its
// own of it, with neighbours of others.
template <class T, int columns, int count>
void tile(device const T* in, device T* out, int length, threadgroup T* shared, uint2 group, uint simdgroup,
          uint lane) {
  const short thread_index = simdgroup * 32 + lane;
  const short row = thread_index / (columns / count), column = count * (thread_index % (columns / count));
  constexpr int padded = columns + count / 2;
  *(threadgroup Piece<T, count>*)(shared + row * padded + column) =
      *(device const Piece<T, count>*)(in + row * length + column + group.x);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (short i = 0; i < count; ++i)
    out[(group.x * 64 + thread_index) * count + i] = shared[row * padded + column / count * count + (i ^ 1)];
}

//@ buffer float random 30N
//@ buffer float zeros 8N
//@ bytes int 23
//@ grid 256 group 64
//@ grid 64 group 64
kernel void pieces_in_rows_of_two(device const float* in, device float* out, constant int& length,
                                  uint2 group [[threadgroup_position_in_grid]],
                                  uint simdgroup [[simdgroup_index_in_threadgroup]],
                                  uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float shared[32 * 20];
  tile<float, 16, 8>(in, out, length, shared, group, simdgroup, lane);
}

//@ buffer half random 30N
//@ buffer half zeros 4N
//@ bytes int 40
//@ grid 256 group 64
kernel void pieces_of_halves(device const half* in, device half* out, constant int& length,
                             uint2 group [[threadgroup_position_in_grid]],
                             uint simdgroup [[simdgroup_index_in_threadgroup]],
                             uint lane [[thread_index_in_simdgroup]]) {
  threadgroup half shared[8 * 34];
  tile<half, 32, 4>(in, out, length, shared, group, simdgroup, lane);
}

//@ buffer uchar random 40N
//@ buffer uchar zeros 16N
//@ bytes int 19
//@ grid 128 group 64
kernel void pieces_of_bytes(device const uchar* in, device uchar* out, constant int& length,
                            uint2 group [[threadgroup_position_in_grid]],
                            uint simdgroup [[simdgroup_index_in_threadgroup]],
                            uint lane [[thread_index_in_simdgroup]]) {
  threadgroup uchar shared[64 * 24];
  tile<uchar, 16, 16>(in, out, length, shared, group, simdgroup, lane);
}

// What one lane loads another one stores before, or a neighbour of its own piece does.
//@ buffer uint random 8N+4
//@ grid 1000 group 128
//@ grid 77 group 40
//@ grid 64 group 32
kernel void pieces_that_move_in_place(device uint* values, uint at [[thread_position_in_grid]]) {
  const long i = at;
  *(device Piece<uint, 4>*)(values + 8 * i) = *(device const Piece<uint, 4>*)(values + 8 * i + 4);
  *(device Piece<uint, 2>*)(values + 8 * i + 5) = *(device const Piece<uint, 2>*)(values + 8 * i + 2);
}

// The last first; and lanes that are side by side in one place alone.
//@ buffer float random 5N+4
//@ buffer float zeros 9N
//@ grid 1000 group 128
//@ grid 77 group 40
//@ grid 64 group 32
kernel void pieces_in_any_order(device const float* in, device float* out, uint at [[thread_position_in_grid]]) {
  const long i = at;
  const float d = in[5 * i + 3], c = in[5 * i + 2], a = in[5 * i], b = in[5 * i + 1];
  out[9 * i + 4] = c;
  out[9 * i + 5] = d;
  out[9 * i + 3] = b;
  out[9 * i + 2] = a;
  const float e = in[2 * i], f = in[2 * i + 1];
  out[9 * i + 6] = e;
  out[9 * i + 7] = f;
}

//@ buffer int random 2N
//@ buffer int zeros 3N
//@ grid 1000 group 128
//@ grid 77 group 40
//@ grid 64 group 32
kernel void swapped_pieces(device const int* in, device int* out, uint at [[thread_position_in_grid]]) {
  const long i = at;
  const int a = in[2 * i], b = in[2 * i + 1];
  out[3 * i] = b;
  out[3 * i + 1] = a;
}

// Members in another order, and one that is used otherwise, too.
//@ buffer int random 6N
//@ buffer int zeros 6N
//@ buffer int zeros N
//@ grid 1000 group 128
//@ grid 77 group 40
//@ grid 64 group 32
kernel void pieces_that_are_none(device const int* in, device int* out, device int* kept, uint at [[thread_position_in_grid]]) {
  const long i = at;
  const int a = in[6 * i], b = in[6 * i + 1], c = in[6 * i + 4], d = in[6 * i + 5];
  out[6 * i] = b;
  out[6 * i + 1] = a;
  out[6 * i + 4] = c;
  out[6 * i + 5] = d;
  kept[i] = c;
}

//@ buffer float random 11N+12
//@ buffer float zeros 12N
//@ bytes uint 70
//@ grid 1000 group 128
//@ grid 77 group 40
//@ grid 64 group 32
kernel void pieces_of_some_threads(device const float* in, device float* out, constant uint& limit, uint at [[thread_position_in_grid]]) {
  const long i = at;
  if (i % 5 != 3 && i < limit)
    *(device Piece<float, 8>*)(out + 12 * i + 2) = *(device const Piece<float, 8>*)(in + 11 * i + 1);
}

// Where lanes have their two elements of a simdgroup matrix.
short2 place_of(uint lane) {
  const short quad = lane / 4;
  return short2((quad & 2) * 2 + (lane % 2) * 2, (quad & 4) + (lane / 2) % 4);
}

//@ buffer float random 16N+64
//@ buffer float zeros 16N+64
//@ bytes int 13
//@ bytes int 21
//@ grid 96 group 32
//@ grid 128 group 64
kernel void elements_of_matrices(device const float* in, device float* out, constant int& length,
                                 constant int& result_length, uint group [[threadgroup_position_in_grid]],
                                 uint simdgroup [[simdgroup_index_in_threadgroup]],
                                 uint lane [[thread_index_in_simdgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup float shared[2][8 * 12];
  const short2 place = place_of(lane);
  const uint start = (group * (size / 32) + simdgroup) * 200;
  float2 element;
  device const float* from = in + start + place.y * length + place.x;
  device float* to = out + start + place.y * result_length + place.x;
  element.y = from[1];
  element.x = from[0];
  shared[simdgroup][place.x * 12 + place.y] = element.x;
  shared[simdgroup][(place.x + 1) * 12 + place.y] = element.y;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  element += float2(shared[simdgroup][place.y * 12 + place.x], shared[simdgroup][place.y * 12 + place.x + 1]);
  const float sum = simd_sum(element.y);
  to[1] = element.y;
  to[0] = element.x + sum;
}

//@ buffer half random 16N+64
//@ buffer half zeros 16N+64
//@ grid 128 group 64
kernel void elements_of_matrices_of_halves(device const half* in, device half* out,
                                           uint group [[threadgroup_position_in_grid]],
                                           uint simdgroup [[simdgroup_index_in_threadgroup]],
                                           uint lane [[thread_index_in_simdgroup]]) {
  const short2 place = place_of(lane);
  const uint start = (group * 2 + simdgroup) * 200;
  for (short tile = 0; tile < 2; ++tile) {
    device const half* from = in + start + place.y * 20 + place.x + 8 * tile;
    device half* to = out + start + place.y * 17 + place.x + 8 * tile;
    const half a = from[0], b = from[1];
    to[0] = a * 2 + b;
    to[1] = a - simd_shuffle_xor(b, 1);
  }
}

// Rows that several lanes read, in an order of their own, and an index that may wrap around.
//@ buffer int random N+96
//@ buffer int zeros 2N
//@ bytes uint 0xffffffe8,3
//@ grid 1000 group 128
//@ grid 77 group 40
//@ grid 64 group 32
kernel void rows_that_lanes_share(device const int* in, device int* out, constant uint* starts, uint at [[thread_position_in_grid]],
                                  uint index [[thread_index_in_threadgroup]]) {
  const uint i = at, lane = index % 32;
  const uint row = starts[1] * (lane / 4 % 4) * 8 + starts[0] + 24;
  out[2 * i] = in[row + (lane * 3) % 8];
  out[2 * i + 1] = in[starts[0] + 25 + i / 32 % 2 + (lane % 8) * 4 + (lane / 16)];
}

// What each lane computes and stores side by side, lanes being anywhere: by a shape, and by an index from memory.
//@ buffer float random 4N
//@ buffer half zeros 20N
//@ bytes int 11
//@ grid 512 group 64
//@ grid 96 group 32
kernel void computed_pieces(device const float4* in, device half* out, constant int& length,
                            uint at [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  const half4 value = half4(in[at] * 2);
  device half* to = out + long(at / 32) * 32 * 20 + (lane % 4) * 150 + (lane / 4) * length;
  to[1] = value.y;
  to[0] = value.x;
  to[2] = value.z;
  to[3] = value.w;
}

//@ buffer uint random N
//@ buffer uint zeros 4N
//@ bytes uint 0x5a
//@ grid 256 group 64
kernel void pieces_at_random(device const uint* in, device uint* out, constant uint& order,
                             uint at [[thread_position_in_grid]]) {
  const ulong place = at ^ (order & 63) ^ (in[at] & 0);
  out[4 * place] = in[at];
  out[4 * place + 1] = in[at] * 3;
  out[4 * place + 2] = at;
  out[4 * place + 3] = in[at] ^ at;
}

// Quotients of an index of sixteen bits, shifted together: llama.cpp's way to its tiles.
//@ buffer float random 16N
//@ buffer half zeros 32N
//@ grid 128 group 128
//@ grid 384 group 128
kernel void tiles_by_quotients(device const float* in, device half* out, uint group [[threadgroup_position_in_grid]],
                               ushort index [[thread_index_in_threadgroup]]) {
  threadgroup half shared[4096];
  for (short i = 0; i < 16; ++i) {
    const short sx = 2 * (index % 2) + i / 8, sy = (index / 2) / 8;
    const short lx = (index / 2) % 8, ly = i % 8;
    const short ib = 8 * sx + sy;
    *(shared + 64 * ib + 8 * ly + lx) = half(in[(group * 128 + index) * 16 + i]);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (short i = 0; i < 32; ++i) out[(group * 32 + i) * 128 + index] = shared[(i * 128 + index) % 2048] * 2;
}

// Softmax of rows. A row is read three times, for its maximum, its sum and its result: it stays in the nearest cache.
#include "rows.h"
#include "streaming.h"

// Powers are kept in the result, and scaled there: where arithmetic is dear, and floats lose nothing by it.
constant uint keeps_powers [[function_constant(0)]];

constant uint fills_caches [[function_constant(2)]];

struct Shape {
  uint rows, columns;
  RowStrides source, result;
  uint rows_in_turn;  // of a SIMD-group
};

template <typename T, bool logarithm>
void soft_max(device const T* source, device T* result, constant Shape& shape, uint3 group, uint place, uint threads,
              uint simdgroup, uint simdgroups, threadgroup float* shared) {
  source += group.z * shape.source.matrix + group.y * shape.source.row;
  result += group.z * shape.result.matrix + group.y * shape.result.row;

  float largest = -INFINITY;
  for (uint i = place; i < shape.columns; i += threads) largest = max(largest, float(source[i]));
  largest = max_over_threadgroup(largest, shared, simdgroup, simdgroups);

  float sum = 0;
  for (uint i = place; i < shape.columns; i += threads) {
    const float power = exp(float(source[i]) - largest);
    if (keeps_powers) result[i] = T(power);
    sum += power;
  }
  sum = sum_over_threadgroup(sum, shared, simdgroup, simdgroups);

  if (keeps_powers) {
    const float factor = 1 / sum;
    for (uint i = place; i < shape.columns; i += threads) result[i] *= T(factor);
  } else if (logarithm) {
    const float subtrahend = largest + log(sum);
    for (uint i = place; i < shape.columns; i += threads) result[i] = T(float(source[i]) - subtrahend);
  } else {
    const float factor = 1 / sum;
    for (uint i = place; i < shape.columns; i += threads) result[i] = T(exp(float(source[i]) - largest) * factor);
  }
}

// For CPUs: a SIMD-group does rows in turn. Numbers are raised to powers as they come from memory, while the results of
// the row before leave: powers of what they are above the largest of the row's first numbers. Few rows have numbers so
// far from that one that exactness would suffer; those are done again.
constant constexpr uint most_powers = 7168;  // of the threadgroup's memory
constant constexpr uint first_numbers = 256;
constant constexpr float near_enough = 8;

inline float larger(float x, float y) { return x > y ? x : y; }

// The rows of a matrix from a thread's first number on.
template <typename T, bool logarithm, bool streams>
struct Rows {
  device const T* source;
  device T* result;
  threadgroup float* powers;
  ulong source_stride, result_stride;
  uint columns, place;

  float largest(uint row, uint count) const thread {
    device const T* numbers = source + row * source_stride;
    float found = -INFINITY;
    for_each_column(place, count, [&](uint i) { found = larger(numbers[i], found); });
    return simd_max(found);
  }
  // Gives number `i` of a row its result, by a factor or a subtrahend.
  void leave(uint row, uint i, float change) const thread {
    const float number = logarithm ? float(source[row * source_stride + i]) - change : powers[i] * change;
    put<streams>(result + row * result_stride + i, T(number));
  }
  // The power of number `i` of a row.
  float raise(device const T* numbers, uint i, float subtrahend) const thread {
    const float power = fast::exp(float(numbers[i]) - subtrahend);
    if (!logarithm) powers[i] = power;
    return power;
  }
  // Gives what will change the row's powers, or numbers, into results. Those of the row before leave.
  template <bool has_previous>
  float take(uint row, float previous_change) const thread {
    device const T* numbers = source + row * source_stride;
    float subtrahend = largest(row, min(columns, first_numbers));
    float found = -INFINITY, sum = 0;
    for_each_column(place, columns, [&](uint i) {
      fetch_stream<streams>(numbers + i);
      if (has_previous) leave(row - 1, i, previous_change);
      found = larger(numbers[i], found);
      sum += raise(numbers, i, subtrahend);
    });
    found = simd_max(found);
    if (!(abs(found - subtrahend) <= near_enough)) {
      subtrahend = found;
      sum = 0;
      for_each_column(place, columns, [&](uint i) { sum += raise(numbers, i, subtrahend); });
    }
    sum = simd_sum(sum);
    return logarithm ? subtrahend + log(sum) : 1 / sum;
  }
};

template <typename T, bool logarithm, bool streams>
void soft_max_in_turn(device const T* source, device T* result, constant Shape& shape, uint3 group, uint place,
                      threadgroup float* powers) {
  const Rows<T, logarithm, streams> rows = {source + group.z * shape.source.matrix + place,
                                   result + group.z * shape.result.matrix + place,
                                   powers + place,
                                   shape.source.row,
                                   shape.result.row,
                                   shape.columns,
                                   place};
  const uint first = group.y * shape.rows_in_turn, last = min(first + shape.rows_in_turn, shape.rows) - 1;
  float change = rows.template take<false>(first, 0);
  for (uint row = first + 1; row <= last; ++row) change = rows.template take<true>(row, change);
  for_each_column(place, shape.columns, [&](uint i) { rows.leave(last, i, change); });
}

#define SOFT_MAX_IN_TURN(T, name, logarithm)                                                                           \
  [[host_name(#name "_in_turn_" #T)]] kernel void name##_in_turn_##T(                                                  \
      device const T* source [[buffer(0)]], device T* result [[buffer(1)]], constant Shape& shape [[buffer(2)]],       \
      uint3 group [[threadgroup_position_in_grid]], uint place [[thread_index_in_threadgroup]]) {                      \
    threadgroup float powers[most_powers];                                                                             \
    if (fills_caches)                                                                                                  \
      soft_max_in_turn<T, logarithm, true>(source, result, shape, group, place, powers);                               \
    else                                                                                                               \
      soft_max_in_turn<T, logarithm, false>(source, result, shape, group, place, powers);                              \
  }
#define BOTH_IN_TURN(T) SOFT_MAX_IN_TURN(T, soft_max, false) SOFT_MAX_IN_TURN(T, log_soft_max, true)
METAL_EACH_FLOAT(BOTH_IN_TURN)

// For GPUs, where the row is short enough for the registers of its threads: it is read once.
constant constexpr uint held_numbers = 8;  // of each thread
constant uint in_fours [[function_constant(1)]];  // rows are whole vectors of four numbers

// Calls `visit` with the thread's numbers of a row by what they are called here and where they are there.
template <typename Visit>
void for_each_held(uint place, uint threads, uint columns, Visit visit) {
  #pragma unroll
  for (uint k = 0; k < held_numbers; ++k) {
    const uint i = place + k * threads;
    if (i < columns) visit(k, i);
  }
}
template <typename Visit>
void for_each_held_four(uint place, uint threads, uint columns, Visit visit) {
  #pragma unroll
  for (uint k = 0; k < held_numbers; k += 4) {
    const uint i = 4 * place + k * threads;
    if (i < columns) visit(k, i);
  }
}

// What `in_simdgroup` makes of the values of all threads, by way of memory that is used once.
template <typename InSimdgroup>
float over_all(float value, threadgroup float* own, uint place, uint simdgroup, uint simdgroups, float nothing,
               InSimdgroup in_simdgroup) {
  value = in_simdgroup(value);
  if (simdgroups == 1) return value;
  const uint lane = place % 32;
  if (lane == 0) own[simdgroup] = value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return in_simdgroup(lane < simdgroups ? own[lane] : nothing);
}

template <typename T, bool logarithm>
void soft_max_held(device const T* source, device T* result, constant Shape& shape, uint3 group, uint place,
                   uint threads, uint simdgroup, uint simdgroups, threadgroup float* shared) {
  source += group.z * shape.source.matrix + group.y * shape.source.row;
  result += group.z * shape.result.matrix + group.y * shape.result.row;

  float held[held_numbers];
  #pragma unroll
  for (uint k = 0; k < held_numbers; ++k) held[k] = -INFINITY;
  if (in_fours)
    for_each_held_four(place, threads, shape.columns, [&](uint k, uint i) {
      const vec<T, 4> four = *(device const vec<T, 4>*)(source + i);
      for (uint j = 0; j < 4; ++j) held[k + j] = float(four[j]);
    });
  else
    for_each_held(place, threads, shape.columns, [&](uint k, uint i) { held[k] = float(source[i]); });

  float largest = held[0];
  #pragma unroll
  for (uint k = 1; k < held_numbers; ++k) largest = max(largest, held[k]);
  largest = over_all(largest, shared, place, simdgroup, simdgroups, -INFINITY, [](float x) { return simd_max(x); });
  float powers[held_numbers], sum = 0;
  #pragma unroll
  for (uint k = 0; k < held_numbers; ++k) sum += powers[k] = exp(held[k] - largest);
  sum = over_all(sum, shared + most_simdgroups, place, simdgroup, simdgroups, 0, [](float x) { return simd_sum(x); });

  const float subtrahend = largest + log(sum), factor = 1 / sum;
  const auto result_of = [&](uint k) { return T(logarithm ? held[k] - subtrahend : powers[k] * factor); };
  if (in_fours)
    for_each_held_four(place, threads, shape.columns, [&](uint k, uint i) {
      *(device vec<T, 4>*)(result + i) =
          vec<T, 4>(result_of(k), result_of(k + 1), result_of(k + 2), result_of(k + 3));
    });
  else
    for_each_held(place, threads, shape.columns, [&](uint k, uint i) { result[i] = result_of(k); });
}

#define SOFT_MAX(T, name, function, logarithm)                                                                                 \
  [[host_name(#name "_" #T)]] kernel void name##_##T(                                                                \
      device const T* source [[buffer(0)]], device T* result [[buffer(1)]], constant Shape& shape [[buffer(2)]],     \
      uint3 group [[threadgroup_position_in_grid]], uint place [[thread_index_in_threadgroup]],                     \
      uint3 threads [[threads_per_threadgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],                  \
      uint simdgroups [[simdgroups_per_threadgroup]]) {                                                              \
    threadgroup float shared[2 * most_simdgroups];                                                                   \
    function<T, logarithm>(source, result, shape, group, place, threads.x, simdgroup, simdgroups, shared);           \
  }
#define BOTH(T)                                   \
  SOFT_MAX(T, soft_max, soft_max, false)          \
  SOFT_MAX(T, log_soft_max, soft_max, true)       \
  SOFT_MAX(T, soft_max_held, soft_max_held, false) \
  SOFT_MAX(T, log_soft_max_held, soft_max_held, true)
METAL_EACH_FLOAT(BOTH)

struct GradientShape {
  uint columns;
  RowStrides gradient, output, result;
};

// With y the softmax and g the gradient of its result, y * (g - sum(g * y)); of the logarithm, g - exp(y) * sum(g).
template <typename T, bool logarithm>
void soft_max_gradient(device const T* gradient, device const T* output, device T* result,
                       constant GradientShape& shape, uint3 group, uint place, uint threads, uint simdgroup,
                       uint simdgroups, threadgroup float* shared) {
  gradient += group.z * shape.gradient.matrix + group.y * shape.gradient.row;
  output += group.z * shape.output.matrix + group.y * shape.output.row;
  result += group.z * shape.result.matrix + group.y * shape.result.row;

  float sum = 0;
  for (uint i = place; i < shape.columns; i += threads) sum += gradient[i] * (logarithm ? 1 : float(output[i]));
  sum = sum_over_threadgroup(sum, shared, simdgroup, simdgroups);

  for (uint i = place; i < shape.columns; i += threads) {
    const float g = gradient[i], y = output[i];
    result[i] = T(logarithm ? g - exp(y) * sum : y * (g - sum));
  }
}

#define SOFT_MAX_GRADIENT(T, name, logarithm)                                                                         \
  [[host_name(#name "_" #T)]] kernel void name##_##T(                                                                 \
      device const T* gradient [[buffer(0)]], device const T* output [[buffer(1)]], device T* result [[buffer(2)]],   \
      constant GradientShape& shape [[buffer(3)]], uint3 group [[threadgroup_position_in_grid]],                      \
      uint place [[thread_index_in_threadgroup]], uint3 threads [[threads_per_threadgroup]],                          \
      uint simdgroup [[simdgroup_index_in_threadgroup]], uint simdgroups [[simdgroups_per_threadgroup]]) {            \
    threadgroup float shared[most_simdgroups];                                                                        \
    soft_max_gradient<T, logarithm>(gradient, output, result, shape, group, place, threads.x, simdgroup, simdgroups,  \
                                    shared);                                                                          \
  }
#define BOTH_GRADIENTS(T) \
  SOFT_MAX_GRADIENT(T, soft_max_gradient, false) SOFT_MAX_GRADIENT(T, log_soft_max_gradient, true)
METAL_EACH_FLOAT(BOTH_GRADIENTS)

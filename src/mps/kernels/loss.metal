// Losses and their gradients: a thread has a channel of some pixels of a line. The softmax of a pixel's channels is found
// before, as the logarithm of its denominator; sums over images are made afterwards.
#include "image.h"
#include "rows.h"

constant uint loss_type [[function_constant(0)]];
constant uint has_weights [[function_constant(1)]];
constant uint has_few_channels [[function_constant(2)]];  // threads side by side have those of neighbouring pixels

enum LossType : uint {
  loss_mean_absolute_error,
  loss_mean_squared_error,
  loss_soft_max_cross_entropy,
  loss_sigmoid_cross_entropy,
  loss_categorical_cross_entropy,
  loss_hinge,
  loss_huber,
  loss_cosine_distance,
  loss_log,
  loss_kullback_leibler,
};

struct Loss {
  ImageTensor source, labels, weights, gradient, losses;
  float weight, label_scale, label_shift, epsilon, delta;
  LineParts parts;
};

inline ulong place(constant ImageTensor& tensor, uint image, uint x, uint y, uint channel) {
  return image * tensor.image_stride + ulong(y) * tensor.row_stride + x * tensor.pixel_stride + channel;
}

struct Value {
  float loss, slope;
};

// log(0) * 0 is 0 here: what is not expected costs nothing.
inline float times_log(float factor, float x) {
  return factor == 0 ? 0.0f : factor * log(x);
}

// y and t, and the logarithm of the softmax's denominator.
inline Value value(float y, float t, float log_sum, constant Loss& p) {
  const float difference = y - t;
  switch (loss_type) {
    case loss_mean_absolute_error: return {abs(difference), sign(difference)};
    case loss_mean_squared_error: return {difference * difference, 2 * difference};
    case loss_soft_max_cross_entropy: return {-t * (y - log_sum), exp(y - log_sum) - t};
    case loss_sigmoid_cross_entropy:
      return {max(y, 0.0f) - y * t + log(1 + exp(-abs(y))), 1 / (1 + exp(-y)) - t};
    case loss_categorical_cross_entropy: return {-times_log(t, y), t == 0 ? 0.0f : -t / y};
    case loss_hinge: {
      const float side = 1 - 2 * t, loss = 1 + side * y;
      return {max(loss, 0.0f), loss > 0 ? side : 0};
    }
    case loss_huber: {
      const float distance = abs(difference);
      return {distance <= p.delta ? 0.5f * difference * difference : p.delta * (distance - 0.5f * p.delta),
              clamp(difference, -p.delta, p.delta)};
    }
    case loss_cosine_distance: return {-y * t, -t};
    case loss_log:
      return {-t * log(y + p.epsilon) - (1 - t) * log(1 - y + p.epsilon),
              (1 - t) / (1 - y + p.epsilon) - t / (y + p.epsilon)};
    case loss_kullback_leibler: return {times_log(t, t) - t * y, -t};
    default: return {0, 0};
  }
}

template <typename T>
void give_loss(device const T* source, device const float* labels, device const float* weights,
               device const float* log_sums, device T* gradient, device float* losses, constant Loss& p, uint image,
               uint y, uint x, uint channel) {
  labels += place(p.labels, image, x, y, 0);
  source += place(p.source, image, x, y, 0);
  gradient += place(p.gradient, image, x, y, 0);
  losses += place(p.losses, image, x, y, 0);
  const float label = p.label_scale * labels[channel] + p.label_shift;
  float log_sum = 0;
  if (loss_type == loss_soft_max_cross_entropy)
    log_sum = log_sums[(ulong(image) * p.source.height + y) * p.source.width + x];
  const Value found = value(source[channel], label, log_sum, p);
  const float weight = has_weights ? p.weight * weights[place(p.weights, image, x, y, channel)] : p.weight;
  gradient[channel] = T(weight * found.slope);
  losses[channel] = weight * found.loss;
}

template <typename T>
void give_losses(device const T* source, device const float* labels, device const float* weights,
                 device const float* log_sums, device T* gradient, device float* losses, constant Loss& p,
                 uint3 position) {
  const uint y = position.z % p.source.height, image = position.z / p.source.height;
  if (has_few_channels)
    give_loss(source, labels, weights, log_sums, gradient, losses, p, image, y, position.x / p.source.channels,
              position.x % p.source.channels);
  else
    for (uint x = p.parts.first(position.y); x < p.parts.end(position.y, p.source.width); ++x)
      give_loss(source, labels, weights, log_sums, gradient, losses, p, image, y, x, position.x);
}

#define LOSS(T)                                                                                                   \
  [[host_name("loss_log_sum_" #T)]] kernel void loss_log_sum_##T(                                                 \
      device const T* source [[buffer(0)]], device float* log_sums [[buffer(1)]],                                 \
      constant ImageTensor& tensor [[buffer(2)]], uint3 group [[threadgroup_position_in_grid]],                   \
      uint lane [[thread_index_in_simdgroup]]) {                                                                  \
    source += place(tensor, group.z, group.x, group.y, 0);                                                        \
    float largest = -INFINITY, sum = 0;                                                                           \
    for (uint i = lane; i < tensor.channels; i += 32) largest = max(largest, float(source[i]));                   \
    largest = simd_max(largest);                                                                                  \
    for (uint i = lane; i < tensor.channels; i += 32) sum += exp(float(source[i]) - largest);                     \
    sum = simd_sum(sum);                                                                                          \
    if (lane == 0) log_sums[(ulong(group.z) * tensor.height + group.y) * tensor.width + group.x] =                \
        largest + log(sum);                                                                                       \
  }                                                                                                               \
  [[host_name("loss_" #T)]] kernel void loss_##T(                                                                 \
      device const T* source [[buffer(0)]], device const float* labels [[buffer(1)]],                             \
      device const float* weights [[buffer(2)]], device const float* log_sums [[buffer(3)]],                      \
      device T* gradient [[buffer(4)]], device float* losses [[buffer(5)]], constant Loss& p [[buffer(6)]],       \
      uint3 position [[thread_position_in_grid]]) {                                                               \
    give_losses(source, labels, weights, log_sums, gradient, losses, p, position);                                \
  }
LOSS(float)
LOSS(half)

struct LossSum {
  ImageTensor losses, weights;
  ulong result_stride;  // from image to image
  float scale, shift;   // of the sum
  uint divides_by_weights, across_batch;
};

// A threadgroup for each image, or one for all of them. Losses have no gaps.
[[host_name("loss_sum")]] kernel void loss_sum(
    device const float* losses [[buffer(0)]], device const float* weights [[buffer(1)]],
    device float* result [[buffer(2)]], constant LossSum& p [[buffer(3)]],
    uint group [[threadgroup_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]],
    uint threads [[threads_per_threadgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float shared[most_simdgroups];
  const uint first = p.across_batch ? 0 : group, last = p.across_batch ? p.losses.images : group + 1;
  const uint row = p.losses.width * p.losses.channels, count = row * p.losses.height;
  float sum = 0, used = 0;
  losses += ulong(first) * count;
  for (ulong i = thread_index; i < ulong(last - first) * count; i += threads) {
    sum += losses[i];
    if (has_weights && p.divides_by_weights) {
      const uint image = first + uint(i / count), at = uint(i % count);
      used += weights[place(p.weights, image, at % row / p.losses.channels, at / row, at % p.losses.channels)] != 0;
    }
  }
  sum = sum_over_threadgroup(sum, shared, simdgroup, simdgroups);
  if (has_weights && p.divides_by_weights) {
    used = sum_over_threadgroup(used, shared, simdgroup, simdgroups);
    sum = used == 0 ? 0 : sum / used;
  }
  for (uint image = first + thread_index; image < last; image += threads)
    result[image * p.result_stride] = image == first ? sum * p.scale + p.shift : 0;
}

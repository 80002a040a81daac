// Normalization by a window of pixels or channels around each number, and its gradient. A SIMD-group has neighbouring
// channels of one pixel.
//
// With N numbers in a window, M their mean (0 where the energy is taken), S the mean of the squares of x - M, and
// T = delta + alpha * S, a result is pm + ps * (x - p0 * M) / T^beta. A number k is in the windows of several results r,
// and its gradient is ps * (g_k * T_k^-beta - sum(a_r) - x_k * sum(b_r)), with
//   b_r = 2 * alpha * beta / N * g_r * (x_r - p0 * M_r) * T_r^(-beta - 1),  a_r = p0 / N * g_r * T_r^-beta - M_r * b_r.
#include "image.h"

constant uint takes_contrast [[function_constant(0)]];

struct LocalNormalization {
  ImageTensor source, result;
  int x, y;  // of the result's first pixel in the source
  uint width, height, channels;  // of the window
  uint edge;
  float alpha, beta, delta, p0, pm, ps;
};

// A number, and what its window says.
struct Local {
  float value, mean, scale;  // scale: T
};

template <typename T>
float number_at(device const T* source, constant LocalNormalization& p, int x, int y, int channel) {
  const int inside_x = inside(x, p.source.width, p.edge), inside_y = inside(y, p.source.height, p.edge);
  if (inside_x < 0 || inside_y < 0 || channel < 0 || channel >= int(p.source.channels)) return 0;
  return source[ulong(inside_y) * p.source.row_stride + inside_x * p.source.pixel_stride + channel];
}

template <typename T>
Local local_at(device const T* source, constant LocalNormalization& p, int x, int y, int channel) {
  const int left = x - int(p.width / 2), top = y - int(p.height / 2), first = channel - int(p.channels / 2);
  const float count = float(p.width) * p.height * p.channels;
  float sum = 0, squares = 0;
  if (takes_contrast)
    for (uint j = 0; j < p.height; ++j)
      for (uint i = 0; i < p.width; ++i)
        for (uint c = 0; c < p.channels; ++c)
          sum += number_at(source, p, left + int(i), top + int(j), first + int(c));
  const float mean = sum / count;
  for (uint j = 0; j < p.height; ++j)
    for (uint i = 0; i < p.width; ++i)
      for (uint c = 0; c < p.channels; ++c) {
        const float difference = number_at(source, p, left + int(i), top + int(j), first + int(c)) - mean;
        squares = fma(difference, difference, squares);
      }
  return {number_at(source, p, x, y, channel), mean, p.delta + p.alpha * (squares / count)};
}

// The gradient is made in two steps. The first leaves g * T^-beta, a and b of each number, without gaps between them.
#define LOCAL_NORMALIZATION(T)                                                                                       \
  [[host_name("local_normalization_" #T)]] kernel void local_normalization_##T(                                      \
      device const T* source [[buffer(0)]], device T* result [[buffer(1)]],                                          \
      constant LocalNormalization& p [[buffer(2)]], uint3 position [[thread_position_in_grid]]) {                    \
    const uint channel = position.x, column = position.y;                                                            \
    const uint line = position.z % p.result.height, image = position.z / p.result.height;                            \
    const Local local = local_at(source + image * p.source.image_stride, p, int(column) + p.x,                       \
                                 int(line) + p.y, channel);                                                          \
    result[image * p.result.image_stride + ulong(line) * p.result.row_stride +                                       \
           column * p.result.pixel_stride + channel] =                                                               \
        T(p.pm + p.ps * (local.value - p.p0 * local.mean) * pow(local.scale, -p.beta));                              \
  }                                                                                                                  \
  [[host_name("local_normalization_parts_" #T)]] kernel void local_normalization_parts_##T(                          \
      device const T* source [[buffer(0)]], device const T* gradient [[buffer(1)]],                                  \
      device float* parts [[buffer(2)]], constant LocalNormalization& p [[buffer(3)]],                               \
      uint3 position [[thread_position_in_grid]]) {                                                                  \
    const uint channel = position.x, column = position.y;                                                            \
    const uint line = position.z % p.source.height, image = position.z / p.source.height;                            \
    const Local local =                                                                                              \
        local_at(source + image * p.source.image_stride, p, int(column), int(line), channel);                        \
    const float count = float(p.width) * p.height * p.channels, power = pow(local.scale, -p.beta);                   \
    const float g = gradient[image * p.result.image_stride + ulong(line) * p.result.row_stride +                     \
                             column * p.result.pixel_stride + channel];                                              \
    const float b = 2 * p.alpha * p.beta / count * g * (local.value - p.p0 * local.mean) * power / local.scale;      \
    const ulong row = p.source.width * p.source.channels, kind = row * p.source.height * p.source.images;            \
    parts += ulong(position.z) * row + column * p.source.channels + channel;                                         \
    parts[0] = g * power;                                                                                            \
    parts[kind] = p.p0 / count * g * power - local.mean * b;                                                         \
    parts[2 * kind] = b;                                                                                             \
  }                                                                                                                  \
  [[host_name("local_normalization_gradient_" #T)]] kernel void local_normalization_gradient_##T(                    \
      device const T* source [[buffer(0)]], device const float* parts [[buffer(1)]], device T* result [[buffer(2)]], \
      constant LocalNormalization& p [[buffer(3)]], uint3 position [[thread_position_in_grid]]) {                    \
    const uint channel = position.x, column = position.y;                                                            \
    const uint line = position.z % p.result.height, image = position.z / p.result.height;                            \
    const int x = int(column) + p.x, y = int(line) + p.y;                                                            \
    const ulong row = p.source.width * p.source.channels, kind = row * p.source.height * p.source.images;            \
    parts += ulong(image) * p.source.height * row;                                                                   \
    const int left = max(x - int(p.width - 1) / 2, 0), right = min(x + int(p.width / 2), int(p.source.width) - 1);   \
    const int top = max(y - int(p.height - 1) / 2, 0), bottom = min(y + int(p.height / 2), int(p.source.height) - 1); \
    const int low = max(int(channel) - int(p.channels - 1) / 2, 0);                                                  \
    const int high = min(int(channel) + int(p.channels / 2), int(p.source.channels) - 1);                            \
    float a = 0, b = 0;                                                                                              \
    for (int j = top; j <= bottom; ++j)                                                                              \
      for (int i = left; i <= right; ++i)                                                                            \
        for (int c = low; c <= high; ++c) {                                                                          \
          const ulong place = j * row + ulong(i) * p.source.channels + c;                                            \
          a += parts[kind + place];                                                                                  \
          b += parts[2 * kind + place];                                                                              \
        }                                                                                                            \
    const float value = source[image * p.source.image_stride + ulong(y) * p.source.row_stride +                      \
                               x * p.source.pixel_stride + channel];                                                 \
    result[image * p.result.image_stride + ulong(line) * p.result.row_stride +                                       \
           column * p.result.pixel_stride + channel] =                                                               \
        T(p.ps * (parts[y * row + ulong(x) * p.source.channels + channel] - a - value * b));                         \
  }
LOCAL_NORMALIZATION(float)
LOCAL_NORMALIZATION(half)

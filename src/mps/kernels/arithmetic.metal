// Arithmetic of two images, and its gradients. Strides of 0 repeat a number along a direction; its gradient is then the
// sum of those along it.
#include "image.h"

constant uint operation [[function_constant(0)]];
constant uint comparison [[function_constant(1)]];
constant uint primary_channels [[function_constant(3)]];    // 0: one number for all channels of a pixel
constant uint secondary_channels [[function_constant(4)]];

enum Operation : uint {
  operation_add, operation_subtract, operation_multiply, operation_divide, operation_compare
};
enum Comparison : uint { equal, not_equal, less, less_or_equal, greater, greater_or_equal };

struct Arithmetic {
  ImageTensor primary, secondary, result;
  float primary_scale, secondary_scale, bias, minimum, maximum, threshold;
};

inline float combined(float x, float y) {
  switch (operation) {
    case operation_add: return x + y;
    case operation_subtract: return x - y;
    case operation_multiply: return x * y;
    default: return x / y;
  }
}

inline bool compared(float x, float y, float threshold) {
  const float difference = x - y;
  switch (comparison) {
    case equal: return abs(difference) <= threshold;
    case not_equal: return !(abs(difference) <= threshold);
    case less: return difference < -threshold;
    case less_or_equal: return difference <= threshold;
    case greater: return difference > threshold;
    default: return difference >= -threshold;
  }
}

inline ulong place(constant ImageTensor& tensor, uint image, uint x, uint y) {
  return image * tensor.image_stride + ulong(y) * tensor.row_stride + x * tensor.pixel_stride;
}

#define ARITHMETIC(T)                                                                                            \
  [[host_name("arithmetic_" #T)]] kernel void arithmetic_##T(                                                    \
      device const T* primary [[buffer(0)]], device const T* secondary [[buffer(1)]],                            \
      device T* result [[buffer(2)]], constant Arithmetic& p [[buffer(3)]],                                      \
      uint3 position [[thread_position_in_grid]]) {                                                              \
    const uint channel = position.x, x = position.y;                                                             \
    const uint y = position.z % p.result.height, image = position.z / p.result.height;                           \
    const float first = primary[place(p.primary, image, x, y) + (primary_channels ? channel : 0)];               \
    const float second = secondary[place(p.secondary, image, x, y) + (secondary_channels ? channel : 0)];        \
    const float value = combined(p.primary_scale * first, p.secondary_scale * second) + p.bias;                  \
    result[place(p.result, image, x, y) + channel] =                                                             \
        operation == operation_compare ? T(compared(first, second, p.threshold))                                 \
                                       : T(clamp(value, p.minimum, p.maximum));                                  \
  }
ARITHMETIC(float)
ARITHMETIC(half)

constant uint in_parts [[function_constant(2)]];

struct ArithmeticGradient {
  ImageTensor gradient, other, result;
  uint other_channel_stride;
  int x, y;  // of the result's first number in the gradient, where it is not repeated
  uint repeats_x, repeats_y, repeats_channels;
  float factor;
  uint parts;
};

// The places along an axis of the gradient that a number of the result belongs to.
inline int2 places(uint i, int first, bool repeats, uint size) {
  if (repeats) return int2(0, size);
  const int place = int(i) + first;
  return place >= 0 && place < int(size) ? int2(place, place + 1) : int2(0, 0);
}

// A SIMD-group has neighbouring channels of one pixel.
#define ARITHMETIC_GRADIENT(T)                                                                                   \
  [[host_name("arithmetic_gradient_" #T)]] kernel void arithmetic_gradient_##T(                                  \
      device const T* gradient [[buffer(0)]], device const T* other [[buffer(1)]],                               \
      device T* result [[buffer(2)]], device float* partial [[buffer(3)]],                                       \
      constant ArithmeticGradient& p [[buffer(4)]], uint3 position [[thread_position_in_grid]]) {                \
    const uint channel = position.x, column = position.y, part = position.z % p.parts;                           \
    const uint line = position.z / p.parts, row = line % p.result.height, image = line / p.result.height;        \
    const int2 columns = places(column, p.x, p.repeats_x, p.gradient.width);                                     \
    const int2 rows = places(row, p.y, p.repeats_y, p.gradient.height);                                          \
    const uint first = p.repeats_channels ? 0 : channel, count = p.repeats_channels ? p.gradient.channels : 1;   \
    float sum = 0;                                                                                               \
    for (int y = rows.x + int(part); y < rows.y; y += int(p.parts))                                              \
      for (int x = columns.x; x < columns.y; ++x)                                                                \
        for (uint i = 0; i < count; ++i) {                                                                       \
          const float g = gradient[place(p.gradient, image, x, y) + first + i];                                  \
          if (operation == operation_multiply)                                                                   \
            sum = fma(g, float(other[place(p.other, image, x, y) + (first + i) * p.other_channel_stride]), sum); \
          else                                                                                                   \
            sum += g;                                                                                            \
        }                                                                                                        \
    if (in_parts)                                                                                                \
      partial[((ulong(part) * p.result.images * p.result.height + line) * p.result.width + column) *             \
                  p.result.channels + channel] = sum;                                                            \
    else                                                                                                         \
      result[place(p.result, image, column, row) + channel] = T(p.factor * sum);                                 \
  }                                                                                                              \
  [[host_name("arithmetic_gradient_sum_" #T)]] kernel void arithmetic_gradient_sum_##T(                          \
      device const float* partial [[buffer(0)]], device T* result [[buffer(1)]],                                 \
      constant ArithmeticGradient& p [[buffer(2)]], uint3 position [[thread_position_in_grid]]) {                \
    const uint channel = position.x % p.result.channels, column = position.x / p.result.channels;                \
    const uint row = p.result.width * p.result.channels;                                                         \
    float sum = 0;                                                                                               \
    for (uint part = 0; part < p.parts; ++part)                                                                  \
      sum += partial[((ulong(part) * p.result.images + position.z) * p.result.height + position.y) * row +       \
                     position.x];                                                                                \
    result[place(p.result, position.z, column, position.y) + channel] = T(p.factor * sum);                       \
  }
ARITHMETIC_GRADIENT(float)
ARITHMETIC_GRADIENT(half)

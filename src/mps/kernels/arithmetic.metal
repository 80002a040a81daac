// Arithmetic of two images. Strides of 0 repeat a number along a direction.
#include "image.h"

constant uint operation [[function_constant(0)]];

enum Operation : uint { operation_add, operation_subtract, operation_multiply, operation_divide };

struct Arithmetic {
  ImageTensor primary, secondary, result;
  uint primary_channel_stride, secondary_channel_stride;
  float primary_scale, secondary_scale, bias, minimum, maximum;
};

inline float combined(float x, float y) {
  switch (operation) {
    case operation_add: return x + y;
    case operation_subtract: return x - y;
    case operation_multiply: return x * y;
    default: return x / y;
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
    const uint channel = position.x % p.result.channels, x = position.x / p.result.channels;                     \
    const uint y = position.y, image = position.z;                                                               \
    const float first = primary[place(p.primary, image, x, y) + channel * p.primary_channel_stride];             \
    const float second = secondary[place(p.secondary, image, x, y) + channel * p.secondary_channel_stride];      \
    const float value = combined(p.primary_scale * first, p.secondary_scale * second) + p.bias;                  \
    result[place(p.result, image, x, y) + channel] = T(clamp(value, p.minimum, p.maximum));                      \
  }
ARITHMETIC(float)
ARITHMETIC(half)

// The numbers of an image in another shape: [y][x][channel] of both run over the same sequence.
#include "image.h"

struct Reshape {
  ImageTensor source, result;
};

#define RESHAPE(T)                                                                                                \
  [[host_name("reshape_" #T)]] kernel void reshape_##T(                                                           \
      device const T* source [[buffer(0)]], device T* result [[buffer(1)]], constant Reshape& p [[buffer(2)]],    \
      uint3 position [[thread_position_in_grid]]) {                                                               \
    const uint channel = position.x % p.result.channels, x = position.x / p.result.channels;                      \
    const uint number = position.y * p.result.width * p.result.channels + position.x;                             \
    const uint pixel = number / p.source.channels, row = pixel / p.source.width;                                  \
    result[position.z * p.result.image_stride + ulong(position.y) * p.result.row_stride +                         \
           x * p.result.pixel_stride + channel] =                                                                 \
        source[position.z * p.source.image_stride + ulong(row) * p.source.row_stride +                            \
               pixel % p.source.width * p.source.pixel_stride + number % p.source.channels];                      \
  }
RESHAPE(float)
RESHAPE(half)

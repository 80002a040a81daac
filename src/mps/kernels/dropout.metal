// Dropout: a random number for each place of the mask, which is kept for the gradient.
#include "image.h"
#include "philox.h"

constant uint keeps_mask [[function_constant(0)]];

struct Dropout {
  ImageTensor source, result;
  ulong key, first_counter;
  float keep_probability, factor;
  uint stride_x, stride_y, stride_channel;  // of the mask, in its numbers
  int mask_x, mask_y;                       // of the first pixel in the mask
  uint mask_width, mask_height;             // pixels beyond were never kept
  ulong stride_image;                       // of masks
  LineParts parts;
};

inline ulong mask_place(constant Dropout& p, uint x, uint y, uint channel) {
  return ulong(y) * p.stride_y + x * p.stride_x + channel * p.stride_channel;
}

// A thread has a channel of some pixels of a line.
template <typename T>
void drop(device const T* source, device T* result, device uchar* mask, constant Dropout& p, uint3 position) {
  const uint channel = position.x, y = position.z % p.result.height, image = position.z / p.result.height;
  source += image * p.source.image_stride + ulong(y) * p.source.row_stride + channel;
  result += image * p.result.image_stride + ulong(y) * p.result.row_stride + channel;
  for (uint x = p.parts.first(position.y); x < p.parts.end(position.y, p.result.width); ++x) {
    const ulong place = image * p.stride_image + mask_place(p, x, y, channel);
    const float chance = float(philox_numbers(p.first_counter + place, p.key).x >> 8) * 0x1p-24f;
    const bool keeps = chance < p.keep_probability;
    const float value = source[ulong(x) * p.source.pixel_stride];
    result[ulong(x) * p.result.pixel_stride] = T(keeps ? value * p.factor : 0.0f);
    if (keeps_mask) mask[place] = keeps;
  }
}

template <typename T>
void give_gradient(device const T* gradient, device T* result, device const uchar* mask, constant Dropout& p,
                   uint3 position) {
  const uint channel = position.x, y = position.z % p.result.height, image = position.z / p.result.height;
  gradient += image * p.source.image_stride + ulong(y) * p.source.row_stride + channel;
  result += image * p.result.image_stride + ulong(y) * p.result.row_stride + channel;
  mask += image * p.stride_image;
  const int mask_y = int(y) + p.mask_y;
  for (uint x = p.parts.first(position.y); x < p.parts.end(position.y, p.result.width); ++x) {
    const int mask_x = int(x) + p.mask_x;
    const bool was_read = mask_x >= 0 && mask_y >= 0 && mask_x < int(p.mask_width) && mask_y < int(p.mask_height);
    const bool keeps = was_read && mask[mask_place(p, max(mask_x, 0), max(mask_y, 0), channel)];
    const float value = gradient[ulong(x) * p.source.pixel_stride];
    result[ulong(x) * p.result.pixel_stride] = T(keeps ? value * p.factor : 0.0f);
  }
}

#define DROPOUT(T)                                                                                               \
  [[host_name("dropout_" #T)]] kernel void dropout_##T(                                                          \
      device const T* source [[buffer(0)]], device T* result [[buffer(1)]], device uchar* mask [[buffer(2)]],    \
      constant Dropout& p [[buffer(3)]], uint3 position [[thread_position_in_grid]]) {                           \
    drop(source, result, mask, p, position);                                                                     \
  }                                                                                                              \
  [[host_name("dropout_gradient_" #T)]] kernel void dropout_gradient_##T(                                        \
      device const T* gradient [[buffer(0)]], device T* result [[buffer(1)]],                                    \
      device const uchar* mask [[buffer(2)]], constant Dropout& p [[buffer(3)]],                                 \
      uint3 position [[thread_position_in_grid]]) {                                                              \
    give_gradient(gradient, result, mask, p, position);                                                          \
  }
DROPOUT(float)
DROPOUT(half)

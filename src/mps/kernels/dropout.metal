// Dropout: a random number for each place of the mask, which is kept for the gradient.
#include "image.h"
#include "philox.h"

constant uint keeps_mask [[function_constant(0)]];
constant uint has_few_channels [[function_constant(1)]];  // threads side by side have those of neighbouring pixels

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

template <typename T>
void drop_number(device const T* source, device T* result, device uchar* mask, constant Dropout& p, uint image, uint y,
                 uint x, uint channel) {
  const ulong place = image * p.stride_image + mask_place(p, x, y, channel);
  const float chance = float(philox_numbers(p.first_counter + place, p.key).x >> 8) * 0x1p-24f;
  const bool keeps = chance < p.keep_probability;
  source += image * p.source.image_stride + ulong(y) * p.source.row_stride + ulong(x) * p.source.pixel_stride;
  result += image * p.result.image_stride + ulong(y) * p.result.row_stride + ulong(x) * p.result.pixel_stride;
  const float value = source[channel];
  result[channel] = T(keeps ? value * p.factor : 0.0f);
  if (keeps_mask) mask[place] = keeps;
}

template <typename T>
void give_gradient(device const T* gradient, device T* result, device const uchar* mask, constant Dropout& p,
                   uint image, uint y, uint x, uint channel) {
  const int mask_x = int(x) + p.mask_x, mask_y = int(y) + p.mask_y;
  const bool was_read = mask_x >= 0 && mask_y >= 0 && mask_x < int(p.mask_width) && mask_y < int(p.mask_height);
  const bool keeps =
      was_read && mask[image * p.stride_image + mask_place(p, max(mask_x, 0), max(mask_y, 0), channel)];
  gradient += image * p.source.image_stride + ulong(y) * p.source.row_stride + ulong(x) * p.source.pixel_stride;
  result += image * p.result.image_stride + ulong(y) * p.result.row_stride + ulong(x) * p.result.pixel_stride;
  const float value = gradient[channel];
  result[channel] = T(keeps ? value * p.factor : 0.0f);
}

// A thread has a channel of some pixels of a line.
template <typename Visit>
void for_each_number(constant Dropout& p, uint3 position, Visit visit) {
  const uint y = position.z % p.result.height, image = position.z / p.result.height;
  if (has_few_channels)
    visit(image, y, position.x / p.result.channels, position.x % p.result.channels);
  else
    for (uint x = p.parts.first(position.y); x < p.parts.end(position.y, p.result.width); ++x)
      visit(image, y, x, position.x);
}

#define DROPOUT(T)                                                                                               \
  [[host_name("dropout_" #T)]] kernel void dropout_##T(                                                          \
      device const T* source [[buffer(0)]], device T* result [[buffer(1)]], device uchar* mask [[buffer(2)]],    \
      constant Dropout& p [[buffer(3)]], uint3 position [[thread_position_in_grid]]) {                           \
    for_each_number(p, position, [&](uint image, uint y, uint x, uint channel) {                                 \
      drop_number(source, result, mask, p, image, y, x, channel);                                                \
    });                                                                                                          \
  }                                                                                                              \
  [[host_name("dropout_gradient_" #T)]] kernel void dropout_gradient_##T(                                        \
      device const T* gradient [[buffer(0)]], device T* result [[buffer(1)]],                                    \
      device const uchar* mask [[buffer(2)]], constant Dropout& p [[buffer(3)]],                                 \
      uint3 position [[thread_position_in_grid]]) {                                                              \
    for_each_number(p, position, [&](uint image, uint y, uint x, uint channel) {                                 \
      give_gradient(gradient, result, mask, p, image, y, x, channel);                                            \
    });                                                                                                          \
  }
DROPOUT(float)
DROPOUT(half)

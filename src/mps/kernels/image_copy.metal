// Copies images: between types of numbers, from images that lie anywhere into one tensor and back, and from and to the
// textures of programs.
#include "image.h"

// Of few channels, threads side by side have those of neighbouring pixels; of many, a thread has a channel of some pixels
// of a line.
constant uint has_few_channels [[function_constant(0)]];

struct Copy {
  ImageTensor source, result;
  int x, y;  // of the result's first pixel in the source
  uint edge;
  uint result_channels;  // those that the source does not have become 0
  LineParts parts;
};

// Numbers as they are stored: normalised ones are given by the type of their bits.
inline float load(device const float* p) { return *p; }
inline float load(device const half* p) { return *p; }
inline float load(device const uchar* p) { return *p / 255.0f; }
inline float load(device const ushort* p) { return *p / 65535.0f; }
inline void store(device float* p, float x) { *p = x; }
inline void store(device half* p, float x) { *p = half(x); }
inline void store(device uchar* p, float x) { *p = uchar(rint(saturate(x) * 255.0f)); }
inline void store(device ushort* p, float x) { *p = ushort(rint(saturate(x) * 65535.0f)); }

template <typename From, typename To>
void copy_number(device const From* source, device To* result, constant Copy& copy, uint image, uint y, uint x,
                 uint channel) {
  result += image * copy.result.image_stride + ulong(y) * copy.result.row_stride + ulong(x) * copy.result.pixel_stride;
  const int from_x = inside(int(x) + copy.x, copy.source.width, copy.edge);
  const int from_y = inside(int(y) + copy.y, copy.source.height, copy.edge);
  source += image * copy.source.image_stride + ulong(max(from_y, 0)) * copy.source.row_stride +
            ulong(max(from_x, 0)) * copy.source.pixel_stride;
  float value = 0;
  if (channel < copy.source.channels && from_x >= 0 && from_y >= 0) value = load(source + channel);
  store(result + channel, value);
}

template <typename From, typename To>
void copy(device const From* source, device To* result, constant Copy& copy, uint3 position) {
  const uint y = position.z % copy.result.height, image = position.z / copy.result.height;
  if (has_few_channels) {
    const uint x = position.x / copy.result_channels, channel = position.x % copy.result_channels;
    copy_number(source, result, copy, image, y, x, channel);
  } else {
    for (uint x = copy.parts.first(position.y); x < copy.parts.end(position.y, copy.result.width); ++x)
      copy_number(source, result, copy, image, y, x, position.x);
  }
}

#define COPY(From, To)                                                                                       \
  [[host_name("image_copy_" #From "_" #To)]] kernel void image_copy_##From##_##To(                           \
      device const From* source [[buffer(0)]], device To* result [[buffer(1)]], constant Copy& c [[buffer(2)]], \
      uint3 position [[thread_position_in_grid]]) {                                                          \
    copy(source, result, c, position);                                                                       \
  }
#define COPY_TO_EACH(From) COPY(From, float) COPY(From, half) COPY(From, uchar) COPY(From, ushort)
COPY_TO_EACH(float) COPY_TO_EACH(half) COPY_TO_EACH(uchar) COPY_TO_EACH(ushort)

// A texture's slices have four channels each; those of an image follow each other. There is a thread for each texel.
struct TextureCopy {
  ImageTensor image;
  uint slices;  // of one image
};

[[host_name("image_from_texture")]] kernel void image_from_texture(
    texture2d_array<float, access::read> source [[texture(0)]], device float* result [[buffer(0)]],
    constant TextureCopy& copy [[buffer(1)]], uint3 position [[thread_position_in_grid]]) {
  const uint image = position.z / copy.slices, slice = position.z % copy.slices;
  const float4 texel = source.read(position.xy, position.z);
  result += image * copy.image.image_stride + position.y * copy.image.row_stride +
            position.x * copy.image.pixel_stride + 4 * slice;
  for (uint i = 0; i < 4 && 4 * slice + i < copy.image.pixel_stride; ++i)
    result[i] = 4 * slice + i < copy.image.channels ? texel[i] : 0;
}

[[host_name("image_to_texture")]] kernel void image_to_texture(
    texture2d_array<float, access::write> result [[texture(0)]], device const float* source [[buffer(0)]],
    constant TextureCopy& copy [[buffer(1)]], uint3 position [[thread_position_in_grid]]) {
  const uint image = position.z / copy.slices, slice = position.z % copy.slices;
  source += image * copy.image.image_stride + position.y * copy.image.row_stride +
            position.x * copy.image.pixel_stride + 4 * slice;
  float4 texel = 0;
  for (uint i = 0; i < 4 && 4 * slice + i < copy.image.channels; ++i) texel[i] = source[i];
  result.write(texel, position.xy, position.z);
}

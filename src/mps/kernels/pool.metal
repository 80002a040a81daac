// Pooling and its gradients. Threads of a SIMD-group have neighbouring channels of the same pixels, so that they do the
// same and read side by side. A gradient is gathered: each source pixel looks at the windows that it is in.
#include "image.h"

struct Pooling {
  ImageTensor source, result;
  int left, top;
  uint kernel_width, kernel_height, stride_x, stride_y, dilation_x, dilation_y;
  uint edge;
  uint zeros_x, zeros_y;  // around the source, which an average counts
  LineParts parts;
};

// Windows that networks have most often are known when the kernel is compiled; 0: they are not.
constant uint known_window [[function_constant(0)]];  // without dilation, as high as wide
constant uint known_stride [[function_constant(1)]];

inline uint kernel_width(constant Pooling& p) { return known_window ? known_window : p.kernel_width; }
inline uint kernel_height(constant Pooling& p) { return known_window ? known_window : p.kernel_height; }
inline uint dilation_x(constant Pooling& p) { return known_window ? 1 : p.dilation_x; }
inline uint dilation_y(constant Pooling& p) { return known_window ? 1 : p.dilation_y; }
inline uint stride_x(constant Pooling& p) { return known_stride ? known_stride : p.stride_x; }
inline uint stride_y(constant Pooling& p) { return known_stride ? known_stride : p.stride_y; }

struct Window {
  float value;
  int x, y;  // of the largest; negative: outside
};

// How many pixels of a window count for an average.
inline uint counted(int first, uint size, uint limit, uint zeros, uint edge) {
  if (edge != edge_clamp) return size;
  return uint(max(0, min(first + int(size), int(limit + zeros)) - max(first, -int(zeros))));
}

inline float average_factor(constant Pooling& p, int left, int top) {
  const uint count = counted(left, kernel_width(p), p.source.width, p.zeros_x, p.edge) *
                     counted(top, kernel_height(p), p.source.height, p.zeros_y, p.edge);
  return count == 0 ? 0 : 1.0f / count;
}

// Where a window's pixel is read, which is easily said of windows that are all inside.
template <bool is_all_inside>
int read_at(int x, uint size, uint edge) {
  return is_all_inside ? x : inside(x, size, edge);
}

template <typename T>
struct Largest {
  template <bool is_all_inside>
  static float value(device const T* source, constant Pooling& p, int left, int top) {
    float largest = -INFINITY;
    bool has_nan = false;
    for (uint ky = 0; ky < kernel_height(p); ++ky)
      for (uint kx = 0; kx < kernel_width(p); ++kx) {
        const int x = read_at<is_all_inside>(left + int(kx * dilation_x(p)), p.source.width, p.edge);
        const int y = read_at<is_all_inside>(top + int(ky * dilation_y(p)), p.source.height, p.edge);
        float value = 0;
        if (x >= 0 && y >= 0) value = source[ulong(y) * p.source.row_stride + x * p.source.pixel_stride];
        has_nan |= value != value;
        largest = value > largest ? value : largest;
      }
    return has_nan ? NAN : largest;
  }
  template <bool is_all_inside>
  static Window over(device const T* source, constant Pooling& p, int left, int top) {
    Window best = {-INFINITY, -1, -1};
    for (uint ky = 0; ky < kernel_height(p); ++ky)
      for (uint kx = 0; kx < kernel_width(p); ++kx) {
        const int x = read_at<is_all_inside>(left + int(kx * dilation_x(p)), p.source.width, p.edge);
        const int y = read_at<is_all_inside>(top + int(ky * dilation_y(p)), p.source.height, p.edge);
        const bool is_inside = x >= 0 && y >= 0;
        const float value = is_inside ? float(source[ulong(y) * p.source.row_stride + x * p.source.pixel_stride]) : 0;
        const bool is_larger = value > best.value || isnan(value);
        best.value = is_larger ? value : best.value;
        best.x = is_larger ? (is_inside ? x : -1) : best.x;
        best.y = is_larger ? (is_inside ? y : -1) : best.y;
      }
    return best;
  }
  static float slope(device const T*, constant Pooling&, Window window, int, int, int x, int y) {
    return window.x == x && window.y == y ? 1 : 0;
  }
};

template <typename T>
struct Mean {
  template <bool is_all_inside>
  static float value(device const T* source, constant Pooling& p, int left, int top) {
    return over<is_all_inside>(source, p, left, top).value;
  }
  template <bool is_all_inside>
  static Window over(device const T* source, constant Pooling& p, int left, int top) {
    float sum = 0;
    const uint edge = p.edge == edge_clamp ? uint(edge_zero) : p.edge;
    for (uint ky = 0; ky < kernel_height(p); ++ky)
      for (uint kx = 0; kx < kernel_width(p); ++kx) {
        const int x = read_at<is_all_inside>(left + int(kx), p.source.width, edge), y = read_at<is_all_inside>(top + int(ky), p.source.height, edge);
        if (x >= 0 && y >= 0) sum += float(source[ulong(y) * p.source.row_stride + x * p.source.pixel_stride]);
      }
    return {sum * average_factor(p, left, top), 0, 0};
  }
  static float slope(device const T*, constant Pooling& p, Window, int left, int top, int x, int y) {
    const bool is_in = x >= left && x < left + int(kernel_width(p)) && y >= top && y < top + int(kernel_height(p));
    return is_in ? average_factor(p, left, top) : 0;
  }
};

template <typename T>
struct Length {
  template <bool is_all_inside>
  static float value(device const T* source, constant Pooling& p, int left, int top) {
    return over<is_all_inside>(source, p, left, top).value;
  }
  template <bool is_all_inside>
  static Window over(device const T* source, constant Pooling& p, int left, int top) {
    float sum = 0;
    for (uint ky = 0; ky < kernel_height(p); ++ky)
      for (uint kx = 0; kx < kernel_width(p); ++kx) {
        const int x = read_at<is_all_inside>(left + int(kx), p.source.width, p.edge);
        const int y = read_at<is_all_inside>(top + int(ky), p.source.height, p.edge);
        if (x < 0 || y < 0) continue;
        const float value = source[ulong(y) * p.source.row_stride + x * p.source.pixel_stride];
        sum = fma(value, value, sum);
      }
    return {sqrt(sum), 0, 0};
  }
  static float slope(device const T* source, constant Pooling& p, Window window, int left, int top, int x, int y) {
    uint count = 0;
    for (uint ky = 0; ky < kernel_height(p); ++ky)
      for (uint kx = 0; kx < kernel_width(p); ++kx)
        count += inside(left + int(kx), p.source.width, p.edge) == x &&
                 inside(top + int(ky), p.source.height, p.edge) == y;
    const float value = source[ulong(y) * p.source.row_stride + x * p.source.pixel_stride];
    return window.value > 0 ? count * value / window.value : 0;
  }
};

inline bool is_all_inside(constant Pooling& p, int left, int top) {
  const int right = left + int((kernel_width(p) - 1) * dilation_x(p));
  const int bottom = top + int((kernel_height(p) - 1) * dilation_y(p));
  return left >= 0 && top >= 0 && right < int(p.source.width) && bottom < int(p.source.height);
}

template <typename T, typename Kind>
void pool(device const T* source, device T* result, constant Pooling& p, uint3 position) {
  const uint channel = position.x, y = position.z % p.result.height, image = position.z / p.result.height;
  const int top = p.top + int(y * stride_y(p));
  source += image * p.source.image_stride + channel;
  result += image * p.result.image_stride + ulong(y) * p.result.row_stride + channel;
  for (uint x = p.parts.first(position.y); x < p.parts.end(position.y, p.result.width); ++x) {
    const int left = p.left + int(x * stride_x(p));
    result[ulong(x) * p.result.pixel_stride] =
        T(is_all_inside(p, left, top) ? Kind::template value<true>(source, p, left, top)
                                      : Kind::template value<false>(source, p, left, top));
  }
}

// The windows that may read pixel x: first ..< last.
struct Windows {
  int first, last;
};
inline Windows windows_of(int x, int begin, uint window, uint stride, uint count, uint size, uint edge) {
  const int from = x - begin - int(window) + 1;
  Windows windows = {from <= 0 ? 0 : (from + int(stride) - 1) / int(stride),
                     x < begin ? 0 : min((x - begin) / int(stride) + 1, int(count))};
  if (edge == edge_zero) return windows;
  // Other edge modes read pixels inside for those outside.
  const int beyond = begin + int((count - 1) * stride + window) - int(size);
  if (x < max(int(window), 1 - begin)) windows.first = 0;
  if (x + max(int(window), beyond) >= int(size) - 1) windows.last = int(count);
  return windows;
}

// Here `result` is the gradient of what was made, and `of_source` that of the source.
template <typename T, typename Kind>
void pool_gradient(device const T* source, device const T* gradient, device T* of_source, constant Pooling& p,
                   constant ImageTensor& written, uint3 position) {
  const uint channel = position.x, image = position.z / written.height;
  const int y = position.z % written.height;
  source += image * p.source.image_stride + channel;
  gradient += image * p.result.image_stride + channel;
  of_source += image * written.image_stride + ulong(y) * written.row_stride + channel;
  const Windows down = windows_of(y, p.top, (kernel_height(p) - 1) * dilation_y(p) + 1, stride_y(p), p.result.height,
                                  p.source.height, p.edge);
  for (uint place = p.parts.first(position.y); place < p.parts.end(position.y, written.width); ++place) {
    const int x = place;
    const Windows across = windows_of(x, p.left, (kernel_width(p) - 1) * dilation_x(p) + 1, stride_x(p),
                                      p.result.width, p.source.width, p.edge);
    float sum = 0;
    for (int j = down.first; j < down.last; ++j)
      for (int i = across.first; i < across.last; ++i) {
        const int left = p.left + i * int(stride_x(p)), top = p.top + j * int(stride_y(p));
        const Window window = is_all_inside(p, left, top) ? Kind::template over<true>(source, p, left, top)
                                                          : Kind::template over<false>(source, p, left, top);
        const float slope = Kind::slope(source, p, window, left, top, x, y);
        sum += slope == 0 ? 0 : slope * float(gradient[ulong(j) * p.result.row_stride + i * p.result.pixel_stride]);
      }
    of_source[ulong(place) * written.pixel_stride] = T(sum);
  }
}

// The same where windows lie side by side and cover the source: each gives its pixels what they get.
template <typename T, typename Kind>
void pool_gradient_tiles(device const T* source, device const T* gradient, device T* of_source, constant Pooling& p,
                         constant ImageTensor& written, uint3 position) {
  const uint channel = position.x, j = position.z % p.result.height, image = position.z / p.result.height;
  const int top = int(j * kernel_height(p));
  source += image * p.source.image_stride + channel;
  gradient += image * p.result.image_stride + ulong(j) * p.result.row_stride + channel;
  of_source += image * written.image_stride + channel;
  for (uint i = p.parts.first(position.y); i < p.parts.end(position.y, p.result.width); ++i) {
    const int left = int(i * kernel_width(p));
    const Window window = Kind::template over<true>(source, p, left, top);
    const float of_result = gradient[i * p.result.pixel_stride];
    for (int y = top; y < top + int(kernel_height(p)); ++y)
      for (int x = left; x < left + int(kernel_width(p)); ++x) {
        const float slope = Kind::slope(source, p, window, left, top, x, y);
        of_source[ulong(y) * written.row_stride + x * written.pixel_stride] = T(slope == 0 ? 0 : slope * of_result);
      }
  }
}

// For CPUs: the gradient of the largest where windows have no dilation. A thread has a channel of an image, and gives
// each window's gradient away, instead of looking for each pixel at the windows that it is in.
template <bool is_all_inside>
int place_of_largest(device const float* source, constant Pooling& p, int left, int top) {
  float largest = -INFINITY;
  int place = -1;
  for (uint ky = 0; ky < kernel_height(p); ++ky)
    for (uint kx = 0; kx < kernel_width(p); ++kx) {
      const int x = read_at<is_all_inside>(left + int(kx), p.source.width, p.edge);
      const int y = read_at<is_all_inside>(top + int(ky), p.source.height, p.edge);
      const bool is_inside = x >= 0 && y >= 0;
      float value = 0;
      if (is_inside) value = source[ulong(y) * p.source.row_stride + x * p.source.pixel_stride];
      const bool is_larger = value > largest || value != value;
      largest = is_larger ? value : largest;
      place = is_larger ? (is_inside ? (y - top) * int(kernel_width(p)) + x - left : -1) : place;
    }
  return place;
}

[[host_name("pool_max_gradient_given")]] kernel void pool_max_gradient_given(
    device const float* source [[buffer(0)]], device const float* gradient [[buffer(1)]],
    device float* of_source [[buffer(2)]], constant Pooling& p [[buffer(3)]],
    constant ImageTensor& written [[buffer(4)]], uint2 position [[thread_position_in_grid]]) {
  const uint channel = position.x, image = position.y;
  source += image * p.source.image_stride + channel;
  gradient += image * p.result.image_stride + channel;
  of_source += image * written.image_stride + channel;
  for (uint y = 0; y < written.height; ++y)
    for (uint x = 0; x < written.width; ++x) of_source[ulong(y) * written.row_stride + x * written.pixel_stride] = 0;
  for (uint j = 0; j < p.result.height; ++j)
    for (uint i = 0; i < p.result.width; ++i) {
      const int left = p.left + int(i * stride_x(p)), top = p.top + int(j * stride_y(p));
      const int largest = is_all_inside(p, left, top) ? place_of_largest<true>(source, p, left, top)
                                                      : place_of_largest<false>(source, p, left, top);
      const float slope = gradient[ulong(j) * p.result.row_stride + i * p.result.pixel_stride];
      for (uint ky = 0; ky < kernel_height(p); ++ky)
        for (uint kx = 0; kx < kernel_width(p); ++kx) {
          const int x = left + int(kx), y = top + int(ky);
          if (x < 0 || y < 0 || x >= int(written.width) || y >= int(written.height)) continue;
          device float* place = of_source + ulong(y) * written.row_stride + ulong(x) * written.pixel_stride;
          *place += largest == int(ky * kernel_width(p) + kx) ? slope : 0.0f;
        }
    }
}

#define POOLING(T, name, Kind)                                                                                    \
  [[host_name("pool_" #name "_" #T)]] kernel void pool_##name##_##T(                                              \
      device const T* source [[buffer(0)]], device T* result [[buffer(1)]], constant Pooling& p [[buffer(2)]],    \
      uint3 position [[thread_position_in_grid]]) {                                                               \
    pool<T, Kind<T>>(source, result, p, position);                                                                \
  }                                                                                                               \
  [[host_name("pool_" #name "_gradient_" #T)]] kernel void pool_##name##_gradient_##T(                            \
      device const T* source [[buffer(0)]], device const T* gradient [[buffer(1)]],                               \
      device T* of_source [[buffer(2)]], constant Pooling& p [[buffer(3)]],                                       \
      constant ImageTensor& written [[buffer(4)]], uint3 position [[thread_position_in_grid]]) {                  \
    pool_gradient<T, Kind<T>>(source, gradient, of_source, p, written, position);                                 \
  }                                                                                                               \
  [[host_name("pool_" #name "_gradient_tiles_" #T)]] kernel void pool_##name##_gradient_tiles_##T(                \
      device const T* source [[buffer(0)]], device const T* gradient [[buffer(1)]],                               \
      device T* of_source [[buffer(2)]], constant Pooling& p [[buffer(3)]],                                       \
      constant ImageTensor& written [[buffer(4)]], uint3 position [[thread_position_in_grid]]) {                  \
    pool_gradient_tiles<T, Kind<T>>(source, gradient, of_source, p, written, position);                           \
  }
#define EACH_POOLING(T) POOLING(T, max, Largest) POOLING(T, average, Mean) POOLING(T, l2_norm, Length)
EACH_POOLING(float) EACH_POOLING(half)

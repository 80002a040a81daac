// Images as kernels see them: a tensor of numbers, pixel after pixel, the channels of a pixel side by side.
#pragma once

#include "types.h"

struct ImageTensor {
  ulong image_stride;  // numbers
  uint row_stride, pixel_stride;
  uint width, height, channels, images;
};

// Pixels of a line that a thread has, one after the other: its first is at `part` times as many.
struct LineParts {
  uint pixels;

  uint first(uint part) const constant { return part * pixels; }
  uint end(uint part, uint width) const constant { return min(first(part) + pixels, width); }
};

enum EdgeMode : uint { edge_zero, edge_clamp, edge_mirror, edge_mirror_with_edge };

// Where a coordinate is read that may lie outside of 0 ..< size; negative: nowhere, and the number is 0.
inline int inside(int x, int size, uint mode) {
  if (x >= 0 && x < size) return x;
  switch (mode) {
    case edge_clamp: return clamp(x, 0, size - 1);
    case edge_mirror: {
      if (size == 1) return 0;
      const int period = 2 * size - 2, y = (x % period + period) % period;
      return y < size ? y : period - y;
    }
    case edge_mirror_with_edge: {
      const int period = 2 * size, y = (x % period + period) % period;
      return y < size ? y : period - 1 - y;
    }
    default: return -1;
  }
}

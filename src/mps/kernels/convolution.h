// A convolution as kernels are told of it.
#pragma once

#include "image.h"

struct Convolution {
  ImageTensor source, result;
  int left, top;  // where the first window begins
  uint kernel_width, kernel_height, stride_x, stride_y, dilation_x, dilation_y;
  uint apart_x, apart_y;         // from a pixel of the source to the next
  uint groups, inputs, outputs;  // of one group
  uint edge;
};

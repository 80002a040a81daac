// What kernels that do instance and group normalization in one step are told.
#pragma once

#include "image.h"

struct GroupNormalization {
  ImageTensor source, result;  // of one line
  uint group;                  // channels
  uint in_turn;                // images, or pairs of them, that a CPU's SIMD-group has one after the other
  float epsilon;
};

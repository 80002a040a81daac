// Threads for kernels that look at neighbours: those of a SIMD-group have neighbouring channels of one pixel, so that
// they do the same and read side by side. A thread's position is (channel, x, y + height * image).
#pragma once

#include "mps/core/device_kind.hpp"
#include "mps/core/encoding.hpp"
#include "mps/core/image_tensor.hpp"

namespace metalloid::mps {

inline MTL::Size threads_over_pixels(const ImageTensor& tensor) {
  return MTL::Size(tensor.channels, tensor.width, tensor.height * tensor.images);
}

// The same for kernels whose threads have some pixels of a line, one after the other: on CPUs, where a thread's start
// costs as much as a pixel. A position is (channel, part of the line, y + height * image).
struct LineThreads {
  uint32_t pixels;  // LineParts of kernels/image.h
  MTL::Size threads;
};
// Of few channels, threads side by side have those of neighbouring pixels: a position is (channel + channels * x, 0, y
// + height * image). Kernels that know of it are told by a constant.
inline bool has_few_channels(const ImageTensor& tensor) {
  return tensor.channels < 16 && tensor.width > 1;
}
inline MTL::Size threads_over_few_channels(const ImageTensor& tensor) {
  return MTL::Size(tensor.channels * tensor.width, 1, tensor.height * tensor.images);
}

inline LineThreads threads_over_lines(const Encoding& encoding, const ImageTensor& tensor) {
  // Of pixels with many channels few, so that threads that follow each other read what lies side by side.
  constexpr size_t many_channels = 128;
  const size_t pixels = is_gpu(encoding.device()) ? 1 : tensor.channels < many_channels ? 256 : 4;
  return {uint32_t(pixels),
          MTL::Size(tensor.channels, (tensor.width + pixels - 1) / pixels, tensor.height * tensor.images)};
}

inline MTL::Size pixel_threadgroup(const Encoding& encoding) {
  return MTL::Size(32, is_gpu(encoding.device()) ? 4 : 1, 1);
}

}  // namespace metalloid::mps

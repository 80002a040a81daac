// Convolutions of images, and their gradients, as math libraries are asked for them.
#pragma once

#include <MetalPerformanceShaders/MPSCoreTypes.hpp>

#include "mps/core/neuron.hpp"

namespace metalloid::mps {

enum class ConvolutionPass { forward, data_gradient, weights_gradient };

// Places of the passes:
//   forward: source, weights, biases or null, destination
//   data_gradient: gradient of the destination, weights, gradient of the source
//   weights_gradient: source, gradient of the destination, gradient of the weights, gradient of the biases if
//   has_biases
// Images are dense [image][y][x][stored channels]. Weights are floats, [output][y][x][input / groups]; they are the
// same whenever a primitive is run, and read when it is first run. Channels that are stored but not there are 0, and
// stay 0.
struct Convolution {
  ConvolutionPass pass = ConvolutionPass::forward;
  MPS::DataType type = MPS::DataTypeFloat32;  // of images
  size_t images = 1, groups = 1;
  size_t source_width = 1, source_height = 1, source_channels = 1, source_stored_channels = 1;
  size_t destination_width = 1, destination_height = 1, destination_channels = 1, destination_stored_channels = 1;
  size_t kernel_width = 1, kernel_height = 1;
  size_t stride_x = 1, stride_y = 1, dilation_x = 1, dilation_y = 1;
  ptrdiff_t left = 0, top = 0;       // where the first window begins in the source; outside are zeros
  size_t alignment = 1;              // bytes, of both images; a power of two up to 16
  bool inputs_may_be_short = false;  // floats may be read with the precision of half, as where half accumulates them
  bool has_biases = false;
  Neuron neuron;

  bool operator==(const Convolution&) const = default;
};

}  // namespace metalloid::mps

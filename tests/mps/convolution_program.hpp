// Convolutions for tests: a data source with random weights, and what the convolution of its weights is in float64.
#pragma once

#include "image_program.hpp"

namespace metalloid::mps {

struct ConvolutionCase {
  size_t kernel_width = 3, kernel_height = 3, inputs = 1, outputs = 1;
  size_t stride_x = 1, stride_y = 1, dilation_x = 1, dilation_y = 1, groups = 1;
  bool is_depthwise = false, has_biases = true;

  size_t all_groups() const { return is_depthwise ? inputs : groups; }
  size_t group_inputs() const { return inputs / all_groups(); }
  size_t group_outputs() const { return outputs / all_groups(); }
};

class RandomWeights final : public MPS::CNNConvolutionDataSource {
 public:
  RandomWeights(const ConvolutionCase& c, std::mt19937& random)
      : convolution(c), numbers(c.outputs * c.kernel_height * c.kernel_width * c.group_inputs()), biases(c.outputs) {
    std::uniform_real_distribution<float> distribution(-1, 1);
    for (float& number : numbers) number = distribution(random);
    for (float& bias : biases) bias = c.has_biases ? distribution(random) : 0;
    made = NS::RetainPtr(c.is_depthwise ? MPS::CNNDepthWiseConvolutionDescriptor::cnnConvolutionDescriptor(
                                              c.kernel_width, c.kernel_height, c.inputs, c.outputs)
                                        : MPS::CNNConvolutionDescriptor::cnnConvolutionDescriptor(
                                              c.kernel_width, c.kernel_height, c.inputs, c.outputs));
    made->setStrideInPixelsX(c.stride_x);
    made->setStrideInPixelsY(c.stride_y);
    made->setDilationRateX(c.dilation_x);
    made->setDilationRateY(c.dilation_y);
    made->setGroups(c.groups);
  }

  MPS::DataType dataType() override { return MPS::DataTypeFloat32; }
  MPS::CNNConvolutionDescriptor* descriptor() override { return made.get(); }
  void* weights() override { return numbers.data(); }
  float* biasTerms() override { return convolution.has_biases ? biases.data() : nullptr; }
  bool load() override { return ++loads, can_load; }
  void purge() override { --loads; }

  double at(size_t output, size_t x, size_t y, size_t input) const { return numbers[index(output, x, y, input)]; }
  size_t index(size_t output, size_t x, size_t y, size_t input) const {
    return ((output * convolution.kernel_height + y) * convolution.kernel_width + x) * convolution.group_inputs() +
           input;
  }

  ConvolutionCase convolution;
  std::vector<float> numbers, biases;
  NS::SharedPtr<MPS::CNNConvolutionDescriptor> made;
  int loads = 0;
  bool can_load = true;
};

struct Placement {
  long offset_x = 0, offset_y = 0;
  MPS::ImageEdgeMode edge = MPS::ImageEdgeModeZero;
};

// Calls `visit` with each source pixel (which may be outside), tap, and destination pixel that belong together.
template <class Visit>
void for_each_tap(const ConvolutionCase& c, const Placement& place, size_t width, size_t height, const Visit& visit) {
  const long left = place.offset_x - long(((c.kernel_width - 1) * c.dilation_x + 1) / 2);
  const long top = place.offset_y - long(((c.kernel_height - 1) * c.dilation_y + 1) / 2);
  for (size_t y = 0; y < height; ++y)
    for (size_t x = 0; x < width; ++x)
      for (size_t ky = 0; ky < c.kernel_height; ++ky)
        for (size_t kx = 0; kx < c.kernel_width; ++kx)
          visit(left + long(x * c.stride_x + kx * c.dilation_x), top + long(y * c.stride_y + ky * c.dilation_y), kx, ky,
                x, y);
}

inline Tensor convolved(const Tensor& source, const RandomWeights& weights, const Placement& place,
                        const PictureShape& result_shape) {
  const ConvolutionCase& c = weights.convolution;
  Tensor result(result_shape);
  for (size_t image = 0; image < result_shape.images; ++image)
    for (size_t o = 0; o < c.outputs; ++o) {
      const size_t first_input = o / c.group_outputs() * c.group_inputs();
      for (size_t y = 0; y < result_shape.height; ++y)
        for (size_t x = 0; x < result_shape.width; ++x) result.at(image, x, y, o) = weights.biases[o];
      for_each_tap(c, place, result_shape.width, result_shape.height,
                   [&](long from_x, long from_y, size_t kx, size_t ky, size_t x, size_t y) {
                     for (size_t i = 0; i < c.group_inputs(); ++i)
                       result.at(image, x, y, o) +=
                           weights.at(o, kx, ky, i) * source.beyond(image, from_x, from_y, first_input + i, place.edge);
                   });
    }
  return result;
}

// Sums of n products of numbers below 1 in float, and rounding of the result, which is below 1 + n.
inline double convolution_tolerance(const ConvolutionCase& c, MPS::ImageFeatureChannelFormat format) {
  const double n = double(c.kernel_width * c.kernel_height * c.group_inputs()), largest = 1 + 2 * std::sqrt(n);
  return largest * rounding_of(type_of(format)) + 4 * n * 0x1p-24;
}

}  // namespace metalloid::mps

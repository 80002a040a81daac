#include "mps/cnn/normalization.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "foundation/misuse.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/device_kind.hpp"
#include "mps/core/pixel_threads.hpp"
#include "mps/matrix/column_blocks.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {
namespace {

// As kernels/image_normalization.metal has them.
struct KernelNormalization {
  KernelImageTensor source, gradient, result;
  NeuronParameters parameters;
  float epsilon;
  uint32_t parts, rows, slice_stride;
  float count;
  uint32_t sums_have_gamma, pixels;
};
struct KernelParts {
  uint32_t channels, parts, rows, width;
};

size_t slices_of(const ImageTensor& tensor, Slices slices) {
  return slices == Slices::batch ? 1 : tensor.images;
}

// How many threads share the rows of pixels of a slice.
KernelParts parts_of(const Encoding& encoding, const ImageTensor& tensor, Slices slices) {
  const size_t rows = tensor.images * tensor.height / slices_of(tensor, slices);
  const size_t most = is_gpu(encoding.device()) ? 256 : 32;
  return {uint32_t(tensor.channels), uint32_t(std::min(rows, most)), uint32_t(rows), uint32_t(tensor.width)};
}

KernelNormalization for_kernel(const Normalization& normalization, const ImageTensor& source,
                               const ImageTensor& gradient, const ImageTensor& result) {
  return {.source = for_kernel(source),
          .gradient = for_kernel(gradient),
          .result = for_kernel(result),
          .parameters = normalization.neuron.neuron.parameters,
          .epsilon = normalization.epsilon,
          .parts = 0,
          .rows = 0,
          .slice_stride = normalization.slices == Slices::batch ? 0 : uint32_t(result.channels),
          .count = 0,
          .sums_have_gamma = 0,
          .pixels = 1};
}

// An image of one line, where lines follow each other without gaps.
ImageTensor in_one_line(ImageTensor tensor) {
  tensor.width *= tensor.height;
  tensor.height = 1;
  tensor.row_stride = tensor.width * tensor.pixel_stride;
  return tensor;
}

// A kernel whose threads make numbers of numbers, pixel after pixel. `encode` is given the tensors as lines.
template <size_t count, class Encode>
void encode_lines(Encoding& encoding, std::array<ImageTensor, count> tensors, const Encode& encode) {
  const bool lines_follow = std::ranges::all_of(
      tensors, [](const ImageTensor& tensor) { return tensor.row_stride == tensor.width * tensor.pixel_stride; });
  if (lines_follow) std::ranges::transform(tensors, tensors.begin(), in_one_line);
  const ImageTensor& result = tensors.back();
  const size_t pixels = is_gpu(encoding.device()) ? 1 : 256, numbers = result.width * result.height * result.channels;
  encode(tensors, uint32_t(pixels), fills_caches(encoding.device(), numbers * result.images * result.number_bytes()),
         MTL::Size(result.channels, (result.width + pixels - 1) / pixels, result.height * result.images));
}

KernelFunction function_of(const char* name, const ImageTensor& tensor, const NeuronHolder& neuron) {
  return {fmt::format("image_{}_{}", name, metal_name_of(tensor.type)), {uint32_t(neuron.neuron.type)}};
}

// Runs `encode_parts` into scratch memory, two numbers for each slice, part and channel, and puts the parts together.
template <class EncodeParts>
void encode_in_parts(Encoding& encoding, const KernelParts& parts, size_t slices, const char* combine, Operand first,
                     Operand second, const EncodeParts& encode_parts) {
  const Operand partial = encoding.scratch(2 * slices * parts.parts * parts.channels * sizeof(float));
  encode_parts(partial, MTL::Size(parts.channels, parts.parts, slices));
  encoding.dispatch({combine, {uint32_t(MPS::CNNNeuronTypeNone)}}, MTL::Size(parts.channels, slices, 1),
                    threads_along_row(parts.channels), partial, first, second, parts);
}

// A batch whose pixels are the rows of a matrix of float, for CPUs.
bool is_matrix(const Encoding& encoding, const ImageTensor& tensor, Slices slices) {
  return !is_gpu(encoding.device()) && slices == Slices::batch && tensor.type == MPS::DataTypeFloat32 &&
         tensor.is_dense();
}
ColumnsOfRows as_matrix(const ImageTensor& tensor) {
  return {tensor.place,
          tensor.type,
          {tensor.pixel_stride, 0},
          tensor.images * tensor.height * tensor.width,
          tensor.channels,
          1};
}

}  // namespace

NS::SharedPtr<MTL::Buffer> new_floats(MTL::Device* device, const float* numbers, size_t count, float otherwise) {
  auto buffer = NS::TransferPtr(device->newBuffer(count * sizeof(float), MTL::ResourceStorageModeShared));
  if (!buffer) return buffer;
  auto* first = static_cast<float*>(buffer->contents());
  if (numbers)
    std::copy_n(numbers, count, first);
  else
    std::fill_n(first, count, otherwise);
  return buffer;
}

void reload(ChannelPair& pair, size_t channels, MTL::Device* device, MTL::CommandBuffer* commands,
            const MPS::State* state, const char* call) {
  auto* part = shared_part_of<StatePart>(const_cast<MPS::State*>(state));
  if (!commands || !part || part->resources.size() < 2)
    return foundation::report_misuse(call, commands ? "the state is null" : "commandBuffer is null");
  const size_t bytes = channels * sizeof(float);
  const ChannelPair made = {new_floats(device, nullptr, channels, 0), new_floats(device, nullptr, channels, 0)};
  MTL::Buffer* targets[] = {made.first.get(), made.second.get()};
  for (size_t i = 0; i < 2; ++i)
    if (!targets[i] || !part->buffer(i) || part->resources[i].buffer_bytes < bytes)
      return foundation::report_misuse(call, "the state has fewer numbers than there are channels");
  MTL::BlitCommandEncoder* encoder = commands->blitCommandEncoder();
  for (size_t i = 0; i < 2; ++i) encoder->copyFromBuffer(part->buffer(i), 0, targets[i], 0, bytes);
  encoder->endEncoding();
  part->was_read();
  pair = made;
}

void encode_statistics(Encoding& encoding, const ImageTensor& source, Slices slices, Operand mean, Operand variance) {
  if (is_matrix(encoding, source, slices)) return encode_column_statistics(encoding, as_matrix(source), mean, variance);
  const KernelParts parts = parts_of(encoding, source, slices);
  KernelNormalization numbers = for_kernel({.slices = slices}, source, source, source);
  numbers.parts = parts.parts;
  numbers.rows = parts.rows;
  encode_in_parts(encoding, parts, slices_of(source, slices), "image_statistics_combine", mean, variance,
                  [&](Operand partial, MTL::Size threads) {
                    encoding.dispatch(function_of("statistics", source, {}), threads, MTL::Size(32, 1, 1), source.place,
                                      partial, numbers);
                  });
}

void encode_normalization(Encoding& encoding, const Normalization& n, const ImageTensor& source,
                          const ImageTensor& result) {
  if (is_matrix(encoding, source, n.slices) && is_matrix(encoding, result, n.slices) &&
      n.neuron.neuron.type != MPS::CNNNeuronTypePReLU)
    return encode_column_normalization(encoding, as_matrix(source), result.place, {result.pixel_stride, 0},
                                       {n.mean, n.variance, n.gamma, n.beta}, n.epsilon, n.neuron.neuron);
  encode_lines(encoding, std::array{source, result},
               [&](const std::array<ImageTensor, 2>& lines, uint32_t pixels, bool streams, MTL::Size threads) {
                 KernelNormalization numbers = for_kernel(n, lines[0], lines[0], lines[1]);
                 numbers.pixels = pixels;
                 KernelFunction function = function_of("normalization", result, n.neuron);
                 function.constants.push_back(streams);
                 encoding.dispatch(function, threads, pixel_threadgroup(encoding), source.place, result.place, n.mean,
                                   n.variance, n.gamma, n.beta, n.neuron.channel_parameters(), numbers);
               });
}

void encode_sums(Encoding& encoding, const Normalization& n, const ImageTensor& gradient, const ImageTensor& source,
                 Operand of_gamma, Operand of_beta) {
  const KernelParts parts = parts_of(encoding, source, n.slices);
  KernelNormalization numbers = for_kernel(n, source, gradient, source);
  numbers.parts = parts.parts;
  numbers.rows = parts.rows;
  encode_in_parts(encoding, parts, slices_of(source, n.slices), "image_normalization_sums_combine", of_gamma, of_beta,
                  [&](Operand partial, MTL::Size threads) {
                    encoding.dispatch(function_of("normalization_sums", source, n.neuron), threads, MTL::Size(32, 1, 1),
                                      gradient.place, source.place, partial, n.mean, n.variance, n.gamma, n.beta,
                                      n.neuron.channel_parameters(), numbers);
                  });
}

void encode_source_gradient(Encoding& encoding, const Normalization& n, const SharedSums& sums,
                            const ImageTensor& gradient, const ImageTensor& source, const ImageTensor& result) {
  encode_lines(encoding, std::array{gradient, source, result},
               [&](const std::array<ImageTensor, 3>& lines, uint32_t pixels, bool streams, MTL::Size threads) {
                 KernelNormalization numbers = for_kernel(n, lines[1], lines[0], lines[2]);
                 numbers.count = sums.count;
                 numbers.sums_have_gamma = sums.have_gamma;
                 numbers.pixels = pixels;
                 KernelFunction function = function_of("normalization_gradient", result, n.neuron);
                 function.constants.push_back(streams);
                 encoding.dispatch(function, threads, pixel_threadgroup(encoding), gradient.place, source.place,
                                   result.place, n.mean, n.variance, n.gamma, n.beta, n.neuron.channel_parameters(),
                                   sums.of_gamma, sums.of_beta, numbers);
               });
}

}  // namespace metalloid::mps

// Layers that take each pixel by itself: their tensors brought to one place and size, and pixels as the rows of
// matrices, so that kernels of matrices serve images too.
#pragma once

#include <algorithm>
#include <array>

#include "mps/core/cnn_kernel.hpp"
#include "mps/matrix/arguments.hpp"

namespace metalloid::mps {

// The source's pixels that belong to those of the destination.
ImageTensor source_at_destination(CnnTask& task, const WindowGeometry& window);

// The gradient of the result, and the image that the forward pass read, at the pixels of the destination. Gradients of
// what the forward pass did not read are 0.
struct GradientAtDestination {
  ImageTensor gradient, source;
};
Result<GradientAtDestination> gradient_at_destination(CnnGradientTask& task, const LayerPart& layer);
// The same for layers whose gradient is made of their result.
Result<GradientAtDestination> gradient_and_result_at_destination(CnnGradientTask& task, const LayerPart& layer);

enum class Channels { each_in_its_column, all_alike };

// Calls `visit` with the tensors as matrices whose rows are pixels and whose columns are channels; once, or, where rows
// of pixels have gaps between them, for each image. Channels that are all alike make longer rows where they can.
template <size_t count, class Visit>
void for_each_rows(const std::array<ImageTensor, count>& tensors, Channels channels, const Visit& visit) {
  const ImageTensor& size = tensors.back();
  const bool rows_follow = std::ranges::all_of(
      tensors, [](const ImageTensor& tensor) { return tensor.row_stride == tensor.width * tensor.pixel_stride; });
  const bool pixels_follow =
      channels == Channels::all_alike && rows_follow &&
      std::ranges::all_of(tensors, [&](const ImageTensor& tensor) { return tensor.pixel_stride == size.channels; });
  const size_t calls = rows_follow ? 1 : size.images, pixels = size.width * size.height;
  for (size_t image = 0; image < calls; ++image) {
    std::array<MatrixView, count> views;
    std::ranges::transform(tensors, views.begin(), [&](const ImageTensor& tensor) {
      MatrixView view;
      view.first = tensor.place + image * tensor.image_stride * tensor.number_bytes();
      view.type = tensor.type;
      view.columns = pixels_follow ? pixels * size.channels : size.channels;
      view.rows = pixels_follow ? 1 : rows_follow ? pixels : size.width;
      view.matrices = rows_follow ? size.images : size.height;
      view.strides = {tensor.pixel_stride, rows_follow ? tensor.image_stride : tensor.row_stride};
      return view;
    });
    visit(views);
  }
}

}  // namespace metalloid::mps

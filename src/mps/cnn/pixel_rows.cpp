#include "mps/cnn/pixel_rows.hpp"

namespace metalloid::mps {
namespace {

// `shift_x` and `shift_y` place the source's image relative to that which the forward pass read.
Result<GradientAtDestination> at_destination(CnnGradientTask& task, const LayerPart& layer, NS::Integer shift_x,
                                             NS::Integer shift_y) {
  const ImageTensor& size = task.destination;
  if (task.gradient.channels < size.channels || task.source.channels < size.channels)
    return Error{fmt::format("sourceGradient has {} channels, sourceImage {}, and {} are written",
                             task.gradient.channels, task.source.channels, size.channels)};
  const auto x = NS::Integer(layer.clip.origin.x), y = NS::Integer(layer.clip.origin.y);
  const WindowGeometry& forward = task.forward.geometry;
  return GradientAtDestination{
      task.work.shifted(task.gradient, x - forward.offset_x, y - forward.offset_y, size.width, size.height,
                        MPS::ImageEdgeModeZero),
      task.work.shifted(task.source, x + shift_x, y + shift_y, size.width, size.height, MPS::ImageEdgeModeZero)};
}

}  // namespace

ImageTensor source_at_destination(CnnTask& task, const WindowGeometry& window) {
  return task.work.shifted(task.source, task.offset_x, task.offset_y, task.destination.width, task.destination.height,
                           window.edge_mode);
}

Result<GradientAtDestination> gradient_at_destination(CnnGradientTask& task, const LayerPart& layer) {
  return at_destination(task, layer, 0, 0);
}

Result<GradientAtDestination> gradient_and_result_at_destination(CnnGradientTask& task, const LayerPart& layer) {
  const MTL::Origin& origin = task.forward.clip.origin;
  const WindowGeometry& forward = task.forward.geometry;
  return at_destination(task, layer, NS::Integer(origin.x) - forward.offset_x,
                        NS::Integer(origin.y) - forward.offset_y);
}

}  // namespace metalloid::mps

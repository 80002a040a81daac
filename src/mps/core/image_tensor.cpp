#include "mps/core/image_tensor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mps/core/image_texture.hpp"
#include "mps/core/pixel_threads.hpp"

namespace metalloid::mps {
namespace {

// As kernels/image_copy.metal has it.
struct Copy {
  KernelImageTensor source, result;
  int32_t x, y;
  uint32_t edge;
  uint32_t result_channels, pixels;
};

const char* stored_type(MPS::ImageFeatureChannelFormat format) {
  switch (format) {
    case MPS::ImageFeatureChannelFormatUnorm8:
      return "uchar";
    case MPS::ImageFeatureChannelFormatUnorm16:
      return "ushort";
    case MPS::ImageFeatureChannelFormatFloat16:
      return "half";
    default:
      return "float";
  }
}

MPS::ImageFeatureChannelFormat format_of(MPS::DataType type) {
  return type == MPS::DataTypeFloat16 ? MPS::ImageFeatureChannelFormatFloat16 : MPS::ImageFeatureChannelFormatFloat32;
}

// A tensor whose numbers may be of any format.
struct StoredTensor {
  ImageTensor tensor;
  MPS::ImageFeatureChannelFormat format;
};

void encode_copy(Encoding& encoding, const StoredTensor& source, const StoredTensor& result, size_t result_channels,
                 NS::Integer x, NS::Integer y, MPS::ImageEdgeMode edge) {
  constexpr size_t few = 16;
  const ImageTensor& to = result.tensor;
  const bool has_few = result_channels < few;
  const LineThreads lines = threads_over_lines(encoding, to);
  const Copy copy{for_kernel(source.tensor), for_kernel(to), int32_t(x), int32_t(y), uint32_t(edge),
                  uint32_t(result_channels), lines.pixels};
  encoding.dispatch(
      {fmt::format("image_copy_{}_{}", stored_type(source.format), stored_type(result.format)), {has_few}},
      has_few ? MTL::Size(to.width * result_channels, 1, lines.threads.depth)
              : MTL::Size(result_channels, lines.threads.height, lines.threads.depth),
      MTL::Size(32, 1, 1), source.tensor.place, to.place, copy);
}

ImageTensor stored_region(const ImageObject& image, const ImageArea& region) {
  ImageTensor tensor;
  const size_t first = region.y * image.row_stride() + region.x * image.pixel_stride + region.first_channel;
  tensor.place = image.place_of_image(region.first_image) + first * bytes_of(image.shape.format);
  tensor.type =
      image.shape.format == MPS::ImageFeatureChannelFormatFloat16 ? MPS::DataTypeFloat16 : MPS::DataTypeFloat32;
  tensor.images = region.images;
  tensor.height = region.height;
  tensor.width = region.width;
  tensor.channels = region.channels;
  tensor.image_stride = image.image_stride;
  tensor.row_stride = image.row_stride();
  tensor.pixel_stride = image.pixel_stride;
  tensor.gap_is_padding = !image.is_part_of_channels && region.channels == image.shape.channels;
  tensor.padding_is_zero = tensor.gap_is_padding && image.padding_is_zero;
  return tensor;
}

// What keeps an image's memory: the images of a batch are often parts of one.
NS::Object* keeper_of(ImageObject& image) {
  return image.parent ? static_cast<NS::Object*>(image.parent.get()) : &image;
}

// The batch as one tensor where it lies, if its images are at a constant distance.
bool in_a_row(std::span<ImageObject* const> images, const ImageArea& region, ImageTensor& tensor) {
  const ImageObject& first = *images.front();
  tensor = stored_region(first, region);
  if (images.size() == 1) return true;
  const size_t bytes = bytes_of(first.shape.format);
  if (images[1]->offset < first.offset + first.shape.height * first.row_stride() * bytes) return false;
  const size_t distance = images[1]->offset - first.offset;
  if (distance % bytes) return false;
  for (size_t i = 1; i < images.size(); ++i) {
    const ImageObject& image = *images[i];
    if (image.buffer.get() != first.buffer.get() || image.shape != first.shape ||
        image.pixel_stride != first.pixel_stride || image.offset != first.offset + i * distance)
      return false;
    tensor.padding_is_zero &= image.padding_is_zero;
  }
  tensor.image_stride = distance / bytes;
  return true;
}

// And if its numbers are of this type.
bool in_place(std::span<ImageObject* const> images, const ImageArea& region, MPS::DataType type, ImageTensor& tensor) {
  return images.front()->shape.format == format_of(type) && in_a_row(images, region, tensor);
}

// Images of a batch that are copied at once: all, if they lie in a row, or else each.
struct Piece {
  size_t first;
  ImageTensor tensor;
};
std::vector<Piece> pieces_of(std::span<ImageObject* const> images, ImageArea region) {
  ImageTensor row;
  if (in_a_row(images, region, row)) return {{0, row}};
  region.images = 1;
  std::vector<Piece> pieces;
  for (size_t i = 0; i < images.size(); ++i) pieces.push_back({i, stored_region(*images[i], region)});
  return pieces;
}

Status check_life(const ImageObject& image, const Encoding& encoding) {
  if (!image.block) return success();
  const Status status = check_home(image.block->home, image.read_count, encoding.command_buffer());
  return status ? success() : Status(Error{"it " + status.error()});
}

}  // namespace

KernelImageTensor for_kernel(const ImageTensor& tensor) {
  return {tensor.image_stride,     uint32_t(tensor.row_stride), uint32_t(tensor.pixel_stride), uint32_t(tensor.width),
          uint32_t(tensor.height), uint32_t(tensor.channels),   uint32_t(tensor.images)};
}

ImageArea whole(std::span<ImageObject* const> images) {
  const ImageShape& shape = images.front()->shape;
  return {.width = shape.width,
          .height = shape.height,
          .channels = shape.channels,
          .images = images.size() > 1 ? images.size() : shape.images};
}

MPS::DataType work_type_of(std::initializer_list<std::span<ImageObject* const>> batches) {
  for (std::span<ImageObject* const> images : batches)
    for (const ImageObject* image : images)
      if (image->shape.format == MPS::ImageFeatureChannelFormatFloat32 ||
          image->shape.format == MPS::ImageFeatureChannelFormatUnorm16)
        return MPS::DataTypeFloat32;
  return MPS::DataTypeFloat16;
}

ImageTensor ImageWork::scratch_tensor(size_t images, size_t height, size_t width, size_t channels, MPS::DataType type) {
  ImageTensor tensor;
  tensor.type = type;
  tensor.images = images;
  tensor.height = height;
  tensor.width = width;
  tensor.channels = channels;
  tensor.pixel_stride = stored_channels(channels);
  tensor.row_stride = width * tensor.pixel_stride;
  tensor.image_stride = height * tensor.row_stride;
  tensor.gap_is_padding = true;
  tensor.place = encoding_.scratch(images * tensor.image_stride * tensor.number_bytes());
  return tensor;
}

Result<ImageTensor> ImageWork::source(std::span<ImageObject* const> images, const ImageArea& region,
                                      MPS::DataType type) {
  for (ImageObject* image : images) {
    if (auto status = check_life(*image, encoding_); !status) return Error{status.error()};
    encoding_.keep(keeper_of(*image));
    if (image->is_copy_of_texture) copy_from_texture(encoding_, *image);
  }
  ImageTensor tensor;
  if (in_place(images, region, type, tensor)) return tensor;
  tensor = scratch_tensor(region.images, region.height, region.width, region.channels, type);
  tensor.padding_is_zero = true;
  for (const Piece& piece : pieces_of(images, region)) {
    ImageTensor part = tensor;
    part.place = tensor.place + piece.first * tensor.image_stride * tensor.number_bytes();
    part.images = piece.tensor.images;
    encode_copy(encoding_, {piece.tensor, images[piece.first]->shape.format}, {part, format_of(type)},
                tensor.pixel_stride, 0, 0, MPS::ImageEdgeModeZero);
  }
  return tensor;
}

Result<ImageTensor> ImageWork::destination(std::span<ImageObject* const> images, const ImageArea& region,
                                           MPS::DataType type) {
  bool has_textures = false;
  for (ImageObject* image : images) {
    if (auto status = check_life(*image, encoding_); !status) return Error{status.error()};
    encoding_.keep(keeper_of(*image));
    has_textures |= image->is_copy_of_texture;
  }
  ImageTensor tensor;
  const bool is_there = in_place(images, region, type, tensor);
  if (!is_there) tensor = scratch_tensor(region.images, region.height, region.width, region.channels, type);
  if (!is_there || has_textures) pending_.push_back({tensor, {images.begin(), images.end()}, region});
  return tensor;
}

void ImageWork::finish() {
  for (const Pending& work : pending_) {
    for (const Piece& piece : pieces_of(work.images, work.region)) {
      ImageTensor part = work.tensor;
      part.place = part.place + piece.first * part.image_stride * part.number_bytes();
      part.images = piece.tensor.images;
      if (part.place != piece.tensor.place)
        encode_copy(encoding_, {part, format_of(part.type)}, {piece.tensor, work.images[piece.first]->shape.format},
                    part.channels, 0, 0, MPS::ImageEdgeModeZero);
    }
    for (const ImageObject* image : work.images)
      if (image->is_copy_of_texture) copy_to_texture(encoding_, *image);
  }
  pending_.clear();
}

ImageTensor ImageWork::shifted(const ImageTensor& source, NS::Integer x, NS::Integer y, size_t width, size_t height,
                               MPS::ImageEdgeMode edge_mode) {
  if (x >= 0 && y >= 0 && size_t(x) + width <= source.width && size_t(y) + height <= source.height) {
    ImageTensor part = source;
    part.place = source.place + (y * source.row_stride + x * source.pixel_stride) * source.number_bytes();
    part.width = width;
    part.height = height;
    return part;
  }
  ImageTensor copy = scratch_tensor(source.images, height, width, source.channels, source.type);
  copy.padding_is_zero = true;
  encode_copy(encoding_, {source, format_of(source.type)}, {copy, format_of(source.type)}, copy.pixel_stride, x, y,
              edge_mode);
  return copy;
}

void ImageWork::copy(const ImageTensor& source, const ImageTensor& result, NS::Integer x, NS::Integer y,
                     MPS::ImageEdgeMode edge_mode) {
  encode_copy(encoding_, {source, format_of(source.type)}, {result, format_of(result.type)}, result.channels, x, y,
              edge_mode);
}

ImageTensor ImageWork::packed(const ImageTensor& source) {
  ImageTensor copy = scratch_tensor(source.images, source.height, source.width, source.channels, source.type);
  copy.padding_is_zero = true;
  encode_copy(encoding_, {source, format_of(source.type)}, {copy, format_of(source.type)}, copy.pixel_stride, 0, 0,
              MPS::ImageEdgeModeZero);
  return copy;
}

ImageTensor ImageWork::apart(const ImageTensor& source, const ImageTensor& result) {
  const auto image_bytes = [](const ImageTensor& tensor) {
    return ((tensor.height - 1) * tensor.row_stride + (tensor.width - 1) * tensor.pixel_stride + tensor.channels) *
           tensor.number_bytes();
  };
  const auto bytes = [&](const ImageTensor& tensor) {
    return (tensor.images - 1) * tensor.image_stride * tensor.number_bytes() + image_bytes(tensor);
  };
  const size_t number = source.number_bytes();
  const bool is_apart = are_apart(source.place, bytes(source), result.place, bytes(result)) ||
                        (source.image_stride == result.image_stride && source.images > 1 &&
                         take_turns(source.place, image_bytes(source), result.place, image_bytes(result),
                                    source.image_stride * number)) ||
                        (source.pixel_stride == result.pixel_stride &&
                         take_turns(source.place, source.channels * number, result.place, result.channels * number,
                                    source.pixel_stride * number));
  return is_apart ? source : packed(source);
}

Status check_edge_mode(MPS::ImageEdgeMode mode, const char* name) {
  if (mode <= MPS::ImageEdgeModeMirrorWithEdge) return success();
  return Error{fmt::format("{} ({}) must be zero, clamp, mirror or mirror with edge", name, size_t(mode))};
}

}  // namespace metalloid::mps

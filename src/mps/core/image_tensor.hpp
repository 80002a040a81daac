// Images as the tensors that kernels and libraries work on. The images of a batch that lie at a constant distance are
// one tensor as they are; others, and those whose numbers have another type, are copied into scratch memory, or from
// there when the work is done.
#pragma once

#include <metalloid/result.hpp>
#include <span>
#include <vector>

#include "mps/core/encoding.hpp"
#include "mps/core/image.hpp"

namespace metalloid::mps {

// Strides count numbers. Float32 or Float16.
struct ImageTensor {
  Operand place;  // of the first number
  MPS::DataType type = MPS::DataTypeFloat32;
  size_t images = 0, height = 0, width = 0, channels = 0;
  size_t image_stride = 0, row_stride = 0, pixel_stride = 0;
  bool gap_is_padding = false;   // the numbers between the channels of two pixels belong to nobody
  bool padding_is_zero = false;  // and are zeros

  // All pixels of all images follow each other without gaps between rows or images.
  bool is_dense() const {
    return row_stride == width * pixel_stride && (images == 1 || image_stride == height * row_stride);
  }
  size_t number_bytes() const { return type == MPS::DataTypeFloat16 ? 2 : 4; }
};

// What kernels/image.h has.
struct KernelImageTensor {
  uint64_t image_stride;
  uint32_t row_stride, pixel_stride;
  uint32_t width, height, channels, images;
};
KernelImageTensor for_kernel(const ImageTensor& tensor);

// The part of images that is meant: a rectangle, channels, and, in an Image of several images, some of them.
struct ImageArea {
  size_t x = 0, y = 0, width = 0, height = 0;
  size_t first_channel = 0, channels = 0;
  size_t first_image = 0, images = 1;  // for a batch: 0, and the size of the batch
};
ImageArea whole(std::span<ImageObject* const> images);

// The type for work on these images: Float16 where all of them hold no more precision than that, or else Float32.
MPS::DataType work_type_of(std::initializer_list<std::span<ImageObject* const>> batches);

// The images that one encode works on. Sources are ready when they are asked for; destinations that had to be elsewhere
// are copied to their images by finish().
class ImageWork {
 public:
  explicit ImageWork(Encoding& encoding) : encoding_(encoding) {}

  // `images` is one Image, or a batch of single ones of equal size.
  Result<ImageTensor> source(std::span<ImageObject* const> images, const ImageArea& region, MPS::DataType type);
  Result<ImageTensor> destination(std::span<ImageObject* const> images, const ImageArea& region, MPS::DataType type);
  // Reads, with `edge_mode` outside, `width` x `height` pixels from (x, y) on: for kernels that read pixel by pixel.
  ImageTensor shifted(const ImageTensor& source, NS::Integer x, NS::Integer y, size_t width, size_t height,
                      MPS::ImageEdgeMode edge_mode);
  // Writes those pixels into a tensor of the same type; channels that the source does not have become 0.
  void copy(const ImageTensor& source, const ImageTensor& result, NS::Integer x, NS::Integer y,
            MPS::ImageEdgeMode edge_mode);
  // The source, or a copy of it where the result would be written over it.
  ImageTensor apart(const ImageTensor& source, const ImageTensor& result);
  // The same numbers, their pixels filled up with zeros and without gaps.
  ImageTensor packed(const ImageTensor& source);
  void finish();

 private:
  struct Pending {
    ImageTensor tensor;
    std::vector<ImageObject*> images;
    ImageArea region;
  };
  ImageTensor scratch_tensor(size_t images, size_t height, size_t width, size_t channels, MPS::DataType type);

  Encoding& encoding_;
  std::vector<Pending> pending_;
};

// Whether kernels know the edge mode.
Status check_edge_mode(MPS::ImageEdgeMode mode, const char* name);

}  // namespace metalloid::mps

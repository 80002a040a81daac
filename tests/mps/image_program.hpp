// Images for tests: random numbers in, numbers out, one image or a batch.
#pragma once

#include "mps_program.hpp"

namespace metalloid::mps {

struct PictureShape {
  size_t width = 1, height = 1, channels = 1, images = 1;
  MPS::ImageFeatureChannelFormat format = MPS::ImageFeatureChannelFormatFloat32;
};

inline MPS::DataType type_of(MPS::ImageFeatureChannelFormat format) {
  return format == MPS::ImageFeatureChannelFormatFloat16 ? MPS::DataTypeFloat16 : MPS::DataTypeFloat32;
}

// Numbers as [image][y][x][channel], for references.
struct Tensor {
  PictureShape shape;
  std::vector<double> numbers;

  explicit Tensor(const PictureShape& shape)
      : shape(shape), numbers(shape.images * shape.height * shape.width * shape.channels) {}
  double& at(size_t image, size_t x, size_t y, size_t channel) {
    return numbers[((image * shape.height + y) * shape.width + x) * shape.channels + channel];
  }
  double at(size_t image, size_t x, size_t y, size_t channel) const {
    return const_cast<Tensor*>(this)->at(image, x, y, channel);
  }
  // What is read outside by the edge mode.
  double beyond(size_t image, long x, long y, size_t channel, MPS::ImageEdgeMode mode) const {
    const auto inside = [mode](long i, long size) {
      while (i < 0 || i >= size) {
        if (mode == MPS::ImageEdgeModeZero) return -1L;
        if (mode == MPS::ImageEdgeModeClamp) return i < 0 ? 0 : size - 1;
        if (mode == MPS::ImageEdgeModeMirror) i = size == 1 ? 0 : i < 0 ? -i : 2 * size - 2 - i;
        if (mode == MPS::ImageEdgeModeMirrorWithEdge) i = i < 0 ? -1 - i : 2 * size - 1 - i;
      }
      return i;
    };
    x = inside(x, long(shape.width));
    y = inside(y, long(shape.height));
    return x < 0 || y < 0 ? 0 : at(image, size_t(x), size_t(y), channel);
  }
};

class ImageTest : public MpsTest {
 protected:
  using Images = std::vector<NS::SharedPtr<MPS::Image>>;

  // Single images that hold these numbers; the tensor gets what they became in the image's type.
  Images images_with(Tensor& tensor) {
    Images images;
    for (size_t i = 0; i < tensor.shape.images; ++i) {
      images.push_back(new_image(tensor.shape));
      write(images.back().get(), tensor, i, 0);
    }
    return images;
  }

  NS::SharedPtr<MPS::Image> new_image(const PictureShape& shape, size_t numberOfImages = 1) {
    return NS::TransferPtr(MPS::Image::alloc()->init(
        device.get(),
        MPS::ImageDescriptor::imageDescriptor(shape.format, shape.width, shape.height, shape.channels, numberOfImages,
                                              MTL::TextureUsageShaderRead | MTL::TextureUsageShaderWrite)));
  }

  void write(MPS::Image* image, Tensor& tensor, size_t index, size_t imageIndex) {
    const MPS::DataType type = type_of(tensor.shape.format);
    const size_t count = tensor.shape.width * tensor.shape.height * tensor.shape.channels;
    std::vector<char> bytes(count * 4);
    for (size_t j = 0; j < count; ++j) {
      double& number = tensor.numbers[index * count + j];
      set_number(bytes.data(), j, type, number);
      number = number_at(bytes.data(), j, type);
    }
    image->writeBytes(bytes.data(), MPS::DataLayoutHeightxWidthxFeatureChannels, imageIndex);
  }

  Tensor numbers_of(const MPS::Image* image, size_t imageIndex = 0) {
    Tensor tensor({image->width(), image->height(), image->featureChannels(), 1, image->featureChannelFormat()});
    std::vector<char> bytes(tensor.numbers.size() * 4);
    image->readBytes(bytes.data(), MPS::DataLayoutHeightxWidthxFeatureChannels, imageIndex);
    for (size_t j = 0; j < tensor.numbers.size(); ++j)
      tensor.numbers[j] = number_at(bytes.data(), j, type_of(tensor.shape.format));
    return tensor;
  }
  Tensor numbers_of(const Images& images) {
    Tensor all({images[0]->width(), images[0]->height(), images[0]->featureChannels(), images.size(),
                images[0]->featureChannelFormat()});
    all.numbers.clear();
    for (const auto& image : images) {
      const Tensor one = numbers_of(image.get());
      all.numbers.insert(all.numbers.end(), one.numbers.begin(), one.numbers.end());
    }
    return all;
  }

  Tensor random_tensor(const PictureShape& shape, double low = -1, double high = 1) {
    Tensor tensor(shape);
    std::uniform_real_distribution<double> distribution(low, high);
    for (double& number : tensor.numbers) number = distribution(random);
    return tensor;
  }

  static NS::Array* batch_of(const Images& images) {
    std::vector<const NS::Object*> objects;
    for (const auto& image : images) objects.push_back(image.get());
    return NS::Array::array(objects.data(), objects.size());
  }

  static void expect_near(const Tensor& result, const Tensor& expected, double tolerance, const std::string& what) {
    ASSERT_EQ(result.numbers.size(), expected.numbers.size()) << what;
    for (size_t i = 0; i < expected.numbers.size(); ++i)
      ASSERT_NEAR(result.numbers[i], expected.numbers[i], tolerance) << what << ", number " << i;
  }
};

}  // namespace metalloid::mps

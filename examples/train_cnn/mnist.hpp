// The MNIST handwritten digits, read from gzip files in the IDX format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace metalloid::train_cnn {

inline constexpr size_t image_size = 28, classes = 10;
inline constexpr size_t pixels_of_image = image_size * image_size;

struct Digits {
  std::vector<uint8_t> pixels;  // image after image, row by row; 0 is the paper
  std::vector<uint8_t> labels;

  size_t count() const { return labels.size(); }
  std::span<const uint8_t> image(size_t index) const {
    return std::span(pixels).subspan(index * pixels_of_image, pixels_of_image);
  }
  // Forgets all but the first ones.
  void keep(size_t images);
};

struct Mnist {
  Digits training, test;
};

// Throws a Failure that names the file and says what is wrong with it.
Mnist read_mnist(const std::filesystem::path& folder);

}  // namespace metalloid::train_cnn

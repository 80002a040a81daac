#include "mnist.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <type_traits>

#include "training/failure.hpp"

namespace metalloid::train_cnn {

namespace {

using training::Failure;

constexpr uint32_t images_magic = 0x0803, labels_magic = 0x0801;
constexpr uint32_t most_images = 1 << 20;  // more are a damaged file

// A gzip file in the IDX format: four bytes that say what it is, its sizes, and bytes.
class IdxFile {
 public:
  explicit IdxFile(const std::filesystem::path& path) : path_(path), file_(gzopen(path.c_str(), "rb")) {
    if (!file_)
      throw Failure(training::exit_file_error,
                    fmt::format("cannot read '{}': {}; name the folder with MNIST's four .gz files with --data",
                                path.string(), std::strerror(errno)));
    gzbuffer(file_.get(), 1 << 17);
  }

  uint32_t number() {
    std::array<uint8_t, 4> bytes;
    read(bytes);
    return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
  }

  void read(std::span<uint8_t> bytes) {
    const int count = gzread(file_.get(), bytes.data(), static_cast<unsigned>(bytes.size()));
    if (count != static_cast<int>(bytes.size())) refuse("it ends too early or is damaged");
  }

  void expect(uint32_t found, uint32_t wanted, const char* what) {
    if (found != wanted) refuse(fmt::format("its {} is {}, not {}", what, found, wanted));
  }

  void expect_end() {
    uint8_t byte = 0;
    if (gzread(file_.get(), &byte, 1) != 0) refuse("there is more in it than it says, or its check sum is wrong");
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw Failure(training::exit_file_error,
                  fmt::format("'{}' is not the file of MNIST that it should be: {}", path_.string(), why));
  }

 private:
  struct Close {
    void operator()(gzFile file) const { gzclose(file); }
  };
  std::filesystem::path path_;
  std::unique_ptr<std::remove_pointer_t<gzFile>, Close> file_;
};

Digits read_digits(const std::filesystem::path& folder, const std::string& name) {
  Digits digits;
  IdxFile labels(folder / (name + "-labels-idx1-ubyte.gz"));
  labels.expect(labels.number(), labels_magic, "magic number");
  const uint32_t count = labels.number();
  if (count == 0 || count > most_images) labels.refuse(fmt::format("it says that it has {} labels", count));
  digits.labels.resize(count);
  labels.read(digits.labels);
  labels.expect_end();
  if (*std::ranges::max_element(digits.labels) >= classes) labels.refuse("a label is above 9");

  IdxFile images(folder / (name + "-images-idx3-ubyte.gz"));
  images.expect(images.number(), images_magic, "magic number");
  images.expect(images.number(), count, "number of images");
  images.expect(images.number(), image_size, "height");
  images.expect(images.number(), image_size, "width");
  digits.pixels.resize(size_t{count} * pixels_of_image);
  images.read(digits.pixels);
  images.expect_end();
  return digits;
}

}  // namespace

void Digits::keep(size_t images) {
  if (images >= count()) return;
  labels.resize(images);
  pixels.resize(images * pixels_of_image);
}

Mnist read_mnist(const std::filesystem::path& folder) {
  return {.training = read_digits(folder, "train"), .test = read_digits(folder, "t10k")};
}

}  // namespace metalloid::train_cnn

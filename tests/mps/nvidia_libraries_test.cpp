// What NVIDIA's libraries are asked for, answered on the host by tests/mps/fake_cublas_lt.cpp.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <vector>

#include "mps/libraries/nvidia/library.hpp"
#include "mps/libraries/nvidia/primitives.hpp"
#include "mps/libraries/nvidia/shared_library.hpp"
#include "mps/libraries/nvidia/stream_libraries.hpp"

namespace metalloid::mps::nvidia {
namespace {

class NvidiaLibraries : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(METALLOID_FAKE_CUDA)) GTEST_SKIP() << "there is no " METALLOID_FAKE_CUDA;
    setenv("METALLOID_CUDA_LIBRARIES", METALLOID_FAKE_CUDA, 1);
    const auto& library = CublasLt::shared();
    unsetenv("METALLOID_CUDA_LIBRARIES");
    ASSERT_TRUE(library) << library.error();
    if (library->path.find(METALLOID_FAKE_CUDA) == std::string::npos)
      GTEST_SKIP() << "this process has opened " << library->path;
  }

  std::vector<float> numbers(size_t count) {
    std::vector<float> made(count);
    std::uniform_real_distribution<float> between(-1, 1);
    for (float& number : made) number = between(random_);
    return made;
  }

  device::LibraryStream stream;

 private:
  std::mt19937 random_{7};
};

// Sums are of double on both sides, so only the result is rounded.
constexpr double tolerance = 1e-5;

TEST_F(NvidiaLibraries, AreAskedForEveryProductThatMatricesOfRowsHave) {
  for (int options = 0; options < 4; ++options) {
    MatrixProduct p{.rows = 5, .columns = 7, .interior = 3, .alpha = 2, .beta = 0.5, .batch = 2};
    p.transpose_left = options & 1;
    p.transpose_right = options & 2;
    const size_t left_rows = p.transpose_left ? 3 : 5, right_rows = p.transpose_right ? 7 : 3;
    p.left_row_stride = (p.transpose_left ? 5 : 3) + 2;
    p.right_row_stride = (p.transpose_right ? 3 : 7) + 1;
    p.result_row_stride = 7 + 4;
    p.left_batch_stride = left_rows * p.left_row_stride + 3;
    p.right_batch_stride = right_rows * p.right_row_stride;
    p.result_batch_stride = 5 * p.result_row_stride + 1;
    p.alignment = 4;
    std::vector<float> a = numbers(2 * p.left_batch_stride), b = numbers(2 * p.right_batch_stride),
                       c = numbers(2 * p.result_batch_stride);
    std::vector<float> expected = c;
    for (size_t matrix = 0; matrix < p.batch; ++matrix)
      for (size_t row = 0; row < p.rows; ++row)
        for (size_t column = 0; column < p.columns; ++column) {
          double sum = 0;
          for (size_t i = 0; i < p.interior; ++i) {
            const size_t left = p.transpose_left ? i * p.left_row_stride + row : row * p.left_row_stride + i;
            const size_t right = p.transpose_right ? column * p.right_row_stride + i : i * p.right_row_stride + column;
            sum += double{a[matrix * p.left_batch_stride + left]} * b[matrix * p.right_batch_stride + right];
          }
          float& result = expected[matrix * p.result_batch_stride + row * p.result_row_stride + column];
          result = float(2 * sum + 0.5 * result);
        }
    const auto primitive = make_matrix_product(p);
    ASSERT_TRUE(primitive);
    void* const places[] = {a.data(), b.data(), c.data()};
    const Status done = primitive->run(&stream, places);
    ASSERT_TRUE(done) << done.error();
    for (size_t i = 0; i < c.size(); ++i) ASSERT_NEAR(c[i], expected[i], tolerance) << options << ' ' << i;
  }
}

TEST_F(NvidiaLibraries, HaveIntegersOnlyInPiecesOfFour) {
  MatrixProduct p{.rows = 8, .columns = 4, .interior = 12, .transpose_right = true};
  p.left_type = p.right_type = MPS::DataTypeInt8;
  p.result_type = MPS::DataTypeInt32;
  p.left_row_stride = p.right_row_stride = 12;
  p.result_row_stride = 4;
  p.alignment = 16;
  EXPECT_TRUE(make_matrix_product(p));
  MatrixProduct odd = p, askew = p, scaled = p;
  odd.rows = 7;
  askew.alignment = 2;
  scaled.alpha = 0.5;
  EXPECT_FALSE(make_matrix_product(odd));
  EXPECT_FALSE(make_matrix_product(askew));
  EXPECT_FALSE(make_matrix_product(scaled));
}

// A layer whose window is the image, with two numbers of filling at the end of each result.
class FullyConnected : public NvidiaLibraries {
 protected:
  static constexpr size_t images = 3, height = 2, width = 3, inputs = 4, outputs = 6, stored = 8;
  static constexpr size_t of_image = height * width * inputs;

  static Convolution description(ConvolutionPass pass) {
    Convolution c;
    c.pass = pass;
    c.images = images;
    c.source_width = c.kernel_width = width;
    c.source_height = c.kernel_height = height;
    c.source_channels = c.source_stored_channels = inputs;
    c.destination_channels = outputs;
    c.destination_stored_channels = stored;
    c.alignment = 4;
    return c;
  }

  void run(const Convolution& c, std::vector<void*> places) {
    const auto primitive = make_convolution(c);
    ASSERT_TRUE(primitive);
    const Status done = primitive->run(&stream, places);
    ASSERT_TRUE(done) << done.error();
  }

  std::vector<float> source = numbers(images * of_image), weights = numbers(outputs * of_image),
                     biases = numbers(outputs), result = std::vector<float>(images * stored);
};

TEST_F(FullyConnected, IsAProductWithBiasesAndReLU) {
  Convolution c = description(ConvolutionPass::forward);
  c.has_biases = true;
  c.neuron.type = MPS::CNNNeuronTypeReLU;
  run(c, {source.data(), weights.data(), biases.data(), result.data()});
  for (size_t image = 0; image < images; ++image)
    for (size_t output = 0; output < stored; ++output) {
      double sum = output < outputs ? biases[output] : 0;
      for (size_t i = 0; output < outputs && i < of_image; ++i)
        sum += double{source[image * of_image + i]} * weights[output * of_image + i];
      EXPECT_NEAR(result[image * stored + output], std::max(sum, 0.0), tolerance);
    }
}

TEST_F(FullyConnected, HasGradientsThatAreProducts) {
  const std::vector<float> gradient = numbers(images * stored);
  std::vector<float> of_source(source.size()), of_weights(weights.size());
  auto* const given = const_cast<float*>(gradient.data());
  run(description(ConvolutionPass::data_gradient), {given, weights.data(), of_source.data()});
  run(description(ConvolutionPass::weights_gradient), {source.data(), given, of_weights.data(), nullptr});
  for (size_t i = 0; i < of_image; ++i) {
    for (size_t image = 0; image < images; ++image) {
      double sum = 0;
      for (size_t output = 0; output < outputs; ++output)
        sum += double{gradient[image * stored + output]} * weights[output * of_image + i];
      EXPECT_NEAR(of_source[image * of_image + i], sum, tolerance);
    }
    for (size_t output = 0; output < outputs; ++output) {
      double sum = 0;
      for (size_t image = 0; image < images; ++image)
        sum += double{gradient[image * stored + output]} * source[image * of_image + i];
      EXPECT_NEAR(of_weights[output * of_image + i], sum, tolerance);
    }
  }
}

TEST(NvidiaLibraryFiles, AreLookedForWhereTheEnvironmentSaysFirst) {
  setenv("METALLOID_CUDA_LIBRARIES", "/first:/second", 1);
  const std::vector<std::string> folders = library_folders();
  unsetenv("METALLOID_CUDA_LIBRARIES");
  ASSERT_GE(folders.size(), 3u);
  EXPECT_EQ(folders[0], "/first");
  EXPECT_EQ(folders[1], "/second");
  EXPECT_EQ(folders[2], "");
  EXPECT_EQ(library_folders()[0], "");
}

TEST(NvidiaLibraryFiles, SayWhatIsMissingAndHowToNameItsFolder) {
  const auto library = SharedLibrary::open({"libthere_is_no_such.so.9"});
  ASSERT_FALSE(library);
  EXPECT_NE(library.error().find("libthere_is_no_such.so.9"), std::string::npos) << library.error();
  EXPECT_NE(library.error().find("METALLOID_CUDA_LIBRARIES"), std::string::npos);
}

}  // namespace
}  // namespace metalloid::mps::nvidia

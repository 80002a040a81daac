// Convolutions by cuDNN, but for those that are products of matrices, which cuBLASLt does many times faster: fully
// connected layers, where a window is the whole image, and windows of one pixel. cuDNN is given images as they lie,
// channels innermost, including those that only fill pixels up: their weights are zero. Weights without room for them
// are put into scratch memory that has it, and gradients of weights are taken out of such.
#include "mps/libraries/convolution.hpp"

#include <array>

#include "mps/libraries/nvidia/primitives.hpp"
#include "mps/libraries/nvidia/stream_libraries.hpp"

namespace metalloid::mps::nvidia {
namespace {

namespace cuda = metalloid::nvidia::cuda;
using metalloid::nvidia::Driver;

class CudnnConvolution final : public Primitive {
 public:
  explicit CudnnConvolution(const Convolution& c)
      : convolution_(c),
        number_(c.type == MPS::DataTypeFloat16 ? 2 : 4),
        is_filled_up_(c.source_stored_channels != c.source_channels ||
                      c.destination_stored_channels != c.destination_channels) {}

  Status run(device::LibraryStream* stream, std::span<void* const> places) override {
    StreamLibraries& own = StreamLibraries::of(*stream);
    const auto plan = own.plan_for(convolution_);
    if (!plan) return Error{plan.error()};
    const auto workspace = own.workspace(room_bytes() + (*plan)->workspace_bytes());
    if (!workspace) return Error{workspace.error()};
    auto* const room = static_cast<std::byte*>(*workspace);
    ConvolutionPlan::Places given;
    given.workspace = room + room_bytes();
    switch (convolution_.pass) {
      case ConvolutionPass::forward:
        given.source = places[0];
        given.weights = places[1];
        given.biases = places[2];
        given.destination = places[3];
        break;
      case ConvolutionPass::data_gradient:
        given.destination = places[0];
        given.weights = places[1];
        given.source = places[2];
        break;
      case ConvolutionPass::weights_gradient:
        given.source = places[0];
        given.destination = places[1];
        given.weights = places[2];
        break;
    }
    if (!is_filled_up_) return (*plan)->run(*own.cudnn(), given);
    const Rows weights = rows(reinterpret_cast<cuda::Address>(given.weights), reinterpret_cast<cuda::Address>(room));
    given.weights = room;
    if (convolution_.pass == ConvolutionPass::weights_gradient) {
      const Status done = (*plan)->run(*own.cudnn(), given);
      return done ? copy(own, weights.outside) : done;
    }
    const Driver& driver = *Driver::shared();
    auto* const queue = static_cast<cuda::Stream>(own.stream());
    if (driver.fill(weights.room, 0, room_bytes(), queue) != cuda::Code::success) return failed();
    if (const Status done = copy(own, weights.inside); !done) return done;
    if (given.biases) {
      const cuda::Address biases = weights.room + weights_bytes();
      if (driver.copy(biases, reinterpret_cast<cuda::Address>(given.biases),
                      convolution_.destination_channels * sizeof(float), queue) != cuda::Code::success)
        return failed();
      given.biases = reinterpret_cast<void*>(biases);
    }
    return (*plan)->run(*own.cudnn(), given);
  }

 private:
  // The weights of one output and tap are a row.
  struct Rows {
    cuda::Address room;
    cuda::Copy2D inside, outside;
  };

  size_t weights_bytes() const {
    const Convolution& c = convolution_;
    return round_up(c.destination_stored_channels * c.kernel_height * c.kernel_width *
                    (c.source_stored_channels / c.groups) * number_);
  }
  // In front of the plan's own scratch memory.
  size_t room_bytes() const {
    return is_filled_up_ ? weights_bytes() + round_up(convolution_.destination_stored_channels * sizeof(float)) : 0;
  }
  static size_t round_up(size_t bytes) { return (bytes + 255) / 256 * 256; }

  Rows rows(cuda::Address weights, cuda::Address room) const {
    const Convolution& c = convolution_;
    const size_t row = c.source_channels / c.groups * number_, stored = c.source_stored_channels / c.groups * number_;
    const auto copy = [&](cuda::Address from, size_t from_pitch, cuda::Address to, size_t to_pitch) {
      cuda::Copy2D copy;
      copy.source = from;
      copy.source_pitch = from_pitch;
      copy.destination = to;
      copy.destination_pitch = to_pitch;
      copy.row_bytes = row;
      copy.rows = c.destination_channels * c.kernel_height * c.kernel_width;
      return copy;
    };
    return {room, copy(weights, row, room, stored), copy(room, stored, weights, row)};
  }

  static Status copy(const StreamLibraries& own, const cuda::Copy2D& copy) {
    const auto code = Driver::shared()->copy_2d(&copy, static_cast<cuda::Stream>(own.stream()));
    return code == cuda::Code::success ? success() : failed();
  }
  static Status failed() { return Error{"the weights of a convolution could not be copied"}; }

  const Convolution convolution_;
  const size_t number_;  // bytes
  const bool is_filled_up_;
};

// A convolution as a product, whose places come in another order.
class ProductConvolution final : public Primitive {
 public:
  ProductConvolution(std::shared_ptr<Primitive> product, std::array<size_t, 4> order)
      : product_(std::move(product)), order_(order) {}

  Status run(device::LibraryStream* stream, std::span<void* const> places) override {
    std::array<void*, 4> ordered = {};
    for (size_t i = 0; i < ordered.size(); ++i) ordered[i] = order_[i] < places.size() ? places[order_[i]] : nullptr;
    return product_->run(stream, ordered);
  }

 private:
  const std::shared_ptr<Primitive> product_;
  const std::array<size_t, 4> order_;  // where A, B, C and biases are among the convolution's places
};

// Pixels, or whole images, are rows of the matrices.
bool is_product(const Convolution& c) {
  if (c.groups != 1 || c.left != 0 || c.top != 0) return false;
  const bool of_pixels = c.kernel_width == 1 && c.kernel_height == 1 && c.stride_x == 1 && c.stride_y == 1;
  const bool of_images = c.kernel_width == c.source_width && c.kernel_height == c.source_height && c.dilation_x == 1 &&
                         c.dilation_y == 1 && c.destination_width == 1 && c.destination_height == 1 &&
                         c.source_stored_channels == c.source_channels;
  const bool are_all_there = c.destination_width == c.source_width && c.destination_height == c.source_height;
  return of_images || (of_pixels && are_all_there);
}

std::shared_ptr<Primitive> make_product_convolution(const Convolution& c, bool has_relu) {
  const bool is_image = c.destination_width == 1 && c.destination_height == 1;
  const size_t pixels = is_image ? 1 : c.destination_width * c.destination_height, rows = c.images * pixels;
  const size_t inputs = c.source_channels * c.kernel_width * c.kernel_height;
  const size_t input_stride = c.source_stored_channels * c.kernel_width * c.kernel_height;
  const size_t outputs = c.destination_channels, output_stride = c.destination_stored_channels;
  MatrixProduct p{.left_type = c.type, .right_type = c.type, .result_type = c.type, .alignment = c.alignment};
  ProductOptions options{.inputs_may_be_short = c.inputs_may_be_short};
  std::array<size_t, 4> order = {};
  switch (c.pass) {
    case ConvolutionPass::forward:
      p.rows = rows;
      p.columns = outputs;
      p.interior = inputs;
      p.transpose_right = true;
      p.left_row_stride = input_stride;
      p.right_row_stride = inputs;
      p.result_row_stride = output_stride;
      options.epilogue = has_relu ? ProductOptions::Epilogue::biases_and_relu : ProductOptions::Epilogue::biases;
      order = {0, 1, 3, 2};
      break;
    case ConvolutionPass::data_gradient:
      p.rows = rows;
      p.columns = inputs;
      p.interior = outputs;
      p.left_row_stride = output_stride;
      p.right_row_stride = inputs;
      p.result_row_stride = input_stride;
      order = {0, 1, 2, 3};
      break;
    case ConvolutionPass::weights_gradient:
      p.rows = outputs;
      p.columns = inputs;
      p.interior = rows;
      p.transpose_left = true;
      p.left_row_stride = output_stride;
      p.right_row_stride = input_stride;
      p.result_row_stride = inputs;
      order = {1, 0, 2, 3};
      break;
  }
  auto product = make_matrix_product(p, options);
  return product ? std::make_shared<ProductConvolution>(std::move(product), order) : nullptr;
}

}  // namespace

// Groups are cuDNN's where no channels fill pixels up; where a window begins inside, pixels would have to be left out.
std::shared_ptr<Primitive> make_convolution(const Convolution& c) {
  if (c.type != MPS::DataTypeFloat32) return nullptr;
  if (c.pass == ConvolutionPass::weights_gradient && c.has_biases) return nullptr;
  const bool has_relu = c.neuron.type == MPS::CNNNeuronTypeReLU && c.neuron.parameters.a == 0;
  if (!has_relu && c.neuron.type != MPS::CNNNeuronTypeNone) return nullptr;
  if (is_product(c))
    if (auto product = make_product_convolution(c, has_relu)) return product;
  const bool is_filled_up =
      c.source_stored_channels != c.source_channels || c.destination_stored_channels != c.destination_channels;
  if (!Cudnn::shared() || (c.groups != 1 && is_filled_up) || c.left > 0 || c.top > 0) return nullptr;
  // cuDNN makes as many results as there are windows.
  if (rows_behind(c) <= -int64_t(c.stride_y) || columns_behind(c) <= -int64_t(c.stride_x)) return nullptr;
  return std::make_shared<CudnnConvolution>(c);
}

}  // namespace metalloid::mps::nvidia

// metalloid bench micro: small pieces of transformers (a low-rank update, softmax, norms, a neuron), each as one Metal
// kernel of its own and as kernels of Metal Performance Shaders, in time of the device, beside the copying of as many
// bytes; and figures that others published for the same work on Apple's hardware.
//
// MPS has no kernels for norms of rows. Layer norm is the group normalisation of images of one pixel; RMSNorm, of an
// image whose pixels are the rows, is means, arithmetic with broadcasting and a power.
#include <fmt/format.h>

#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#include <MetalPerformanceShaders/MetalPerformanceShaders.hpp>
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench.hpp"
#include "bench_workload.hpp"
#include "device/small_float.hpp"
#include "files.hpp"
#include "micro_bench.hpp"

namespace metalloid::tool {

namespace {

constexpr float epsilon = 1e-5f;
constexpr uint32_t rank = 8, lora_rows = 128;
constexpr float lora_scale = 2;

struct Measured {
  std::string name, size;
  double custom = 0, mps = 0, copy = 0;  // microseconds; copy is 0 where the work does not move as much memory
  const char *apple_custom = "-", *apple_mlx = "-";
};

void require_close(const std::vector<float>& found, const std::vector<double>& expected, double tolerance,
                   const std::string& what) {
  for (size_t i = 0; i < expected.size(); ++i)
    require(std::abs(found[i] - expected[i]) <= tolerance,
            fmt::format("{}: number {} is {} and not {}", what, i, found[i], expected[i]));
}

std::vector<float> rounded(std::vector<float> numbers, MPS::DataType type) {
  if (type != MPS::DataTypeFloat32)
    for (float& number : numbers) number = device::from_bfloat(device::to_bfloat(number));
  return numbers;
}

Measured lora(MicroBench& bench, uint32_t width, MPS::DataType type) {
  const bool is_float = type == MPS::DataTypeFloat32;
  Numbers numbers(width);
  const auto x = rounded(numbers.floats(lora_rows * width), type), a = rounded(numbers.floats(width * rank), type),
             b = rounded(numbers.floats(rank * width), type);
  std::vector<double> expected(lora_rows * width), low(rank);
  for (size_t row = 0; row < lora_rows; ++row) {
    for (size_t r = 0; r < rank; ++r) {
      low[r] = 0;
      for (size_t i = 0; i < width; ++i) low[r] += double{x[row * width + i]} * a[i * rank + r];
    }
    for (size_t j = 0; j < width; ++j)
      for (size_t r = 0; r < rank; ++r) expected[row * width + j] += lora_scale * low[r] * b[r * width + j];
  }
  const Matrix in = bench.new_matrix(lora_rows, width, type, x), down = bench.new_matrix(width, rank, type, a),
               up = bench.new_matrix(rank, width, type, b), between = bench.new_matrix(lora_rows, rank, type),
               out = bench.new_matrix(lora_rows, width, type);
  const bool in_eights = !bench.device()->hasUnifiedMemory();  // as examples/lora decides
  const std::string kernel = fmt::format("lora_{}{}", in_eights ? "in_eights_" : "", is_float ? "float" : "bfloat");
  const auto pipeline = bench.pipeline("lora.metal", kernel.c_str(), {width, width});
  const Encode custom = [&](MTL::CommandBuffer* commands) {
    MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(pipeline.get());
    NS::UInteger index = 0;
    for (const Matrix& matrix : {in, down, up, out}) encoder->setBuffer(matrix->data(), 0, index++);
    encoder->setBytes(&lora_scale, sizeof lora_scale, index);
    encoder->dispatchThreadgroups(MTL::Size(lora_rows, 1, 1), MTL::Size(in_eights ? 256 : 32, 1, 1));
    encoder->endEncoding();
  };
  const auto product = [&](size_t columns, size_t inner) {
    return NS::TransferPtr(
        MPS::MatrixMultiplication::alloc()->init(bench.device(), false, false, lora_rows, columns, inner, 1, 0));
  };
  const auto first = product(rank, width), second = product(width, rank);
  const auto scaling = NS::TransferPtr(MPS::MatrixNeuron::alloc()->init(bench.device()));
  scaling->setNeuronType(MPS::CNNNeuronTypeLinear, lora_scale, 0, 0);
  const Encode mps = [&](MTL::CommandBuffer* commands) {
    first->encode(commands, in.get(), down.get(), between.get());
    second->encode(commands, between.get(), up.get(), out.get());
    scaling->encode(commands, out.get(), nullptr, out.get());
  };
  // Sums of `width` products below 1; bfloat keeps 8 bits of them, and of what is between the products.
  const double tolerance = (is_float ? 1e-5 : 3e-2) * rank * lora_scale * std::sqrt(double(width));
  for (const Encode& way : {custom, mps}) {
    bench.write(out.get(), std::vector<float>(lora_rows * width, NAN));
    bench.run(way, 1);
    require_close(bench.read(out.get()), expected, tolerance, "lora");
  }
  return {is_float ? "LoRA, float" : "LoRA, bfloat",
          fmt::format("{} x {}, rank {}", lora_rows, width, rank),
          bench.time(custom),
          bench.time(mps),
          0,
          "36.5",
          "5-11"};
}

// What works on each row of a square matrix of floats.
struct RowWork {
  const char *name, *file, *kernel;
  unsigned parameters;  // the row's weights, and biases after them
  const char *apple_custom = "-", *apple_mlx = "-";
};

NS::SharedPtr<MPS::Image> new_image(MTL::Device* device, size_t images, size_t pixels, size_t channels) {
  return NS::TransferPtr(MPS::Image::alloc()->init(
      device, MPS::ImageDescriptor::imageDescriptor(MPS::ImageFeatureChannelFormatFloat32, pixels, 1, channels, images,
                                                    MTL::TextureUsageShaderRead | MTL::TextureUsageShaderWrite)));
}

// Rows are images of one pixel, with one group of channels.
class LayerNormOfImages {
 public:
  LayerNormOfImages(MicroBench& bench, uint32_t n, const std::vector<float>& x,
                    const std::vector<std::vector<float>>& parameters)
      : in_(new_image(bench.device(), n, 1, n)), out_(new_image(bench.device(), n, 1, n)), source_(parameters) {
    for (size_t row = 0; row < n; ++row)
      in_->writeBytes(x.data() + row * n, MPS::DataLayoutHeightxWidthxFeatureChannels, row);
    kernel_ = NS::TransferPtr(MPS::CNNGroupNormalization::alloc()->init(bench.device(), &source_));
  }
  void encode(MTL::CommandBuffer* commands) { kernel_->encode(commands, in_.get(), out_.get()); }
  std::vector<float> read() {
    const size_t n = out_->featureChannels();
    std::vector<float> numbers(n * n);
    for (size_t row = 0; row < n; ++row)
      out_->readBytes(numbers.data() + row * n, MPS::DataLayoutHeightxWidthxFeatureChannels, row);
    return numbers;
  }

 private:
  struct Source final : MPS::CNNGroupNormalizationDataSource {
    explicit Source(const std::vector<std::vector<float>>& parameters) : gammas(parameters[0]), betas(parameters[1]) {}
    NS::UInteger numberOfFeatureChannels() override { return gammas.size(); }
    NS::UInteger numberOfGroups() override { return 1; }
    float* gamma() override { return gammas.data(); }
    float* beta() override { return betas.data(); }
    float epsilon() override { return tool::epsilon; }
    std::vector<float> gammas, betas;
  };

  const NS::SharedPtr<MPS::Image> in_, out_;
  Source source_;
  NS::SharedPtr<MPS::CNNGroupNormalization> kernel_;
};

// Rows are pixels: squares, their mean, a power, and products.
class RmsNormOfImages {
 public:
  RmsNormOfImages(MicroBench& bench, uint32_t n, const std::vector<float>& x,
                  const std::vector<std::vector<float>>& parameters) {
    MTL::Device* device = bench.device();
    in_ = new_image(device, 1, n, n), squares_ = new_image(device, 1, n, n), out_ = new_image(device, 1, n, n);
    mean_ = new_image(device, 1, n, 1), scale_ = new_image(device, 1, n, 1), weights_ = new_image(device, 1, 1, n);
    in_->writeBytes(x.data(), MPS::DataLayoutHeightxWidthxFeatureChannels, 0);
    weights_->writeBytes(parameters[0].data(), MPS::DataLayoutHeightxWidthxFeatureChannels, 0);
    average_ = NS::TransferPtr(MPS::NNReduceFeatureChannelsMean::alloc()->init(device));
    root_ = NS::TransferPtr(MPS::CNNNeuronPower::alloc()->init(device, 1, epsilon, -0.5f));
    square_ = NS::TransferPtr(MPS::CNNMultiply::alloc()->init(device));
    stretch_ = NS::TransferPtr(MPS::CNNMultiply::alloc()->init(device));
    stretch_->setSecondaryStrideInFeatureChannels(0);
    weigh_ = NS::TransferPtr(MPS::CNNMultiply::alloc()->init(device));
    weigh_->setSecondaryStrideInPixelsX(0);
  }
  void encode(MTL::CommandBuffer* commands) {
    square_->encode(commands, in_.get(), in_.get(), squares_.get());
    average_->encode(commands, squares_.get(), mean_.get());
    root_->encode(commands, mean_.get(), scale_.get());
    stretch_->encode(commands, in_.get(), scale_.get(), out_.get());
    weigh_->encode(commands, out_.get(), weights_.get(), out_.get());
  }
  std::vector<float> read() {
    std::vector<float> numbers(out_->width() * out_->featureChannels());
    out_->readBytes(numbers.data(), MPS::DataLayoutHeightxWidthxFeatureChannels, 0);
    return numbers;
  }

 private:
  NS::SharedPtr<MPS::Image> in_, squares_, out_, mean_, scale_, weights_;
  NS::SharedPtr<MPS::NNReduceFeatureChannelsMean> average_;
  NS::SharedPtr<MPS::CNNNeuronPower> root_;
  NS::SharedPtr<MPS::CNNMultiply> square_, stretch_, weigh_;
};

std::vector<double> expected_rows(const RowWork& work, uint32_t n, const std::vector<float>& x,
                                  const std::vector<std::vector<float>>& parameters) {
  std::vector<double> expected(x.begin(), x.end());
  for (auto row = expected.begin(); row != expected.end(); row += n) {
    const auto end = row + n;
    if (parameters.empty()) {
      double sum = 0;
      for (auto value = row; value != end; ++value) sum += * value = std::exp(*value);
      for (auto value = row; value != end; ++value) *value /= sum;
      continue;
    }
    double mean = 0, squares = 0;
    if (work.parameters == 2)
      for (auto value = row; value != end; ++value) mean += *value / n;
    for (auto value = row; value != end; ++value) squares += (*value - mean) * (*value - mean) / n;
    for (uint32_t i = 0; i < n; ++i)
      row[i] = (row[i] - mean) / std::sqrt(squares + epsilon) * parameters[0][i] +
               (work.parameters == 2 ? parameters[1][i] : 0);
  }
  return expected;
}

Measured measure_rows(MicroBench& bench, const RowWork& work, uint32_t n) {
  Numbers numbers(n);
  const std::vector<float> x = numbers.floats(size_t{n} * n, -2, 3);
  std::vector<std::vector<float>> parameters;
  for (unsigned i = 0; i < work.parameters; ++i) parameters.push_back(numbers.floats(n));
  const std::vector<double> expected = expected_rows(work, n, x, parameters);

  std::vector<Matrix> matrices = {bench.new_matrix(n, n, MPS::DataTypeFloat32, x)};
  for (const auto& of_row : parameters) matrices.push_back(bench.new_matrix(1, n, MPS::DataTypeFloat32, of_row));
  matrices.push_back(bench.new_matrix(n, n, MPS::DataTypeFloat32));
  const Matrix &in = matrices.front(), &out = matrices.back();
  const auto pipeline = bench.pipeline(work.file, work.kernel);
  const Encode custom = [&](MTL::CommandBuffer* commands) {
    MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(pipeline.get());
    NS::UInteger index = 0;
    for (const Matrix& matrix : matrices) encoder->setBuffer(matrix->data(), 0, index++);
    encoder->setBytes(&n, sizeof n, index++);
    if (work.parameters > 0) encoder->setBytes(&epsilon, sizeof epsilon, index++);
    encoder->dispatchThreadgroups(MTL::Size(n, 1, 1), MTL::Size(256, 1, 1));
    encoder->endEncoding();
  };
  constexpr double tolerance = 2e-5;  // numbers of about 1, means of n in float
  bench.run(custom, 1);
  require_close(bench.read(out.get()), expected, tolerance, work.name);
  Measured measured{work.name, fmt::format("{0} x {0}", n), bench.time(custom)};
  measured.apple_custom = work.apple_custom, measured.apple_mlx = work.apple_mlx;
  measured.copy =
      bench.time([&](MTL::CommandBuffer* commands) { MicroBench::encode_copy(commands, in->data(), out->data()); });

  if (parameters.empty()) {
    const auto softmax = NS::TransferPtr(MPS::MatrixSoftMax::alloc()->init(bench.device()));
    const Encode mps = [&](MTL::CommandBuffer* commands) { softmax->encode(commands, in.get(), out.get()); };
    bench.run(mps, 1);
    require_close(bench.read(out.get()), expected, tolerance, work.name);
    measured.mps = bench.time(mps);
  } else {
    const auto measure = [&](auto&& norm) {
      const Encode mps = [&](MTL::CommandBuffer* commands) { norm.encode(commands); };
      bench.run(mps);
      require_close(norm.read(), expected, tolerance, work.name);
      measured.mps = bench.time(mps);
    };
    if (work.parameters == 2)
      measure(LayerNormOfImages(bench, n, x, parameters));
    else
      measure(RmsNormOfImages(bench, n, x, parameters));
  }
  return measured;
}

std::string microseconds(double time) {
  return time > 0 ? fmt::format("{:.1f}", time) : "-";
}
std::string ratio(double copy, double time) {
  return copy > 0 ? fmt::format("{:.2f}x", copy / time) : "-";
}

void bench_micro(const std::string& json_file) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  const auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  if (!device) throw Failure{exit_file_error, "there is no Metal device"};
  MicroBench bench(device);
  fmt::print("on {}: microseconds of the device; the last two columns are published figures of Apple's hardware\n\n",
             device->name()->utf8String());
  fmt::print("{:<14}{:<22}{:>11}{:>11}{:>11}{:>14}{:>11}{:>14}{:>11}\n", "", "", "custom", "MPS", "copy", "copy:custom",
             "copy:MPS", "Apple custom", "MLX");

  std::vector<std::function<Measured()>> works;
  for (const MPS::DataType type : {MPS::DataTypeFloat32, MPS::DataTypeBFloat16})
    for (const uint32_t width : {512, 1024, 2048})
      works.push_back([&bench, width, type] { return lora(bench, width, type); });
  const RowWork rows[] = {{"softmax", "softmax.metal", "softmax_simd", 0, "39.5", "1.85"},
                          {"layer norm", "norm.metal", "layer_norm", 2},
                          {"RMSNorm", "norm.metal", "rms_norm", 1, "46.9", "6.08"}};
  for (const RowWork& work : rows)
    for (const uint32_t n : {1024, 4096}) works.push_back([&bench, &work, n] { return measure_rows(bench, work, n); });

  nlohmann::json as_json = nlohmann::json::array();
  for (const auto& work : works) {
    const auto row_pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    const Measured found = work();
    fmt::print("{:<14}{:<22}{:>11}{:>11}{:>11}{:>14}{:>11}{:>14}{:>11}\n", found.name, found.size,
               microseconds(found.custom), microseconds(found.mps), microseconds(found.copy),
               ratio(found.copy, found.custom), ratio(found.copy, found.mps), found.apple_custom, found.apple_mlx);
    std::fflush(stdout);
    as_json.push_back({{"name", found.name},
                       {"size", found.size},
                       {"custom", found.custom},
                       {"MPS", found.mps},
                       {"copy", found.copy}});
  }
  if (!json_file.empty()) write_output(json_file, as_json.dump(2) + "\n");
}

}  // namespace

void add_bench_micro(CLI::App& bench) {
  auto json_file = std::make_shared<std::string>();
  CLI::App* command =
      bench.add_subcommand("micro", "LoRA, softmax and norms as Metal kernels and by MPS, beside published figures");
  command->add_option("--json", *json_file, "Write the results to this file, in microseconds");
  command->callback([json_file] { bench_micro(*json_file); });
}

}  // namespace metalloid::tool

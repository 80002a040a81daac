// Metal Performance Shaders on an NVIDIA device, in time of the GPU: products of matrices by cuBLASLt through MPS, by
// kernels of ours, and by cuBLASLt called directly; the softmax of a matrix; and the steps of training a small
// convolutional network (MNIST's: 5x5 to 32 channels, 5x5 to 64, fully connected to 1024), with what encoding each of
// them costs the host.
#include "bench_mps_nvidia.hpp"

#include <fmt/format.h>

#include <MetalPerformanceShaders/MetalPerformanceShaders.hpp>
#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "bench.hpp"
#include "bench_workload.hpp"
#include "files.hpp"
#include "mps/libraries/library.hpp"
#include "raw_cublas_lt.hpp"

namespace metalloid::tool {

namespace {

constexpr size_t repetitions = 9;

struct Times {
  double device = 0, host = 0;  // microseconds
};

class Bench {
 public:
  explicit Bench(MTL::Device* device) : device(device), queue_(NS::TransferPtr(device->newCommandQueue())) {}

  // Medians, of one of `times` in a command buffer. The host's share is that of encoding.
  Times time(size_t times, const std::function<void(MTL::CommandBuffer*)>& encode) {
    std::vector<double> on_device, on_host;
    for (size_t i = 0; i < repetitions + 2; ++i) {
      const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
      MTL::CommandBuffer* commands = queue_->commandBuffer();
      const auto start = std::chrono::steady_clock::now();
      for (size_t k = 0; k < times; ++k) encode(commands);
      const double encoding = milliseconds_since(start) * 1000;
      commands->commit();
      commands->waitUntilCompleted();
      if (commands->error()) throw Failure{exit_source_error, commands->error()->localizedDescription()->utf8String()};
      if (i < 2) continue;
      on_device.push_back((commands->GPUEndTime() - commands->GPUStartTime()) * 1e6 / double(times));
      on_host.push_back(encoding / double(times));
    }
    return {median(on_device), median(on_host)};
  }

  MTL::Device* const device;

 private:
  const NS::SharedPtr<MTL::CommandQueue> queue_;
};

// In the device's own memory; zeros, which take as long as other numbers.
NS::SharedPtr<MPS::Matrix> new_matrix(MTL::Device* device, size_t rows, size_t columns, MPS::DataType type) {
  const size_t row_bytes = columns * (type == MPS::DataTypeFloat32 ? 4 : 2);
  const auto buffer = NS::TransferPtr(device->newBuffer(rows * row_bytes, MTL::ResourceStorageModePrivate));
  return NS::TransferPtr(MPS::Matrix::alloc()->init(
      buffer.get(), MPS::MatrixDescriptor::matrixDescriptor(rows, columns, row_bytes, type)));
}

double time_of_product(Bench& bench, size_t n, MPS::DataType type, size_t times, bool with_libraries) {
  mps::allow_math_libraries(with_libraries);
  std::array<NS::SharedPtr<MPS::Matrix>, 3> m;
  for (auto& matrix : m) matrix = new_matrix(bench.device, n, n, type);
  const auto kernel = NS::TransferPtr(MPS::MatrixMultiplication::alloc()->init(bench.device, n, n, n));
  const Times found = bench.time(
      times, [&](MTL::CommandBuffer* commands) { kernel->encode(commands, m[0].get(), m[1].get(), m[2].get()); });
  mps::allow_math_libraries(true);
  return found.device;
}

void bench_products(Bench& bench, nlohmann::json& rows) {
  struct Case {
    const char* name;
    MPS::DataType type;
    mps::nvidia::lt::Type raw_type;
    std::vector<size_t> sizes;
  };
  using Raw = mps::nvidia::lt::Type;
  const Case cases[] = {{"float32", MPS::DataTypeFloat32, Raw::float32, {64, 128, 256, 512, 1024, 2048, 4096}},
                        {"float16", MPS::DataTypeFloat16, Raw::float16, {64, 256, 1024, 4096}},
                        {"bfloat16", MPS::DataTypeBFloat16, Raw::bfloat16, {4096}}};
  RawCublasLt raw;
  fmt::print("{:<24}{:>12}{:>15}{:>13}{:>9}   asked\n", "product, us", "MPS", "our kernels", "cuBLASLt", "over");
  for (const auto& [name, type, raw_type, sizes] : cases)
    for (const size_t n : sizes) {
      const size_t times = n >= 2048 ? 20 : 100;
      const double own = time_of_product(bench, n, type, times, true);
      const double kernels = time_of_product(bench, n, type, times, false);
      const double theirs = raw ? raw.multiply(n, raw_type, times) : 0;
      fmt::print("{:<24}{:>12.2f}{:>15.2f}{:>13.2f}{:>9}   {}\n", fmt::format("{} {}", name, n), own, kernels, theirs,
                 theirs > 0 ? fmt::format("{:.3f}x", own / theirs) : "-", n == 4096 ? "1.05x" : "");
      rows.push_back({{"product", name}, {"n", n}, {"MPS", own}, {"kernels", kernels}, {"cuBLASLt", theirs}});
    }
}

void bench_soft_max(Bench& bench, nlohmann::json& rows) {
  constexpr size_t n = 4096;
  const auto source = new_matrix(bench.device, n, n, MPS::DataTypeFloat32);
  const auto result = new_matrix(bench.device, n, n, MPS::DataTypeFloat32);
  const auto kernel = NS::TransferPtr(MPS::MatrixSoftMax::alloc()->init(bench.device));
  const Times found =
      bench.time(20, [&](MTL::CommandBuffer* commands) { kernel->encode(commands, source.get(), result.get()); });
  fmt::print("\n{:<24}{:>12.2f} us{:>46}\n", "softmax 4096 x 4096", found.device, "45 us");
  rows.push_back({{"softmax", n}, {"MPS", found.device}});
}

class Weights final : public MPS::CNNConvolutionDataSource {
 public:
  Weights(size_t kernel, size_t inputs, size_t outputs)
      : weights_(kernel * kernel * inputs * outputs, 0.01f), biases_(outputs, 0.1f) {
    descriptor_ =
        NS::RetainPtr(MPS::CNNConvolutionDescriptor::cnnConvolutionDescriptor(kernel, kernel, inputs, outputs));
    descriptor_->setFusedNeuronDescriptor(MPS::NNNeuronDescriptor::cnnNeuronDescriptor(MPS::CNNNeuronTypeReLU));
  }
  MPS::DataType dataType() override { return MPS::DataTypeFloat32; }
  MPS::CNNConvolutionDescriptor* descriptor() override { return descriptor_.get(); }
  void* weights() override { return weights_.data(); }
  float* biasTerms() override { return biases_.data(); }
  bool load() override { return true; }
  void purge() override {}

 private:
  std::vector<float> weights_, biases_;
  NS::SharedPtr<MPS::CNNConvolutionDescriptor> descriptor_;
};

NS::SharedPtr<NS::Array> new_images(MTL::Device* device, size_t batch, size_t size, size_t channels) {
  auto* descriptor = MPS::ImageDescriptor::imageDescriptor(MPS::ImageFeatureChannelFormatFloat32, size, size, channels);
  std::vector<NS::SharedPtr<MPS::Image>> images;
  std::vector<const NS::Object*> objects;
  for (size_t i = 0; i < batch; ++i) {
    images.push_back(NS::TransferPtr(MPS::Image::alloc()->init(device, descriptor)));
    objects.push_back(images.back().get());
  }
  return NS::TransferPtr(NS::Array::alloc()->init(objects.data(), objects.size()));
}

struct LayerCase {
  const char* name;
  size_t size, inputs, kernel, outputs;
  bool is_fully_connected, is_precise;
};

class LayerBench {
 public:
  LayerBench(Bench& bench, size_t batch, nlohmann::json& rows) : bench_(bench), batch_(batch), rows_(rows) {}

  void convolution(const LayerCase& layer) {
    MTL::Device* device = bench_.device;
    const auto weights = NS::TransferPtr(new Weights(layer.kernel, layer.inputs, layer.outputs));
    NS::SharedPtr<MPS::CNNConvolution> forward;
    NS::SharedPtr<MPS::CNNConvolutionGradient> backward;
    if (layer.is_fully_connected) {
      forward = NS::TransferPtr<MPS::CNNConvolution>(MPS::CNNFullyConnected::alloc()->init(device, weights.get()));
      backward = NS::TransferPtr<MPS::CNNConvolutionGradient>(
          MPS::CNNFullyConnectedGradient::alloc()->init(device, weights.get()));
    } else {
      forward = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device, weights.get()));
      backward = NS::TransferPtr(MPS::CNNConvolutionGradient::alloc()->init(device, weights.get()));
    }
    if (!layer.is_precise) forward->setAccumulatorPrecisionOption(MPS::NNConvolutionAccumulatorPrecisionOptionHalf);
    const size_t size = layer.is_fully_connected ? 1 : layer.size;
    const auto source = new_images(device, batch_, layer.size, layer.inputs);
    const auto result = new_images(device, batch_, size, layer.outputs);
    const auto gradient = new_images(device, batch_, layer.size, layer.inputs);
    const auto states = NS::RetainPtr(forward->resultStateBatch(source.get(), nullptr, result.get()));
    report(layer.name, "forward", [&](MTL::CommandBuffer* commands) {
      forward->encodeBatch(commands, source.get(), states.get(), result.get());
    });
    const auto backwards = [&](MTL::CommandBuffer* commands) {
      backward->encodeBatch(commands, result.get(), source.get(), states.get(), gradient.get());
    };
    backward->setGradientOption(MPS::CNNConvolutionGradientOptionGradientWithData);
    report(layer.name, "data gradient", backwards);
    backward->setGradientOption(MPS::CNNConvolutionGradientOptionGradientWithWeightsAndBias);
    report(layer.name, "weights gradient", backwards);
    auto* state = states->object<MPS::CNNConvolutionGradientState>(0);
    const auto exported = NS::TransferPtr(MPS::CNNConvolutionWeightsAndBiasesState::alloc()->init(
        state->gradientForWeights(), state->gradientForBiases()));
    report(layer.name, "reload weights",
           [&](MTL::CommandBuffer* commands) { forward->reloadWeightsAndBiases(commands, exported.get()); });
  }

  void pooling(size_t size, size_t channels) {
    MTL::Device* device = bench_.device;
    const auto forward = NS::TransferPtr(MPS::CNNPoolingMax::alloc()->init(device, 2, 2, 2, 2));
    forward->setOffset({1, 1, 0});
    const auto backward = NS::TransferPtr(MPS::CNNPoolingMaxGradient::alloc()->init(device, 2, 2, 2, 2));
    const auto source = new_images(device, batch_, size, channels),
               gradient = new_images(device, batch_, size, channels);
    const auto result = new_images(device, batch_, size / 2, channels);
    const auto states = NS::RetainPtr(forward->resultStateBatch(source.get(), nullptr, result.get()));
    const std::string name = fmt::format("max-pool {}x{}x{}", size, size, channels);
    report(name, "forward", [&](MTL::CommandBuffer* commands) {
      forward->encodeBatch(commands, source.get(), states.get(), result.get());
    });
    report(name, "gradient", [&](MTL::CommandBuffer* commands) {
      backward->encodeBatch(commands, result.get(), source.get(), states.get(), gradient.get());
    });
  }

 private:
  void report(const std::string& name, const char* step, const std::function<void(MTL::CommandBuffer*)>& encode) {
    const Times found = bench_.time(10, encode);
    fmt::print("{:>6}  {:<20}{:<18}{:>12.2f}{:>12.2f}\n", batch_, name, step, found.device, found.host);
    rows_.push_back(
        {{"batch", batch_}, {"layer", name}, {"step", step}, {"device", found.device}, {"host", found.host}});
  }

  Bench& bench_;
  const size_t batch_;
  nlohmann::json& rows_;
};

void bench_layers(Bench& bench, nlohmann::json& rows) {
  const LayerCase layers[] = {{"conv 1 to 32", 28, 1, 5, 32, false, true},
                              {"conv 32 to 64", 14, 32, 5, 64, false, true},
                              {"the same, short", 14, 32, 5, 64, false, false},
                              {"full 3136 to 1024", 7, 64, 7, 1024, true, true},
                              {"the same, short", 7, 64, 7, 1024, true, false}};
  fmt::print("\n{:>6}  {:<20}{:<18}{:>12}{:>12}\n", "batch", "layer", "step", "device us", "encode us");
  for (const size_t batch : {64, 1024}) {
    LayerBench layer_bench(bench, batch, rows);
    for (const LayerCase& layer : layers) layer_bench.convolution(layer);
    layer_bench.pooling(28, 32);
    layer_bench.pooling(14, 64);
  }
}

}  // namespace

void bench_mps_on_nvidia(MTL::Device* device, const std::string& json_file) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  fmt::print("on {}\n\n", device->name()->utf8String());
  Bench bench(device);
  nlohmann::json rows = nlohmann::json::array();
  bench_products(bench, rows);
  bench_soft_max(bench, rows);
  bench_layers(bench, rows);
  if (!json_file.empty()) write_output(json_file, rows.dump(2) + "\n");
}

}  // namespace metalloid::tool

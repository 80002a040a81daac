// A low-rank update of a layer, y = scale * (x A) B, two ways: as three kernels of Metal Performance Shaders (two
// products and a scaling), and as one Metal kernel of our own. Compares both with float64 and prints what each took.
// usage: lora [width]   (1024 if not given)
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Foundation/Foundation.hpp>
#include <MetalPerformanceShaders/MetalPerformanceShaders.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

constexpr NS::UInteger rows = 128, rank = 8;
constexpr float scale = 2.0f;

static int fail(const char* what, NS::Error* error) {
  std::fprintf(stderr, "lora: %s: %s\n", what, error ? error->localizedDescription()->utf8String() : "no reason given");
  return 1;
}

static NS::SharedPtr<MPS::Matrix> floats(MTL::Device* device, NS::UInteger rows, NS::UInteger columns) {
  const NS::UInteger row_bytes = columns * sizeof(float);
  auto buffer = NS::TransferPtr(device->newBuffer(rows * row_bytes, MTL::ResourceStorageModeShared));
  return NS::TransferPtr(MPS::Matrix::alloc()->init(
      buffer.get(), MPS::MatrixDescriptor::matrixDescriptor(rows, columns, row_bytes, MPS::DataTypeFloat32)));
}

static float* numbers(const NS::SharedPtr<MPS::Matrix>& matrix) {
  return static_cast<float*>(matrix->data()->contents());
}

int main(int argc, char** argv) {
  const NS::UInteger width = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1024;
  if (width < 1 || width > 65536) {
    std::fprintf(stderr, "usage: lora [width]   with a width from 1 to 65536\n");
    return 2;
  }
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  if (!device) return fail("no Metal device", nullptr);
  auto library = NS::TransferPtr(device->newDefaultLibrary());
  if (!library) return fail("default.metallib was not found beside the program", nullptr);
  auto queue = NS::TransferPtr(device->newCommandQueue());
  // A GPU with memory of its own has so much to do at once that a row deserves a whole threadgroup.
  const bool in_eights = !device->hasUnifiedMemory() && width % 8 == 0;
  const char* kernel = in_eights ? "lora_in_eights_float" : "lora_float";
  const auto length = static_cast<uint32_t>(width);
  auto lengths = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  for (NS::UInteger i : {0, 1}) lengths->setConstantValue(&length, MTL::DataTypeUInt, i);
  NS::Error* error = nullptr;
  auto function =
      NS::TransferPtr(library->newFunction(NS::String::string(kernel, NS::UTF8StringEncoding), lengths.get(), &error));
  auto pipeline = NS::TransferPtr(device->newComputePipelineState(function.get(), &error));
  if (!pipeline) return fail(kernel, error);

  auto x = floats(device.get(), rows, width), a = floats(device.get(), width, rank);
  auto b = floats(device.get(), rank, width), low = floats(device.get(), rows, rank);
  auto y = floats(device.get(), rows, width);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (const auto& matrix : {x, a, b})
    std::generate_n(numbers(matrix), matrix->rows() * matrix->columns(), [&] { return uniform(random); });
  std::vector<double> expected(rows * width);
  for (NS::UInteger row = 0; row < rows; ++row)
    for (NS::UInteger r = 0; r < rank; ++r) {
      double sum = 0;
      for (NS::UInteger i = 0; i < width; ++i) sum += double(numbers(x)[row * width + i]) * numbers(a)[i * rank + r];
      for (NS::UInteger j = 0; j < width; ++j) expected[row * width + j] += scale * sum * numbers(b)[r * width + j];
    }

  auto first =
      NS::TransferPtr(MPS::MatrixMultiplication::alloc()->init(device.get(), false, false, rows, rank, width, 1, 0));
  auto second =
      NS::TransferPtr(MPS::MatrixMultiplication::alloc()->init(device.get(), false, false, rows, width, rank, 1, 0));
  auto scaling = NS::TransferPtr(MPS::MatrixNeuron::alloc()->init(device.get()));
  scaling->setNeuronType(MPS::CNNNeuronTypeLinear, scale, 0, 0);
  const auto three_kernels = [&](MTL::CommandBuffer* commands) {
    first->encode(commands, x.get(), a.get(), low.get());
    second->encode(commands, low.get(), b.get(), y.get());
    scaling->encode(commands, y.get(), nullptr, y.get());
  };
  const auto one_kernel = [&](MTL::CommandBuffer* commands) {
    MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(pipeline.get());
    NS::UInteger index = 0;
    for (const auto& matrix : {x, a, b, y}) encoder->setBuffer(matrix->data(), 0, index++);
    encoder->setBytes(&scale, sizeof scale, index);
    encoder->dispatchThreadgroups(MTL::Size(rows, 1, 1), MTL::Size(in_eights ? 256 : 32, 1, 1));
    encoder->endEncoding();
  };

  std::printf("y = %g (x A) B, x is %lu x %lu, rank %lu, on %s\n%-14s %10s %12s\n", scale, rows, width, rank,
              device->name()->utf8String(), "way", "us", "error");
  bool right = true;
  struct Way {
    const char* name;
    std::function<void(MTL::CommandBuffer*)> encode;
  };
  for (const Way& way : {Way{"three kernels", three_kernels}, Way{"fused", one_kernel}}) {
    std::fill_n(numbers(y), rows * width, NAN);
    std::vector<double> seconds;
    for (int run = 0; run < 20; ++run) {
      auto run_pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
      MTL::CommandBuffer* commands = queue->commandBuffer();
      way.encode(commands);
      commands->commit();
      commands->waitUntilCompleted();
      if (commands->error()) return fail(way.name, commands->error());
      seconds.push_back(commands->GPUEndTime() - commands->GPUStartTime());
    }
    std::sort(seconds.begin(), seconds.end());
    double largest = 0;
    for (NS::UInteger i = 0; i < rows * width; ++i) {
      const double difference = std::abs(numbers(y)[i] - expected[i]);
      largest = difference <= largest ? largest : difference;  // a NaN counts as largest
    }
    // Sums of `width` products of numbers below 1, rounded in float, times rank * scale.
    const bool good = largest <= 1e-5 * rank * scale * std::sqrt(double(width));
    std::printf("%-14s %10.1f %12.2g%s\n", way.name, 1e6 * seconds[seconds.size() / 2], largest, good ? "" : "  WRONG");
    right = right && good;
  }
  return right ? 0 : 1;
}

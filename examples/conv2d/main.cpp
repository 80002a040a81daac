// The same 2-D convolution three ways: a naive kernel, a tiled one, and Metal Performance Shaders. Compares their
// results and prints what each took. usage: conv2d [images inputs size kernel outputs]   (2 16 40 3 24 if not given;
// the kernel's size is odd)
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#include <MetalPerformanceShaders/MetalPerformanceShaders.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

struct Shape {  // as in conv2d.metal
  unsigned images = 2, width = 40, height = 40, inputs = 16, outputs = 24, kernel_size = 3;
};

// The weights as MPS wants them: [output][y][x][input].
class Weights : public MPS::CNNConvolutionDataSource {
 public:
  Weights(const Shape& shape, const std::vector<float>& planar) : numbers(planar.size()) {
    const unsigned taps = shape.kernel_size * shape.kernel_size;
    for (unsigned o = 0; o < shape.outputs; ++o)
      for (unsigned i = 0; i < shape.inputs; ++i)
        for (unsigned tap = 0; tap < taps; ++tap)
          numbers[(o * taps + tap) * shape.inputs + i] = planar[(o * shape.inputs + i) * taps + tap];
    convolution = NS::RetainPtr(MPS::CNNConvolutionDescriptor::cnnConvolutionDescriptor(
        shape.kernel_size, shape.kernel_size, shape.inputs, shape.outputs));
  }
  MPS::DataType dataType() override { return MPS::DataTypeFloat32; }
  MPS::CNNConvolutionDescriptor* descriptor() override { return convolution.get(); }
  void* weights() override { return numbers.data(); }
  float* biasTerms() override { return nullptr; }
  bool load() override { return true; }
  void purge() override {}

 private:
  std::vector<float> numbers;
  NS::SharedPtr<MPS::CNNConvolutionDescriptor> convolution;
};

static int fail(const char* what, NS::Error* error) {
  std::fprintf(stderr, "conv2d: %s: %s\n", what,
               error ? error->localizedDescription()->utf8String() : "no reason given");
  return 1;
}

int main(int argc, char** argv) {
  Shape shape;
  if (argc == 6) {
    const auto number = [&](int i) { return static_cast<unsigned>(std::strtoul(argv[i], nullptr, 10)); };
    shape = {number(1), number(3), number(3), number(2), number(5), number(4)};
  }
  if ((argc != 1 && argc != 6) || !shape.images || !shape.inputs || !shape.width || !shape.outputs ||
      shape.kernel_size % 2 == 0) {
    std::fprintf(stderr, "usage: conv2d [images inputs size kernel outputs]   with an odd kernel\n");
    return 2;
  }
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  if (!device) return fail("no Metal device", nullptr);
  auto library = NS::TransferPtr(device->newDefaultLibrary());
  if (!library) return fail("default.metallib was not found beside the program", nullptr);
  auto queue = NS::TransferPtr(device->newCommandQueue());

  const size_t plane = size_t{shape.width} * shape.height, taps = size_t{shape.kernel_size} * shape.kernel_size;
  const size_t sources = shape.images * shape.inputs * plane, results = shape.images * shape.outputs * plane;
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> source(sources), weights(shape.outputs * shape.inputs * taps);
  for (auto* numbers : {&source, &weights})
    std::generate(numbers->begin(), numbers->end(), [&] { return uniform(random); });

  auto source_buffer =
      NS::TransferPtr(device->newBuffer(source.data(), sources * sizeof(float), MTL::ResourceStorageModeShared));
  auto weights_buffer = NS::TransferPtr(
      device->newBuffer(weights.data(), weights.size() * sizeof(float), MTL::ResourceStorageModeShared));
  auto result_buffer = NS::TransferPtr(device->newBuffer(results * sizeof(float), MTL::ResourceStorageModeShared));
  if (!source_buffer || !weights_buffer || !result_buffer) return fail("not enough memory", nullptr);

  // The kernels.
  NS::Error* error = nullptr;
  const auto pipeline = [&](const char* name) {
    auto function = NS::TransferPtr(library->newFunction(NS::String::string(name, NS::UTF8StringEncoding)));
    return NS::TransferPtr(device->newComputePipelineState(function.get(), &error));
  };
  auto naive = pipeline("conv2d_naive"), tiled = pipeline("conv2d_tiled");
  if (!naive || !tiled) return fail("pipeline", error);

  const auto set_arguments = [&](MTL::ComputeCommandEncoder* encoder, MTL::ComputePipelineState* state) {
    encoder->setComputePipelineState(state);
    encoder->setBuffer(source_buffer.get(), 0, 0);
    encoder->setBuffer(weights_buffer.get(), 0, 1);
    encoder->setBuffer(result_buffer.get(), 0, 2);
    encoder->setBytes(&shape, sizeof shape, 3);
  };
  const auto encode_naive = [&](MTL::CommandBuffer* commands) {
    MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
    set_arguments(encoder, naive.get());
    encoder->dispatchThreads(MTL::Size(shape.width, shape.height, shape.images * shape.outputs), MTL::Size(32, 1, 1));
    encoder->endEncoding();
  };
  // Tiles of 32 x 8 pixels and 8 outputs, of four inputs at a time, or of as many as fit into threadgroup memory; a
  // filter that is too large for one goes the naive way.
  const NS::UInteger input_bytes =
      ((32 + shape.kernel_size - 1) * (8 + shape.kernel_size - 1) + 8 * taps) * sizeof(float);
  const auto tile_inputs = static_cast<unsigned>(
      std::min<NS::UInteger>({shape.inputs, 4, device->maxThreadgroupMemoryLength() / input_bytes}));
  const bool fits = tile_inputs > 0;
  const auto encode_tiled = [&](MTL::CommandBuffer* commands) {
    if (!fits) return encode_naive(commands);
    MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
    set_arguments(encoder, tiled.get());
    encoder->setBytes(&tile_inputs, sizeof tile_inputs, 4);
    encoder->setThreadgroupMemoryLength((tile_inputs * input_bytes + 15) / 16 * 16, 0);
    encoder->dispatchThreadgroups(
        MTL::Size((shape.width + 31) / 32, (shape.height + 7) / 8, shape.images * ((shape.outputs + 7) / 8)),
        MTL::Size(32, 8, 1));
    encoder->endEncoding();
  };

  // MPS: a batch of images, and a convolution that takes its weights from our data source.
  auto data_source = NS::TransferPtr(new Weights(shape, weights));
  auto convolution = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device.get(), data_source.get()));
  if (!convolution) return fail("convolution", nullptr);
  const auto new_batch = [&](unsigned channels) {
    std::vector<NS::SharedPtr<MPS::Image>> images;
    MPS::ImageDescriptor* descriptor = MPS::ImageDescriptor::imageDescriptor(MPS::ImageFeatureChannelFormatFloat32,
                                                                             shape.width, shape.height, channels);
    for (unsigned i = 0; i < shape.images; ++i)
      images.push_back(NS::TransferPtr(MPS::Image::alloc()->init(device.get(), descriptor)));
    return images;
  };
  auto source_images = new_batch(shape.inputs), result_images = new_batch(shape.outputs);
  for (unsigned i = 0; i < shape.images; ++i)
    source_images[i]->writeBytes(source.data() + i * shape.inputs * plane, MPS::DataLayoutFeatureChannelsxHeightxWidth,
                                 0);
  const auto batch_of = [](const std::vector<NS::SharedPtr<MPS::Image>>& images) {
    std::vector<const NS::Object*> objects;
    for (const auto& image : images) objects.push_back(image.get());
    return NS::RetainPtr(NS::Array::array(objects.data(), objects.size()));
  };
  auto source_batch = batch_of(source_images), result_batch = batch_of(result_images);
  const auto encode_mps = [&](MTL::CommandBuffer* commands) {
    convolution->encodeBatch(commands, source_batch.get(), result_batch.get());
  };

  const struct {
    const char* name;
    std::function<void(MTL::CommandBuffer*)> encode;
    bool is_mps;
  } ways[] = {{"naive", encode_naive, false},
              {fits ? "tiled" : "tiled (naive)", encode_tiled, false},
              {"MPS", encode_mps, true}};
  std::printf("%u x %u x %u x %u, %u x %u to %u, on %s\n%-14s %10s %10s %12s\n", shape.images, shape.inputs,
              shape.height, shape.width, shape.kernel_size, shape.kernel_size, shape.outputs,
              device->name()->utf8String(), "way", "ms", "GFLOP/s", "difference");
  std::vector<float> first(results), result(results);
  bool right = true;
  for (const auto& way : ways) {
    double seconds = INFINITY;
    for (int run = 0; run < 5; ++run) {
      MTL::CommandBuffer* commands = queue->commandBuffer();
      way.encode(commands);
      commands->commit();
      commands->waitUntilCompleted();
      if (commands->status() != MTL::CommandBufferStatusCompleted) return fail(way.name, commands->error());
      seconds = std::min(seconds, commands->GPUEndTime() - commands->GPUStartTime());
    }
    if (way.is_mps)
      for (unsigned i = 0; i < shape.images; ++i)
        result_images[i]->readBytes(result.data() + i * shape.outputs * plane,
                                    MPS::DataLayoutFeatureChannelsxHeightxWidth, 0);
    else
      std::copy_n(static_cast<float*>(result_buffer->contents()), results, result.begin());
    if (first == std::vector<float>(results)) first = result;
    double worst = 0;
    for (size_t i = 0; i < results; ++i) worst = std::max<double>(worst, std::abs(result[i] - first[i]));
    // Sums of products below 1, in another order.
    const bool good = worst <= 1e-6 * double(shape.inputs * taps);
    right = right && good;
    std::printf("%-14s %10.3f %10.2f %12.1e%s\n", way.name, seconds * 1e3,
                2.0 * double(results) * shape.inputs * double(taps) / seconds * 1e-9, worst, good ? "" : "  wrong");
  }
  return right ? 0 : 1;
}

// Kernels of MPS that do little with much memory (softmax, neurons, normalisations) on 4096 x 4096 floats, beside
// copying as many, in the same run: as the device's blit encoder does it, and as a kernel does it that writes past the
// caches. Exponentials take time of their own; what they take alone, on numbers in the nearest cache, is measured too.
#include "bench_mps_memory.hpp"

#include <fmt/format.h>

#include <MetalPerformanceShaders/MetalPerformanceShaders.hpp>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "bench.hpp"
#include "bench_mps_by_hand.hpp"
#include "bench_workload.hpp"
#include "micro_bench.hpp"

namespace metalloid::tool {

namespace {

constexpr size_t n = 4096, numbers = n * n;
constexpr float epsilon = 1e-5f;
constexpr double asked = 0.9;

using Reference = std::function<double(size_t index)>;

// Pixels of images, one after the other, as the numbers of a matrix are.
struct Pictures {
  size_t images, pixels, channels;

  size_t channel_of(size_t index) const { return index % channels; }
};
// A row of the matrix is a pixel, or an image; or there are as many numbers in large images.
constexpr Pictures rows_as_pixels{n, 1, n}, rows_as_images{n, n / 64, 64}, feature_maps{64, 4096, 64};

class ChannelNumbers {
 public:
  explicit ChannelNumbers(size_t channels) {
    Numbers random(channels);
    gammas = random.floats(channels, 0.5f, 1.5f);
    betas = random.floats(channels);
    means = random.floats(channels);
    variances = random.floats(channels, 0.5f, 1.5f);
  }
  std::vector<float> gammas, betas, means, variances;
};

class GroupSource final : public MPS::CNNGroupNormalizationDataSource {
 public:
  GroupSource(ChannelNumbers& of_channels, size_t groups) : of_channels_(of_channels), groups_(groups) {}
  NS::UInteger numberOfFeatureChannels() override { return of_channels_.gammas.size(); }
  NS::UInteger numberOfGroups() override { return groups_; }
  float* gamma() override { return of_channels_.gammas.data(); }
  float* beta() override { return of_channels_.betas.data(); }
  float epsilon() override { return tool::epsilon; }

 private:
  ChannelNumbers& of_channels_;
  const size_t groups_;
};

class BatchSource final : public MPS::CNNBatchNormalizationDataSource {
 public:
  explicit BatchSource(ChannelNumbers& of_channels) : of_channels_(of_channels) {}
  NS::UInteger numberOfFeatureChannels() override { return of_channels_.gammas.size(); }
  float* gamma() override { return of_channels_.gammas.data(); }
  float* beta() override { return of_channels_.betas.data(); }
  float* mean() override { return of_channels_.means.data(); }
  float* variance() override { return of_channels_.variances.data(); }
  bool load() override { return true; }
  void purge() override {}
  float epsilon() override { return tool::epsilon; }

 private:
  ChannelNumbers& of_channels_;
};

// A loop over all numbers by two threads, the other of which sleeps in between.
class HandLoops {
 public:
  HandLoops(const float* in, float* out) : in_(in), out_(out), other_([this] { help(); }) {}
  HandLoops(const HandLoops&) = delete;
  ~HandLoops() {
    start(nullptr, 0);
    other_.join();
  }

  static HandNeurons neurons() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return hand_neurons();
#endif
    return {};
  }

  // Microseconds of one of so many.
  double run(HandNeuron loop, unsigned times) {
    const auto begin = std::chrono::steady_clock::now();
    start(loop, times);
    for (unsigned i = 0; i < times; ++i) loop(in_, out_, numbers / 2);
    for (unsigned done; (done = done_.load()) != rounds_.load();) done_.wait(done);
    return milliseconds_since(begin) * 1e3 / times;
  }

 private:
  void start(HandNeuron loop, unsigned times) {
    loop_ = loop;
    times_ = times;
    rounds_.fetch_add(1);
    rounds_.notify_one();
  }
  void help() {
    for (unsigned round = 0;; done_ = round, done_.notify_one()) {
      rounds_.wait(round);
      ++round;
      if (!loop_) return;
      for (unsigned i = 0; i < times_; ++i) loop_(in_ + numbers / 2, out_ + numbers / 2, numbers / 2);
    }
  }

  const float* const in_;
  float* const out_;
  HandNeuron loop_ = nullptr;
  unsigned times_ = 0;
  std::atomic<unsigned> rounds_ = 0, done_ = 0;
  std::thread other_;
};

class MemoryBench {
 public:
  explicit MemoryBench(const NS::SharedPtr<MTL::Device>& device)
      : bench_(device),
        x_(Numbers(1).floats(numbers, -4, 4)),
        in_(bench_.new_matrix(n, n, MPS::DataTypeFloat32, x_)),
        out_(bench_.new_matrix(n, n, MPS::DataTypeFloat32)),
        by_hand_(address_of(in_), address_of(out_)) {}

  nlohmann::json run() {
    measure_bounds();
    matrices();
    pictures("layer normalisation", rows_as_pixels, 1);
    for (const Pictures& shape : {rows_as_images, feature_maps}) {
      pictures("group normalisation", shape, 8);
      pictures("instance normalisation", shape, shape.channels);
    }
    batch_normalisation_of_pictures();
    return rows_;
  }

 private:
  void measure_bounds() {
    copy_ = encode_of("copy_streaming", n);
    const double blit = bench_.time(
        [&](MTL::CommandBuffer* commands) { MicroBench::encode_copy(commands, in_->data(), out_->data()); });
    const double streaming = bench_.time(copy_), reading = bench_.time(encode_of("read", n));
    const double powers = bench_.time(encode_of("powers", n / 64));
    const double quotients = bench_.time(encode_of("quotients", n / 64));
    fmt::print(
        "\n{0} x {0} floats, microseconds. Copying them: by a blit {1:.0f}, past the caches {2:.0f} ({3:.1f} GB/s). "
        "Reading them: {4:.0f}.\nWithout memory, an exponential of each takes {5:.0f}, with a division {6:.0f}.\n\n",
        n, blit, streaming, 8e-3 * numbers / streaming, reading, powers, quotients);
    fmt::print("{:<48}{:>10}{:>10}{:>10}{:>12}   asked{:>8}{:>12}\n", "", "copy", "MPS", "GB/s", "copy:MPS", "by hand",
               "hand:MPS");
    rows_.push_back({{"name", "copy"},
                     {"blit", blit},
                     {"streaming", streaming},
                     {"reading", reading},
                     {"exponentials", powers},
                     {"quotients", quotients}});
  }
  Encode encode_of(const char* name, size_t groups) {
    return [this, groups, pipeline = bench_.pipeline("bounds.metal", name)](MTL::CommandBuffer* commands) {
      MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
      encoder->setComputePipelineState(pipeline.get());
      encoder->setBuffer(in_->data(), 0, 0);
      encoder->setBuffer(out_->data(), 0, 1);
      encoder->dispatchThreadgroups(MTL::Size(groups, 1, 1), MTL::Size(32, 1, 1));
      encoder->endEncoding();
    };
  }

  // On a CPU, what its kernels see.
  static float* address_of(const Matrix& matrix) {
    return reinterpret_cast<float*>(uintptr_t(matrix->data()->gpuAddress()));
  }

  struct Rivals {
    Encode copy;
    HandNeuron by_hand = nullptr;
    unsigned reads = 1;  // how often the work must read its numbers, of which copies do it once
  };
  // Medians, in microseconds, of work and of copying as much in the same memory, which take turns: memory has better
  // and worse moments, and places.
  void show(const std::string& name, const Encode& encode, const Rivals& rivals) {
    constexpr size_t rounds = 45;
    constexpr double microseconds_of_turn = 8000;
    const auto times = unsigned(std::clamp(microseconds_of_turn / bench_.run(encode), 1.0, 5.0));
    const double share = (1 + rivals.reads) / 2.0;
    std::vector<double> own(rounds), copies(rounds), hands(rounds);
    for (size_t i = 0; i < rounds; ++i) {
      copies[i] = bench_.run(rivals.copy, times);
      own[i] = bench_.run(encode, times);
      if (rivals.by_hand) hands[i] = by_hand_.run(rivals.by_hand, times);
    }
    const double time = median(own), of_copy = median_ratio(copies, own) * share;
    fmt::print("{:<48}{:>10.0f}{:>10.0f}{:>10.1f}{:>11.2f}x   {}", name, median(copies), time,
               8e-3 * numbers * share / time, of_copy, asked);
    if (rivals.by_hand) fmt::print("{:>10.0f}{:>11.2f}x", median(hands), median_ratio(hands, own));
    fmt::print("\n");
    std::fflush(stdout);
    rows_.push_back({{"name", name},
                     {"copy", median(copies)},
                     {"MPS", time},
                     {"bytes", 8 * numbers * share},
                     {"copy:MPS", of_copy}});
    if (rivals.by_hand) rows_.back()["by hand"] = median(hands);
  }
  void check(const std::string& name, const std::vector<float>& found, const Reference& expected) {
    for (size_t i = 0; i < numbers; i += numbers / 61)
      require(std::abs(found[i] - expected(i)) <= 1e-5 * (1 + std::abs(expected(i))),
              fmt::format("{}: number {} is {} and not {}", name, i, found[i], expected(i)));
  }

  void show_matrix(const std::string& name, const Encode& encode, const Reference& expected,
                   HandNeuron by_hand = nullptr, unsigned reads = 1) {
    bench_.write(out_.get(), std::vector<float>(numbers, NAN));
    bench_.run(encode);
    check(name, bench_.read(out_.get()), expected);
    if (by_hand) {
      bench_.write(out_.get(), std::vector<float>(numbers, NAN));
      by_hand_.run(by_hand, 1);
      check(name + " by hand", bench_.read(out_.get()), expected);
    }
    show(name, encode, {copy_, by_hand, reads});
  }

  void matrices() {
    for (const bool logarithm : {false, true}) {
      const auto kernel = NS::TransferPtr(logarithm ? MPS::MatrixLogSoftMax::alloc()->init(bench_.device())
                                                    : MPS::MatrixSoftMax::alloc()->init(bench_.device()));
      show_matrix(
          logarithm ? "MatrixLogSoftMax" : "MatrixSoftMax",
          [&](MTL::CommandBuffer* commands) { kernel->encode(commands, in_.get(), out_.get()); },
          [&](size_t index) {
            double sum = 0;
            for (size_t i = index / n * n; i < index / n * n + n; ++i) sum += std::exp(double{x_[i]});
            return logarithm ? x_[index] - std::log(sum) : std::exp(double{x_[index]}) / sum;
          });
    }
    const HandNeurons hand = HandLoops::neurons();
    neuron("ReLU", MPS::CNNNeuronTypeReLU, [](double x) { return x >= 0 ? x : 0.5 * x; });
    neuron("HardSigmoid", MPS::CNNNeuronTypeHardSigmoid, [](double x) { return std::clamp(0.5 * x + 0.25, 0.0, 1.0); });
    neuron("SoftSign", MPS::CNNNeuronTypeSoftSign, [](double x) { return x / (1 + std::abs(x)); });
    neuron("Sigmoid", MPS::CNNNeuronTypeSigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, hand.sigmoid);
    neuron("TanH", MPS::CNNNeuronTypeTanH, [](double x) { return 0.5 * std::tanh(0.25 * x); }, hand.tanh);
    neuron("ELU", MPS::CNNNeuronTypeELU, [](double x) { return x >= 0 ? x : 0.5 * std::expm1(x); }, hand.elu);
    neuron(
        "GeLU", MPS::CNNNeuronTypeGeLU, [](double x) { return x / 2 * (1 + std::erf(x * std::sqrt(0.5))); }, hand.gelu);
    for (const bool computes : {false, true}) batch_normalisation(computes);
  }
  void neuron(const char* name, MPS::CNNNeuronType type, double (*function)(double), HandNeuron by_hand = nullptr) {
    const auto kernel = NS::TransferPtr(MPS::MatrixNeuron::alloc()->init(bench_.device()));
    kernel->setNeuronType(type, 0.5f, 0.25f, 1);
    show_matrix(
        fmt::format("MatrixNeuron {}", name),
        [&](MTL::CommandBuffer* commands) { kernel->encode(commands, in_.get(), nullptr, out_.get()); },
        [&](size_t index) { return function(x_[index]); }, by_hand);
  }
  void batch_normalisation(bool computes_statistics) {
    ChannelNumbers of_channels(n);
    NS::SharedPtr<MPS::Vector> vectors[4];
    std::vector<float>* values[] = {&of_channels.means, &of_channels.variances, &of_channels.gammas,
                                    &of_channels.betas};
    Matrix memory[4];
    for (size_t i = 0; i < 4; ++i) {
      memory[i] = bench_.new_matrix(1, n, MPS::DataTypeFloat32, *values[i]);
      vectors[i] = NS::TransferPtr(MPS::Vector::alloc()->init(
          memory[i]->data(), MPS::VectorDescriptor::vectorDescriptor(n, MPS::DataTypeFloat32)));
    }
    const auto kernel = NS::TransferPtr(MPS::MatrixBatchNormalization::alloc()->init(bench_.device()));
    kernel->setEpsilon(epsilon);
    kernel->setComputeStatistics(computes_statistics);
    show_matrix(
        computes_statistics ? "MatrixBatchNormalization with statistics" : "MatrixBatchNormalization",
        [&](MTL::CommandBuffer* commands) {
          kernel->encode(commands, in_.get(), vectors[0].get(), vectors[1].get(), vectors[2].get(), vectors[3].get(),
                         out_.get());
        },
        [&](size_t index) {
          const size_t column = index % n;
          double mean = of_channels.means[column], variance = of_channels.variances[column];
          if (computes_statistics) {
            mean = variance = 0;
            for (size_t row = 0; row < n; ++row) mean += x_[row * n + column] / double{n};
            for (size_t row = 0; row < n; ++row) variance += std::pow(x_[row * n + column] - mean, 2) / double{n};
          }
          return (x_[index] - mean) / std::sqrt(variance + epsilon) * of_channels.gammas[column] +
                 of_channels.betas[column];
        },
        nullptr, computes_statistics ? 2 : 1);
  }

  NS::SharedPtr<MPS::Image> new_image(const Pictures& shape) {
    const auto side = size_t(std::sqrt(double(shape.pixels)));
    return NS::TransferPtr(MPS::Image::alloc()->init(
        bench_.device(), MPS::ImageDescriptor::imageDescriptor(
                             MPS::ImageFeatureChannelFormatFloat32, side, side, shape.channels, shape.images,
                             MTL::TextureUsageShaderRead | MTL::TextureUsageShaderWrite)));
  }
  // Images' memory is their own: what copies them is a neuron that changes nothing.
  template <class Kernel>
  void show_pictures(const std::string& name, const Pictures& shape, Kernel* kernel, const Reference& expected) {
    const auto in = new_image(shape), out = new_image(shape);
    const size_t of_image = shape.pixels * shape.channels;
    for (size_t i = 0; i < shape.images; ++i)
      in->writeBytes(x_.data() + i * of_image, MPS::DataLayoutHeightxWidthxFeatureChannels, i);
    const auto run_of = [&](auto* any) {
      return [any, in = in.get(), out = out.get()](MTL::CommandBuffer* commands) { any->encode(commands, in, out); };
    };
    const auto copy = NS::TransferPtr(MPS::CNNNeuron::alloc()->init(
        bench_.device(), MPS::NNNeuronDescriptor::cnnNeuronDescriptor(MPS::CNNNeuronTypeLinear, 1, 0)));
    bench_.run(run_of(kernel));
    std::vector<float> found(numbers);
    for (size_t i = 0; i < shape.images; ++i)
      out->readBytes(found.data() + i * of_image, MPS::DataLayoutHeightxWidthxFeatureChannels, i);
    check(name, found, expected);
    show(name, run_of(kernel), {.copy = run_of(copy.get())});
  }
  void pictures(const char* name, const Pictures& shape, size_t groups) {
    ChannelNumbers of_channels(shape.channels);
    const auto source = NS::TransferPtr(new GroupSource(of_channels, groups));
    const auto kernel = NS::TransferPtr(MPS::CNNGroupNormalization::alloc()->init(bench_.device(), source.get()));
    show_pictures(fmt::format("{} of {}, {} groups of {}", name, shape.images, groups, shape.channels / groups), shape,
                  kernel.get(), [&](size_t index) {
                    const size_t group = shape.channels / groups, of_image = shape.pixels * shape.channels;
                    const size_t channel = shape.channel_of(index), count = shape.pixels * group;
                    const float* first = x_.data() + index / of_image * of_image + channel / group * group;
                    double mean = 0, variance = 0;
                    const auto visit = [&](const auto& add) {
                      for (size_t i = 0; i < count; ++i) add(first[i / group * shape.channels + i % group]);
                    };
                    visit([&](float x) { mean += x / double(count); });
                    visit([&](float x) { variance += (x - mean) * (x - mean) / double(count); });
                    return (x_[index] - mean) / std::sqrt(variance + epsilon) * of_channels.gammas[channel] +
                           of_channels.betas[channel];
                  });
  }
  void batch_normalisation_of_pictures() {
    ChannelNumbers of(feature_maps.channels);
    const auto source = NS::TransferPtr(new BatchSource(of));
    const auto kernel = NS::TransferPtr(MPS::CNNBatchNormalization::alloc()->init(bench_.device(), source.get()));
    show_pictures("CNNBatchNormalization", feature_maps, kernel.get(), [&](size_t index) {
      const size_t channel = feature_maps.channel_of(index);
      return (x_[index] - of.means[channel]) / std::sqrt(of.variances[channel] + double{epsilon}) * of.gammas[channel] +
             of.betas[channel];
    });
  }

  MicroBench bench_;
  const std::vector<float> x_;
  const Matrix in_, out_;
  HandLoops by_hand_;
  Encode copy_;  // past the caches
  nlohmann::json rows_ = nlohmann::json::array();
};

}  // namespace

nlohmann::json bench_mps_memory(const NS::SharedPtr<MTL::Device>& device) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  return MemoryBench(device).run();
}

}  // namespace metalloid::tool

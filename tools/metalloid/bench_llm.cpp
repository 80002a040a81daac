// metalloid bench llm: tokens per second of a Llama with random weights, one token at a time, beside what memory
// allows: every token reads every weight once, so no machine is faster than its memory can be read, which is measured
// first. Before it is timed, the model's answer is compared with that of the plain C++ backend.
#include <fmt/format.h>
#include <sys/mman.h>

#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <metalloid/backend.hpp>
#include <nlohmann/json.hpp>

#include "bench.hpp"
#include "bench_workload.hpp"
#include "device/small_float.hpp"
#include "files.hpp"
#include "llama/greedy_tokens.hpp"
#include "llama/network.hpp"

namespace metalloid::tool {

namespace {

constexpr size_t tokens_before = 64, timed_tokens = 16, prompt_tokens = 128;

struct Shape {
  const char* name;
  size_t dimensions, hidden, layers, heads, kv_heads, vocabulary;
};
constexpr Shape shapes[] = {{"100M", 768, 2048, 12, 12, 12, 32000}, {"1B", 2048, 5632, 22, 32, 4, 32000}};

LlamaConfig config_of(const Shape& shape) {
  LlamaConfig config;
  config.dimensions = shape.dimensions;
  config.hidden = shape.hidden;
  config.layers = shape.layers;
  config.heads = shape.heads;
  config.kv_heads = shape.kv_heads;
  config.head_size = shape.dimensions / shape.heads;
  config.vocabulary = shape.vocabulary;
  config.context = 2048;
  config.rope_frequencies = rope_frequencies(config.head_size);
  return config;
}

// Memory as buffers have it: in large pages, if the system has them. (With small ones, a core of a Zen 4 reads weights
// at 20 GB/s instead of 23.)
class LargePages {
 public:
  explicit LargePages(size_t bytes) : bytes_(bytes), address_(std::aligned_alloc(page, whole_pages(bytes))) {
    if (!address_) throw std::bad_alloc();
    madvise(address_.get(), whole_pages(bytes), MADV_HUGEPAGE);  // advice: nothing is wrong if it is not taken
  }
  void* data() const { return address_.get(); }
  size_t size() const { return bytes_; }

 private:
  static constexpr size_t page = size_t{2} << 20;
  static constexpr size_t whole_pages(size_t bytes) { return (bytes + page - 1) / page * page; }
  struct Free {
    void operator()(void* address) const { std::free(address); }
  };

  size_t bytes_;
  std::unique_ptr<void, Free> address_;
};

// Memory of a model's weights, as a mapped file would be: tensors of several backends are made over it.
class RandomModel {
 public:
  RandomModel(const LlamaConfig& config, TensorType type) : config_(config), type_(type) {}

  Result<llama::Weights> weights(Backend& backend) {
    backend_ = &backend;
    next_ = 0;
    error_.clear();
    const LlamaConfig& c = config_;
    const size_t kv = c.kv_heads * c.head_size;
    llama::Weights made;
    made.embedding = matrix(c.vocabulary, c.dimensions);
    made.final_norm = norm();
    made.classifier = made.embedding;
    for (size_t i = 0; i < c.layers; ++i) {
      llama::Layer& layer = made.layers.emplace_back();
      layer.attention_norm = norm();
      layer.queries = matrix(c.dimensions, c.dimensions);
      layer.keys = matrix(kv, c.dimensions);
      layer.values = matrix(kv, c.dimensions);
      layer.attention_output = matrix(c.dimensions, c.dimensions);
      layer.feed_forward_norm = norm();
      layer.gate = matrix(c.hidden, c.dimensions);
      layer.up = matrix(c.hidden, c.dimensions);
      layer.down = matrix(c.dimensions, c.hidden);
    }
    if (!error_.empty()) return Error{error_};
    return made;
  }

  size_t bytes() const {
    size_t sum = 0;
    for (const auto& memory : memory_) sum += memory.size();
    return sum;
  }

 private:
  Tensor matrix(size_t rows, size_t columns) {
    return tensor(type_, {rows, columns}, [&](Numbers& numbers, void* place, size_t i) {
      const float number = numbers.between(-1, 1) / std::sqrt(float(columns));
      if (type_ == TensorType::f32)
        static_cast<float*>(place)[i] = number;
      else
        static_cast<uint16_t*>(place)[i] = uint16_t(device::to_half(number));
    });
  }
  Tensor norm() {
    return tensor(TensorType::f32, {config_.dimensions},
                  [](Numbers&, void* place, size_t i) { static_cast<float*>(place)[i] = 1; });
  }
  template <class Fill>
  Tensor tensor(TensorType type, std::vector<size_t> shape, const Fill& fill) {
    size_t count = 1;
    for (const size_t length : shape) count *= length;
    if (next_ == memory_.size()) {
      memory_.emplace_back(bytes_of(type, count));
      Numbers numbers(memory_.size());
      for (size_t i = 0; i < count; ++i) fill(numbers, memory_.back().data(), i);
    }
    const Result<Tensor> wrapped = backend_->wrap(type, std::move(shape), memory_[next_++].data());
    const Result<Tensor> resident = wrapped ? backend_->resident(*wrapped) : wrapped;
    if (resident) return *resident;
    error_ = resident.error();
    return {};
  }

  const LlamaConfig config_;
  const TensorType type_;
  std::vector<LargePages> memory_;
  Backend* backend_ = nullptr;
  size_t next_ = 0;
  std::string error_;
};

template <class T>
T must(Result<T> result) {
  if (!result) throw Failure{exit_source_error, result.error()};
  return *std::move(result);
}

std::vector<float> logits_of(llama::Network& network, Backend& backend, const std::vector<int>& tokens,
                             size_t position) {
  const Tensor result = network.forward(tokens, position);
  std::vector<float> numbers(result.count());
  if (const Status read = backend.read(result, numbers.data()); !read) throw Failure{exit_source_error, read.error()};
  return numbers;
}

// How fast the device reads memory at most: a CPU in vectors of neighbouring floats, asked for ahead, in a long run for
// each core; a GPU in 16 bytes for each of many threads.
class ReadBandwidth {
 public:
  explicit ReadBandwidth(MTL::Device* device)
      : is_cpu_(device->hasUnifiedMemory()),
        threads_(is_cpu_ ? 32 : 512),
        queue_(NS::TransferPtr(device->newCommandQueue())) {
    NS::Error* error = nullptr;
    const auto library =
        NS::TransferPtr(device->newLibrary(NS::String::string(source, NS::UTF8StringEncoding), nullptr, &error));
    require(bool(library), "read_all does not compile");
    const auto function = NS::TransferPtr(
        library->newFunction(NS::String::string(is_cpu_ ? "read_all_cpu" : "read_all_gpu", NS::UTF8StringEncoding)));
    pipeline_ = NS::TransferPtr(device->newComputePipelineState(function.get(), &error));
    require(bool(pipeline_), "read_all has no pipeline");
    numbers_ = NS::TransferPtr(device->newBuffer(bytes, MTL::ResourceStorageModePrivate));
    sums_ = NS::TransferPtr(device->newBuffer(groups * threads_ * 4, MTL::ResourceStorageModePrivate));
    require(numbers_ && sums_, "there is no memory to read");
    run([&](MTL::CommandBuffer* commands) {
      MTL::BlitCommandEncoder* fill = commands->blitCommandEncoder();
      fill->fillBuffer(numbers_.get(), NS::Range::Make(0, bytes), 1);
      fill->endEncoding();
    });
    measure();
  }

  // Bytes per second, over a few times.
  double measure() {
    constexpr int times = 4;
    double seconds = 0;
    for (int turn = 0; turn < times; ++turn) {
      seconds += run([&](MTL::CommandBuffer* commands) {
        MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
        encoder->setComputePipelineState(pipeline_.get());
        encoder->setBuffer(numbers_.get(), 0, 0);
        encoder->setBuffer(sums_.get(), 0, 1);
        encoder->setBytes(&bytes_of_group, sizeof bytes_of_group, 2);
        encoder->dispatchThreadgroups(MTL::Size(groups, 1, 1), MTL::Size(threads_, 1, 1));
        encoder->endEncoding();
      });
    }
    return times * double(bytes) / seconds;
  }

 private:
  static constexpr const char* source = R"(
#include <metal_stdlib>
using namespace metal;
float total(float x) { return x; }
float total(float4 x) { return x.x + x.y + x.z + x.w; }

template <typename T, uint at_once, bool fetches>
kernel void read_all(device const T* x, device float* sums, constant uint& bytes,
                     uint group [[threadgroup_position_in_grid]], uint place [[thread_index_in_threadgroup]],
                     uint threads [[threads_per_threadgroup]]) {
  const uint count = bytes / sizeof(T);
  x += ulong(group) * count;
  T own[at_once] = {};
  for (uint i = place; i < count; i += at_once * threads) {
    #pragma unroll
    for (uint k = 0; k < at_once; ++k) {
      if (fetches) __builtin_prefetch(x + i + k * threads + 4096 / sizeof(T), 0, 2);
      own[k] += x[i + k * threads];
    }
  }
  for (uint k = 1; k < at_once; ++k) own[0] += own[k];
  sums[group * threads + place] = total(own[0]);
}
template [[host_name("read_all_cpu")]] kernel void read_all<float, 4, true>(
    device const float*, device float*, constant uint&, uint, uint, uint);
template [[host_name("read_all_gpu")]] kernel void read_all<float4, 2, false>(
    device const float4*, device float*, constant uint&, uint, uint, uint);
)";
  static constexpr size_t bytes = size_t{1} << 30, groups = 4096;
  static constexpr uint32_t bytes_of_group = bytes / groups;

  template <class Encode>
  double run(const Encode& encode) {
    const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    MTL::CommandBuffer* commands = queue_->commandBuffer();
    encode(commands);
    commands->commit();
    commands->waitUntilCompleted();
    require(commands->status() == MTL::CommandBufferStatusCompleted, "read_all failed");
    return commands->GPUEndTime() - commands->GPUStartTime();
  }

  const bool is_cpu_;
  const size_t threads_;
  const NS::SharedPtr<MTL::CommandQueue> queue_;
  NS::SharedPtr<MTL::ComputePipelineState> pipeline_;
  NS::SharedPtr<MTL::Buffer> numbers_, sums_;
};

struct Measured {
  double tokens_per_second, bound, of_bound, prompt_tokens_per_second;
};

Measured measure(const Shape& shape, TensorType type, ReadBandwidth& bandwidth) {
  const LlamaConfig config = config_of(shape);
  RandomModel model(config, type);
  const std::shared_ptr<Backend> backend = must(init_backend(BackendPreference::Metal));
  llama::Network network = must(llama::Network::make(config, must(model.weights(*backend)), backend));
  network.reserve(std::max(prompt_tokens, tokens_before + timed_tokens + 1));

  const std::vector<int> beginning = {1, 17, 4711, 31999, 5};
  {
    const std::shared_ptr<Backend> plain = must(init_backend(BackendPreference::Cpu));
    llama::Network same = must(llama::Network::make(config, must(model.weights(*plain)), plain));
    const std::vector<float> expected = logits_of(same, *plain, beginning, 0);
    const std::vector<float> found = logits_of(network, *backend, beginning, 0);
    float largest = 0;
    for (const float number : expected) largest = std::max(largest, std::abs(number));
    for (size_t i = 0; i < expected.size(); ++i)
      require(std::abs(found[i] - expected[i]) <= 2e-3f * largest,
              fmt::format("logit {} of the {} model", i, shape.name));
  }

  std::vector<int> prompt(prompt_tokens);
  for (size_t i = 0; i < prompt.size(); ++i) prompt[i] = int(i * 37 % shape.vocabulary);
  logits_of(network, *backend, prompt, 0);
  auto start = std::chrono::steady_clock::now();
  logits_of(network, *backend, prompt, 0);
  const double prompt_time = milliseconds_since(start) / 1000;

  // The device is never without work, so single tokens have no times of their own. Memory that others use, too, changes
  // its pace within a second: it is read right before and behind a few tokens, for about as long, and so often.
  std::vector<double> times, bounds, ratios;
  for (int turn = 0; turn < 15; ++turn) {
    llama::GreedyTokens greedy(network, *backend, {prompt.begin(), prompt.begin() + tokens_before}, timed_tokens + 2);
    const auto finish = [&] {
      if (const Status done = backend->finish(); !done) throw Failure{exit_source_error, done.error()};
    };
    must(greedy.next());
    finish();
    const double before = bandwidth.measure();
    must(greedy.next());
    start = std::chrono::steady_clock::now();
    for (size_t i = 0; i < timed_tokens; ++i) must(greedy.next());
    times.push_back(milliseconds_since(start) / 1000 / timed_tokens);
    finish();
    bounds.push_back((before + bandwidth.measure()) / 2 / double(model.bytes()));
    ratios.push_back(1 / times.back() / bounds.back());
  }
  return {1 / median(times), median(bounds), median(ratios), double(prompt_tokens) / prompt_time};
}

struct LlmArguments {
  std::vector<std::string> names;
  std::string json_file;
};

void bench_llm(const LlmArguments& arguments) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  const auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  if (!device) throw Failure{exit_file_error, "there is no Metal device"};
  ReadBandwidth bandwidth(device.get());
  fmt::print("on {}, whose memory is read at {:.1f} GB/s\n\n{:<8}{:<7}{:>15}{:>12}{:>14}{:>20}\n",
             device->name()->utf8String(), bandwidth.measure() * 1e-9, "model", "type", "tokens/s", "bound",
             "of the bound", "prompt tokens/s");
  nlohmann::json rows = nlohmann::json::array();
  for (const Shape& shape : shapes) {
    if (std::ranges::find(arguments.names, shape.name) == arguments.names.end()) continue;
    for (const TensorType type : {TensorType::f32, TensorType::f16}) {
      const Measured found = measure(shape, type, bandwidth);
      fmt::print("{:<8}{:<7}{:>15.1f}{:>12.1f}{:>13.2f}x{:>20.1f}\n", shape.name, name_of(type),
                 found.tokens_per_second, found.bound, found.of_bound, found.prompt_tokens_per_second);
      std::fflush(stdout);
      rows.push_back({{"model", shape.name},
                      {"type", name_of(type)},
                      {"tokens_per_second", found.tokens_per_second},
                      {"bound", found.bound},
                      {"of_bound", found.of_bound},
                      {"prompt_tokens_per_second", found.prompt_tokens_per_second}});
    }
  }
  if (!arguments.json_file.empty()) write_output(arguments.json_file, rows.dump(2) + "\n");
}

}  // namespace

void add_bench_llm(CLI::App& bench) {
  auto arguments = std::make_shared<LlmArguments>();
  arguments->names = {"100M"};
  CLI::App* command = bench.add_subcommand("llm", "A Llama with random weights, beside what memory allows");
  command->add_option("--model", arguments->names, "100M or 1B, or both; 100M if none is named")
      ->check([](const std::string& name) {
        return name == "100M" || name == "1B" ? std::string() : "there are the models 100M and 1B";
      });
  command->add_option("--json", arguments->json_file, "Write the results to this file");
  command->callback([arguments] { bench_llm(*arguments); });
}

}  // namespace metalloid::tool

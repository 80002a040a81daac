// metalloid bench nvidia: kernels written for a GPU (tools/kernels/gpu.metal) on an NVIDIA device, in time of the
// device, beside PyTorch on the same GPU if there is one.
#include <fmt/format.h>

#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench.hpp"
#include "bench_workload.hpp"
#include "device/small_float.hpp"
#include "files.hpp"

namespace metalloid::tool {

namespace {

constexpr uint32_t size = 4096;
constexpr unsigned launches = 20, repetitions = 15;

// PyTorch's times for the same work, a line of JSON: {name: microseconds}.
constexpr const char* torch_program = R"(
import json, torch
n, device = 4096, 'cuda'
torch.backends.cuda.matmul.allow_tf32 = False
x = torch.rand(n, n, device=device); w = torch.rand(n, device=device); v = torch.rand(n, device=device)
h, g = torch.rand(n, n, device=device).half(), torch.rand(n, n, device=device).half()
lx, la, lb = (torch.rand(*s, device=device).bfloat16() for s in ((128, 2048), (2048, 8), (8, 2048)))
a, b, c = (torch.rand(1 << 26, device=device) for _ in range(3))
work = {
  'add': lambda: torch.add(a, b, out=c),
  'softmax': lambda: torch.softmax(x, 1),
  'rms_norm': lambda: torch.nn.functional.rms_norm(x, (n,), w, 1e-5),
  'matvec': lambda: torch.mv(x, v),
  'lora': lambda: (lx @ la @ lb) * 0.5,
  'matmul_half': lambda: h @ g,
  'matmul_float': lambda: x @ x,
}
times = {}
for name, run in work.items():
  for _ in range(5): run()
  all = []
  for _ in range(15):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(20): run()
    end.record(); torch.cuda.synchronize()
    all.append(start.elapsed_time(end) * 1000 / 20)
  times[name] = sorted(all)[len(all) // 2]
print(json.dumps(times))
)";

std::map<std::string, double> times_of_torch() {
  const char* python = std::getenv("METALLOID_PYTHON");
  const std::string command =
      fmt::format("{} -c \"$METALLOID_TORCH_PROGRAM\" 2>/dev/null", python ? python : "python3");
  setenv("METALLOID_TORCH_PROGRAM", torch_program, 1);
  std::string said;
  if (FILE* output = popen(command.c_str(), "r")) {
    char part[512];
    while (std::fgets(part, sizeof part, output)) said += part;
    if (pclose(output) != 0) return {};
  }
  const auto times = nlohmann::json::parse(said, nullptr, /*allow_exceptions=*/false);
  return times.is_object() ? times.get<std::map<std::string, double>>() : std::map<std::string, double>();
}

// A kernel of tools/kernels, and the values of its function constants 0, 1, …
struct Kernel {
  Kernel(const char* name, const char* file = "gpu.metal", std::vector<uint32_t> constants = {})
      : name(name), file(file), constants(std::move(constants)) {}
  const char *name, *file;
  std::vector<uint32_t> constants;
};

class Bench {
 public:
  explicit Bench(NS::SharedPtr<MTL::Device> device)
      : device_(std::move(device)), queue_(NS::TransferPtr(device_->newCommandQueue())) {}

  MTL::Buffer* floats(size_t count) {
    return fill<float>(count, [](float value) { return value; });
  }
  MTL::Buffer* halves(size_t count) {
    return fill<uint16_t>(count, [](float value) { return static_cast<uint16_t>(device::to_half(value)); });
  }
  MTL::Buffer* bfloats(size_t count) {
    return fill<uint16_t>(count, [](float value) { return static_cast<uint16_t>(device::to_bfloat(value)); });
  }
  MTL::Buffer* output(size_t bytes) {
    buffers_.push_back(NS::TransferPtr(device_->newBuffer(bytes, MTL::ResourceStorageModeShared)));
    return buffers_.back().get();
  }
  void forget_buffers() { buffers_.clear(); }

  // Microseconds of the device for one launch, the median. The kernel works on copies in the device's own memory, and
  // the buffers have what it leaves there.
  double time(const Kernel& kernel, MTL::Size grid, MTL::Size group, const std::vector<MTL::Buffer*>& buffers,
              const std::vector<uint32_t>& numbers) {
    auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    const auto pipeline = new_pipeline(kernel);
    std::vector<NS::SharedPtr<MTL::Buffer>> copies;
    for (MTL::Buffer* buffer : buffers)
      copies.push_back(NS::TransferPtr(device_->newBuffer(buffer->length(), MTL::ResourceStorageModePrivate)));
    for (size_t i = 0; i < buffers.size(); ++i) copy(buffers[i], copies[i].get());
    std::vector<double> times;
    for (unsigned i = 0; i < repetitions + 2; ++i) {
      MTL::CommandBuffer* commands = queue_->commandBuffer();
      MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
      encoder->setComputePipelineState(pipeline.get());
      NS::UInteger index = 0;
      for (const auto& buffer : copies) encoder->setBuffer(buffer.get(), 0, index++);
      for (const uint32_t& number : numbers) encoder->setBytes(&number, sizeof number, index++);
      for (unsigned k = 0; k < launches; ++k) encoder->dispatchThreads(grid, group);
      encoder->endEncoding();
      complete(commands);
      if (i >= 2) times.push_back((commands->GPUEndTime() - commands->GPUStartTime()) * 1e6 / launches);
    }
    for (size_t i = 0; i < buffers.size(); ++i) copy(copies[i].get(), buffers[i]);
    return median(times);
  }

 private:
  NS::SharedPtr<MTL::ComputePipelineState> new_pipeline(const Kernel& kernel) {
    NS::Error* error = nullptr;
    NS::SharedPtr<MTL::Library>& library = libraries_[kernel.file];
    const std::string source(kernel_source(kernel.file));
    if (!library)
      library = NS::TransferPtr(
          device_->newLibrary(NS::String::string(source.c_str(), NS::UTF8StringEncoding), nullptr, &error));
    if (!library) throw Failure{exit_source_error, error->localizedDescription()->utf8String()};
    const auto values = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
    for (size_t i = 0; i < kernel.constants.size(); ++i)
      values->setConstantValue(&kernel.constants[i], MTL::DataTypeUInt, i);
    const auto function = NS::TransferPtr(
        library->newFunction(NS::String::string(kernel.name, NS::UTF8StringEncoding), values.get(), &error));
    auto pipeline = NS::TransferPtr(device_->newComputePipelineState(function.get(), &error));
    if (!pipeline) throw Failure{exit_source_error, error->localizedDescription()->utf8String()};
    return pipeline;
  }

  void copy(MTL::Buffer* from, MTL::Buffer* to) {
    MTL::CommandBuffer* commands = queue_->commandBuffer();
    MTL::BlitCommandEncoder* encoder = commands->blitCommandEncoder();
    encoder->copyFromBuffer(from, 0, to, 0, from->length());
    encoder->endEncoding();
    complete(commands);
  }

  static void complete(MTL::CommandBuffer* commands) {
    commands->commit();
    commands->waitUntilCompleted();
    if (commands->status() != MTL::CommandBufferStatusCompleted)
      throw Failure{exit_source_error, commands->error()->localizedDescription()->utf8String()};
  }

  template <class T, class Convert>
  MTL::Buffer* fill(size_t count, Convert convert) {
    MTL::Buffer* buffer = output(count * sizeof(T));
    Numbers numbers(count);
    for (T& value : std::span(static_cast<T*>(buffer->contents()), count)) value = convert(numbers.between(-1, 1));
    return buffer;
  }

  NS::SharedPtr<MTL::Device> device_;
  NS::SharedPtr<MTL::CommandQueue> queue_;
  std::map<std::string, NS::SharedPtr<MTL::Library>> libraries_;
  std::vector<NS::SharedPtr<MTL::Buffer>> buffers_;
};

const float* numbers_of(MTL::Buffer* buffer) {
  return static_cast<const float*>(buffer->contents());
}
float half_at(MTL::Buffer* buffer, size_t place) {
  return device::from_half(static_cast<const uint16_t*>(buffer->contents())[place]);
}

void require_close(double found, double expected, double tolerance, const char* what) {
  require(std::abs(found - expected) <= tolerance, fmt::format("{}: {} and not {}", what, found, expected));
}

struct Measured {
  std::string name;
  double microseconds;
  double work;  // bytes or operations
  const char* unit;
  const char* asked;
};

constexpr size_t checked_rows[] = {0, 1, 77, 2048, size - 1};

Measured add(Bench& bench) {
  constexpr uint32_t count = 1u << 26;
  MTL::Buffer *x = bench.floats(count), *y = bench.floats(count), *out = bench.output(count * 4ul);
  const double time = bench.time("gpu_add", {count / 4, 1, 1}, {1024, 1, 1}, {x, y, out}, {});
  for (size_t i = 0; i < count; i += 99991)
    require_close(numbers_of(out)[i], numbers_of(x)[i] + numbers_of(y)[i], 0, "add");
  return {"add", time, 12.0 * count, "TB/s", "4.3 TB/s"};
}

Measured softmax(Bench& bench) {
  MTL::Buffer *x = bench.floats(size_t{size} * size), *out = bench.output(size_t{size} * size * 4);
  const double time = bench.time("gpu_softmax", {size * 512, 1, 1}, {512, 1, 1}, {x, out}, {});
  for (const size_t row : checked_rows) {
    const float* in = numbers_of(x) + row * size;
    double sum = 0;
    for (size_t i = 0; i < size; ++i) sum += std::exp(double{in[i]});
    for (size_t i = 0; i < size; i += 37)
      require_close(numbers_of(out)[row * size + i], std::exp(double{in[i]}) / sum, 1e-8, "softmax");
  }
  return {"softmax", time, 8.0 * size * size, "TB/s", "45 us"};
}

Measured rms_norm(Bench& bench) {
  MTL::Buffer *x = bench.floats(size_t{size} * size), *weight = bench.floats(size),
              *out = bench.output(size_t{size} * size * 4);
  const double time = bench.time("gpu_rms_norm", {size * 512, 1, 1}, {512, 1, 1}, {x, weight, out}, {});
  for (const size_t row : checked_rows) {
    const float* in = numbers_of(x) + row * size;
    double sum = 0;
    for (size_t i = 0; i < size; ++i) sum += double{in[i]} * in[i];
    for (size_t i = 0; i < size; i += 37)
      require_close(numbers_of(out)[row * size + i], in[i] * numbers_of(weight)[i] / std::sqrt(sum / size + 1e-5), 1e-5,
                    "rms_norm");
  }
  return {"rms_norm", time, 8.0 * size * size, "TB/s", "41 us"};
}

Measured matvec(Bench& bench) {
  MTL::Buffer *matrix = bench.floats(size_t{size} * size), *vector = bench.floats(size), *out = bench.output(size * 4);
  const double time =
      bench.time({"gpu_matvec", "gpu.metal", {size}}, {size * 512, 1, 1}, {512, 1, 1}, {matrix, vector, out}, {});
  for (const size_t row : checked_rows) {
    double sum = 0;
    for (size_t i = 0; i < size; ++i) sum += double{numbers_of(matrix)[row * size + i]} * numbers_of(vector)[i];
    require_close(numbers_of(out)[row], sum, 1e-3, "matvec");
  }
  return {"matvec", time, 4.0 * size * size, "TB/s", "17 us"};
}

Measured lora(Bench& bench) {
  constexpr uint32_t rows = 128, columns = 2048, rank = 8;
  constexpr float scale = 0.5f;
  MTL::Buffer *x = bench.bfloats(rows * columns), *a = bench.bfloats(columns * rank),
              *b = bench.bfloats(rank * columns);
  MTL::Buffer* y = bench.output(rows * columns * 2ul);
  uint32_t scale_bits = 0;
  std::memcpy(&scale_bits, &scale, sizeof scale);
  const double time = bench.time({"lora_in_eights_bfloat", "lora.metal", {columns, columns}}, {rows * 256, 1, 1},
                                 {256, 1, 1}, {x, a, b, y}, {scale_bits});
  const auto at = [](MTL::Buffer* buffer, size_t place) {
    return double{device::from_bfloat(static_cast<const uint16_t*>(buffer->contents())[place])};
  };
  for (const size_t row : {size_t{0}, size_t{77}, size_t{rows - 1}}) {
    double low[rank] = {};
    for (size_t i = 0; i < columns; ++i)
      for (size_t r = 0; r < rank; ++r) low[r] += at(x, row * columns + i) * at(a, i * rank + r);
    for (size_t j = 0; j < columns; j += 97) {
      double sum = 0;
      for (size_t r = 0; r < rank; ++r) sum += low[r] * at(b, r * columns + j);
      require_close(at(y, row * columns + j), scale * sum, std::abs(sum) * 0x1p-8 + 1e-2, "lora");
    }
  }
  return {"lora", time, 2.0 * rows * columns * rank * 2, "TFLOP/s", "6 us"};
}

// Of float32, the error relative to the sum of the products' sizes is what float32 arithmetic has.
Measured matmul(Bench& bench, bool is_half) {
  constexpr size_t count = size_t{size} * size;
  MTL::Buffer* a = is_half ? bench.halves(count) : bench.floats(count);
  MTL::Buffer* b = is_half ? bench.halves(count) : bench.floats(count);
  MTL::Buffer* c = bench.output(count * (is_half ? 2 : 4));
  constexpr uint32_t threads = 256, tile_rows = 128;
  const uint32_t tile_columns = is_half ? 256 : 128;
  const double time =
      bench.time(is_half ? "gpu_matmul_half" : "gpu_matmul_float", {size / tile_columns * threads, size / tile_rows, 1},
                 {threads, 1, 1}, {a, b, c}, {size, size});
  const auto at = [&](MTL::Buffer* buffer, size_t place) {
    return is_half ? half_at(buffer, place) : numbers_of(buffer)[place];
  };
  for (const size_t row : checked_rows)
    for (size_t column = 5; column < size; column += 797) {
      double sum = 0, sizes = 0;
      for (size_t i = 0; i < size; ++i) {
        const double product = double{at(a, row * size + i)} * at(b, i * size + column);
        sum += product;
        sizes += std::abs(product);
      }
      require_close(at(c, row * size + column), sum, is_half ? std::abs(sum) * 1e-3 + 2e-2 : sizes * 1e-6, "matmul");
    }
  return {is_half ? "matmul_half" : "matmul_float", time, 2.0 * size * size * size, "TFLOP/s",
          is_half ? "130 TFLOP/s" : "39 TFLOP/s"};
}

void bench_nvidia(const std::string& json_file) {
  auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  if (!device) throw Failure{exit_file_error, "there is no Metal device"};
  Bench bench(device);
  const std::map<std::string, double> torch = times_of_torch();
  fmt::print("on {}; {}\n\n", device->name()->utf8String(),
             torch.empty() ? "there is no python3 with PyTorch and a GPU to compare with" : "beside PyTorch");
  fmt::print("{:<14}{:>11}{:>18}{:>14}{:>9}   {}\n", "kernel", "us", "", "PyTorch us", "over", "asked");
  nlohmann::json rows = nlohmann::json::array();
  const std::function<Measured()> works[] = {
      [&] { return add(bench); },           [&] { return softmax(bench); }, [&] { return rms_norm(bench); },
      [&] { return matvec(bench); },        [&] { return lora(bench); },    [&] { return matmul(bench, true); },
      [&] { return matmul(bench, false); },
  };
  for (const auto& work : works) {
    const Measured measured = work();
    bench.forget_buffers();
    const auto peer = torch.find(measured.name);
    fmt::print("{:<14}{:>11.2f}{:>10.2f} {:<7}", measured.name, measured.microseconds,
               measured.work / measured.microseconds * 1e-6, measured.unit);
    if (peer == torch.end())
      fmt::print("{:>14}{:>9}", "-", "-");
    else
      fmt::print("{:>14.2f}{:>8.2f}x", peer->second, peer->second / measured.microseconds);
    fmt::print("   {}\n", measured.asked);
    rows.push_back({{"name", measured.name}, {"microseconds", measured.microseconds}});
    if (peer != torch.end()) rows.back()["pytorch_microseconds"] = peer->second;
  }
  if (!json_file.empty()) write_output(json_file, rows.dump(2) + "\n");
}

}  // namespace

void add_bench_nvidia(CLI::App& bench) {
  auto json_file = std::make_shared<std::string>();
  CLI::App* command = bench.add_subcommand("nvidia", "Kernels for a GPU on the default device, beside PyTorch");
  command->add_option("--json", *json_file, "Write the results to this file");
  command->footer("METALLOID_PYTHON names the Python that has PyTorch, if it is not python3.\n");
  command->callback([json_file] { bench_nvidia(*json_file); });
}

}  // namespace metalloid::tool

// metalloid bench mps: Metal Performance Shaders on the default device beside the math libraries they stand on, called
// directly: what the path through command buffers costs, and whether the right library is taken.
//
// The libraries are opened at run time, so that nothing needs them, each in a process of its own: the threads of one
// would slow down another's, since OpenMP waits differently when a process has more threads than there are processors.
#include <cblas.h>
#include <dlfcn.h>
#include <dnnl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#include <MetalPerformanceShaders/MetalPerformanceShaders.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <thread>

#include "bench.hpp"
#include "bench_mps_memory.hpp"
#include "bench_mps_nvidia.hpp"
#include "bench_workload.hpp"
#include "files.hpp"

namespace metalloid::tool {

namespace {

constexpr size_t sizes[] = {64, 128, 256, 512, 1024, 2048};
constexpr size_t turns = 11;
constexpr double milliseconds_of_turn = 30, milliseconds_before_turn = 60;
constexpr size_t most_in_turn = 6000;
constexpr size_t page = 4096;  // where buffers of Metal begin
constexpr double asked = 0.97;

// A contender multiplies so often, one after the other, and is asked for the time of it all in milliseconds.
using Multiply = std::function<double(size_t times)>;

class Opened {
 public:
  explicit Opened(const char* file) : handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {}
  explicit operator bool() const { return handle_ != nullptr; }
  template <class Function>
  Function* find(Function*, const char* name) const {
    return reinterpret_cast<Function*>(dlsym(handle_, name));
  }

 private:
  void* const handle_;
};
#define FIND(library, function) (library).find(static_cast<decltype(&function)>(nullptr), #function)

struct Matrices {
  size_t n = 0;
  float *a = nullptr, *b = nullptr, *c = nullptr;
};

template <class Call>
Multiply timed(Call call) {
  return [call](size_t times) {
    const auto start = std::chrono::steady_clock::now();
    for (size_t i = 0; i < times; ++i) call();
    return milliseconds_since(start);
  };
}

// Many in one command buffer, so that what a command buffer costs does not count.
Multiply by_mps(const NS::SharedPtr<MTL::Device>& device, const std::array<NS::SharedPtr<MTL::Buffer>, 3>& buffers,
                size_t n) {
  std::array<NS::SharedPtr<MPS::Matrix>, 3> matrices;
  for (size_t i = 0; i < matrices.size(); ++i)
    matrices[i] = NS::TransferPtr(MPS::Matrix::alloc()->init(
        buffers[i].get(), MPS::MatrixDescriptor::matrixDescriptor(n, n, n * 4, MPS::DataTypeFloat32)));
  const auto queue = NS::TransferPtr(device->newCommandQueue());
  const auto kernel = NS::TransferPtr(MPS::MatrixMultiplication::alloc()->init(device.get(), n, n, n));
  return [queue, matrices, kernel](size_t times) {
    const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    MTL::CommandBuffer* commands = queue->commandBuffer();
    for (size_t i = 0; i < times; ++i)
      kernel->encode(commands, matrices[0].get(), matrices[1].get(), matrices[2].get());
    const auto start = std::chrono::steady_clock::now();
    commands->commit();
    commands->waitUntilCompleted();
    const double time = milliseconds_since(start);
    require(commands->status() == MTL::CommandBufferStatusCompleted, "the command buffer failed");
    return time;
  };
}

Multiply by_openblas(const Matrices& m) {
  const Opened library("libopenblas.so.0");
  if (!library) return nullptr;
  return timed([m, sgemm = FIND(library, cblas_sgemm)] {
    const auto n = blasint(m.n);
    sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, m.a, n, m.b, n, 0, m.c, n);
  });
}

Multiply by_onednn_sgemm(const Matrices& m) {
  const Opened library("libdnnl.so.2");
  if (!library) return nullptr;
  return timed([m, sgemm = FIND(library, dnnl_sgemm)] {
    const auto n = dnnl_dim_t(m.n);
    sgemm('N', 'N', n, n, n, 1, m.a, n, m.b, n, 0, m.c, n);
  });
}

Multiply by_onednn_matmul(const Matrices& m) {
  const Opened library("libdnnl.so.2");
  if (!library) return nullptr;
  const auto check = [](dnnl_status_t status) { require(status == dnnl_success, "oneDNN has no matmul"); };
  dnnl_engine_t engine = nullptr;
  dnnl_stream_t stream = nullptr;
  check(FIND(library, dnnl_engine_create)(&engine, dnnl_cpu, 0));
  check(FIND(library, dnnl_stream_create)(&stream, engine, dnnl_stream_default_flags));
  const dnnl_dims_t dimensions = {dnnl_dim_t(m.n), dnnl_dim_t(m.n)};
  dnnl_memory_desc_t matrix;
  check(FIND(library, dnnl_memory_desc_init_by_tag)(&matrix, 2, dimensions, dnnl_f32, dnnl_ab));
  dnnl_matmul_desc_t product;
  check(FIND(library, dnnl_matmul_desc_init)(&product, &matrix, &matrix, nullptr, &matrix));
  dnnl_primitive_desc_t description = nullptr;
  check(FIND(library, dnnl_primitive_desc_create)(&description, &product, nullptr, engine, nullptr));
  dnnl_primitive_t primitive = nullptr;
  check(FIND(library, dnnl_primitive_create)(&primitive, description));
  std::array<dnnl_exec_arg_t, 3> arguments = {
      {{DNNL_ARG_SRC, nullptr}, {DNNL_ARG_WEIGHTS, nullptr}, {DNNL_ARG_DST, nullptr}}};
  const std::array places = {m.a, m.b, m.c};
  for (size_t i = 0; i < places.size(); ++i)
    check(FIND(library, dnnl_memory_create)(&arguments[i].memory, &matrix, engine, places[i]));
  return timed([primitive, stream, arguments, execute = FIND(library, dnnl_primitive_execute),
                wait = FIND(library, dnnl_stream_wait)] {
    execute(primitive, stream, int(arguments.size()), arguments.data());
    wait(stream);
  });
}

// The error is relative to the sum of the products' sizes, of which each float sum has a part.
void check_result(const Matrices& m) {
  for (size_t row = 0; row < m.n; row += m.n / 7 + 1)
    for (size_t column = 0; column < m.n; column += m.n / 13 + 1) {
      double sum = 0, sizes = 0;
      for (size_t i = 0; i < m.n; ++i) {
        const double product = double{m.a[row * m.n + i]} * m.b[i * m.n + column];
        sum += product;
        sizes += std::abs(product);
      }
      require(std::abs(m.c[row * m.n + column] - sum) <= 1e-6 * sizes, fmt::format("a product of size {}", m.n));
    }
}

void fill(const Matrices& m) {
  Numbers numbers(m.n);
  for (float* matrix : {m.a, m.b})
    for (float& value : std::span(matrix, m.n * m.n)) value = numbers.between(-1, 1);
}

void check(const Multiply& multiply, const Matrices& m) {
  std::fill_n(m.c, m.n * m.n, NAN);
  multiply(1);
  check_result(m);
}

// Milliseconds of one product, of as many as fit the time of a turn. Work before it gives a scheduler time to put
// threads that have slept on processors of their own.
double take_turn(const Multiply& multiply) {
  size_t times = 3;
  for (double spent = 0; spent < milliseconds_before_turn;) {
    const double time = multiply(times);
    spent += time;
    times = std::clamp<size_t>(size_t(milliseconds_of_turn * double(times) / time), 1, most_in_turn);
  }
  return multiply(times) / double(times);
}

// A library in a process of its own. It is told a size, which it makes itself ready for, or 0, for a turn, and answers
// with a time.
class LibraryProcess {
 public:
  LibraryProcess(const char* name, Multiply (*make)(const Matrices&)) : name_(name) {
    signal(SIGPIPE, SIG_IGN);  // a library that is not there is noticed when its answer is missing
    int asked[2], answered[2];
    if (pipe(asked) != 0 || pipe(answered) != 0) throw Failure{exit_file_error, "there are no pipes left"};
    child_ = fork();
    if (child_ == 0) {
      ::close(asked[1]);
      ::close(answered[0]);
      serve(make, asked[0], answered[1]);
      _exit(0);
    }
    ::close(asked[0]);
    ::close(answered[1]);
    ask_ = asked[1];
    answer_ = answered[0];
  }
  LibraryProcess(const LibraryProcess&) = delete;
  ~LibraryProcess() {
    ::close(ask_);
    ::close(answer_);
    waitpid(child_, nullptr, 0);
  }

  const char* name() const { return name_; }
  // Whether it is there, and its product right.
  bool prepare(size_t n) { return n > 0 && ask(n) == 0; }
  double take_turn() { return ask(0); }

 private:
  double ask(uint64_t number) {
    double answer = -1;
    if (write(ask_, &number, sizeof number) != sizeof number) return -1;
    return read(answer_, &answer, sizeof answer) == sizeof answer ? answer : -1;
  }

  static void serve(Multiply (*make)(const Matrices&), int asked, int answered) {
    std::unique_ptr<float, decltype(&std::free)> numbers(nullptr, std::free);
    Multiply multiply;
    for (uint64_t n = 0; read(asked, &n, sizeof n) == sizeof n;) {
      double answer = 0;
      if (n > 0) {
        numbers.reset(static_cast<float*>(std::aligned_alloc(page, 3 * n * n * sizeof(float))));
        const Matrices m{n, numbers.get(), numbers.get() + n * n, numbers.get() + 2 * n * n};
        fill(m);
        multiply = make(m);
        if (!multiply) return;
        check(multiply, m);
      } else {
        answer = tool::take_turn(multiply);
      }
      if (write(answered, &answer, sizeof answer) != sizeof answer) return;
    }
  }

  const char* const name_;
  pid_t child_ = -1;
  int ask_ = -1, answer_ = -1;
};

double gflops(size_t n, const std::vector<double>& milliseconds) {
  return 2.0 * double(n) * double(n) * double(n) / median(milliseconds) * 1e-6;
}

nlohmann::json bench_products() {
  LibraryProcess libraries[] = {
      {"OpenBLAS", by_openblas}, {"oneDNN sgemm", by_onednn_sgemm}, {"oneDNN matmul", by_onednn_matmul}};
  const auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  if (!device) throw Failure{exit_file_error, "there is no Metal device"};
  fmt::print("on {}: products of square matrices of float, GFLOP/s\n\n{:>6}{:>15}", device->name()->utf8String(), "n",
             "MPS");
  for (const LibraryProcess& library : libraries) fmt::print("{:>15}", library.name());
  fmt::print("{:>15}   asked\n", "over the best");
  nlohmann::json rows = nlohmann::json::array();
  for (const size_t n : sizes) {
    std::array<NS::SharedPtr<MTL::Buffer>, 3> buffers;
    for (auto& buffer : buffers) buffer = NS::TransferPtr(device->newBuffer(n * n * 4, MTL::ResourceStorageModeShared));
    const auto numbers = [&](size_t i) { return static_cast<float*>(buffers[i]->contents()); };
    const Matrices m{n, numbers(0), numbers(1), numbers(2)};
    fill(m);
    const Multiply mps = by_mps(device, buffers, n);
    check(mps, m);
    bool present[std::size(libraries)];
    for (size_t i = 0; i < std::size(libraries); ++i) present[i] = libraries[i].prepare(n);

    std::vector<double> own, theirs[std::size(libraries)];
    const auto rest = [] { std::this_thread::sleep_for(std::chrono::milliseconds(40)); };  // threads fall asleep
    const auto take_turn_of = [&](size_t i) {
      if (!present[i]) return;
      rest();
      theirs[i].push_back(libraries[i].take_turn());
    };
    for (size_t turn = 0; turn < turns; ++turn) {
      take_turn_of(0);
      take_turn_of(1);
      rest();
      own.push_back(take_turn(mps));  // between oneDNN's, which are the fastest
      take_turn_of(2);
    }

    const double found = gflops(n, own);
    nlohmann::json row = {{"n", n}, {"MPS", found}};
    fmt::print("{:>6}{:>15.1f}", n, found);
    std::optional<double> over_best;
    for (size_t i = 0; i < std::size(libraries); ++i) {
      if (!present[i]) {
        fmt::print("{:>15}", "-");
        continue;
      }
      const double rate = gflops(n, theirs[i]);
      over_best = std::min(over_best.value_or(INFINITY), median_ratio(theirs[i], own));
      row[libraries[i].name()] = rate;
      fmt::print("{:>15.1f}", rate);
    }
    fmt::print("{:>15}   {}\n", over_best ? fmt::format("{:.3f}x", *over_best) : "-", asked);
    if (over_best) row["over the best"] = *over_best;
    std::fflush(stdout);
    rows.push_back(row);
  }
  return rows;
}

void bench_mps_on_cpu(const std::string& json_file, const std::string& only) {
  nlohmann::json found;
  if (only != "memory") found["products"] = bench_products();
  if (only != "products") {
    const auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
    if (!device) throw Failure{exit_file_error, "there is no Metal device"};
    found["memory"] = bench_mps_memory(device);
  }
  if (!json_file.empty()) write_output(json_file, found.dump(2) + "\n");
}

// Processes for libraries of the CPU are made before there are threads of a device's.
void bench_mps(const std::string& json_file, const std::string& only) {
  const char* wanted = std::getenv("METALLOID_DEVICE");
  if (!wanted || std::string_view(wanted) != "nvidia") return bench_mps_on_cpu(json_file, only);
  const auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  if (!device) throw Failure{exit_file_error, "there is no Metal device"};
  bench_mps_on_nvidia(device.get(), json_file);
}

}  // namespace

void add_bench_mps(CLI::App& bench) {
  auto json_file = std::make_shared<std::string>(), only = std::make_shared<std::string>();
  CLI::App* command = bench.add_subcommand(
      "mps", "Metal Performance Shaders: matrix multiplication beside OpenBLAS and oneDNN, the rest beside copying");
  command->add_option("--json", *json_file, "Write the results to this file");
  command->add_option("--only", *only, "On CPUs, only these: products or memory")
      ->check(CLI::IsMember({"products", "memory"}));
  command->callback([json_file, only] { bench_mps(*json_file, *only); });
}

}  // namespace metalloid::tool

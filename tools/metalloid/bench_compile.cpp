// metalloid bench compile: how long it takes from Metal source to code, and how much memory.
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <metalloid/compiler.hpp>

#include "bench.hpp"
#include "files.hpp"
#include "program.hpp"

namespace metalloid::tool {

namespace {

struct BenchArguments {
  std::string file;
  std::string function;
  std::vector<std::string> include_directories;
  unsigned runs = 15;
  bool as_json = false;
};

// Twenty lines with a reduction; the number makes each one a source of its own.
std::string small_kernel(unsigned number) {
  return fmt::format(R"(#include <metal_stdlib>
using namespace metal;

constant float epsilon = {}e-6f;

kernel void rms_norm(device const float* x [[buffer(0)]],
                     device const float* weight [[buffer(1)]],
                     device float* out [[buffer(2)]],
                     constant uint& size [[buffer(3)]],
                     uint row [[threadgroup_position_in_grid]],
                     uint lane [[thread_index_in_simdgroup]]) {{
  float sum = 0;
  for (uint i = lane; i < size; i += 32) {{
    float value = x[row * size + i];
    sum += value * value;
  }}
  float scale = rsqrt(simd_sum(sum) / size + epsilon);
  for (uint i = lane; i < size; i += 32) out[row * size + i] = x[row * size + i] * scale * weight[i];
}}
)",
                     number + 1);
}

// Many instantiations of one template kernel, as in the libraries of real projects.
std::string large_library(unsigned functions) {
  std::string source = R"(#include <metal_stdlib>
using namespace metal;
template <typename T, int rows, int unroll>
kernel void matvec(device const T* matrix, device const T* vector, device T* out, constant uint& width,
                   uint row [[thread_position_in_grid]]) {
  float sums[rows] = {0};
  for (uint i = 0; i < width; i += unroll)
#pragma unroll
    for (int k = 0; k < unroll; ++k)
      for (int r = 0; r < rows; ++r) sums[r] += float(matrix[(row * rows + r) * width + i + k]) * float(vector[i + k]);
  for (int r = 0; r < rows; ++r) out[row * rows + r] = T(sums[r]);
}
)";
  const char* types[] = {"float", "half", "bfloat", "int", "short", "char", "uint", "uchar"};
  for (unsigned i = 0; i < functions; ++i) {
    const char* type = types[i % 8];
    const unsigned rows = 1 + i / 8 % 16, unroll = 1 + i / 128;
    source += fmt::format(
        "template [[host_name(\"matvec_{0}_{1}_{2}\")]] [[kernel]] decltype(matvec<{0}, {1}, {2}>) "
        "matvec<{0}, {1}, {2}>;\n",
        type, rows, unroll);
  }
  return source;
}

// Compiles and takes the code of one function (the first if none is named).
void compile_one(const CompileResult& result, const std::string& function) {
  require(result.library != nullptr, format(result.diagnostics));
  require(!result.library->function_names().empty(), "the source has no functions");
  const std::string name = function.empty() ? std::string(result.library->function_names()[0]) : function;
  const auto code = result.library->code(name);
  if (!code) throw Failure{exit_source_error, code.error()};
  require((*code)->entry == name && !(*code)->bitcode.empty(), "no code for " + name);
}

CompileOptions uncached() {
  CompileOptions options;
  options.cache = false;
  return options;
}

double time_small_kernel(unsigned runs) {
  compile_one(compile(small_kernel(0), uncached()), "rms_norm");  // the process is warm after this
  std::vector<double> times;
  for (unsigned run = 1; run <= runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    compile_one(compile(small_kernel(run), uncached()), "rms_norm");
    times.push_back(milliseconds_since(start));
  }
  return median(times);
}

double time_cache_hit(unsigned runs) {
  std::vector<double> times;
  for (unsigned run = 0; run < runs; ++run) {
    const std::string source = small_kernel(1000 + run);
    compile_one(compile(source), "rms_norm");
    const auto start = std::chrono::steady_clock::now();
    compile_one(compile(source), "rms_norm");
    times.push_back(milliseconds_since(start));
  }
  return median(times);
}

// Time and peak memory of one kernel out of a large library, in a process of its own: memory is counted per process.
std::vector<Figure> measure_one_of_many(const std::string& name, const BenchArguments& arguments) {
  CompileOptions options = uncached();
  for (const std::string& folder : arguments.include_directories) options.include_directories.emplace_back(folder);
  int channel[2];
  if (pipe(channel) != 0) throw Failure{exit_file_error, "cannot make a pipe"};
  const pid_t child = fork();
  if (child == 0) {
    double result[2] = {-1, -1};
    try {
      compile_one(compile(small_kernel(0), options), "rms_norm");
      const auto start = std::chrono::steady_clock::now();
      compile_one(
          arguments.file.empty() ? compile(large_library(2048), options) : compile_file(arguments.file, options),
          arguments.function);
      result[0] = milliseconds_since(start);
      rusage usage{};
      getrusage(RUSAGE_SELF, &usage);
      result[1] = static_cast<double>(usage.ru_maxrss) / 1024;
    } catch (const Failure& failure) {
      fmt::print(stderr, "{}\n", failure.message);
    }
    (void)!write(channel[1], result, sizeof result);
    _exit(0);
  }
  double result[2] = {-1, -1};
  close(channel[1]);
  const bool complete = read(channel[0], result, sizeof result) == sizeof result && result[0] >= 0;
  close(channel[0]);
  waitpid(child, nullptr, 0);
  if (!complete) throw Failure{exit_source_error, "could not measure " + name};
  return {{"one kernel out of " + name, result[0], "ms", 600}, {"  its peak memory", result[1], "MiB", 400}};
}

void bench_compile(const BenchArguments& arguments) {
  // The disk cache of the benchmark is its own.
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("metalloid-bench-{}", getpid());
  setenv("METALLOID_CACHE_DIR", folder.c_str(), 1);
  std::vector<Figure> figures = measure_one_of_many("2,048 in a synthetic library", {});
  if (!arguments.file.empty()) {
    auto measured = measure_one_of_many(std::filesystem::path(arguments.file).filename().string(), arguments);
    figures.insert(figures.end(), measured.begin(), measured.end());
  }
  figures.push_back({"20-line kernel from a string, warm process", time_small_kernel(arguments.runs), "ms", 60});
  figures.push_back({"the same from the disk cache", time_cache_hit(arguments.runs), "ms", 2});
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);

  show_figures(figures, arguments.as_json);
}

}  // namespace

void add_bench_compile(CLI::App& bench) {
  auto arguments = std::make_shared<BenchArguments>();
  CLI::App* command = bench.add_subcommand("compile", "Compile times and memory");
  command->add_option("--file", arguments->file, "Also measure one kernel out of this source");
  command->add_option("--function", arguments->function, "Which one; the first if not given");
  command->add_option("-I", arguments->include_directories, "Where it finds its includes")->allow_extra_args(false);
  command->add_option("--runs", arguments->runs, "Runs for each median")->check(CLI::Range(1, 1000));
  command->add_flag("--json", arguments->as_json, "As JSON");
  command->footer(
      "Examples:\n"
      "  metalloid bench compile\n"
      "  metalloid bench compile --file quantized.metal -I mlx --function affine_qmv_float_gs_64_b_4_batch_0\n");
  command->callback([arguments] { bench_compile(*arguments); });
}

}  // namespace metalloid::tool

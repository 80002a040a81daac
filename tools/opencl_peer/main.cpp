// metalloid-opencl-peer: runs OpenCL kernels on this machine's CPU, for benchmarks to compare with. A peer
// (peer/serve.hpp) because OpenCL on CPUs, PoCL, brings a Clang of another version, and two Clangs in one process do
// not get along.
#include <fmt/format.h>

#include <stdexcept>
#include <vector>

#include "opencl.hpp"
#include "peer/serve.hpp"

namespace metalloid::peer {

namespace {

void check(int error, const char* call) {
  if (error) throw std::runtime_error(fmt::format("{} failed with {}", call, error));
}

class OpenCLRunner : public Runner {
 public:
  OpenCLRunner(const OpenCL& functions, Handle platform, Handle device)
      : cl_(functions), platform_(platform), device_(device) {
    int error = 0;
    context_ = cl_.clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &error);
    check(error, "clCreateContext");
    queue_ = cl_.clCreateCommandQueue(context_, device_, 0, &error);
    check(error, "clCreateCommandQueue");
  }

  std::string name() const override {
    auto ask = [&](unsigned what) {
      char text[256] = "";
      cl_.clGetPlatformInfo(platform_, what, sizeof text - 1, text, nullptr);
      return std::string(text);
    };
    return fmt::format("{} ({})", ask(platform_name), ask(platform_version));
  }

  void load(const std::string& source) override {
    int error = 0;
    const char* text = source.c_str();
    program_ = cl_.clCreateProgramWithSource(context_, 1, &text, nullptr, &error);
    check(error, "clCreateProgramWithSource");
    if (cl_.clBuildProgram(program_, 1, &device_, "-cl-fast-relaxed-math", nullptr, nullptr) == 0) return;
    std::string log(100'000, '\0');
    cl_.clGetProgramBuildInfo(program_, device_, program_build_log, log.size(), log.data(), nullptr);
    throw std::runtime_error("the OpenCL program does not build: " + std::string(log.c_str()));
  }

  void add_buffer(std::span<const std::byte> contents) override {
    int error = 0;
    auto* bytes = const_cast<std::byte*>(contents.data());
    buffers_.push_back(cl_.clCreateBuffer(context_, copy_host_pointer, contents.size(), bytes, &error));
    check(error, "clCreateBuffer");
  }

  void write_buffer(size_t number, std::span<const std::byte> contents) override {
    check(cl_.clEnqueueWriteBuffer(queue_, buffers_.at(number), 1, 0, contents.size(), contents.data(), 0, nullptr,
                                   nullptr),
          "clEnqueueWriteBuffer");
  }

  void read_buffer(size_t number, std::span<std::byte> contents) override {
    check(cl_.clEnqueueReadBuffer(queue_, buffers_.at(number), 1, 0, contents.size(), contents.data(), 0, nullptr,
                                  nullptr),
          "clEnqueueReadBuffer");
  }

  // A kernel object per launch: its arguments are set once.
  void add_launch(const Launch& launch) override {
    int error = 0;
    Handle kernel = cl_.clCreateKernel(program_, launch.kernel.c_str(), &error);
    check(error, "clCreateKernel");
    for (unsigned i = 0; i < launch.arguments.size(); ++i) {
      const Argument& argument = launch.arguments[i];
      if (argument.kind == Argument::Kind::buffer)
        check(cl_.clSetKernelArg(kernel, i, sizeof(Handle), &buffers_.at(argument.bits)), "clSetKernelArg");
      else
        check(cl_.clSetKernelArg(kernel, i, sizeof argument.bits, &argument.bits), "clSetKernelArg");
    }
    launches_.push_back({kernel, launch.grid, launch.group});
  }

  void run() override {
    for (const Prepared& launch : launches_)
      check(cl_.clEnqueueNDRangeKernel(queue_, launch.kernel, 3, nullptr, launch.grid.data(), launch.group.data(), 0,
                                       nullptr, nullptr),
            "clEnqueueNDRangeKernel");
    check(cl_.clFinish(queue_), "clFinish");
  }

  void clear() override {
    for (const Prepared& launch : launches_) cl_.clReleaseKernel(launch.kernel);
    for (Handle buffer : buffers_) cl_.clReleaseMemObject(buffer);
    if (program_) cl_.clReleaseProgram(program_);
    launches_.clear();
    buffers_.clear();
    program_ = nullptr;
  }

 private:
  struct Prepared {
    Handle kernel;
    Size grid, group;
  };

  OpenCL cl_;
  Handle platform_, device_;
  Handle context_ = nullptr, queue_ = nullptr, program_ = nullptr;
  std::vector<Handle> buffers_;
  std::vector<Prepared> launches_;
};

Runner& find_opencl() {
  const OpenCL cl = load_opencl();
  Handle platforms[16];
  unsigned count = 0;
  cl.clGetPlatformIDs(16, platforms, &count);
  for (unsigned i = 0; i < count && i < 16; ++i) {
    Handle device = nullptr;
    unsigned devices = 0;
    if (cl.clGetDeviceIDs(platforms[i], device_type_cpu, 1, &device, &devices) != 0 || devices == 0) continue;
    static OpenCLRunner runner(cl, platforms[i], device);
    return runner;
  }
  throw std::runtime_error("OpenCL is installed, but has no CPU device (Debian: pocl-opencl-icd)");
}

}  // namespace

}  // namespace metalloid::peer

int main() {
  return metalloid::peer::serve(metalloid::peer::find_opencl);
}

// metalloid-opencl-peer: launches an OpenCL kernel on this machine's CPU and prints what a launch takes, for benchmarks
// to compare with. A program of its own, because OpenCL on CPUs (PoCL) brings a Clang of another version, and two
// Clangs in one process do not get along. The loader is opened at run time: nothing needs OpenCL to be built or
// installed.
//
// usage: metalloid-opencl-peer KERNEL THREADS GROUP RUNS < source
// The kernel has one argument, a buffer of one int that starts at zero. Prints the platform's name, the median
// microseconds of a launch with its wait, and the int at the end, on three lines.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// The dozen functions of OpenCL 1.2 that are used here.
using Handle = void*;
struct Functions {
  int (*clGetPlatformIDs)(unsigned, Handle*, unsigned*);
  int (*clGetPlatformInfo)(Handle, unsigned, size_t, void*, size_t*);
  int (*clGetDeviceIDs)(Handle, uint64_t, unsigned, Handle*, unsigned*);
  Handle (*clCreateContext)(const intptr_t*, unsigned, const Handle*, void*, void*, int*);
  Handle (*clCreateCommandQueue)(Handle, Handle, uint64_t, int*);
  Handle (*clCreateProgramWithSource)(Handle, unsigned, const char**, const size_t*, int*);
  int (*clBuildProgram)(Handle, unsigned, const Handle*, const char*, void*, void*);
  Handle (*clCreateKernel)(Handle, const char*, int*);
  Handle (*clCreateBuffer)(Handle, uint64_t, size_t, void*, int*);
  int (*clSetKernelArg)(Handle, unsigned, size_t, const void*);
  int (*clEnqueueNDRangeKernel)(Handle, Handle, unsigned, const size_t*, const size_t*, const size_t*, unsigned,
                                const Handle*, Handle*);
  int (*clFinish)(Handle);
  int (*clEnqueueReadBuffer)(Handle, Handle, unsigned, size_t, size_t, void*, unsigned, const Handle*, Handle*);
};

constexpr unsigned platform_version = 0x0901, platform_name = 0x0902;
constexpr uint64_t device_type_cpu = 2, copy_host_pointer = 32;

template <class Function>
bool find_symbol(void* loader, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(loader, name));
  return function != nullptr;
}

bool load(void* loader, Functions& f) {
  return find_symbol(loader, "clGetPlatformIDs", f.clGetPlatformIDs) &&
         find_symbol(loader, "clGetPlatformInfo", f.clGetPlatformInfo) &&
         find_symbol(loader, "clGetDeviceIDs", f.clGetDeviceIDs) &&
         find_symbol(loader, "clCreateContext", f.clCreateContext) &&
         find_symbol(loader, "clCreateCommandQueue", f.clCreateCommandQueue) &&
         find_symbol(loader, "clCreateProgramWithSource", f.clCreateProgramWithSource) &&
         find_symbol(loader, "clBuildProgram", f.clBuildProgram) &&
         find_symbol(loader, "clCreateKernel", f.clCreateKernel) &&
         find_symbol(loader, "clCreateBuffer", f.clCreateBuffer) &&
         find_symbol(loader, "clSetKernelArg", f.clSetKernelArg) &&
         find_symbol(loader, "clEnqueueNDRangeKernel", f.clEnqueueNDRangeKernel) &&
         find_symbol(loader, "clFinish", f.clFinish) &&
         find_symbol(loader, "clEnqueueReadBuffer", f.clEnqueueReadBuffer);
}

class Peer {
 public:
  Peer(const Functions& functions, Handle platform, Handle device)
      : f_(functions), platform_(platform), device_(device) {
    int error = 0;
    context_ = f_.clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &error);
    check(error, "clCreateContext");
    queue_ = f_.clCreateCommandQueue(context_, device_, 0, &error);
    check(error, "clCreateCommandQueue");
  }

  std::string name() const {
    auto ask = [&](unsigned what) {
      char text[256] = "";
      f_.clGetPlatformInfo(platform_, what, sizeof text - 1, text, nullptr);
      return std::string(text);
    };
    return fmt::format("{} ({})", ask(platform_name), ask(platform_version));
  }

  void build(const std::string& source, const std::string& kernel) {
    int error = 0;
    const char* text = source.c_str();
    Handle program = f_.clCreateProgramWithSource(context_, 1, &text, nullptr, &error);
    check(error, "clCreateProgramWithSource");
    check(f_.clBuildProgram(program, 1, &device_, "", nullptr, nullptr), "clBuildProgram");
    kernel_ = f_.clCreateKernel(program, kernel.c_str(), &error);
    check(error, "clCreateKernel");
    int zero = 0;
    buffer_ = f_.clCreateBuffer(context_, copy_host_pointer, sizeof zero, &zero, &error);
    check(error, "clCreateBuffer");
    check(f_.clSetKernelArg(kernel_, 0, sizeof buffer_, &buffer_), "clSetKernelArg");
  }

  void launch_and_wait(size_t threads, size_t group) {
    check(f_.clEnqueueNDRangeKernel(queue_, kernel_, 1, nullptr, &threads, &group, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    check(f_.clFinish(queue_), "clFinish");
  }

  int result() {
    int value = 0;
    check(f_.clEnqueueReadBuffer(queue_, buffer_, 1, 0, sizeof value, &value, 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    return value;
  }

 private:
  static void check(int error, const char* call) {
    if (error) throw std::runtime_error(fmt::format("{} failed with {}", call, error));
  }

  Functions f_;
  Handle platform_, device_;
  Handle context_ = nullptr, queue_ = nullptr, kernel_ = nullptr, buffer_ = nullptr;
};

Peer find_peer() {
  void* loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  Functions functions{};
  if (!loader || !load(loader, functions)) throw std::runtime_error("no OpenCL is installed (Debian: pocl-opencl-icd)");
  Handle platforms[16];
  unsigned count = 0;
  functions.clGetPlatformIDs(16, platforms, &count);
  for (unsigned i = 0; i < count && i < 16; ++i) {
    Handle device = nullptr;
    unsigned devices = 0;
    if (functions.clGetDeviceIDs(platforms[i], device_type_cpu, 1, &device, &devices) == 0 && devices)
      return Peer(functions, platforms[i], device);
  }
  throw std::runtime_error("OpenCL is installed, but has no CPU device (Debian: pocl-opencl-icd)");
}

double median_microseconds(Peer& peer, size_t threads, size_t group, unsigned runs) {
  std::vector<double> times;
  for (unsigned i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    peer.launch_and_wait(threads, group);
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
  return times[runs / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: metalloid-opencl-peer KERNEL THREADS GROUP RUNS < source\n");
    return 2;
  }
  try {
    Peer peer = find_peer();
    peer.build({std::istreambuf_iterator<char>(std::cin), {}}, argv[1]);
    const double median =
        median_microseconds(peer, std::strtoul(argv[2], nullptr, 10), std::strtoul(argv[3], nullptr, 10),
                            std::max(1u, static_cast<unsigned>(std::strtoul(argv[4], nullptr, 10))));
    fmt::print("{}\n{}\n{}\n", peer.name(), median, peer.result());
  } catch (const std::exception& exception) {
    fmt::print(stderr, "{}\n", exception.what());
    return 1;
  }
}

#include "opencl.hpp"

#include <dlfcn.h>

#include <stdexcept>

namespace metalloid::peer {

namespace {

template <class Function>
void find(void* loader, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(loader, name));
  if (!function) throw std::runtime_error(std::string("the installed OpenCL has no ") + name);
}

}  // namespace

OpenCL load_opencl() {
  void* loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!loader) throw std::runtime_error("no OpenCL is installed (Debian: pocl-opencl-icd)");
  OpenCL cl{};
  find(loader, "clGetPlatformIDs", cl.clGetPlatformIDs);
  find(loader, "clGetPlatformInfo", cl.clGetPlatformInfo);
  find(loader, "clGetDeviceIDs", cl.clGetDeviceIDs);
  find(loader, "clCreateContext", cl.clCreateContext);
  find(loader, "clCreateCommandQueue", cl.clCreateCommandQueue);
  find(loader, "clCreateProgramWithSource", cl.clCreateProgramWithSource);
  find(loader, "clBuildProgram", cl.clBuildProgram);
  find(loader, "clGetProgramBuildInfo", cl.clGetProgramBuildInfo);
  find(loader, "clReleaseProgram", cl.clReleaseProgram);
  find(loader, "clCreateKernel", cl.clCreateKernel);
  find(loader, "clReleaseKernel", cl.clReleaseKernel);
  find(loader, "clCreateBuffer", cl.clCreateBuffer);
  find(loader, "clReleaseMemObject", cl.clReleaseMemObject);
  find(loader, "clSetKernelArg", cl.clSetKernelArg);
  find(loader, "clEnqueueNDRangeKernel", cl.clEnqueueNDRangeKernel);
  find(loader, "clFinish", cl.clFinish);
  find(loader, "clEnqueueReadBuffer", cl.clEnqueueReadBuffer);
  find(loader, "clEnqueueWriteBuffer", cl.clEnqueueWriteBuffer);
  return cl;
}

}  // namespace metalloid::peer

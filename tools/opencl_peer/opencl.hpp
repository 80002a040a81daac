// The functions of OpenCL 1.2 that are used here, from the loader that is found at run time: nothing needs OpenCL to be
// built or installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace metalloid::peer {

using Handle = void*;

struct OpenCL {
  int (*clGetPlatformIDs)(unsigned, Handle*, unsigned*);
  int (*clGetPlatformInfo)(Handle, unsigned, size_t, void*, size_t*);
  int (*clGetDeviceIDs)(Handle, uint64_t, unsigned, Handle*, unsigned*);
  Handle (*clCreateContext)(const intptr_t*, unsigned, const Handle*, void*, void*, int*);
  Handle (*clCreateCommandQueue)(Handle, Handle, uint64_t, int*);
  Handle (*clCreateProgramWithSource)(Handle, unsigned, const char**, const size_t*, int*);
  int (*clBuildProgram)(Handle, unsigned, const Handle*, const char*, void*, void*);
  int (*clGetProgramBuildInfo)(Handle, Handle, unsigned, size_t, void*, size_t*);
  int (*clReleaseProgram)(Handle);
  Handle (*clCreateKernel)(Handle, const char*, int*);
  int (*clReleaseKernel)(Handle);
  Handle (*clCreateBuffer)(Handle, uint64_t, size_t, void*, int*);
  int (*clReleaseMemObject)(Handle);
  int (*clSetKernelArg)(Handle, unsigned, size_t, const void*);
  int (*clEnqueueNDRangeKernel)(Handle, Handle, unsigned, const size_t*, const size_t*, const size_t*, unsigned,
                                const Handle*, Handle*);
  int (*clFinish)(Handle);
  int (*clEnqueueReadBuffer)(Handle, Handle, unsigned, size_t, size_t, void*, unsigned, const Handle*, Handle*);
  int (*clEnqueueWriteBuffer)(Handle, Handle, unsigned, size_t, size_t, const void*, unsigned, const Handle*, Handle*);
};

constexpr unsigned platform_version = 0x0901, platform_name = 0x0902, program_build_log = 0x1183;
constexpr uint64_t device_type_cpu = 2, copy_host_pointer = 32;

OpenCL load_opencl();  // throws std::runtime_error

}  // namespace metalloid::peer

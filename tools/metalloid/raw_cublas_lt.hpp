// cuBLASLt as a program of CUDA's would call it: in a context and on a stream of its own, timed by events.
#pragma once

#include <array>
#include <cstddef>

#include "mps/libraries/nvidia/cublas_lt.hpp"
#include "nvidia/driver.hpp"

namespace metalloid::tool {

class RawCublasLt {
 public:
  RawCublasLt();
  ~RawCublasLt();
  RawCublasLt(const RawCublasLt&) = delete;
  RawCublasLt& operator=(const RawCublasLt&) = delete;

  // Whether it is there.
  explicit operator bool() const { return handle_ != nullptr; }

  // Microseconds of the GPU for one product of squares, one of `times` that follow each other; 0 if it has none.
  double multiply(size_t n, mps::nvidia::lt::Type type, size_t times);

 private:
  metalloid::nvidia::cuda::Context context_ = nullptr;
  metalloid::nvidia::cuda::Stream stream_ = nullptr;
  std::array<metalloid::nvidia::cuda::Event, 2> events_ = {};
  mps::nvidia::lt::Handle handle_ = nullptr;
};

}  // namespace metalloid::tool

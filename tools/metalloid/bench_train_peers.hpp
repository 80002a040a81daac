// Who `metalloid bench train` stands beside: PyTorch, and the raw time of the same convolutions and products.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <string>

namespace metalloid::tool {

// A program of its own that is told a line and answers with one.
class LineProcess {
 public:
  explicit LineProcess(int (*serve)(std::FILE* requests, std::FILE* answers));  // in a fork of this process
  LineProcess(const std::string& program, const std::string& argument, const std::string& second);
  ~LineProcess();
  LineProcess(const LineProcess&) = delete;
  LineProcess& operator=(const LineProcess&) = delete;

  // Empty if it has ended.
  std::string ask(const std::string& line);

 private:
  template <class Run>
  void start(const Run& run);

  pid_t process_ = -1;
  std::FILE *to_ = nullptr, *from_ = nullptr;
};

// Steps of training the same network by PyTorch, in the python3 of $METALLOID_PYTHON or of PATH, on the CPU or the GPU.
class PyTorch {
 public:
  explicit PyTorch(bool on_gpu);
  const std::string& version() const { return version_; }  // empty: there is none
  // Seconds of one step, the mean of that many; negative: there is none.
  double step_time(size_t batch, size_t steps);

 private:
  LineProcess process_;
  std::string version_;
};

// What oneDNN takes for the convolutions and products of a step, images and weights in the order that it likes.
class RawLibrary {
 public:
  RawLibrary();  // before there are threads
  double step_time(size_t batch, size_t steps);

 private:
  LineProcess process_;
};

}  // namespace metalloid::tool

// What NVIDIA's libraries have on one stream: their handles, and scratch memory that they share, since their work on a
// stream is done in order. It lives as long as the stream, and is used by the thread that fills it.
#pragma once

#include <memory>
#include <metalloid/result.hpp>
#include <utility>
#include <vector>

#include "device/commands.hpp"
#include "mps/libraries/nvidia/convolution_plan.hpp"
#include "mps/libraries/nvidia/cublas_lt.hpp"
#include "mps/libraries/nvidia/cudnn.hpp"
#include "nvidia/driver.hpp"

namespace metalloid::mps::nvidia {

class StreamLibraries {
 public:
  // Those of the stream, whose context is current.
  static StreamLibraries& of(device::LibraryStream& stream);

  explicit StreamLibraries(void* stream) : stream_(stream) {}
  ~StreamLibraries();
  StreamLibraries(const StreamLibraries&) = delete;
  StreamLibraries& operator=(const StreamLibraries&) = delete;

  void* stream() const { return stream_; }
  Result<lt::Handle> cublas_lt();
  Result<dnn::Handle> cudnn();

  Result<std::shared_ptr<const ConvolutionPlan>> plan_for(const Convolution& convolution);

  // Scratch memory for what is put on the stream next. It is the same each time, unless more is wanted than ever
  // before.
  Result<void*> workspace(size_t bytes);

 private:
  void* const stream_;
  lt::Handle cublas_lt_ = nullptr;
  dnn::Handle cudnn_ = nullptr;
  std::vector<std::pair<Convolution, std::shared_ptr<const ConvolutionPlan>>> plans_;
  std::vector<metalloid::nvidia::cuda::Address> workspaces_;  // older ones may still be in use
  size_t workspace_bytes_ = 0;                                // of the last
};

}  // namespace metalloid::mps::nvidia

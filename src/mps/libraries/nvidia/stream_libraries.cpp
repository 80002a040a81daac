#include "mps/libraries/nvidia/stream_libraries.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace metalloid::mps::nvidia {
namespace {

namespace cuda = metalloid::nvidia::cuda;
using metalloid::nvidia::Driver;

constexpr size_t least_workspace = 32 << 20;  // what cuBLASLt likes to have on GPUs of the Hopper generation

constexpr size_t most_plans = 256;

}  // namespace

StreamLibraries& StreamLibraries::of(device::LibraryStream& stream) {
  if (!stream.kept) stream.kept = std::make_shared<StreamLibraries>(stream.handle);
  return *static_cast<StreamLibraries*>(stream.kept.get());
}

StreamLibraries::~StreamLibraries() {
  plans_.clear();
  if (cublas_lt_) CublasLt::shared()->destroy(cublas_lt_);
  if (cudnn_) Cudnn::shared()->destroy(cudnn_);
  for (const cuda::Address workspace : workspaces_) Driver::shared()->free(workspace);
}

Result<lt::Handle> StreamLibraries::cublas_lt() {
  if (cublas_lt_) return cublas_lt_;
  const CublasLt& library = *CublasLt::shared();
  if (const lt::Code code = library.create(&cublas_lt_); code != lt::Code::success) {
    cublas_lt_ = nullptr;
    return Error{fmt::format("cuBLASLt does not start: {}", library.get_status_string(code))};
  }
  return cublas_lt_;
}

Result<dnn::Handle> StreamLibraries::cudnn() {
  if (cudnn_) return cudnn_;
  const Cudnn& library = *Cudnn::shared();
  dnn::Code code = library.create(&cudnn_);
  if (code == dnn::Code::success) code = library.set_stream(cudnn_, stream_);
  if (code != dnn::Code::success) {
    cudnn_ = nullptr;
    return Error{fmt::format("cuDNN does not start: {}", library.describe(code))};
  }
  return cudnn_;
}

// Kept here, not in kernel objects, whose weights come and go while the plan stays the same.
Result<std::shared_ptr<const ConvolutionPlan>> StreamLibraries::plan_for(const Convolution& convolution) {
  const auto known = std::ranges::find(plans_, convolution, &decltype(plans_)::value_type::first);
  if (known != plans_.end()) return known->second;
  const auto handle = cudnn();
  if (!handle) return Error{handle.error()};
  auto made = ConvolutionPlan::make(*handle, convolution);
  if (!made) return made;
  if (plans_.size() == most_plans) plans_.erase(plans_.begin());
  plans_.emplace_back(convolution, *made);
  return made;
}

Result<void*> StreamLibraries::workspace(size_t bytes) {
  if (bytes > workspace_bytes_) {
    const size_t wanted = std::max({bytes, 2 * workspace_bytes_, least_workspace});
    cuda::Address address = 0;
    const Driver& driver = *Driver::shared();
    if (const cuda::Code code = driver.allocate(&address, wanted); code != cuda::Code::success)
      return Error{
          fmt::format("there are no {} bytes of scratch memory for a math library: {}", wanted, driver.describe(code))};
    workspaces_.push_back(address);
    workspace_bytes_ = wanted;
  }
  return workspaces_.empty() ? nullptr : reinterpret_cast<void*>(workspaces_.back());
}

}  // namespace metalloid::mps::nvidia

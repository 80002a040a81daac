#include "mps/core/pipelines.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "foundation/string.hpp"
#include "mps/core/embedded_kernels.hpp"

namespace metalloid::mps {
namespace {

std::string description_of(const NS::Error* error) {
  return error ? std::string(foundation::text_of(error->localizedDescription())) : "no reason is given";
}

// The pipelines of one device.
class Pipelines {
 public:
  Result<MTL::ComputePipelineState*> find(MTL::Device* device, const KernelFunction& function) {
    std::lock_guard lock(mutex_);
    const auto known = pipelines_.find(function);
    if (known != pipelines_.end()) return known->second.get();
    Result<NS::SharedPtr<MTL::ComputePipelineState>> made = make(device, function);
    if (!made) return Error{made.error()};
    return pipelines_.emplace(function, std::move(*made)).first->second.get();
  }

 private:
  Result<NS::SharedPtr<MTL::ComputePipelineState>> make(MTL::Device* device, const KernelFunction& function) {
    NS::Error* error = nullptr;
    if (!library_) {
      const std::span<const std::byte> bytes = embedded_kernels();
      dispatch_data_t data =
          dispatch_data_create(bytes.data(), bytes.size(), nullptr, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
      library_ = NS::TransferPtr(device->newLibrary(data, &error));
      dispatch_release(data);
      if (!library_)
        return Error{"the kernels of Metal Performance Shaders cannot be loaded: " + description_of(error)};
    }
    const auto name = NS::TransferPtr(NS::String::alloc()->init(function.name.c_str(), NS::UTF8StringEncoding));
    const auto values = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
    for (size_t i = 0; i < function.constants.size(); ++i)
      values->setConstantValue(&function.constants[i], MTL::DataTypeUInt, i);
    const auto made = NS::TransferPtr(library_->newFunction(name.get(), values.get(), &error));
    if (!made)
      return Error{
          fmt::format("Metal Performance Shaders have no kernel {}: {}", function.name, description_of(error))};
    auto pipeline = NS::TransferPtr(device->newComputePipelineState(made.get(), &error));
    if (!pipeline) return Error{fmt::format("the kernel {} has no pipeline: {}", function.name, description_of(error))};
    return pipeline;
  }

  std::mutex mutex_;
  NS::SharedPtr<MTL::Library> library_;
  std::map<KernelFunction, NS::SharedPtr<MTL::ComputePipelineState>> pipelines_;
};

}  // namespace

Result<MTL::ComputePipelineState*> pipeline(MTL::Device* device, const KernelFunction& function) {
  static std::mutex mutex;
  static auto& devices = *new std::map<MTL::Device*, Pipelines>;  // command buffers may outlive static objects
  Pipelines* pipelines;
  {
    std::lock_guard lock(mutex);
    pipelines = &devices[device];
  }
  return pipelines->find(device, function);
}

}  // namespace metalloid::mps

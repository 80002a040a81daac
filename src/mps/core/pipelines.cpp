#include "mps/core/pipelines.hpp"

#include <fmt/format.h>

#include <utility>

#include "foundation/string.hpp"
#include "mps/core/embedded_kernels.hpp"

namespace metalloid::mps {

static std::string description_of(const NS::Error* error) {
  return error ? std::string(foundation::text_of(error->localizedDescription())) : "no reason is given";
}

Result<MTL::ComputePipelineState*> KernelLibrary::pipeline(MTL::Device* device, const KernelFunction& function) {
  std::lock_guard lock(mutex_);
  OnDevice& here = devices_[device];
  const auto known = here.pipelines.find(function);
  if (known != here.pipelines.end()) return known->second.get();
  Result<NS::SharedPtr<MTL::ComputePipelineState>> made = make(device, here.library, function);
  if (!made) return Error{made.error()};
  return here.pipelines.emplace(function, std::move(*made)).first->second.get();
}

Result<NS::SharedPtr<MTL::ComputePipelineState>> KernelLibrary::make(MTL::Device* device,
                                                                     NS::SharedPtr<MTL::Library>& library,
                                                                     const KernelFunction& function) const {
  NS::Error* error = nullptr;
  if (!library) {
    dispatch_data_t data =
        dispatch_data_create(bytes_.data(), bytes_.size(), nullptr, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
    library = NS::TransferPtr(device->newLibrary(data, &error));
    dispatch_release(data);
    if (!library) return Error{fmt::format("the kernels of {} cannot be loaded: {}", whose_, description_of(error))};
  }
  const auto name = NS::TransferPtr(NS::String::alloc()->init(function.name.c_str(), NS::UTF8StringEncoding));
  const auto values = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  for (size_t i = 0; i < function.constants.size(); ++i)
    values->setConstantValue(&function.constants[i], MTL::DataTypeUInt, i);
  const auto made = NS::TransferPtr(library->newFunction(name.get(), values.get(), &error));
  if (!made) return Error{fmt::format("{} have no kernel {}: {}", whose_, function.name, description_of(error))};
  auto pipeline = NS::TransferPtr(device->newComputePipelineState(made.get(), &error));
  if (!pipeline) return Error{fmt::format("the kernel {} has no pipeline: {}", function.name, description_of(error))};
  return pipeline;
}

Result<MTL::ComputePipelineState*> pipeline(MTL::Device* device, const KernelFunction& function) {
  // Command buffers may outlive static objects.
  static auto& kernels = *new KernelLibrary(embedded_kernels(), "Metal Performance Shaders");
  return kernels.pipeline(device, function);
}

}  // namespace metalloid::mps

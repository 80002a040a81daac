// Metal kernels that travel inside a library, compiled for a device when they are first used: those of Metal
// Performance Shaders (src/mps/kernels), and of rooms above.
#pragma once

#include <Metal/Metal.hpp>
#include <cstddef>
#include <map>
#include <metalloid/result.hpp>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace metalloid::mps {

// A kernel by its name, and the values of its function constants 0, 1, …, all of which are uint.
struct KernelFunction {
  std::string name;
  std::vector<uint32_t> constants = {};

  auto operator<=>(const KernelFunction&) const = default;
};

class KernelLibrary {
 public:
  // The bytes of a compiled library, which stay, and whose they are, as errors say it.
  KernelLibrary(std::span<const std::byte> bytes, const char* whose) : bytes_(bytes), whose_(whose) {}

  // The library keeps it.
  Result<MTL::ComputePipelineState*> pipeline(MTL::Device* device, const KernelFunction& function);

 private:
  struct OnDevice {
    NS::SharedPtr<MTL::Library> library;
    std::map<KernelFunction, NS::SharedPtr<MTL::ComputePipelineState>> pipelines;
  };
  Result<NS::SharedPtr<MTL::ComputePipelineState>> make(MTL::Device* device, NS::SharedPtr<MTL::Library>& library,
                                                        const KernelFunction& function) const;

  const std::span<const std::byte> bytes_;
  const char* const whose_;
  std::mutex mutex_;
  std::map<MTL::Device*, OnDevice> devices_;
};

// Of Metal Performance Shaders.
Result<MTL::ComputePipelineState*> pipeline(MTL::Device* device, const KernelFunction& function);

}  // namespace metalloid::mps

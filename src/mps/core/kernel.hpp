// What all kernels have.
#pragma once

#include <MetalPerformanceShaders/MPSKernel.hpp>

#include "foundation/misuse.hpp"
#include "mps/core/object.hpp"

namespace metalloid::mps {

class KernelPart {
 public:
  virtual ~KernelPart() = default;

  NS::SharedPtr<MTL::Device> device;
  MPS::KernelOptions options = MPS::KernelOptionsNone;
  NS::SharedPtr<NS::String> label;
};

// What every init begins with: the device. Null, and a line on stderr, where there is none; `call` is the init.
template <class Interface>
Interface* init_kernel(Interface* kernel, KernelPart* part, MTL::Device* device, const char* call) {
  if (!kernel) return nullptr;
  if (!device) {
    foundation::report_misuse(call, "device is null");
    return foundation::failed_init(kernel);
  }
  part->device = NS::RetainPtr(device);
  return kernel;
}

}  // namespace metalloid::mps

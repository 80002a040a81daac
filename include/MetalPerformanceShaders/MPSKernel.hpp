// The base of all kernels: operations that are made once for a device and encoded any number of times.
#pragma once

#include "MPSCoreTypes.hpp"

namespace MPS {

class _MPS_EXPORT Kernel : public NS::Copying<Kernel> {
 public:
  KernelOptions options() const;
  void setOptions(KernelOptions options);
  MTL::Device* device() const;
  NS::String* label() const;
  void setLabel(const NS::String* label);
};

}  // namespace MPS

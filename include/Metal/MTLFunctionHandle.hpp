// A function inside a pipeline, to be put into a function table.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"
#include "MTLLibrary.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Device;

class _MTL_EXPORT FunctionHandle : public NS::Referencing<FunctionHandle> {
 public:
  Device* device() const;
  NS::String* name() const;
  FunctionType functionType() const;
  ResourceID gpuResourceID() const;
};

}  // namespace MTL

// Order between the encoders of a queue, for resources whose hazards are not tracked.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"

namespace MTL {

class Device;

class _MTL_EXPORT Fence : public NS::Referencing<Fence> {
 public:
  Device* device() const;
  NS::String* label() const;
  void setLabel(const NS::String* label);
};

}  // namespace MTL

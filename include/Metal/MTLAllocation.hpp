// Anything that takes up memory of a device and can be a member of a residency set.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"

namespace MTL {

class _MTL_EXPORT Allocation : public NS::Referencing<Allocation> {
 public:
  NS::UInteger allocatedSize() const;
};

}  // namespace MTL

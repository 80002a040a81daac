// The table through which a kernel calls [[visible]] functions.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"
#include "MTLResource.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class FunctionHandle;

class _MTL_EXPORT VisibleFunctionTableDescriptor : public NS::Copying<VisibleFunctionTableDescriptor> {
 public:
  static VisibleFunctionTableDescriptor* visibleFunctionTableDescriptor();
  static VisibleFunctionTableDescriptor* alloc();
  VisibleFunctionTableDescriptor* init();

  NS::UInteger functionCount() const;
  void setFunctionCount(NS::UInteger functionCount);
};

class _MTL_EXPORT VisibleFunctionTable : public NS::Referencing<VisibleFunctionTable, Resource> {
 public:
  ResourceID gpuResourceID() const;
  void setFunction(const FunctionHandle* function, NS::UInteger index);
  void setFunctions(const FunctionHandle* const functions[], NS::Range range);
};

}  // namespace MTL

// The table of functions that ray tracing calls at intersections.
#pragma once

#include <cstdint>

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"
#include "MTLResource.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Buffer;
class FunctionHandle;
class VisibleFunctionTable;

_MTL_OPTIONS(NS::UInteger, IntersectionFunctionSignature){
    IntersectionFunctionSignatureNone = 0,
    IntersectionFunctionSignatureInstancing = 1,
    IntersectionFunctionSignatureTriangleData = 1 << 1,
    IntersectionFunctionSignatureWorldSpaceData = 1 << 2,
    IntersectionFunctionSignatureInstanceMotion = 1 << 3,
    IntersectionFunctionSignaturePrimitiveMotion = 1 << 4,
    IntersectionFunctionSignatureExtendedLimits = 1 << 5,
    IntersectionFunctionSignatureMaxLevels = 1 << 6,
    IntersectionFunctionSignatureCurveData = 1 << 7,
    IntersectionFunctionSignatureIntersectionFunctionBuffer = 1 << 8,
    IntersectionFunctionSignatureUserData = 1 << 9,
};

struct IntersectionFunctionBufferArguments {
  uint64_t intersectionFunctionBuffer;
  uint64_t intersectionFunctionBufferSize;
  uint64_t intersectionFunctionStride;
};

class _MTL_EXPORT IntersectionFunctionTableDescriptor : public NS::Copying<IntersectionFunctionTableDescriptor> {
 public:
  static IntersectionFunctionTableDescriptor* intersectionFunctionTableDescriptor();
  static IntersectionFunctionTableDescriptor* alloc();
  IntersectionFunctionTableDescriptor* init();

  NS::UInteger functionCount() const;
  void setFunctionCount(NS::UInteger functionCount);
};

class _MTL_EXPORT IntersectionFunctionTable : public NS::Referencing<IntersectionFunctionTable, Resource> {
 public:
  ResourceID gpuResourceID() const;

  void setBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index);
  void setBuffers(const Buffer* const buffers[], const NS::UInteger offsets[], NS::Range range);

  void setOpaqueCurveIntersectionFunction(IntersectionFunctionSignature signature, NS::UInteger index);
  void setOpaqueCurveIntersectionFunction(IntersectionFunctionSignature signature, NS::Range range);
  void setOpaqueTriangleIntersectionFunction(IntersectionFunctionSignature signature, NS::UInteger index);
  void setOpaqueTriangleIntersectionFunction(IntersectionFunctionSignature signature, NS::Range range);
  void setVisibleFunctionTable(const VisibleFunctionTable* functionTable, NS::UInteger bufferIndex);
  void setVisibleFunctionTables(const VisibleFunctionTable* const functionTables[], NS::Range bufferRange);

  void setFunction(const FunctionHandle* function, NS::UInteger index);
  void setFunctions(const FunctionHandle* const functions[], NS::Range range);
};

}  // namespace MTL

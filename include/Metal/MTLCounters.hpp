// Counters of a device, sampled into a buffer while commands run. The timestamp is the one that every device has.
#pragma once

#include <cstdint>

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"
#include "MTLResource.hpp"

namespace MTL {

class Device;

_MTL_ENUM(NS::Integer, CounterSampleBufferError){
    CounterSampleBufferErrorOutOfMemory = 0,
    CounterSampleBufferErrorInvalid = 1,
    CounterSampleBufferErrorInternal = 2,
};

using CommonCounter = NS::String*;
using CommonCounterSet = NS::String*;

inline constexpr NS::UInteger CounterErrorValue = static_cast<NS::UInteger>(~0ULL);
inline constexpr NS::UInteger CounterDontSample = static_cast<NS::UInteger>(-1);

_MTL_CONST(NS::ErrorDomain, CounterErrorDomain);
_MTL_CONST(CommonCounter, CommonCounterTimestamp);
_MTL_CONST(CommonCounter, CommonCounterTessellationInputPatches);
_MTL_CONST(CommonCounter, CommonCounterVertexInvocations);
_MTL_CONST(CommonCounter, CommonCounterPostTessellationVertexInvocations);
_MTL_CONST(CommonCounter, CommonCounterClipperInvocations);
_MTL_CONST(CommonCounter, CommonCounterClipperPrimitivesOut);
_MTL_CONST(CommonCounter, CommonCounterFragmentInvocations);
_MTL_CONST(CommonCounter, CommonCounterFragmentsPassed);
_MTL_CONST(CommonCounter, CommonCounterComputeKernelInvocations);
_MTL_CONST(CommonCounter, CommonCounterTotalCycles);
_MTL_CONST(CommonCounter, CommonCounterVertexCycles);
_MTL_CONST(CommonCounter, CommonCounterTessellationCycles);
_MTL_CONST(CommonCounter, CommonCounterPostTessellationVertexCycles);
_MTL_CONST(CommonCounter, CommonCounterFragmentCycles);
_MTL_CONST(CommonCounter, CommonCounterRenderTargetWriteCycles);
_MTL_CONST(CommonCounterSet, CommonCounterSetTimestamp);
_MTL_CONST(CommonCounterSet, CommonCounterSetStageUtilization);
_MTL_CONST(CommonCounterSet, CommonCounterSetStatistic);

struct CounterResultTimestamp {
  uint64_t timestamp;
};

struct CounterResultStageUtilization {
  uint64_t totalCycles;
  uint64_t vertexCycles;
  uint64_t tessellationCycles;
  uint64_t postTessellationVertexCycles;
  uint64_t fragmentCycles;
  uint64_t renderTargetCycles;
};

struct CounterResultStatistic {
  uint64_t tessellationInputPatches;
  uint64_t vertexInvocations;
  uint64_t postTessellationVertexInvocations;
  uint64_t clipperInvocations;
  uint64_t clipperPrimitivesOut;
  uint64_t fragmentInvocations;
  uint64_t fragmentsPassed;
  uint64_t computeKernelInvocations;
};

class _MTL_EXPORT Counter : public NS::Referencing<Counter> {
 public:
  NS::String* name() const;
};

class _MTL_EXPORT CounterSet : public NS::Referencing<CounterSet> {
 public:
  NS::String* name() const;
  NS::Array* counters() const;
};

class _MTL_EXPORT CounterSampleBufferDescriptor : public NS::Copying<CounterSampleBufferDescriptor> {
 public:
  static CounterSampleBufferDescriptor* alloc();
  CounterSampleBufferDescriptor* init();

  NS::String* label() const;
  void setLabel(const NS::String* label);
  CounterSet* counterSet() const;
  void setCounterSet(const CounterSet* counterSet);
  NS::UInteger sampleCount() const;
  void setSampleCount(NS::UInteger sampleCount);
  StorageMode storageMode() const;
  void setStorageMode(StorageMode storageMode);
};

class _MTL_EXPORT CounterSampleBuffer : public NS::Referencing<CounterSampleBuffer> {
 public:
  Device* device() const;
  NS::String* label() const;
  NS::UInteger sampleCount() const;
  NS::Data* resolveCounterRange(NS::Range range);
};

}  // namespace MTL

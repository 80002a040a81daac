// What all encoders share: labels, debug groups, and the end of encoding.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"

namespace MTL {

class Device;

_MTL_OPTIONS(NS::UInteger, ResourceUsage){
    ResourceUsageRead = 1,
    ResourceUsageWrite = 1 << 1,
    ResourceUsageSample = 1 << 2,
};

_MTL_OPTIONS(NS::UInteger, BarrierScope){
    BarrierScopeBuffers = 1,
    BarrierScopeTextures = 1 << 1,
    BarrierScopeRenderTargets = 1 << 2,
};

_MTL_OPTIONS(NS::UInteger, Stages){
    StageVertex = 1,
    StageFragment = 1 << 1,
    StageTile = 1 << 2,
    StageObject = 1 << 3,
    StageMesh = 1 << 4,
    StageResourceState = 1 << 26,
    StageDispatch = 1 << 27,
    StageBlit = 1 << 28,
    StageAccelerationStructure = 1 << 29,
    StageMachineLearning = 1 << 30,
    StageAll = 9223372036854775807,
};

class _MTL_EXPORT CommandEncoder : public NS::Referencing<CommandEncoder> {
 public:
  Device* device() const;
  NS::String* label() const;
  void setLabel(const NS::String* label);

  void barrierAfterQueueStages(Stages afterQueueStages, Stages beforeStages);

  void insertDebugSignpost(const NS::String* string);
  void pushDebugGroup(const NS::String* string);
  void popDebugGroup();
  void endEncoding();
};

}  // namespace MTL

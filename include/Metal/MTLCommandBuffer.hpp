// A list of commands for a device. It is filled through encoders, committed once, and then runs on its own; handlers,
// waiting, or the status tell what became of it.
#pragma once

#include <cstdint>
#include <functional>

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"

namespace MTL {

class AccelerationStructureCommandEncoder;
class AccelerationStructurePassDescriptor;
class BlitCommandEncoder;
class BlitPassDescriptor;
class CommandBuffer;
class CommandQueue;
class ComputeCommandEncoder;
class ComputePassDescriptor;
class Device;
class Drawable;
class Event;
class LogContainer;
class LogState;
class ParallelRenderCommandEncoder;
class RenderCommandEncoder;
class RenderPassDescriptor;
class ResidencySet;
class ResourceStateCommandEncoder;
class ResourceStatePassDescriptor;

_MTL_ENUM(NS::UInteger, CommandBufferStatus){
    CommandBufferStatusNotEnqueued = 0, CommandBufferStatusEnqueued = 1,  CommandBufferStatusCommitted = 2,
    CommandBufferStatusScheduled = 3,   CommandBufferStatusCompleted = 4, CommandBufferStatusError = 5,
};

_MTL_ENUM(NS::UInteger, CommandBufferError){
    CommandBufferErrorNone = 0,         CommandBufferErrorInternal = 1,       CommandBufferErrorTimeout = 2,
    CommandBufferErrorPageFault = 3,    CommandBufferErrorBlacklisted = 4,    CommandBufferErrorAccessRevoked = 4,
    CommandBufferErrorNotPermitted = 7, CommandBufferErrorOutOfMemory = 8,    CommandBufferErrorInvalidResource = 9,
    CommandBufferErrorMemoryless = 10,  CommandBufferErrorDeviceRemoved = 11, CommandBufferErrorStackOverflow = 12,
};

_MTL_ENUM(NS::Integer, CommandEncoderErrorState){
    CommandEncoderErrorStateUnknown = 0, CommandEncoderErrorStateCompleted = 1, CommandEncoderErrorStateAffected = 2,
    CommandEncoderErrorStatePending = 3, CommandEncoderErrorStateFaulted = 4,
};

_MTL_ENUM(NS::UInteger, DispatchType){
    DispatchTypeSerial = 0,
    DispatchTypeConcurrent = 1,
};

_MTL_OPTIONS(NS::UInteger, CommandBufferErrorOption){
    CommandBufferErrorOptionNone = 0,
    CommandBufferErrorOptionEncoderExecutionStatus = 1,
};

using HandlerFunction = std::function<void(CommandBuffer*)>;
#ifdef __BLOCKS__
using CommandBufferHandler = void (^)(CommandBuffer*);
#endif

class _MTL_EXPORT CommandBufferDescriptor : public NS::Copying<CommandBufferDescriptor> {
 public:
  static CommandBufferDescriptor* alloc();
  CommandBufferDescriptor* init();

  CommandBufferErrorOption errorOptions() const;
  void setErrorOptions(CommandBufferErrorOption errorOptions);
  LogState* logState() const;
  void setLogState(const LogState* logState);
  bool retainedReferences() const;
  void setRetainedReferences(bool retainedReferences);
};

class _MTL_EXPORT CommandBufferEncoderInfo : public NS::Referencing<CommandBufferEncoderInfo> {
 public:
  NS::String* label() const;
  NS::Array* debugSignposts() const;
  CommandEncoderErrorState errorState() const;
};

class _MTL_EXPORT CommandBuffer : public NS::Referencing<CommandBuffer> {
 public:
  Device* device() const;
  NS::String* label() const;
  void setLabel(const NS::String* label);

  CFTimeInterval GPUStartTime() const;
  CFTimeInterval GPUEndTime() const;
  CommandQueue* commandQueue() const;
  NS::Error* error() const;
  CommandBufferErrorOption errorOptions() const;
  CFTimeInterval kernelStartTime() const;
  CFTimeInterval kernelEndTime() const;
  LogContainer* logs() const;
  bool retainedReferences() const;
  CommandBufferStatus status() const;

  AccelerationStructureCommandEncoder* accelerationStructureCommandEncoder();
  AccelerationStructureCommandEncoder* accelerationStructureCommandEncoder(
      const AccelerationStructurePassDescriptor* descriptor);
  BlitCommandEncoder* blitCommandEncoder();
  BlitCommandEncoder* blitCommandEncoder(const BlitPassDescriptor* blitPassDescriptor);
  ComputeCommandEncoder* computeCommandEncoder(const ComputePassDescriptor* computePassDescriptor);
  ComputeCommandEncoder* computeCommandEncoder();
  ComputeCommandEncoder* computeCommandEncoder(DispatchType dispatchType);
  ParallelRenderCommandEncoder* parallelRenderCommandEncoder(const RenderPassDescriptor* renderPassDescriptor);
  RenderCommandEncoder* renderCommandEncoder(const RenderPassDescriptor* renderPassDescriptor);
  ResourceStateCommandEncoder* resourceStateCommandEncoder();
  ResourceStateCommandEncoder* resourceStateCommandEncoder(
      const ResourceStatePassDescriptor* resourceStatePassDescriptor);

  void useResidencySet(const ResidencySet* residencySet);
  void useResidencySets(const ResidencySet* const residencySets[], NS::UInteger count);

  void encodeSignalEvent(const Event* event, uint64_t value);
  void encodeWait(const Event* event, uint64_t value);
  void presentDrawable(const Drawable* drawable);
  void presentDrawableAfterMinimumDuration(const Drawable* drawable, CFTimeInterval duration);
  void presentDrawableAtTime(const Drawable* drawable, CFTimeInterval presentationTime);
  void waitUntilScheduled();
  void waitUntilCompleted();

  void addScheduledHandler(const HandlerFunction& function);
  void addCompletedHandler(const HandlerFunction& function);
  void enqueue();
  void commit();

  void pushDebugGroup(const NS::String* string);
  void popDebugGroup();

#ifdef __BLOCKS__
  void addCompletedHandler(const CommandBufferHandler block) {
    addCompletedHandler(NS::Private::functionFromBlock(block));
  }
  void addScheduledHandler(const CommandBufferHandler block) {
    addScheduledHandler(NS::Private::functionFromBlock(block));
  }
#endif
};

}  // namespace MTL

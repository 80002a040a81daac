// A kernel compiled for a device, what it is compiled from, and what is known about its arguments.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLAllocation.hpp"
#include "MTLDefines.hpp"
#include "MTLPipeline.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Device;
class Function;
class FunctionHandle;
class IntersectionFunctionTable;
class IntersectionFunctionTableDescriptor;
class LinkedFunctions;
class StageInputOutputDescriptor;
class VisibleFunctionTable;
class VisibleFunctionTableDescriptor;

class _MTL_EXPORT ComputePipelineReflection : public NS::Referencing<ComputePipelineReflection> {
 public:
  static ComputePipelineReflection* alloc();
  ComputePipelineReflection* init();

  NS::Array* arguments() const;
  NS::Array* bindings() const;
};

class _MTL_EXPORT ComputePipelineDescriptor : public NS::Copying<ComputePipelineDescriptor> {
 public:
  static ComputePipelineDescriptor* alloc();
  ComputePipelineDescriptor* init();

  NS::String* label() const;
  void setLabel(const NS::String* label);

  NS::Array* binaryArchives() const;
  void setBinaryArchives(const NS::Array* binaryArchives);
  PipelineBufferDescriptorArray* buffers() const;
  Function* computeFunction() const;
  void setComputeFunction(const Function* computeFunction);
  NS::Array* insertLibraries() const;
  void setInsertLibraries(const NS::Array* insertLibraries);
  LinkedFunctions* linkedFunctions() const;
  void setLinkedFunctions(const LinkedFunctions* linkedFunctions);
  NS::UInteger maxCallStackDepth() const;
  void setMaxCallStackDepth(NS::UInteger maxCallStackDepth);
  NS::UInteger maxTotalThreadsPerThreadgroup() const;
  void setMaxTotalThreadsPerThreadgroup(NS::UInteger maxTotalThreadsPerThreadgroup);
  NS::Array* preloadedLibraries() const;
  void setPreloadedLibraries(const NS::Array* preloadedLibraries);
  Size requiredThreadsPerThreadgroup() const;
  void setRequiredThreadsPerThreadgroup(Size requiredThreadsPerThreadgroup);
  ShaderValidation shaderValidation() const;
  void setShaderValidation(ShaderValidation shaderValidation);
  StageInputOutputDescriptor* stageInputDescriptor() const;
  void setStageInputDescriptor(const StageInputOutputDescriptor* stageInputDescriptor);
  bool supportAddingBinaryFunctions() const;
  void setSupportAddingBinaryFunctions(bool supportAddingBinaryFunctions);
  bool supportIndirectCommandBuffers() const;
  void setSupportIndirectCommandBuffers(bool supportIndirectCommandBuffers);
  bool threadGroupSizeIsMultipleOfThreadExecutionWidth() const;
  void setThreadGroupSizeIsMultipleOfThreadExecutionWidth(bool threadGroupSizeIsMultipleOfThreadExecutionWidth);

  void reset();
};

class _MTL_EXPORT ComputePipelineState : public NS::Referencing<ComputePipelineState, Allocation> {
 public:
  Device* device() const;
  NS::String* label() const;

  ResourceID gpuResourceID() const;
  NS::UInteger maxTotalThreadsPerThreadgroup() const;
  ComputePipelineReflection* reflection() const;
  Size requiredThreadsPerThreadgroup() const;
  ShaderValidation shaderValidation() const;
  NS::UInteger staticThreadgroupMemoryLength() const;
  bool supportIndirectCommandBuffers() const;
  NS::UInteger threadExecutionWidth() const;

  ComputePipelineState* newComputePipelineStateWithBinaryFunctions(const NS::Array* additionalBinaryFunctions,
                                                                   NS::Error** error);
  ComputePipelineState* newComputePipelineState(const NS::Array* functions, NS::Error** error);
  IntersectionFunctionTable* newIntersectionFunctionTable(const IntersectionFunctionTableDescriptor* descriptor);
  VisibleFunctionTable* newVisibleFunctionTable(const VisibleFunctionTableDescriptor* descriptor);

  FunctionHandle* functionHandle(const NS::String* name);
  FunctionHandle* functionHandle(const Function* function);
  NS::UInteger imageblockMemoryLength(Size imageblockDimensions);
};

}  // namespace MTL

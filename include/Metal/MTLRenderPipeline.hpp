// Shaders and fixed state for drawing, compiled for a device: vertex, mesh and tile pipelines.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLAllocation.hpp"
#include "MTLDefines.hpp"
#include "MTLPipeline.hpp"
#include "MTLPixelFormat.hpp"
#include "MTLRenderCommandEncoder.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Device;
class Function;
class FunctionHandle;
class IntersectionFunctionTable;
class IntersectionFunctionTableDescriptor;
class LinkedFunctions;
class RenderPipelineColorAttachmentDescriptorArray;
class VertexDescriptor;
class VisibleFunctionTable;
class VisibleFunctionTableDescriptor;

_MTL_ENUM(NS::UInteger, BlendFactor){
    BlendFactorZero = 0,
    BlendFactorOne = 1,
    BlendFactorSourceColor = 2,
    BlendFactorOneMinusSourceColor = 3,
    BlendFactorSourceAlpha = 4,
    BlendFactorOneMinusSourceAlpha = 5,
    BlendFactorDestinationColor = 6,
    BlendFactorOneMinusDestinationColor = 7,
    BlendFactorDestinationAlpha = 8,
    BlendFactorOneMinusDestinationAlpha = 9,
    BlendFactorSourceAlphaSaturated = 10,
    BlendFactorBlendColor = 11,
    BlendFactorOneMinusBlendColor = 12,
    BlendFactorBlendAlpha = 13,
    BlendFactorOneMinusBlendAlpha = 14,
    BlendFactorSource1Color = 15,
    BlendFactorOneMinusSource1Color = 16,
    BlendFactorSource1Alpha = 17,
    BlendFactorOneMinusSource1Alpha = 18,
    BlendFactorUnspecialized = 19,
};

_MTL_ENUM(NS::UInteger, BlendOperation){
    BlendOperationAdd = 0, BlendOperationSubtract = 1, BlendOperationReverseSubtract = 2,
    BlendOperationMin = 3, BlendOperationMax = 4,      BlendOperationUnspecialized = 5,
};

_MTL_ENUM(NS::UInteger, PrimitiveTopologyClass){
    PrimitiveTopologyClassUnspecified = 0,
    PrimitiveTopologyClassPoint = 1,
    PrimitiveTopologyClassLine = 2,
    PrimitiveTopologyClassTriangle = 3,
};

_MTL_ENUM(NS::UInteger, TessellationPartitionMode){
    TessellationPartitionModePow2 = 0,
    TessellationPartitionModeInteger = 1,
    TessellationPartitionModeFractionalOdd = 2,
    TessellationPartitionModeFractionalEven = 3,
};

_MTL_ENUM(NS::UInteger, TessellationFactorStepFunction){
    TessellationFactorStepFunctionConstant = 0,
    TessellationFactorStepFunctionPerPatch = 1,
    TessellationFactorStepFunctionPerInstance = 2,
    TessellationFactorStepFunctionPerPatchAndPerInstance = 3,
};

_MTL_ENUM(NS::UInteger, TessellationFactorFormat){
    TessellationFactorFormatHalf = 0,
};

_MTL_ENUM(NS::UInteger, TessellationControlPointIndexType){
    TessellationControlPointIndexTypeNone = 0,
    TessellationControlPointIndexTypeUInt16 = 1,
    TessellationControlPointIndexTypeUInt32 = 2,
};

_MTL_OPTIONS(NS::UInteger, ColorWriteMask){
    ColorWriteMaskNone = 0,
    ColorWriteMaskRed = 1 << 3,
    ColorWriteMaskGreen = 1 << 2,
    ColorWriteMaskBlue = 1 << 1,
    ColorWriteMaskAlpha = 1,
    ColorWriteMaskAll = 15,
    ColorWriteMaskUnspecialized = 1 << 4,
};

class _MTL_EXPORT RenderPipelineColorAttachmentDescriptor
    : public NS::Copying<RenderPipelineColorAttachmentDescriptor> {
 public:
  static RenderPipelineColorAttachmentDescriptor* alloc();
  RenderPipelineColorAttachmentDescriptor* init();

  BlendOperation alphaBlendOperation() const;
  void setAlphaBlendOperation(BlendOperation alphaBlendOperation);
  BlendFactor destinationAlphaBlendFactor() const;
  void setDestinationAlphaBlendFactor(BlendFactor destinationAlphaBlendFactor);
  BlendFactor destinationRGBBlendFactor() const;
  void setDestinationRGBBlendFactor(BlendFactor destinationRGBBlendFactor);
  bool isBlendingEnabled() const;
  void setBlendingEnabled(bool blendingEnabled);
  PixelFormat pixelFormat() const;
  void setPixelFormat(PixelFormat pixelFormat);
  BlendOperation rgbBlendOperation() const;
  void setRgbBlendOperation(BlendOperation rgbBlendOperation);
  BlendFactor sourceAlphaBlendFactor() const;
  void setSourceAlphaBlendFactor(BlendFactor sourceAlphaBlendFactor);
  BlendFactor sourceRGBBlendFactor() const;
  void setSourceRGBBlendFactor(BlendFactor sourceRGBBlendFactor);
  ColorWriteMask writeMask() const;
  void setWriteMask(ColorWriteMask writeMask);

  [[deprecated("use isBlendingEnabled()")]] bool blendingEnabled() const { return isBlendingEnabled(); }
};

class _MTL_EXPORT LogicalToPhysicalColorAttachmentMap : public NS::Copying<LogicalToPhysicalColorAttachmentMap> {
 public:
  static LogicalToPhysicalColorAttachmentMap* alloc();
  LogicalToPhysicalColorAttachmentMap* init();

  void setPhysicalIndex(NS::UInteger physicalIndex, NS::UInteger logicalIndex);
  void reset();
  NS::UInteger getPhysicalIndex(NS::UInteger logicalIndex);
};

class _MTL_EXPORT RenderPipelineReflection : public NS::Referencing<RenderPipelineReflection> {
 public:
  static RenderPipelineReflection* alloc();
  RenderPipelineReflection* init();

  NS::Array* fragmentArguments() const;
  NS::Array* fragmentBindings() const;
  NS::Array* meshBindings() const;
  NS::Array* objectBindings() const;
  NS::Array* tileArguments() const;
  NS::Array* tileBindings() const;
  NS::Array* vertexArguments() const;
  NS::Array* vertexBindings() const;
};

class _MTL_EXPORT RenderPipelineDescriptor : public NS::Copying<RenderPipelineDescriptor> {
 public:
  static RenderPipelineDescriptor* alloc();
  RenderPipelineDescriptor* init();

  NS::String* label() const;
  void setLabel(const NS::String* label);

  NS::Array* binaryArchives() const;
  void setBinaryArchives(const NS::Array* binaryArchives);
  RenderPipelineColorAttachmentDescriptorArray* colorAttachments() const;
  PixelFormat depthAttachmentPixelFormat() const;
  void setDepthAttachmentPixelFormat(PixelFormat depthAttachmentPixelFormat);
  PipelineBufferDescriptorArray* fragmentBuffers() const;
  Function* fragmentFunction() const;
  void setFragmentFunction(const Function* fragmentFunction);
  LinkedFunctions* fragmentLinkedFunctions() const;
  void setFragmentLinkedFunctions(const LinkedFunctions* fragmentLinkedFunctions);
  NS::Array* fragmentPreloadedLibraries() const;
  void setFragmentPreloadedLibraries(const NS::Array* fragmentPreloadedLibraries);
  PrimitiveTopologyClass inputPrimitiveTopology() const;
  void setInputPrimitiveTopology(PrimitiveTopologyClass inputPrimitiveTopology);
  bool isAlphaToCoverageEnabled() const;
  void setAlphaToCoverageEnabled(bool alphaToCoverageEnabled);
  bool isAlphaToOneEnabled() const;
  void setAlphaToOneEnabled(bool alphaToOneEnabled);
  bool isRasterizationEnabled() const;
  void setRasterizationEnabled(bool rasterizationEnabled);
  bool isTessellationFactorScaleEnabled() const;
  void setTessellationFactorScaleEnabled(bool tessellationFactorScaleEnabled);
  NS::UInteger maxFragmentCallStackDepth() const;
  void setMaxFragmentCallStackDepth(NS::UInteger maxFragmentCallStackDepth);
  NS::UInteger maxTessellationFactor() const;
  void setMaxTessellationFactor(NS::UInteger maxTessellationFactor);
  NS::UInteger maxVertexAmplificationCount() const;
  void setMaxVertexAmplificationCount(NS::UInteger maxVertexAmplificationCount);
  NS::UInteger maxVertexCallStackDepth() const;
  void setMaxVertexCallStackDepth(NS::UInteger maxVertexCallStackDepth);
  NS::UInteger rasterSampleCount() const;
  void setRasterSampleCount(NS::UInteger rasterSampleCount);
  NS::UInteger sampleCount() const;
  void setSampleCount(NS::UInteger sampleCount);
  ShaderValidation shaderValidation() const;
  void setShaderValidation(ShaderValidation shaderValidation);
  PixelFormat stencilAttachmentPixelFormat() const;
  void setStencilAttachmentPixelFormat(PixelFormat stencilAttachmentPixelFormat);
  bool supportAddingFragmentBinaryFunctions() const;
  void setSupportAddingFragmentBinaryFunctions(bool supportAddingFragmentBinaryFunctions);
  bool supportAddingVertexBinaryFunctions() const;
  void setSupportAddingVertexBinaryFunctions(bool supportAddingVertexBinaryFunctions);
  bool supportIndirectCommandBuffers() const;
  void setSupportIndirectCommandBuffers(bool supportIndirectCommandBuffers);
  TessellationControlPointIndexType tessellationControlPointIndexType() const;
  void setTessellationControlPointIndexType(TessellationControlPointIndexType tessellationControlPointIndexType);
  TessellationFactorFormat tessellationFactorFormat() const;
  void setTessellationFactorFormat(TessellationFactorFormat tessellationFactorFormat);
  TessellationFactorStepFunction tessellationFactorStepFunction() const;
  void setTessellationFactorStepFunction(TessellationFactorStepFunction tessellationFactorStepFunction);
  Winding tessellationOutputWindingOrder() const;
  void setTessellationOutputWindingOrder(Winding tessellationOutputWindingOrder);
  TessellationPartitionMode tessellationPartitionMode() const;
  void setTessellationPartitionMode(TessellationPartitionMode tessellationPartitionMode);
  PipelineBufferDescriptorArray* vertexBuffers() const;
  VertexDescriptor* vertexDescriptor() const;
  void setVertexDescriptor(const VertexDescriptor* vertexDescriptor);
  Function* vertexFunction() const;
  void setVertexFunction(const Function* vertexFunction);
  LinkedFunctions* vertexLinkedFunctions() const;
  void setVertexLinkedFunctions(const LinkedFunctions* vertexLinkedFunctions);
  NS::Array* vertexPreloadedLibraries() const;
  void setVertexPreloadedLibraries(const NS::Array* vertexPreloadedLibraries);

  void reset();

  [[deprecated("use isAlphaToCoverageEnabled()")]] bool alphaToCoverageEnabled() const {
    return isAlphaToCoverageEnabled();
  }
  [[deprecated("use isAlphaToOneEnabled()")]] bool alphaToOneEnabled() const { return isAlphaToOneEnabled(); }
  [[deprecated("use isRasterizationEnabled()")]] bool rasterizationEnabled() const { return isRasterizationEnabled(); }
  [[deprecated("use isTessellationFactorScaleEnabled()")]] bool tessellationFactorScaleEnabled() const {
    return isTessellationFactorScaleEnabled();
  }
};

class _MTL_EXPORT RenderPipelineFunctionsDescriptor : public NS::Copying<RenderPipelineFunctionsDescriptor> {
 public:
  static RenderPipelineFunctionsDescriptor* alloc();
  RenderPipelineFunctionsDescriptor* init();

  NS::Array* fragmentAdditionalBinaryFunctions() const;
  void setFragmentAdditionalBinaryFunctions(const NS::Array* fragmentAdditionalBinaryFunctions);
  NS::Array* tileAdditionalBinaryFunctions() const;
  void setTileAdditionalBinaryFunctions(const NS::Array* tileAdditionalBinaryFunctions);
  NS::Array* vertexAdditionalBinaryFunctions() const;
  void setVertexAdditionalBinaryFunctions(const NS::Array* vertexAdditionalBinaryFunctions);
};

class _MTL_EXPORT RenderPipelineState : public NS::Referencing<RenderPipelineState, Allocation> {
 public:
  Device* device() const;
  NS::String* label() const;

  ResourceID gpuResourceID() const;
  NS::UInteger imageblockSampleLength() const;
  NS::UInteger maxTotalThreadgroupsPerMeshGrid() const;
  NS::UInteger maxTotalThreadsPerMeshThreadgroup() const;
  NS::UInteger maxTotalThreadsPerObjectThreadgroup() const;
  NS::UInteger maxTotalThreadsPerThreadgroup() const;
  NS::UInteger meshThreadExecutionWidth() const;
  NS::UInteger objectThreadExecutionWidth() const;
  RenderPipelineReflection* reflection() const;
  Size requiredThreadsPerMeshThreadgroup() const;
  Size requiredThreadsPerObjectThreadgroup() const;
  Size requiredThreadsPerTileThreadgroup() const;
  ShaderValidation shaderValidation() const;
  bool supportIndirectCommandBuffers() const;
  bool threadgroupSizeMatchesTileSize() const;

  IntersectionFunctionTable* newIntersectionFunctionTable(const IntersectionFunctionTableDescriptor* descriptor,
                                                          RenderStages stage);
  RenderPipelineState* newRenderPipelineState(const RenderPipelineFunctionsDescriptor* additionalBinaryFunctions,
                                              NS::Error** error);
  VisibleFunctionTable* newVisibleFunctionTable(const VisibleFunctionTableDescriptor* descriptor, RenderStages stage);

  FunctionHandle* functionHandle(const NS::String* name, RenderStages stage);
  FunctionHandle* functionHandle(const Function* function, RenderStages stage);
  NS::UInteger imageblockMemoryLength(Size imageblockDimensions);
};

class _MTL_EXPORT RenderPipelineColorAttachmentDescriptorArray
    : public NS::Referencing<RenderPipelineColorAttachmentDescriptorArray> {
 public:
  static RenderPipelineColorAttachmentDescriptorArray* alloc();
  RenderPipelineColorAttachmentDescriptorArray* init();

  RenderPipelineColorAttachmentDescriptor* object(NS::UInteger attachmentIndex);
  void setObject(const RenderPipelineColorAttachmentDescriptor* attachment, NS::UInteger attachmentIndex);
};

class _MTL_EXPORT TileRenderPipelineColorAttachmentDescriptor
    : public NS::Copying<TileRenderPipelineColorAttachmentDescriptor> {
 public:
  static TileRenderPipelineColorAttachmentDescriptor* alloc();
  TileRenderPipelineColorAttachmentDescriptor* init();

  PixelFormat pixelFormat() const;
  void setPixelFormat(PixelFormat pixelFormat);
};

class _MTL_EXPORT TileRenderPipelineColorAttachmentDescriptorArray
    : public NS::Referencing<TileRenderPipelineColorAttachmentDescriptorArray> {
 public:
  static TileRenderPipelineColorAttachmentDescriptorArray* alloc();
  TileRenderPipelineColorAttachmentDescriptorArray* init();

  TileRenderPipelineColorAttachmentDescriptor* object(NS::UInteger attachmentIndex);
  void setObject(const TileRenderPipelineColorAttachmentDescriptor* attachment, NS::UInteger attachmentIndex);
};

class _MTL_EXPORT TileRenderPipelineDescriptor : public NS::Copying<TileRenderPipelineDescriptor> {
 public:
  static TileRenderPipelineDescriptor* alloc();
  TileRenderPipelineDescriptor* init();

  NS::String* label() const;
  void setLabel(const NS::String* label);

  NS::Array* binaryArchives() const;
  void setBinaryArchives(const NS::Array* binaryArchives);
  TileRenderPipelineColorAttachmentDescriptorArray* colorAttachments() const;
  LinkedFunctions* linkedFunctions() const;
  void setLinkedFunctions(const LinkedFunctions* linkedFunctions);
  NS::UInteger maxCallStackDepth() const;
  void setMaxCallStackDepth(NS::UInteger maxCallStackDepth);
  NS::UInteger maxTotalThreadsPerThreadgroup() const;
  void setMaxTotalThreadsPerThreadgroup(NS::UInteger maxTotalThreadsPerThreadgroup);
  NS::Array* preloadedLibraries() const;
  void setPreloadedLibraries(const NS::Array* preloadedLibraries);
  NS::UInteger rasterSampleCount() const;
  void setRasterSampleCount(NS::UInteger rasterSampleCount);
  Size requiredThreadsPerThreadgroup() const;
  void setRequiredThreadsPerThreadgroup(Size requiredThreadsPerThreadgroup);
  ShaderValidation shaderValidation() const;
  void setShaderValidation(ShaderValidation shaderValidation);
  bool supportAddingBinaryFunctions() const;
  void setSupportAddingBinaryFunctions(bool supportAddingBinaryFunctions);
  bool threadgroupSizeMatchesTileSize() const;
  void setThreadgroupSizeMatchesTileSize(bool threadgroupSizeMatchesTileSize);
  PipelineBufferDescriptorArray* tileBuffers() const;
  Function* tileFunction() const;
  void setTileFunction(const Function* tileFunction);

  void reset();
};

class _MTL_EXPORT MeshRenderPipelineDescriptor : public NS::Copying<MeshRenderPipelineDescriptor> {
 public:
  static MeshRenderPipelineDescriptor* alloc();
  MeshRenderPipelineDescriptor* init();

  NS::String* label() const;
  void setLabel(const NS::String* label);

  NS::Array* binaryArchives() const;
  void setBinaryArchives(const NS::Array* binaryArchives);
  RenderPipelineColorAttachmentDescriptorArray* colorAttachments() const;
  PixelFormat depthAttachmentPixelFormat() const;
  void setDepthAttachmentPixelFormat(PixelFormat depthAttachmentPixelFormat);
  PipelineBufferDescriptorArray* fragmentBuffers() const;
  Function* fragmentFunction() const;
  void setFragmentFunction(const Function* fragmentFunction);
  LinkedFunctions* fragmentLinkedFunctions() const;
  void setFragmentLinkedFunctions(const LinkedFunctions* fragmentLinkedFunctions);
  bool isAlphaToCoverageEnabled() const;
  void setAlphaToCoverageEnabled(bool alphaToCoverageEnabled);
  bool isAlphaToOneEnabled() const;
  void setAlphaToOneEnabled(bool alphaToOneEnabled);
  bool isRasterizationEnabled() const;
  void setRasterizationEnabled(bool rasterizationEnabled);
  NS::UInteger maxTotalThreadgroupsPerMeshGrid() const;
  void setMaxTotalThreadgroupsPerMeshGrid(NS::UInteger maxTotalThreadgroupsPerMeshGrid);
  NS::UInteger maxTotalThreadsPerMeshThreadgroup() const;
  void setMaxTotalThreadsPerMeshThreadgroup(NS::UInteger maxTotalThreadsPerMeshThreadgroup);
  NS::UInteger maxTotalThreadsPerObjectThreadgroup() const;
  void setMaxTotalThreadsPerObjectThreadgroup(NS::UInteger maxTotalThreadsPerObjectThreadgroup);
  NS::UInteger maxVertexAmplificationCount() const;
  void setMaxVertexAmplificationCount(NS::UInteger maxVertexAmplificationCount);
  PipelineBufferDescriptorArray* meshBuffers() const;
  Function* meshFunction() const;
  void setMeshFunction(const Function* meshFunction);
  LinkedFunctions* meshLinkedFunctions() const;
  void setMeshLinkedFunctions(const LinkedFunctions* meshLinkedFunctions);
  bool meshThreadgroupSizeIsMultipleOfThreadExecutionWidth() const;
  void setMeshThreadgroupSizeIsMultipleOfThreadExecutionWidth(bool meshThreadgroupSizeIsMultipleOfThreadExecutionWidth);
  PipelineBufferDescriptorArray* objectBuffers() const;
  Function* objectFunction() const;
  void setObjectFunction(const Function* objectFunction);
  LinkedFunctions* objectLinkedFunctions() const;
  void setObjectLinkedFunctions(const LinkedFunctions* objectLinkedFunctions);
  bool objectThreadgroupSizeIsMultipleOfThreadExecutionWidth() const;
  void setObjectThreadgroupSizeIsMultipleOfThreadExecutionWidth(
      bool objectThreadgroupSizeIsMultipleOfThreadExecutionWidth);
  NS::UInteger payloadMemoryLength() const;
  void setPayloadMemoryLength(NS::UInteger payloadMemoryLength);
  NS::UInteger rasterSampleCount() const;
  void setRasterSampleCount(NS::UInteger rasterSampleCount);
  Size requiredThreadsPerMeshThreadgroup() const;
  void setRequiredThreadsPerMeshThreadgroup(Size requiredThreadsPerMeshThreadgroup);
  Size requiredThreadsPerObjectThreadgroup() const;
  void setRequiredThreadsPerObjectThreadgroup(Size requiredThreadsPerObjectThreadgroup);
  ShaderValidation shaderValidation() const;
  void setShaderValidation(ShaderValidation shaderValidation);
  PixelFormat stencilAttachmentPixelFormat() const;
  void setStencilAttachmentPixelFormat(PixelFormat stencilAttachmentPixelFormat);
  bool supportIndirectCommandBuffers() const;
  void setSupportIndirectCommandBuffers(bool supportIndirectCommandBuffers);

  void reset();

  [[deprecated("use isAlphaToCoverageEnabled()")]] bool alphaToCoverageEnabled() const {
    return isAlphaToCoverageEnabled();
  }
  [[deprecated("use isAlphaToOneEnabled()")]] bool alphaToOneEnabled() const { return isAlphaToOneEnabled(); }
  [[deprecated("use isRasterizationEnabled()")]] bool rasterizationEnabled() const { return isRasterizationEnabled(); }
};

}  // namespace MTL

// Descriptors of pipelines that draw. The pipelines themselves are not there.
#include <Metal/MTLDevice.hpp>
#include <Metal/MTLFunctionHandle.hpp>
#include <Metal/MTLIntersectionFunctionTable.hpp>
#include <Metal/MTLLibrary.hpp>
#include <Metal/MTLLinkedFunctions.hpp>
#include <Metal/MTLRenderPipeline.hpp>
#include <Metal/MTLVertexDescriptor.hpp>
#include <Metal/MTLVisibleFunctionTable.hpp>
#include <array>

#include "metal/absent.hpp"
#include "metal/background.hpp"
#include "metal/errors.hpp"

namespace metalloid::metal {

constexpr NS::UInteger most_color_attachments = 8;

struct RenderPipelineColorAttachmentProperties {
  static constexpr const char* class_name = "MTLRenderPipelineColorAttachmentDescriptor";
  MTL::BlendOperation alphaBlendOperation = MTL::BlendOperationAdd;
  MTL::BlendFactor destinationAlphaBlendFactor = MTL::BlendFactorZero;
  MTL::BlendFactor destinationRGBBlendFactor = MTL::BlendFactorZero;
  bool isBlendingEnabled = false;
  MTL::PixelFormat pixelFormat = MTL::PixelFormatInvalid;
  MTL::BlendOperation rgbBlendOperation = MTL::BlendOperationAdd;
  MTL::BlendFactor sourceAlphaBlendFactor = MTL::BlendFactorOne;
  MTL::BlendFactor sourceRGBBlendFactor = MTL::BlendFactorOne;
  MTL::ColorWriteMask writeMask = MTL::ColorWriteMaskAll;
};
PROPERTIES(RenderPipelineColorAttachmentDescriptor, RenderPipelineColorAttachmentProperties)

struct RenderPipelineProperties {
  static constexpr const char* class_name = "MTLRenderPipelineDescriptor";
  Copied<NS::String> label;
  Copied<NS::Array> binaryArchives;
  Nested<MTL::RenderPipelineColorAttachmentDescriptorArray> colorAttachments;
  MTL::PixelFormat depthAttachmentPixelFormat = MTL::PixelFormatInvalid;
  Nested<MTL::PipelineBufferDescriptorArray> fragmentBuffers;
  NS::SharedPtr<MTL::Function> fragmentFunction;
  Nested<MTL::LinkedFunctions> fragmentLinkedFunctions;
  Copied<NS::Array> fragmentPreloadedLibraries;
  MTL::PrimitiveTopologyClass inputPrimitiveTopology = MTL::PrimitiveTopologyClassUnspecified;
  bool isAlphaToCoverageEnabled = false;
  bool isAlphaToOneEnabled = false;
  bool isRasterizationEnabled = true;
  bool isTessellationFactorScaleEnabled = false;
  NS::UInteger maxFragmentCallStackDepth = 1;
  NS::UInteger maxTessellationFactor = 16;
  NS::UInteger maxVertexAmplificationCount = 1;
  NS::UInteger maxVertexCallStackDepth = 1;
  NS::UInteger rasterSampleCount = 1;
  MTL::ShaderValidation shaderValidation = MTL::ShaderValidationDefault;
  MTL::PixelFormat stencilAttachmentPixelFormat = MTL::PixelFormatInvalid;
  bool supportAddingFragmentBinaryFunctions = false;
  bool supportAddingVertexBinaryFunctions = false;
  bool supportIndirectCommandBuffers = false;
  MTL::TessellationControlPointIndexType tessellationControlPointIndexType = MTL::TessellationControlPointIndexTypeNone;
  MTL::TessellationFactorFormat tessellationFactorFormat = MTL::TessellationFactorFormatHalf;
  MTL::TessellationFactorStepFunction tessellationFactorStepFunction = MTL::TessellationFactorStepFunctionConstant;
  MTL::Winding tessellationOutputWindingOrder = MTL::WindingClockwise;
  MTL::TessellationPartitionMode tessellationPartitionMode = MTL::TessellationPartitionModePow2;
  Nested<MTL::PipelineBufferDescriptorArray> vertexBuffers;
  Copied<MTL::VertexDescriptor> vertexDescriptor;
  NS::SharedPtr<MTL::Function> vertexFunction;
  Nested<MTL::LinkedFunctions> vertexLinkedFunctions;
  Copied<NS::Array> vertexPreloadedLibraries;
};
PROPERTIES(RenderPipelineDescriptor, RenderPipelineProperties)

struct RenderPipelineFunctionsProperties {
  static constexpr const char* class_name = "MTLRenderPipelineFunctionsDescriptor";
  Copied<NS::Array> fragmentAdditionalBinaryFunctions;
  Copied<NS::Array> tileAdditionalBinaryFunctions;
  Copied<NS::Array> vertexAdditionalBinaryFunctions;
};
PROPERTIES(RenderPipelineFunctionsDescriptor, RenderPipelineFunctionsProperties)

struct TileColorAttachmentProperties {
  static constexpr const char* class_name = "MTLTileRenderPipelineColorAttachmentDescriptor";
  MTL::PixelFormat pixelFormat = MTL::PixelFormatInvalid;
};
PROPERTIES(TileRenderPipelineColorAttachmentDescriptor, TileColorAttachmentProperties)

struct TileRenderPipelineProperties {
  static constexpr const char* class_name = "MTLTileRenderPipelineDescriptor";
  Copied<NS::String> label;
  Copied<NS::Array> binaryArchives;
  Nested<MTL::TileRenderPipelineColorAttachmentDescriptorArray> colorAttachments;
  Nested<MTL::LinkedFunctions> linkedFunctions;
  NS::UInteger maxCallStackDepth = 1;
  NS::UInteger maxTotalThreadsPerThreadgroup = 0;
  Copied<NS::Array> preloadedLibraries;
  NS::UInteger rasterSampleCount = 1;
  MTL::Size requiredThreadsPerThreadgroup = MTL::Size(0, 0, 0);
  MTL::ShaderValidation shaderValidation = MTL::ShaderValidationDefault;
  bool supportAddingBinaryFunctions = false;
  bool threadgroupSizeMatchesTileSize = false;
  Nested<MTL::PipelineBufferDescriptorArray> tileBuffers;
  NS::SharedPtr<MTL::Function> tileFunction;
};
PROPERTIES(TileRenderPipelineDescriptor, TileRenderPipelineProperties)

struct MeshRenderPipelineProperties {
  static constexpr const char* class_name = "MTLMeshRenderPipelineDescriptor";
  Copied<NS::String> label;
  Copied<NS::Array> binaryArchives;
  Nested<MTL::RenderPipelineColorAttachmentDescriptorArray> colorAttachments;
  MTL::PixelFormat depthAttachmentPixelFormat = MTL::PixelFormatInvalid;
  Nested<MTL::PipelineBufferDescriptorArray> fragmentBuffers;
  NS::SharedPtr<MTL::Function> fragmentFunction;
  Nested<MTL::LinkedFunctions> fragmentLinkedFunctions;
  bool isAlphaToCoverageEnabled = false;
  bool isAlphaToOneEnabled = false;
  bool isRasterizationEnabled = true;
  NS::UInteger maxTotalThreadgroupsPerMeshGrid = 0;
  NS::UInteger maxTotalThreadsPerMeshThreadgroup = 0;
  NS::UInteger maxTotalThreadsPerObjectThreadgroup = 0;
  NS::UInteger maxVertexAmplificationCount = 1;
  Nested<MTL::PipelineBufferDescriptorArray> meshBuffers;
  NS::SharedPtr<MTL::Function> meshFunction;
  Nested<MTL::LinkedFunctions> meshLinkedFunctions;
  bool meshThreadgroupSizeIsMultipleOfThreadExecutionWidth = false;
  Nested<MTL::PipelineBufferDescriptorArray> objectBuffers;
  NS::SharedPtr<MTL::Function> objectFunction;
  Nested<MTL::LinkedFunctions> objectLinkedFunctions;
  bool objectThreadgroupSizeIsMultipleOfThreadExecutionWidth = false;
  NS::UInteger payloadMemoryLength = 0;
  NS::UInteger rasterSampleCount = 1;
  MTL::Size requiredThreadsPerMeshThreadgroup = MTL::Size(0, 0, 0);
  MTL::Size requiredThreadsPerObjectThreadgroup = MTL::Size(0, 0, 0);
  MTL::ShaderValidation shaderValidation = MTL::ShaderValidationDefault;
  MTL::PixelFormat stencilAttachmentPixelFormat = MTL::PixelFormatInvalid;
  bool supportIndirectCommandBuffers = false;
};
PROPERTIES(MeshRenderPipelineDescriptor, MeshRenderPipelineProperties)

struct RenderPipelineReflectionProperties {
  static constexpr const char* class_name = "MTLRenderPipelineReflection";
  Copied<NS::Array> fragmentArguments;
  Copied<NS::Array> fragmentBindings;
  Copied<NS::Array> meshBindings;
  Copied<NS::Array> objectBindings;
  Copied<NS::Array> tileArguments;
  Copied<NS::Array> tileBindings;
  Copied<NS::Array> vertexArguments;
  Copied<NS::Array> vertexBindings;
};
PROPERTIES(RenderPipelineReflection, RenderPipelineReflectionProperties)

struct ColorAttachmentMapProperties {
  static constexpr const char* class_name = "MTLLogicalToPhysicalColorAttachmentMap";
  std::array<NS::UInteger, most_color_attachments> physical = {0, 1, 2, 3, 4, 5, 6, 7};
};
PROPERTIES(LogicalToPhysicalColorAttachmentMap, ColorAttachmentMapProperties)

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

ALLOC(RenderPipelineColorAttachmentDescriptor)
PROPERTY(RenderPipelineColorAttachmentDescriptor, alphaBlendOperation, setAlphaBlendOperation)
PROPERTY(RenderPipelineColorAttachmentDescriptor, destinationAlphaBlendFactor, setDestinationAlphaBlendFactor)
PROPERTY(RenderPipelineColorAttachmentDescriptor, destinationRGBBlendFactor, setDestinationRGBBlendFactor)
PROPERTY(RenderPipelineColorAttachmentDescriptor, isBlendingEnabled, setBlendingEnabled)
PROPERTY(RenderPipelineColorAttachmentDescriptor, pixelFormat, setPixelFormat)
PROPERTY(RenderPipelineColorAttachmentDescriptor, rgbBlendOperation, setRgbBlendOperation)
PROPERTY(RenderPipelineColorAttachmentDescriptor, sourceAlphaBlendFactor, setSourceAlphaBlendFactor)
PROPERTY(RenderPipelineColorAttachmentDescriptor, sourceRGBBlendFactor, setSourceRGBBlendFactor)
PROPERTY(RenderPipelineColorAttachmentDescriptor, writeMask, setWriteMask)

DESCRIPTOR_ARRAY(RenderPipelineColorAttachmentDescriptorArray, RenderPipelineColorAttachmentDescriptor,
                 most_color_attachments)

ALLOC(RenderPipelineDescriptor)
RESET(RenderPipelineDescriptor)
PROPERTY(RenderPipelineDescriptor, label, setLabel)
PROPERTY(RenderPipelineDescriptor, binaryArchives, setBinaryArchives)
READ_PROPERTY(RenderPipelineDescriptor, colorAttachments)
PROPERTY(RenderPipelineDescriptor, depthAttachmentPixelFormat, setDepthAttachmentPixelFormat)
READ_PROPERTY(RenderPipelineDescriptor, fragmentBuffers)
PROPERTY(RenderPipelineDescriptor, fragmentFunction, setFragmentFunction)
PROPERTY(RenderPipelineDescriptor, fragmentLinkedFunctions, setFragmentLinkedFunctions)
PROPERTY(RenderPipelineDescriptor, fragmentPreloadedLibraries, setFragmentPreloadedLibraries)
PROPERTY(RenderPipelineDescriptor, inputPrimitiveTopology, setInputPrimitiveTopology)
PROPERTY(RenderPipelineDescriptor, isAlphaToCoverageEnabled, setAlphaToCoverageEnabled)
PROPERTY(RenderPipelineDescriptor, isAlphaToOneEnabled, setAlphaToOneEnabled)
PROPERTY(RenderPipelineDescriptor, isRasterizationEnabled, setRasterizationEnabled)
PROPERTY(RenderPipelineDescriptor, isTessellationFactorScaleEnabled, setTessellationFactorScaleEnabled)
PROPERTY(RenderPipelineDescriptor, maxFragmentCallStackDepth, setMaxFragmentCallStackDepth)
PROPERTY(RenderPipelineDescriptor, maxTessellationFactor, setMaxTessellationFactor)
PROPERTY(RenderPipelineDescriptor, maxVertexAmplificationCount, setMaxVertexAmplificationCount)
PROPERTY(RenderPipelineDescriptor, maxVertexCallStackDepth, setMaxVertexCallStackDepth)
PROPERTY(RenderPipelineDescriptor, rasterSampleCount, setRasterSampleCount)
PROPERTY(RenderPipelineDescriptor, shaderValidation, setShaderValidation)
PROPERTY(RenderPipelineDescriptor, stencilAttachmentPixelFormat, setStencilAttachmentPixelFormat)
PROPERTY(RenderPipelineDescriptor, supportAddingFragmentBinaryFunctions, setSupportAddingFragmentBinaryFunctions)
PROPERTY(RenderPipelineDescriptor, supportAddingVertexBinaryFunctions, setSupportAddingVertexBinaryFunctions)
PROPERTY(RenderPipelineDescriptor, supportIndirectCommandBuffers, setSupportIndirectCommandBuffers)
PROPERTY(RenderPipelineDescriptor, tessellationControlPointIndexType, setTessellationControlPointIndexType)
PROPERTY(RenderPipelineDescriptor, tessellationFactorFormat, setTessellationFactorFormat)
PROPERTY(RenderPipelineDescriptor, tessellationFactorStepFunction, setTessellationFactorStepFunction)
PROPERTY(RenderPipelineDescriptor, tessellationOutputWindingOrder, setTessellationOutputWindingOrder)
PROPERTY(RenderPipelineDescriptor, tessellationPartitionMode, setTessellationPartitionMode)
READ_PROPERTY(RenderPipelineDescriptor, vertexBuffers)
PROPERTY(RenderPipelineDescriptor, vertexDescriptor, setVertexDescriptor)
PROPERTY(RenderPipelineDescriptor, vertexFunction, setVertexFunction)
PROPERTY(RenderPipelineDescriptor, vertexLinkedFunctions, setVertexLinkedFunctions)
PROPERTY(RenderPipelineDescriptor, vertexPreloadedLibraries, setVertexPreloadedLibraries)

// The old name.
NS::UInteger RenderPipelineDescriptor::sampleCount() const {
  return rasterSampleCount();
}

void RenderPipelineDescriptor::setSampleCount(NS::UInteger count) {
  setRasterSampleCount(count);
}

ALLOC(RenderPipelineFunctionsDescriptor)
PROPERTY(RenderPipelineFunctionsDescriptor, fragmentAdditionalBinaryFunctions, setFragmentAdditionalBinaryFunctions)
PROPERTY(RenderPipelineFunctionsDescriptor, tileAdditionalBinaryFunctions, setTileAdditionalBinaryFunctions)
PROPERTY(RenderPipelineFunctionsDescriptor, vertexAdditionalBinaryFunctions, setVertexAdditionalBinaryFunctions)

ALLOC(TileRenderPipelineColorAttachmentDescriptor)
PROPERTY(TileRenderPipelineColorAttachmentDescriptor, pixelFormat, setPixelFormat)

DESCRIPTOR_ARRAY(TileRenderPipelineColorAttachmentDescriptorArray, TileRenderPipelineColorAttachmentDescriptor,
                 most_color_attachments)

ALLOC(TileRenderPipelineDescriptor)
RESET(TileRenderPipelineDescriptor)
PROPERTY(TileRenderPipelineDescriptor, label, setLabel)
PROPERTY(TileRenderPipelineDescriptor, binaryArchives, setBinaryArchives)
READ_PROPERTY(TileRenderPipelineDescriptor, colorAttachments)
PROPERTY(TileRenderPipelineDescriptor, linkedFunctions, setLinkedFunctions)
PROPERTY(TileRenderPipelineDescriptor, maxCallStackDepth, setMaxCallStackDepth)
PROPERTY(TileRenderPipelineDescriptor, maxTotalThreadsPerThreadgroup, setMaxTotalThreadsPerThreadgroup)
PROPERTY(TileRenderPipelineDescriptor, preloadedLibraries, setPreloadedLibraries)
PROPERTY(TileRenderPipelineDescriptor, rasterSampleCount, setRasterSampleCount)
PROPERTY(TileRenderPipelineDescriptor, requiredThreadsPerThreadgroup, setRequiredThreadsPerThreadgroup)
PROPERTY(TileRenderPipelineDescriptor, shaderValidation, setShaderValidation)
PROPERTY(TileRenderPipelineDescriptor, supportAddingBinaryFunctions, setSupportAddingBinaryFunctions)
PROPERTY(TileRenderPipelineDescriptor, threadgroupSizeMatchesTileSize, setThreadgroupSizeMatchesTileSize)
READ_PROPERTY(TileRenderPipelineDescriptor, tileBuffers)
PROPERTY(TileRenderPipelineDescriptor, tileFunction, setTileFunction)

ALLOC(MeshRenderPipelineDescriptor)
RESET(MeshRenderPipelineDescriptor)
PROPERTY(MeshRenderPipelineDescriptor, label, setLabel)
PROPERTY(MeshRenderPipelineDescriptor, binaryArchives, setBinaryArchives)
READ_PROPERTY(MeshRenderPipelineDescriptor, colorAttachments)
PROPERTY(MeshRenderPipelineDescriptor, depthAttachmentPixelFormat, setDepthAttachmentPixelFormat)
READ_PROPERTY(MeshRenderPipelineDescriptor, fragmentBuffers)
PROPERTY(MeshRenderPipelineDescriptor, fragmentFunction, setFragmentFunction)
PROPERTY(MeshRenderPipelineDescriptor, fragmentLinkedFunctions, setFragmentLinkedFunctions)
PROPERTY(MeshRenderPipelineDescriptor, isAlphaToCoverageEnabled, setAlphaToCoverageEnabled)
PROPERTY(MeshRenderPipelineDescriptor, isAlphaToOneEnabled, setAlphaToOneEnabled)
PROPERTY(MeshRenderPipelineDescriptor, isRasterizationEnabled, setRasterizationEnabled)
PROPERTY(MeshRenderPipelineDescriptor, maxTotalThreadgroupsPerMeshGrid, setMaxTotalThreadgroupsPerMeshGrid)
PROPERTY(MeshRenderPipelineDescriptor, maxTotalThreadsPerMeshThreadgroup, setMaxTotalThreadsPerMeshThreadgroup)
PROPERTY(MeshRenderPipelineDescriptor, maxTotalThreadsPerObjectThreadgroup, setMaxTotalThreadsPerObjectThreadgroup)
PROPERTY(MeshRenderPipelineDescriptor, maxVertexAmplificationCount, setMaxVertexAmplificationCount)
READ_PROPERTY(MeshRenderPipelineDescriptor, meshBuffers)
PROPERTY(MeshRenderPipelineDescriptor, meshFunction, setMeshFunction)
PROPERTY(MeshRenderPipelineDescriptor, meshLinkedFunctions, setMeshLinkedFunctions)
PROPERTY(MeshRenderPipelineDescriptor, meshThreadgroupSizeIsMultipleOfThreadExecutionWidth,
         setMeshThreadgroupSizeIsMultipleOfThreadExecutionWidth)
READ_PROPERTY(MeshRenderPipelineDescriptor, objectBuffers)
PROPERTY(MeshRenderPipelineDescriptor, objectFunction, setObjectFunction)
PROPERTY(MeshRenderPipelineDescriptor, objectLinkedFunctions, setObjectLinkedFunctions)
PROPERTY(MeshRenderPipelineDescriptor, objectThreadgroupSizeIsMultipleOfThreadExecutionWidth,
         setObjectThreadgroupSizeIsMultipleOfThreadExecutionWidth)
PROPERTY(MeshRenderPipelineDescriptor, payloadMemoryLength, setPayloadMemoryLength)
PROPERTY(MeshRenderPipelineDescriptor, rasterSampleCount, setRasterSampleCount)
PROPERTY(MeshRenderPipelineDescriptor, requiredThreadsPerMeshThreadgroup, setRequiredThreadsPerMeshThreadgroup)
PROPERTY(MeshRenderPipelineDescriptor, requiredThreadsPerObjectThreadgroup, setRequiredThreadsPerObjectThreadgroup)
PROPERTY(MeshRenderPipelineDescriptor, shaderValidation, setShaderValidation)
PROPERTY(MeshRenderPipelineDescriptor, stencilAttachmentPixelFormat, setStencilAttachmentPixelFormat)
PROPERTY(MeshRenderPipelineDescriptor, supportIndirectCommandBuffers, setSupportIndirectCommandBuffers)

ALLOC(RenderPipelineReflection)
READ_PROPERTY(RenderPipelineReflection, fragmentArguments)
READ_PROPERTY(RenderPipelineReflection, fragmentBindings)
READ_PROPERTY(RenderPipelineReflection, meshBindings)
READ_PROPERTY(RenderPipelineReflection, objectBindings)
READ_PROPERTY(RenderPipelineReflection, tileArguments)
READ_PROPERTY(RenderPipelineReflection, tileBindings)
READ_PROPERTY(RenderPipelineReflection, vertexArguments)
READ_PROPERTY(RenderPipelineReflection, vertexBindings)

ALLOC(LogicalToPhysicalColorAttachmentMap)
RESET(LogicalToPhysicalColorAttachmentMap)

NS::UInteger LogicalToPhysicalColorAttachmentMap::getPhysicalIndex(NS::UInteger logical) {
  const auto* self = properties(this);
  return self && logical < most_color_attachments ? self->physical[logical] : 0;
}

void LogicalToPhysicalColorAttachmentMap::setPhysicalIndex(NS::UInteger physical, NS::UInteger logical) {
  auto* self = properties(this);
  if (self && logical < most_color_attachments) self->physical[logical] = physical;
}

static std::nullptr_t no_render_pipelines(NS::Error** error, Call call) {
  report(error, pipeline_error(refuse("drawing", call)));
  return nullptr;
}

RenderPipelineState* Device::newRenderPipelineState(const RenderPipelineDescriptor*, NS::Error** error) {
  return no_render_pipelines(error, Call::current());
}

RenderPipelineState* Device::newRenderPipelineState(const RenderPipelineDescriptor*, PipelineOption,
                                                    const AutoreleasedRenderPipelineReflection*, NS::Error** error) {
  return no_render_pipelines(error, Call::current());
}

RenderPipelineState* Device::newRenderPipelineState(const TileRenderPipelineDescriptor*, PipelineOption,
                                                    const AutoreleasedRenderPipelineReflection*, NS::Error** error) {
  return no_render_pipelines(error, Call::current());
}

RenderPipelineState* Device::newRenderPipelineState(const MeshRenderPipelineDescriptor*, PipelineOption,
                                                    const AutoreleasedRenderPipelineReflection*, NS::Error** error) {
  return no_render_pipelines(error, Call::current());
}

void Device::newRenderPipelineState(const RenderPipelineDescriptor*,
                                    const NewRenderPipelineStateCompletionHandlerFunction& handler) {
  const std::string reason = refuse("drawing");
  if (handler) in_background([=] { handler(nullptr, pipeline_error(reason)); });
}

using RenderPipelineHandler = NewRenderPipelineStateWithReflectionCompletionHandlerFunction;

static void refuse_in_background(const RenderPipelineHandler& handler, Call call) {
  const std::string reason = refuse("drawing", call);
  if (handler) in_background([=] { handler(nullptr, nullptr, pipeline_error(reason)); });
}

void Device::newRenderPipelineState(const RenderPipelineDescriptor*, PipelineOption,
                                    const RenderPipelineHandler& handler) {
  refuse_in_background(handler, Call::current());
}

void Device::newRenderPipelineState(const TileRenderPipelineDescriptor*, PipelineOption,
                                    const RenderPipelineHandler& handler) {
  refuse_in_background(handler, Call::current());
}

void Device::newRenderPipelineState(const MeshRenderPipelineDescriptor*, PipelineOption,
                                    const RenderPipelineHandler& handler) {
  refuse_in_background(handler, Call::current());
}

NEVER_SENT(Device* RenderPipelineState::device() const)
NEVER_SENT(NS::String* RenderPipelineState::label() const)
NEVER_SENT(ResourceID RenderPipelineState::gpuResourceID() const)
NEVER_SENT(NS::UInteger RenderPipelineState::imageblockSampleLength() const)
NEVER_SENT(NS::UInteger RenderPipelineState::maxTotalThreadgroupsPerMeshGrid() const)
NEVER_SENT(NS::UInteger RenderPipelineState::maxTotalThreadsPerMeshThreadgroup() const)
NEVER_SENT(NS::UInteger RenderPipelineState::maxTotalThreadsPerObjectThreadgroup() const)
NEVER_SENT(NS::UInteger RenderPipelineState::maxTotalThreadsPerThreadgroup() const)
NEVER_SENT(NS::UInteger RenderPipelineState::meshThreadExecutionWidth() const)
NEVER_SENT(NS::UInteger RenderPipelineState::objectThreadExecutionWidth() const)
NEVER_SENT(RenderPipelineReflection* RenderPipelineState::reflection() const)
NEVER_SENT(Size RenderPipelineState::requiredThreadsPerMeshThreadgroup() const)
NEVER_SENT(Size RenderPipelineState::requiredThreadsPerObjectThreadgroup() const)
NEVER_SENT(Size RenderPipelineState::requiredThreadsPerTileThreadgroup() const)
NEVER_SENT(ShaderValidation RenderPipelineState::shaderValidation() const)
NEVER_SENT(bool RenderPipelineState::supportIndirectCommandBuffers() const)
NEVER_SENT(bool RenderPipelineState::threadgroupSizeMatchesTileSize() const)
NEVER_SENT(IntersectionFunctionTable* RenderPipelineState::newIntersectionFunctionTable(
    const IntersectionFunctionTableDescriptor*, RenderStages))
NEVER_SENT(RenderPipelineState* RenderPipelineState::newRenderPipelineState(const RenderPipelineFunctionsDescriptor*,
                                                                            NS::Error**))
NEVER_SENT(VisibleFunctionTable* RenderPipelineState::newVisibleFunctionTable(const VisibleFunctionTableDescriptor*,
                                                                              RenderStages))
NEVER_SENT(FunctionHandle* RenderPipelineState::functionHandle(const NS::String*, RenderStages))
NEVER_SENT(FunctionHandle* RenderPipelineState::functionHandle(const Function*, RenderStages))
NEVER_SENT(NS::UInteger RenderPipelineState::imageblockMemoryLength(Size))

}  // namespace MTL

#include "metal/compute_pipeline_descriptor.hpp"

namespace metalloid::metal {

struct PipelineBufferProperties {
  static constexpr const char* class_name = "MTLPipelineBufferDescriptor";
  MTL::Mutability mutability = MTL::MutabilityDefault;
};
PROPERTIES(PipelineBufferDescriptor, PipelineBufferProperties)

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

ALLOC(PipelineBufferDescriptor)
PROPERTY(PipelineBufferDescriptor, mutability, setMutability)

constexpr NS::UInteger most_buffers = 31;
DESCRIPTOR_ARRAY(PipelineBufferDescriptorArray, PipelineBufferDescriptor, most_buffers)

ALLOC(ComputePipelineDescriptor)
PROPERTY(ComputePipelineDescriptor, label, setLabel)
PROPERTY(ComputePipelineDescriptor, computeFunction, setComputeFunction)
PROPERTY(ComputePipelineDescriptor, threadGroupSizeIsMultipleOfThreadExecutionWidth,
         setThreadGroupSizeIsMultipleOfThreadExecutionWidth)
PROPERTY(ComputePipelineDescriptor, maxTotalThreadsPerThreadgroup, setMaxTotalThreadsPerThreadgroup)
PROPERTY(ComputePipelineDescriptor, requiredThreadsPerThreadgroup, setRequiredThreadsPerThreadgroup)
PROPERTY(ComputePipelineDescriptor, stageInputDescriptor, setStageInputDescriptor)
READ_PROPERTY(ComputePipelineDescriptor, buffers)
PROPERTY(ComputePipelineDescriptor, linkedFunctions, setLinkedFunctions)
PROPERTY(ComputePipelineDescriptor, supportIndirectCommandBuffers, setSupportIndirectCommandBuffers)
PROPERTY(ComputePipelineDescriptor, supportAddingBinaryFunctions, setSupportAddingBinaryFunctions)
PROPERTY(ComputePipelineDescriptor, maxCallStackDepth, setMaxCallStackDepth)
PROPERTY(ComputePipelineDescriptor, binaryArchives, setBinaryArchives)
PROPERTY(ComputePipelineDescriptor, insertLibraries, setInsertLibraries)
PROPERTY(ComputePipelineDescriptor, preloadedLibraries, setPreloadedLibraries)
PROPERTY(ComputePipelineDescriptor, shaderValidation, setShaderValidation)

void ComputePipelineDescriptor::reset() {
  if (ComputePipelineProperties* self = properties(this)) *self = {};
}

}  // namespace MTL

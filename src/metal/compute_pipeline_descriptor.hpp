// The object behind MTL::ComputePipelineDescriptor.
#pragma once

#include <Metal/MTLComputePipeline.hpp>
#include <Metal/MTLLibrary.hpp>
#include <Metal/MTLStageInputOutputDescriptor.hpp>

#include "metal/linked_functions.hpp"
#include "metal/property.hpp"

namespace metalloid::metal {

struct ComputePipelineProperties {
  static constexpr const char* class_name = "MTLComputePipelineDescriptor";

  Copied<NS::String> label;
  NS::SharedPtr<MTL::Function> computeFunction;
  bool threadGroupSizeIsMultipleOfThreadExecutionWidth = false;
  NS::UInteger maxTotalThreadsPerThreadgroup = 0;
  MTL::Size requiredThreadsPerThreadgroup = MTL::Size(0, 0, 0);
  Copied<MTL::StageInputOutputDescriptor> stageInputDescriptor;
  Nested<MTL::PipelineBufferDescriptorArray> buffers;
  Nested<MTL::LinkedFunctions> linkedFunctions;
  bool supportIndirectCommandBuffers = false;
  bool supportAddingBinaryFunctions = false;
  NS::UInteger maxCallStackDepth = 1;
  Copied<NS::Array> binaryArchives;
  Copied<NS::Array> insertLibraries;
  Copied<NS::Array> preloadedLibraries;
  MTL::ShaderValidation shaderValidation = MTL::ShaderValidationDefault;
};
PROPERTIES(ComputePipelineDescriptor, ComputePipelineProperties)

}  // namespace metalloid::metal

// The object behind MTL::IndirectCommandBuffer: dispatches that are encoded once and executed many times. They become
// commands only when their turn has come, with what they inherit from the encoder that executes them.
#pragma once

#include <Metal/MTLBuffer.hpp>
#include <Metal/MTLComputePipeline.hpp>
#include <Metal/MTLIndirectCommandBuffer.hpp>
#include <Metal/MTLIndirectCommandEncoder.hpp>
#include <metalloid/result.hpp>
#include <vector>

#include "metal/argument_tables.hpp"
#include "metal/heap.hpp"
#include "metal/property.hpp"
#include "metal/resource.hpp"

namespace metalloid::metal {

class ComputePipelineStateObject;

struct IndirectCommandBufferProperties {
  static constexpr const char* class_name = "MTLIndirectCommandBufferDescriptor";
  MTL::IndirectCommandType commandTypes = 0;
  bool inheritPipelineState = true;
  bool inheritBuffers = true;
  bool inheritCullMode = true;
  bool inheritDepthBias = true;
  bool inheritDepthClipMode = true;
  bool inheritDepthStencilState = true;
  bool inheritFrontFacingWinding = true;
  bool inheritTriangleFillMode = true;
  NS::UInteger maxVertexBufferBindCount = 31;
  NS::UInteger maxFragmentBufferBindCount = 31;
  NS::UInteger maxKernelBufferBindCount = 31;
  NS::UInteger maxKernelThreadgroupMemoryBindCount = 31;
  NS::UInteger maxObjectBufferBindCount = 0;
  NS::UInteger maxMeshBufferBindCount = 0;
  NS::UInteger maxObjectThreadgroupMemoryBindCount = 0;
  bool supportRayTracing = false;
  bool supportDynamicAttributeStride = false;
  bool supportColorAttachmentMapping = false;
};
PROPERTIES(IndirectCommandBufferDescriptor, IndirectCommandBufferProperties)

// What the encoder had bound when it was told to execute.
struct InheritedState {
  ArgumentTables tables;
  const ComputePipelineStateObject* pipeline = nullptr;
};

// One dispatch; it retains what it uses.
struct IndirectDispatch {
  struct KernelBuffer {
    uint32_t index = 0;
    NS::SharedPtr<MTL::Buffer> buffer;
    uint64_t offset = 0;
  };
  struct ThreadgroupMemory {
    uint32_t index = 0;
    uint64_t length = 0;
  };

  NS::SharedPtr<MTL::ComputePipelineState> pipeline;
  std::vector<KernelBuffer> buffers;
  std::vector<ThreadgroupMemory> threadgroup_memory;
  MTL::Size grid = {0, 0, 0}, threadgroup = {0, 0, 0};  // nothing is dispatched while they are zero
};

class IndirectCommandBufferObject final : public MTL::IndirectCommandBuffer, public ResourcePart {
 public:
  const IndirectCommandBufferProperties properties;
  std::vector<IndirectDispatch> commands;

  IndirectCommandBufferObject(DeviceObject* device, const IndirectCommandBufferProperties& properties, size_t count,
                              MTL::ResourceOptions options);

  bool has(NS::Range range) const {
    return range.location <= commands.size() && range.length <= commands.size() - range.location;
  }
  void reset(NS::Range range);  // which it has

  Status append_commands(NS::Range range, const InheritedState& inherited, device::CommandList& list) const;

  const char* className() const override { return "MTLIndirectCommandBuffer"; }

 private:
  Status append(const IndirectDispatch& command, const InheritedState& inherited, device::CommandList& list) const;
};

inline IndirectCommandBufferObject* body(MTL::IndirectCommandBuffer* buffer) {
  return static_cast<IndirectCommandBufferObject*>(buffer);
}
inline const IndirectCommandBufferObject* body(const MTL::IndirectCommandBuffer* buffer) {
  return static_cast<const IndirectCommandBufferObject*>(buffer);
}

}  // namespace metalloid::metal

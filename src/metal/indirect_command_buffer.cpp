#include "metal/indirect_command_buffer.hpp"

#include <Metal/MTLDevice.hpp>

#include "metal/buffer.hpp"
#include "metal/compute_pipeline.hpp"
#include "metal/device.hpp"
#include "metal/misuse.hpp"
#include "metal/rules.hpp"

namespace metalloid::metal {

// The commands are the host's own; this is what they count for in allocatedSize().
static Placement placement_of(size_t count) {
  Placement placement;
  placement.size = count * sizeof(IndirectDispatch);
  return placement;
}

IndirectCommandBufferObject::IndirectCommandBufferObject(DeviceObject* device,
                                                         const IndirectCommandBufferProperties& properties,
                                                         size_t count, MTL::ResourceOptions options)
    : ResourcePart(device, ResourceModes::from(options), placement_of(count)),
      properties(properties),
      commands(count) {}

void IndirectCommandBufferObject::reset(NS::Range range) {
  for (NS::UInteger i = 0; i < range.length; ++i) commands[range.location + i] = {};
}

Status IndirectCommandBufferObject::append_commands(NS::Range range, const InheritedState& inherited,
                                                    device::CommandList& list) const {
  if (!has(range))
    return Error{"the range of " + std::to_string(range.length) + " commands at " + std::to_string(range.location) +
                 " is beyond the indirect command buffer's size of " + std::to_string(commands.size())};
  for (NS::UInteger i = range.location; i < range.location + range.length; ++i)
    if (Status appended = append(commands[i], inherited, list); !appended)
      return Error{"indirect command " + std::to_string(i) + ": " + appended.error()};
  return success();
}

Status IndirectCommandBufferObject::append(const IndirectDispatch& command, const InheritedState& inherited,
                                           device::CommandList& list) const {
  const device::Size grid = device_size(command.grid);
  if (grid.count() == 0) return success();
  const auto* pipeline = properties.inheritPipelineState ? inherited.pipeline : body(command.pipeline.get());
  if (!pipeline) return Error{"no compute pipeline state is set"};

  ArgumentTables tables = properties.inheritBuffers ? inherited.tables : ArgumentTables();
  for (const auto& [index, buffer, offset] : command.buffers) {
    const BufferObject& bound = *body(buffer.get());
    tables.buffers[index] = {bound.address + offset, offset < bound.length ? bound.length - offset : 0};
  }
  for (const auto& [index, length] : command.threadgroup_memory) tables.threadgroup_memory[index] = {0, length};

  const device::Pipeline& code = *pipeline->pipeline;
  const device::Argument* arguments = tables.arguments_of(code, list.arena);
  if (std::string rule = broken_by_threadgroup(code, command.threadgroup); !rule.empty()) return Error{rule};
  if (std::string rule =
          broken_by_threadgroup_memory(code, arguments, ResourcePart::device->info().max_threadgroup_memory);
      !rule.empty())
    return Error{rule};
  list.commands.emplace_back(device::Dispatch{.pipeline = &code,
                                              .arguments = arguments,
                                              .threads_per_grid = grid,
                                              .threads_per_threadgroup = device_size(command.threadgroup)});
  return success();
}

namespace {

// A view of one command of a buffer.
class IndirectComputeCommandObject final : public MTL::IndirectComputeCommand {
 public:
  const NS::SharedPtr<IndirectCommandBufferObject> buffer;
  const size_t index;

  IndirectComputeCommandObject(IndirectCommandBufferObject* buffer, size_t index)
      : buffer(NS::RetainPtr(buffer)), index(index) {}

  IndirectDispatch& command() const { return buffer->commands[index]; }

  const char* className() const override { return "MTLIndirectComputeCommand"; }
};

IndirectComputeCommandObject* body(MTL::IndirectComputeCommand* command) {
  return static_cast<IndirectComputeCommandObject*>(command);
}

template <class Entry>
Entry& entry_at(std::vector<Entry>& entries, NS::UInteger index) {
  for (Entry& entry : entries)
    if (entry.index == index) return entry;
  Entry& added = entries.emplace_back();
  added.index = static_cast<uint32_t>(index);
  return added;
}

constexpr NS::UInteger max_commands = 1 << 24;

}  // namespace
}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

ALLOC(IndirectCommandBufferDescriptor)
PROPERTY(IndirectCommandBufferDescriptor, commandTypes, setCommandTypes)
PROPERTY(IndirectCommandBufferDescriptor, inheritPipelineState, setInheritPipelineState)
PROPERTY(IndirectCommandBufferDescriptor, inheritBuffers, setInheritBuffers)
PROPERTY(IndirectCommandBufferDescriptor, inheritCullMode, setInheritCullMode)
PROPERTY(IndirectCommandBufferDescriptor, inheritDepthBias, setInheritDepthBias)
PROPERTY(IndirectCommandBufferDescriptor, inheritDepthClipMode, setInheritDepthClipMode)
PROPERTY(IndirectCommandBufferDescriptor, inheritDepthStencilState, setInheritDepthStencilState)
PROPERTY(IndirectCommandBufferDescriptor, inheritFrontFacingWinding, setInheritFrontFacingWinding)
PROPERTY(IndirectCommandBufferDescriptor, inheritTriangleFillMode, setInheritTriangleFillMode)
PROPERTY(IndirectCommandBufferDescriptor, maxVertexBufferBindCount, setMaxVertexBufferBindCount)
PROPERTY(IndirectCommandBufferDescriptor, maxFragmentBufferBindCount, setMaxFragmentBufferBindCount)
PROPERTY(IndirectCommandBufferDescriptor, maxKernelBufferBindCount, setMaxKernelBufferBindCount)
PROPERTY(IndirectCommandBufferDescriptor, maxKernelThreadgroupMemoryBindCount, setMaxKernelThreadgroupMemoryBindCount)
PROPERTY(IndirectCommandBufferDescriptor, maxObjectBufferBindCount, setMaxObjectBufferBindCount)
PROPERTY(IndirectCommandBufferDescriptor, maxMeshBufferBindCount, setMaxMeshBufferBindCount)
PROPERTY(IndirectCommandBufferDescriptor, maxObjectThreadgroupMemoryBindCount, setMaxObjectThreadgroupMemoryBindCount)
PROPERTY(IndirectCommandBufferDescriptor, supportRayTracing, setSupportRayTracing)
PROPERTY(IndirectCommandBufferDescriptor, supportDynamicAttributeStride, setSupportDynamicAttributeStride)
PROPERTY(IndirectCommandBufferDescriptor, supportColorAttachmentMapping, setSupportColorAttachmentMapping)

IndirectCommandBuffer* Device::newIndirectCommandBuffer(const IndirectCommandBufferDescriptor* descriptor,
                                                        NS::UInteger count, ResourceOptions options) {
  constexpr IndirectCommandType dispatches =
      IndirectCommandTypeConcurrentDispatch | IndirectCommandTypeConcurrentDispatchThreads;
  DeviceObject* self = body(this);
  const auto* asked = properties(descriptor);
  if (!self || !asked) return nullptr;
  if (asked->commandTypes & ~dispatches) {
    report_misuse(nullptr, "this device has no indirect commands but dispatches; set commandTypes accordingly");
    return nullptr;
  }
  if (count == 0 || count > max_commands) {
    report_misuse(nullptr, "the number of commands must be between 1 and " + std::to_string(max_commands));
    return nullptr;
  }
  return new IndirectCommandBufferObject(self, *asked, count, options);
}

NS::UInteger IndirectCommandBuffer::size() const {
  const IndirectCommandBufferObject* self = body(this);
  return self ? self->commands.size() : 0;
}

// Kernels do not encode commands here, so there is nothing for them to hold.
ResourceID IndirectCommandBuffer::gpuResourceID() const {
  return ResourceID{0};
}

void IndirectCommandBuffer::reset(NS::Range range) {
  IndirectCommandBufferObject* self = body(this);
  if (!self) return;
  if (!self->has(range)) return report_misuse(nullptr, "the range is beyond the indirect command buffer's size");
  self->reset(range);
}

IndirectComputeCommand* IndirectCommandBuffer::indirectComputeCommand(NS::UInteger index) {
  IndirectCommandBufferObject* self = body(this);
  if (!self) return nullptr;
  if (index >= self->commands.size()) {
    report_misuse(nullptr, "index " + std::to_string(index) + " is beyond the indirect command buffer's size of " +
                               std::to_string(self->commands.size()));
    return nullptr;
  }
  return metalloid::foundation::autoreleased(new IndirectComputeCommandObject(self, index));
}

IndirectRenderCommand* IndirectCommandBuffer::indirectRenderCommand(NS::UInteger) {
  report_misuse(nullptr, "this device does not render");
  return nullptr;
}

void IndirectComputeCommand::setComputePipelineState(const ComputePipelineState* pipeline) {
  IndirectComputeCommandObject* self = body(this);
  if (!self) return;
  if (debug_layer_enabled()) {
    if (self->buffer->properties.inheritPipelineState)
      report_misuse(nullptr, "the indirect command buffer inherits its pipeline state");
    if (pipeline && !pipeline->supportIndirectCommandBuffers())
      report_misuse(nullptr, "the pipeline was made without supportIndirectCommandBuffers");
  }
  self->command().pipeline = metalloid::foundation::retained(pipeline);
}

void IndirectComputeCommand::setKernelBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index) {
  IndirectComputeCommandObject* self = body(this);
  if (!self) return;
  if (index >= std::tuple_size_v<decltype(ArgumentTables::buffers)> ||
      index >= self->buffer->properties.maxKernelBufferBindCount)
    return report_misuse(nullptr, "index " + std::to_string(index) + " is not below maxKernelBufferBindCount");
  if (!buffer) {
    std::erase_if(self->command().buffers, [&](const auto& entry) { return entry.index == index; });
    return;
  }
  if (offset > body(buffer)->length) return report_misuse(nullptr, beyond_the_end(*body(buffer), offset));
  if (debug_layer_enabled() && self->buffer->properties.inheritBuffers)
    report_misuse(nullptr, "the indirect command buffer inherits its buffers");
  auto& entry = entry_at(self->command().buffers, index);
  entry.buffer = metalloid::foundation::retained(buffer);
  entry.offset = offset;
}

void IndirectComputeCommand::setKernelBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger,
                                             NS::UInteger index) {
  setKernelBuffer(buffer, offset, index);
}

void IndirectComputeCommand::setThreadgroupMemoryLength(NS::UInteger length, NS::UInteger index) {
  IndirectComputeCommandObject* self = body(this);
  if (!self) return;
  if (index >= std::tuple_size_v<decltype(ArgumentTables::threadgroup_memory)>)
    return report_misuse(nullptr, "index " + std::to_string(index) + " is beyond the table of threadgroup memory");
  entry_at(self->command().threadgroup_memory, index).length = length;
}

void IndirectComputeCommand::concurrentDispatchThreads(Size grid, Size threadgroup) {
  constexpr NS::UInteger most = UINT32_MAX;
  IndirectComputeCommandObject* self = body(this);
  if (!self) return;
  if (grid.width > most || grid.height > most || grid.depth > most)
    return report_misuse(nullptr, "a grid has at most 2^32 - 1 threads in each direction");
  self->command().grid = grid;
  self->command().threadgroup = threadgroup;
}

void IndirectComputeCommand::concurrentDispatchThreadgroups(Size threadgroups, Size threadgroup) {
  concurrentDispatchThreads(grid_of(threadgroups, threadgroup), threadgroup);
}

void IndirectComputeCommand::reset() {
  if (IndirectComputeCommandObject* self = body(this)) self->command() = {};
}

// Commands run one after the other, barrier or not.
void IndirectComputeCommand::setBarrier() {}
void IndirectComputeCommand::clearBarrier() {}

// Image blocks and stage-in regions are inputs of kernels that the compiler refuses: no kernel can tell.
void IndirectComputeCommand::setImageblockWidth(NS::UInteger, NS::UInteger) {}
void IndirectComputeCommand::setStageInRegion(Region) {}

}  // namespace MTL

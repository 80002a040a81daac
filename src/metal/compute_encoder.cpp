#include "metal/compute_encoder.hpp"

#include <Metal/MTLAccelerationStructure.hpp>
#include <Metal/MTLFence.hpp>
#include <Metal/MTLHeap.hpp>
#include <Metal/MTLIntersectionFunctionTable.hpp>
#include <cstring>

#include "device/sampler.hpp"
#include "metal/buffer.hpp"
#include "metal/compute_pipeline.hpp"
#include "metal/counters.hpp"
#include "metal/device.hpp"
#include "metal/function_table.hpp"
#include "metal/indirect_command_buffer.hpp"
#include "metal/queue.hpp"
#include "metal/rules.hpp"
#include "metal/sampler.hpp"
#include "metal/texture.hpp"

namespace metalloid::metal {

ComputeCommandEncoderObject::ComputeCommandEncoderObject(CommandBufferObject& command_buffer,
                                                         MTL::DispatchType dispatch_type, SampleAttachments samples,
                                                         Call call)
    : EncoderPart(command_buffer, "compute encoder"), dispatch_type(dispatch_type), samples_(std::move(samples)) {
  sample_start(*this, samples_, call);
}

void ComputeCommandEncoderObject::set_pipeline(const MTL::ComputePipelineState* pipeline) {
  if (body(pipeline) == pipeline_) return;
  pipeline_ = body(pipeline);
  arguments_ = nullptr;
  command_buffer->keep(pipeline);
}

void ComputeCommandEncoderObject::set_buffer(const MTL::Buffer* buffer, NS::UInteger offset, NS::UInteger index,
                                             Call call) {
  if (!index_is_valid(index, tables_.buffers.size(), "buffers", call)) return;
  if (!buffer) return bind_buffer({}, 0, index);
  const BufferObject& object = *body(buffer);
  if (checked) check_resource(*this, object, call);
  if (offset > object.length) return misuse(beyond_the_end(object, offset), call);
  command_buffer->keep(buffer);
  bind_buffer({object.address, object.length}, offset, index);
}

void ComputeCommandEncoderObject::set_buffer_offset(NS::UInteger offset, NS::UInteger index, Call call) {
  if (!index_is_valid(index, tables_.buffers.size(), "buffers", call)) return;
  const BoundBuffer& bound = bound_buffers_[index];
  if (bound.address == 0) return misuse("no buffer is bound at index " + std::to_string(index), call);
  if (offset > bound.length)
    return misuse("offset " + std::to_string(offset) + " is beyond the end of the buffer of " +
                      std::to_string(bound.length) + " bytes at index " + std::to_string(index),
                  call);
  bind_buffer(bound, offset, index);
}

void ComputeCommandEncoderObject::bind_buffer(BoundBuffer buffer, NS::UInteger offset, NS::UInteger index) {
  bound_buffers_[index] = buffer;
  tables_.buffers[index] = {buffer.address ? buffer.address + offset : 0,
                            offset < buffer.length ? buffer.length - offset : 0};
  arguments_ = nullptr;
}

void ComputeCommandEncoderObject::set_bytes(const void* bytes, NS::UInteger length, NS::UInteger index, Call call) {
  constexpr NS::UInteger limit = 4096;
  constexpr size_t largest_alignment = 32;
  if (!index_is_valid(index, tables_.buffers.size(), "buffers", call)) return;
  if (!bytes && length != 0) return misuse("the bytes are null", call);
  if (checked && length == 0) misuse("the length is zero", call);
  if (checked && length > limit)
    misuse("setBytes takes at most 4096 bytes, and was given " + std::to_string(length) + "; use a buffer", call);
  void* copy = list().arena.allocate(length, largest_alignment);
  if (length != 0) std::memcpy(copy, bytes, length);
  bind_buffer({reinterpret_cast<uint64_t>(copy), length}, 0, index);
}

void ComputeCommandEncoderObject::set_function_table(const MTL::VisibleFunctionTable* table, NS::UInteger index,
                                                     Call call) {
  if (!index_is_valid(index, tables_.buffers.size(), "buffers", call)) return;
  command_buffer->keep(table);
  bind_buffer({table ? body(table)->handle : 0, 0}, 0, index);
}

void ComputeCommandEncoderObject::set_texture(const MTL::Texture* texture, NS::UInteger index, Call call) {
  if (!index_is_valid(index, tables_.textures.size(), "textures", call)) return;
  if (checked) {
    std::erase_if(checked_textures_, [&](const auto& bound) { return bound.first == index; });
    if (texture) checked_textures_.emplace_back(index, body(texture));
    if (texture) check_resource(*this, *body(texture), call);
  }
  command_buffer->keep(texture);
  tables_.textures[index] = {texture ? body(texture)->handle : 0, 0};
  arguments_ = nullptr;
}

void ComputeCommandEncoderObject::set_sampler(const MTL::SamplerState* sampler, NS::UInteger index, Call call) {
  if (!index_is_valid(index, tables_.samplers.size(), "samplers", call)) return;
  command_buffer->keep(sampler);
  tables_.samplers[index] = {sampler ? body(sampler)->handle : 0, 0};
  arguments_ = nullptr;
}

void ComputeCommandEncoderObject::set_sampler(const MTL::SamplerState* sampler, float min_level, float max_level,
                                              NS::UInteger index, Call call) {
  set_sampler(sampler, index, call);
  if (!sampler || index >= tables_.samplers.size()) return;
  device::Sampler state = device::unpack_sampler(body(sampler)->handle);
  state.min_level = min_level;
  state.max_level = max_level;
  tables_.samplers[index] = {device::pack(state), 0};
}

void ComputeCommandEncoderObject::set_threadgroup_memory(NS::UInteger length, NS::UInteger index, Call call) {
  if (!index_is_valid(index, tables_.threadgroup_memory.size(), "threadgroup memory", call)) return;
  if (checked && length % 16 != 0)
    misuse("the length of threadgroup memory must be a multiple of 16 bytes, and is " + std::to_string(length), call);
  tables_.threadgroup_memory[index] = {0, length};
  arguments_ = nullptr;
}

bool ComputeCommandEncoderObject::index_is_valid(NS::UInteger index, size_t limit, const char* table, Call call) {
  if (index < limit) return true;
  misuse("index " + std::to_string(index) + " is beyond the " + std::to_string(limit) + " entries of the table of " +
             table,
         call);
  return false;
}

void ComputeCommandEncoderObject::dispatch_threads(MTL::Size grid, MTL::Size threadgroup, Call call) {
  if (prepare(threadgroup, call)) dispatch(grid, threadgroup, 0, call);
}

void ComputeCommandEncoderObject::dispatch_threadgroups(MTL::Size threadgroups, MTL::Size threadgroup, Call call) {
  if (prepare(threadgroup, call)) dispatch(grid_of(threadgroups, threadgroup), threadgroup, 0, call);
}

void ComputeCommandEncoderObject::dispatch_indirectly(const MTL::Buffer* buffer, NS::UInteger offset,
                                                      MTL::Size threadgroup, Call call) {
  if (!prepare(threadgroup, call)) return;
  if (!buffer) return misuse("the indirect buffer is null", call);
  const BufferObject& arguments = *body(buffer);
  if (offset % alignof(uint32_t) != 0) return misuse("the offset must be a multiple of 4 bytes", call);
  constexpr size_t size = sizeof(MTL::DispatchThreadgroupsIndirectArguments);
  if (!is_within(arguments, offset, size)) return misuse(beyond_the_end(arguments, offset, size), call);
  command_buffer->keep(buffer);
  dispatch({0, 0, 0}, threadgroup, arguments.address + offset, call);
}

// What would end in a crash or in somebody else's memory is refused here; the debug layer knows more rules.
bool ComputeCommandEncoderObject::prepare(MTL::Size threadgroup, Call call) {
  const auto refused = [&](const std::string& rule) {
    if (!rule.empty()) misuse(rule, call);
    return !rule.empty();
  };
  if (!pipeline_) return !refused("no compute pipeline state is set");
  const device::Pipeline& pipeline = *pipeline_->pipeline;
  if (refused(broken_by_threadgroup(pipeline, threadgroup))) return false;
  if (checked) check_threadgroup(*this, *pipeline_, threadgroup, call);
  if (arguments_) return true;
  const device::Argument* arguments = tables_.arguments_of(pipeline, list().arena);
  const uint64_t limit = command_buffer->queue->device->info().max_threadgroup_memory;
  if (refused(broken_by_threadgroup_memory(pipeline, arguments, limit))) return false;
  if (checked) check_arguments(*this, *pipeline_, arguments, checked_textures_, call);
  arguments_ = arguments;
  return true;
}

void ComputeCommandEncoderObject::dispatch(MTL::Size grid, MTL::Size threadgroup, uint64_t indirect_threadgroups,
                                           Call call) {
  constexpr NS::UInteger most = UINT32_MAX;
  if (grid.width > most || grid.height > most || grid.depth > most)
    return misuse("a grid has at most 2^32 - 1 threads in each direction, not " + to_string(grid), call);
  const device::Size threads = device_size(grid);
  if (threads.count() == 0 && indirect_threadgroups == 0) return;
  list().commands.emplace_back(device::Dispatch{.pipeline = pipeline_->pipeline.get(),
                                                .arguments = arguments_,
                                                .threads_per_grid = threads,
                                                .threads_per_threadgroup = device_size(threadgroup),
                                                .indirect_threadgroups = indirect_threadgroups});
}

void ComputeCommandEncoderObject::execute(const MTL::IndirectCommandBuffer* commands, NS::Range range, Call call) {
  if (!commands) return misuse("the indirect command buffer is null", call);
  if (range.location > commands->size() || range.length > commands->size() - range.location)
    return misuse("the range is beyond the indirect command buffer's size of " + std::to_string(commands->size()),
                  call);
  execute_later(commands, call, [range] { return range; });
}

void ComputeCommandEncoderObject::execute(const MTL::IndirectCommandBuffer* commands, const MTL::Buffer* buffer,
                                          NS::UInteger offset, Call call) {
  if (!commands) return misuse("the indirect command buffer is null", call);
  if (!buffer) return misuse("the indirect range buffer is null", call);
  if (offset % alignof(uint32_t) != 0) return misuse("the offset must be a multiple of 4 bytes", call);
  const BufferObject& range = *body(buffer);
  constexpr size_t size = sizeof(MTL::IndirectCommandBufferExecutionRange);
  if (!is_within(range, offset, size)) return misuse(beyond_the_end(range, offset, size), call);
  command_buffer->keep(buffer);
  // The range is copied to where the host can read it when its time has come.
  void* copy = list().arena.allocate(size, alignof(uint64_t));
  list().commands.emplace_back(device::Copy{
      .source = range.address + offset, .destination = reinterpret_cast<uint64_t>(copy), .row_bytes = size});
  execute_later(commands, call, [copy] {
    MTL::IndirectCommandBufferExecutionRange asked;
    std::memcpy(&asked, copy, sizeof asked);
    return NS::Range(asked.location, asked.length);
  });
}

template <class Range>
void ComputeCommandEncoderObject::execute_later(const MTL::IndirectCommandBuffer* commands, Call call, Range range) {
  command_buffer->keep(commands);
  const IndirectCommandBufferObject* buffer = body(commands);
  auto inherited = std::make_shared<const InheritedState>(InheritedState{tables_, pipeline_});
  CommandBufferObject* failing = command_buffer.get();
  list().commands.emplace_back(device::Deferred{[=](device::CommandList& list) {
    const Status appended = buffer->append_commands(range(), *inherited, list);
    if (!appended) report_misuse(failing, appended.error(), call);
  }});
}

// Null once encoding has ended, which is reported.
static ComputeCommandEncoderObject* encoding(MTL::ComputeCommandEncoder* encoder, Call call) {
  ComputeCommandEncoderObject* self = body(encoder);
  return self && self->is_open(call) ? self : nullptr;
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

DispatchType ComputeCommandEncoder::dispatchType() const {
  const ComputeCommandEncoderObject* self = body(this);
  return self ? self->dispatch_type : DispatchTypeSerial;
}

void ComputeCommandEncoder::setComputePipelineState(const ComputePipelineState* pipeline) {
  if (auto* self = encoding(this, Call::current())) self->set_pipeline(pipeline);
}

void ComputeCommandEncoder::setBytes(const void* bytes, NS::UInteger length, NS::UInteger index) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call)) self->set_bytes(bytes, length, index, call);
}

void ComputeCommandEncoder::setBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call)) self->set_buffer(buffer, offset, index, call);
}

void ComputeCommandEncoder::setBufferOffset(NS::UInteger offset, NS::UInteger index) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call)) self->set_buffer_offset(offset, index, call);
}

void ComputeCommandEncoder::setBuffers(const Buffer* const buffers[], const NS::UInteger offsets[], NS::Range range) {
  const Call call = Call::current();
  auto* self = encoding(this, call);
  for (NS::UInteger i = 0; self && i < range.length; ++i)
    self->set_buffer(buffers[i], offsets ? offsets[i] : 0, range.location + i, call);
}

// Strides are for kernels with [[stage_in]] arguments, which the compiler refuses.
void ComputeCommandEncoder::setBytes(const void* bytes, NS::UInteger length, NS::UInteger, NS::UInteger index) {
  setBytes(bytes, length, index);
}

void ComputeCommandEncoder::setBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger, NS::UInteger index) {
  setBuffer(buffer, offset, index);
}

void ComputeCommandEncoder::setBufferOffset(NS::UInteger offset, NS::UInteger, NS::UInteger index) {
  setBufferOffset(offset, index);
}

void ComputeCommandEncoder::setBuffers(const Buffer* const buffers[], const NS::UInteger* offsets, const NS::UInteger*,
                                       NS::Range range) {
  setBuffers(buffers, offsets, range);
}

void ComputeCommandEncoder::setTexture(const Texture* texture, NS::UInteger index) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call)) self->set_texture(texture, index, call);
}

void ComputeCommandEncoder::setTextures(const Texture* const textures[], NS::Range range) {
  const Call call = Call::current();
  auto* self = encoding(this, call);
  for (NS::UInteger i = 0; self && i < range.length; ++i) self->set_texture(textures[i], range.location + i, call);
}

void ComputeCommandEncoder::setSamplerState(const SamplerState* sampler, NS::UInteger index) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call)) self->set_sampler(sampler, index, call);
}

void ComputeCommandEncoder::setSamplerState(const SamplerState* sampler, float min_level, float max_level,
                                            NS::UInteger index) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call)) self->set_sampler(sampler, min_level, max_level, index, call);
}

void ComputeCommandEncoder::setSamplerStates(const SamplerState* const samplers[], NS::Range range) {
  const Call call = Call::current();
  auto* self = encoding(this, call);
  for (NS::UInteger i = 0; self && i < range.length; ++i) self->set_sampler(samplers[i], range.location + i, call);
}

void ComputeCommandEncoder::setSamplerStates(const SamplerState* const samplers[], const float min_levels[],
                                             const float max_levels[], NS::Range range) {
  const Call call = Call::current();
  auto* self = encoding(this, call);
  for (NS::UInteger i = 0; self && i < range.length; ++i)
    self->set_sampler(samplers[i], min_levels[i], max_levels[i], range.location + i, call);
}

void ComputeCommandEncoder::setVisibleFunctionTable(const VisibleFunctionTable* table, NS::UInteger index) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call)) self->set_function_table(table, index, call);
}

void ComputeCommandEncoder::setVisibleFunctionTables(const VisibleFunctionTable* const tables[], NS::Range range) {
  const Call call = Call::current();
  auto* self = encoding(this, call);
  for (NS::UInteger i = 0; self && i < range.length; ++i) self->set_function_table(tables[i], range.location + i, call);
}

void ComputeCommandEncoder::setThreadgroupMemoryLength(NS::UInteger length, NS::UInteger index) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call)) self->set_threadgroup_memory(length, index, call);
}

// Image blocks and stage-in regions are inputs of kernels that the compiler refuses: no kernel can tell.
void ComputeCommandEncoder::setImageblockWidth(NS::UInteger, NS::UInteger) {
  encoding(this, Call::current());
}

void ComputeCommandEncoder::setStageInRegion(Region) {
  encoding(this, Call::current());
}

void ComputeCommandEncoder::setStageInRegion(const Buffer*, NS::UInteger) {
  encoding(this, Call::current());
}

static void refuse_ray_tracing(ComputeCommandEncoder* encoder, const NS::Object* object, Call call) {
  auto* self = encoding(encoder, call);
  if (self && object) self->misuse("this device does not support ray tracing", call);
}

void ComputeCommandEncoder::setAccelerationStructure(const AccelerationStructure* structure, NS::UInteger) {
  refuse_ray_tracing(this, structure, Call::current());
}

void ComputeCommandEncoder::setIntersectionFunctionTable(const IntersectionFunctionTable* table, NS::UInteger) {
  refuse_ray_tracing(this, table, Call::current());
}

void ComputeCommandEncoder::setIntersectionFunctionTables(const IntersectionFunctionTable* const tables[],
                                                          NS::Range range) {
  for (NS::UInteger i = 0; i < range.length; ++i) refuse_ray_tracing(this, tables[i], Call::current());
}

void ComputeCommandEncoder::dispatchThreads(Size grid, Size threadgroup) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call)) self->dispatch_threads(grid, threadgroup, call);
}

void ComputeCommandEncoder::dispatchThreadgroups(Size threadgroups, Size threadgroup) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call)) self->dispatch_threadgroups(threadgroups, threadgroup, call);
}

void ComputeCommandEncoder::dispatchThreadgroups(const Buffer* buffer, NS::UInteger offset, Size threadgroup) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call)) self->dispatch_indirectly(buffer, offset, threadgroup, call);
}

void ComputeCommandEncoder::executeCommandsInBuffer(const IndirectCommandBuffer* commands, NS::Range range) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call)) self->execute(commands, range, call);
}

void ComputeCommandEncoder::executeCommandsInBuffer(const IndirectCommandBuffer* commands, const Buffer* range,
                                                    NS::UInteger offset) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call)) self->execute(commands, range, offset, call);
}

// All memory is resident; what is left of these calls is that the command buffer retains what it uses.
void ComputeCommandEncoder::useResource(const Resource* resource, ResourceUsage) {
  if (auto* self = encoding(this, Call::current())) self->command_buffer->keep(resource);
}

void ComputeCommandEncoder::useResources(const Resource* const resources[], NS::UInteger count, ResourceUsage usage) {
  for (NS::UInteger i = 0; i < count; ++i) useResource(resources[i], usage);
}

void ComputeCommandEncoder::useHeap(const Heap* heap) {
  if (auto* self = encoding(this, Call::current())) self->command_buffer->keep(heap);
}

void ComputeCommandEncoder::useHeaps(const Heap* const heaps[], NS::UInteger count) {
  for (NS::UInteger i = 0; i < count; ++i) useHeap(heaps[i]);
}

// A queue carries out its commands one after the other, each seeing all that those before it wrote: the order that
// barriers and fences ask for is there already.
void ComputeCommandEncoder::memoryBarrier(BarrierScope) {
  encoding(this, Call::current());
}

void ComputeCommandEncoder::memoryBarrier(const Resource* const[], NS::UInteger) {
  encoding(this, Call::current());
}

void ComputeCommandEncoder::waitForFence(const Fence* fence) {
  if (auto* self = encoding(this, Call::current())) self->command_buffer->keep(fence);
}

void ComputeCommandEncoder::updateFence(const Fence* fence) {
  if (auto* self = encoding(this, Call::current())) self->command_buffer->keep(fence);
}

void ComputeCommandEncoder::sampleCountersInBuffer(const CounterSampleBuffer* buffer, NS::UInteger index, bool) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call)) sample_counters(*self, buffer, index, call);
}

}  // namespace MTL

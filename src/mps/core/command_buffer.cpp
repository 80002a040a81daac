#include <MetalPerformanceShaders/MPSCommandBuffer.hpp>

#include "foundation/misuse.hpp"
#include "foundation/object.hpp"
#include "mps/core/temporary_memory.hpp"

namespace metalloid::mps {
namespace {

class CommandBufferObject final : public MPS::CommandBuffer {
 public:
  NS::SharedPtr<MTL::CommandBuffer> current;
  const char* className() const override { return "MPSCommandBuffer"; }
};

CommandBufferObject* body(const MPS::CommandBuffer* buffer) {
  return const_cast<CommandBufferObject*>(static_cast<const CommandBufferObject*>(buffer));
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

CommandBuffer* CommandBuffer::commandBuffer(MTL::CommandBuffer* commandBuffer) {
  return foundation::autoreleased(alloc()->init(commandBuffer));
}

CommandBuffer* CommandBuffer::commandBufferFromCommandQueue(MTL::CommandQueue* commandQueue) {
  return commandBuffer(commandQueue ? commandQueue->commandBuffer() : nullptr);
}

CommandBuffer* CommandBuffer::alloc() {
  return new CommandBufferObject;
}

CommandBuffer* CommandBuffer::init(MTL::CommandBuffer* commandBuffer) {
  CommandBufferObject* self = body(this);
  if (!self) return nullptr;
  if (!commandBuffer) {
    foundation::report_misuse("-[MPSCommandBuffer initWithCommandBuffer:]", "commandBuffer is null");
    return foundation::failed_init(this);
  }
  self->current = NS::RetainPtr(commandBuffer);
  return this;
}

MTL::CommandBuffer* CommandBuffer::commandBuffer() const {
  const auto* self = body(this);
  return self ? self->current.get() : nullptr;
}

MTL::CommandBuffer* CommandBuffer::rootCommandBuffer() const {
  return commandBuffer();
}

void CommandBuffer::commitAndContinue() {
  auto* self = body(this);
  if (!self) return;
  const NS::SharedPtr<MTL::CommandBuffer> next = NS::RetainPtr(self->current->commandQueue()->commandBuffer());
  move_temporary_memory(self->current.get(), next.get());
  self->current->commit();
  self->current = next;
}

void CommandBuffer::commit() {
  if (auto* self = body(this)) self->current->commit();
}

void CommandBuffer::waitUntilCompleted() {
  if (auto* self = body(this)) self->current->waitUntilCompleted();
}

void CommandBuffer::prefetchHeapForWorkloadSize(size_t) {}

}  // namespace MPS

// Metal's own queues for loading files into resources. Only their descriptor is there.
#include <Metal/MTLDevice.hpp>
#include <Metal/MTLIOCommandBuffer.hpp>
#include <Metal/MTLIOCommandQueue.hpp>
#include <Metal/MTLIOCompressor.hpp>
#include <cstddef>

#include "foundation/error.hpp"
#include "foundation/string.hpp"
#include "metal/absent.hpp"

namespace metalloid::metal {

struct IOCommandQueueProperties {
  static constexpr const char* class_name = "MTLIOCommandQueueDescriptor";
  NS::UInteger maxCommandBufferCount = 64;
  NS::UInteger maxCommandsInFlight = 0;
  MTL::IOPriority priority = MTL::IOPriorityNormal;
  NS::SharedPtr<MTL::IOScratchBufferAllocator> scratchBufferAllocator;
  MTL::IOCommandQueueType type = MTL::IOCommandQueueTypeConcurrent;
};
PROPERTIES(IOCommandQueueDescriptor, IOCommandQueueProperties)

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

STRING_CONSTANT(IOErrorDomain, "MTLIOErrorDomain")

static std::nullptr_t no_file_loading(NS::Error** error, Call call) {
  metalloid::foundation::set_error(error, IOErrorDomain, IOErrorInternal, refuse("queues that load files", call));
  return nullptr;
}

ALLOC(IOCommandQueueDescriptor)
PROPERTY(IOCommandQueueDescriptor, maxCommandBufferCount, setMaxCommandBufferCount)
PROPERTY(IOCommandQueueDescriptor, maxCommandsInFlight, setMaxCommandsInFlight)
PROPERTY(IOCommandQueueDescriptor, priority, setPriority)
PROPERTY(IOCommandQueueDescriptor, scratchBufferAllocator, setScratchBufferAllocator)
PROPERTY(IOCommandQueueDescriptor, type, setType)

IOCommandQueue* Device::newIOCommandQueue(const IOCommandQueueDescriptor*, NS::Error** error) {
  return no_file_loading(error, Call::current());
}

IOFileHandle* Device::newIOFileHandle(const NS::URL*, NS::Error** error) {
  return no_file_loading(error, Call::current());
}

IOFileHandle* Device::newIOFileHandle(const NS::URL*, IOCompressionMethod, NS::Error** error) {
  return no_file_loading(error, Call::current());
}

IOFileHandle* Device::newIOHandle(const NS::URL*, NS::Error** error) {
  return no_file_loading(error, Call::current());
}

IOFileHandle* Device::newIOHandle(const NS::URL*, IOCompressionMethod, NS::Error** error) {
  return no_file_loading(error, Call::current());
}

size_t IOCompressionContextDefaultChunkSize() {
  return 64 * 1024;
}

IOCompressionContext IOCreateCompressionContext(const char*, IOCompressionMethod, size_t) {
  refuse("compressed files");
  return nullptr;
}

void IOCompressionContextAppendData(IOCompressionContext, const void*, size_t) {}

IOCompressionStatus IOFlushAndDestroyCompressionContext(IOCompressionContext) {
  return IOCompressionStatusError;
}

NEVER_SENT(NS::String* IOCommandQueue::label() const)
void IOCommandQueue::setLabel(const NS::String*) {}
NEVER_SENT(IOCommandBuffer* IOCommandQueue::commandBuffer())
NEVER_SENT(IOCommandBuffer* IOCommandQueue::commandBufferWithUnretainedReferences())
void IOCommandQueue::enqueueBarrier() {}

NEVER_SENT(NS::String* IOCommandBuffer::label() const)
void IOCommandBuffer::setLabel(const NS::String*) {}
NEVER_SENT(NS::Error* IOCommandBuffer::error() const)
NEVER_SENT(IOStatus IOCommandBuffer::status() const)
void IOCommandBuffer::copyStatusToBuffer(const Buffer*, NS::UInteger) {}
void IOCommandBuffer::loadBuffer(const Buffer*, NS::UInteger, NS::UInteger, const IOFileHandle*, NS::UInteger) {}
void IOCommandBuffer::loadBytes(const void*, NS::UInteger, const IOFileHandle*, NS::UInteger) {}
void IOCommandBuffer::loadTexture(const Texture*, NS::UInteger, NS::UInteger, Size, NS::UInteger, NS::UInteger, Origin,
                                  const IOFileHandle*, NS::UInteger) {}
void IOCommandBuffer::signalEvent(const SharedEvent*, uint64_t) {}
void IOCommandBuffer::wait(const SharedEvent*, uint64_t) {}
void IOCommandBuffer::waitUntilCompleted() {}
void IOCommandBuffer::addCompletedHandler(const IOCommandBufferHandlerFunction&) {}
void IOCommandBuffer::enqueue() {}
void IOCommandBuffer::commit() {}
void IOCommandBuffer::tryCancel() {}
void IOCommandBuffer::pushDebugGroup(const NS::String*) {}
void IOCommandBuffer::popDebugGroup() {}
void IOCommandBuffer::addBarrier() {}

NEVER_SENT(NS::String* IOFileHandle::label() const)
void IOFileHandle::setLabel(const NS::String*) {}

NEVER_SENT(Buffer* IOScratchBuffer::buffer() const)

NEVER_SENT(IOScratchBuffer* IOScratchBufferAllocator::newScratchBuffer(NS::UInteger))

}  // namespace MTL

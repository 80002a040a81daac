// Commands that load files straight into buffers and textures.
#pragma once

#include <cstdint>
#include <functional>

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Buffer;
class IOCommandBuffer;
class IOFileHandle;
class SharedEvent;
class Texture;

_MTL_ENUM(NS::Integer, IOStatus){
    IOStatusPending = 0,
    IOStatusCancelled = 1,
    IOStatusError = 2,
    IOStatusComplete = 3,
};

using IOCommandBufferHandlerFunction = std::function<void(IOCommandBuffer*)>;
#ifdef __BLOCKS__
using IOCommandBufferHandler = void (^)(IOCommandBuffer*);
#endif

class _MTL_EXPORT IOCommandBuffer : public NS::Referencing<IOCommandBuffer> {
 public:
  NS::String* label() const;
  void setLabel(const NS::String* label);
  NS::Error* error() const;
  IOStatus status() const;

  void copyStatusToBuffer(const Buffer* buffer, NS::UInteger offset);
  void loadBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger size, const IOFileHandle* sourceHandle,
                  NS::UInteger sourceHandleOffset);
  void loadBytes(const void* pointer, NS::UInteger size, const IOFileHandle* sourceHandle,
                 NS::UInteger sourceHandleOffset);
  void loadTexture(const Texture* texture, NS::UInteger slice, NS::UInteger level, Size size,
                   NS::UInteger sourceBytesPerRow, NS::UInteger sourceBytesPerImage, Origin destinationOrigin,
                   const IOFileHandle* sourceHandle, NS::UInteger sourceHandleOffset);

  void signalEvent(const SharedEvent* event, uint64_t value);
  void wait(const SharedEvent* event, uint64_t value);
  void waitUntilCompleted();

  void addCompletedHandler(const IOCommandBufferHandlerFunction& function);
  void enqueue();
  void commit();
  void tryCancel();

  void pushDebugGroup(const NS::String* string);
  void popDebugGroup();
  void addBarrier();

#ifdef __BLOCKS__
  void addCompletedHandler(const IOCommandBufferHandler block) {
    addCompletedHandler(NS::Private::functionFromBlock(block));
  }
#endif
};

}  // namespace MTL

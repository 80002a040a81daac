// Memory for what is replaced again and again, as weights are in each step of a training. A buffer serves again as soon
// as nobody else keeps it: neither an object nor a command that is still to run.
#pragma once

#include <Metal/Metal.hpp>
#include <mutex>
#include <vector>

namespace metalloid::mps {

class ReusedBuffers {
 public:
  // A buffer in the device's own memory whose contents are anything; null if there is no memory.
  NS::SharedPtr<MTL::Buffer> take(MTL::Device* device, size_t bytes) {
    std::lock_guard lock(mutex_);
    for (const NS::SharedPtr<MTL::Buffer>& buffer : buffers_)
      if (buffer->retainCount() == 1 && buffer->length() == bytes && buffer->device() == device) return buffer;
    auto made = NS::TransferPtr(device->newBuffer(bytes, MTL::ResourceStorageModePrivate));
    if (made) buffers_.push_back(made);
    return made;
  }

 private:
  std::mutex mutex_;
  std::vector<NS::SharedPtr<MTL::Buffer>> buffers_;
};

}  // namespace metalloid::mps

#include "transformer/metal_memory.hpp"

#include <unistd.h>

namespace metalloid::transformer {

namespace {

class BufferMemory final : public MetalMemory {
 public:
  BufferMemory(NS::SharedPtr<MTL::Buffer> buffer, std::byte* host)
      : MetalMemory(host, buffer->length()), buffer_(std::move(buffer)) {}
  MTL::Buffer* buffer() override { return buffer_.get(); }

 private:
  NS::SharedPtr<MTL::Buffer> buffer_;
};

// Buffers are whole pages: those that the numbers lie in.
class WrappedMemory final : public MetalMemory {
 public:
  WrappedMemory(MTL::Device* device, std::byte* first_page, size_t bytes, std::shared_ptr<const void> owner)
      : MetalMemory(first_page, bytes), device_(NS::RetainPtr(device)), owner_(std::move(owner)) {}

  MTL::Buffer* buffer() override {
    std::call_once(once_, [this] {
      const auto page = size_t(sysconf(_SC_PAGESIZE));
      // Command buffers keep the buffer, and with it the owner.
      buffer_ =
          NS::TransferPtr(device_->newBuffer(host, (bytes + page - 1) / page * page, MTL::ResourceStorageModeShared,
                                             [owner = owner_](void*, NS::UInteger) {}));
    });
    return buffer_.get();
  }

 private:
  NS::SharedPtr<MTL::Device> device_;
  std::shared_ptr<const void> owner_;
  std::once_flag once_;
  NS::SharedPtr<MTL::Buffer> buffer_;
};

}  // namespace

std::unique_ptr<MetalMemory> new_buffer_memory(MTL::Device* device, size_t bytes, MTL::ResourceOptions options) {
  auto buffer = NS::TransferPtr(device->newBuffer(bytes, options));
  if (!buffer) return nullptr;
  auto* host = options & MTL::ResourceStorageModePrivate ? nullptr : static_cast<std::byte*>(buffer->contents());
  return std::make_unique<BufferMemory>(std::move(buffer), host);
}

std::shared_ptr<MetalMemory> new_wrapped_memory(MTL::Device* device, const void* data, size_t bytes,
                                                std::shared_ptr<const void> owner) {
  auto* first = static_cast<std::byte*>(const_cast<void*>(data));
  const size_t before = reinterpret_cast<uintptr_t>(first) % size_t(sysconf(_SC_PAGESIZE));
  return std::make_shared<WrappedMemory>(device, first - before, before + bytes, std::move(owner));
}

}  // namespace metalloid::transformer

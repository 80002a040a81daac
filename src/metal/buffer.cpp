#include "metal/buffer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <Metal/MTLDevice.hpp>
#include <Metal/MTLTensor.hpp>
#include <cstddef>
#include <cstring>
#include <utility>

#include "device/allocations.hpp"
#include "foundation/error.hpp"
#include "foundation/string.hpp"
#include "metal/device.hpp"
#include "metal/heap.hpp"
#include "metal/misuse.hpp"

namespace metalloid::metal {

namespace {

// What is wrong with the length and modes of a new buffer; empty if nothing is.
std::string check(const DeviceObject& device, NS::UInteger length, ResourceModes modes) {
  if (length == 0) return "a buffer's length must not be 0";
  if (length > device.info().max_buffer_length)
    return fmt::format("length {} is more than maxBufferLength ({})", length, device.info().max_buffer_length);
  if (modes.storage > MTL::StorageModePrivate) return "a buffer's storage mode must be shared, managed or private";
  return "";
}

MTL::Buffer* make_buffer(DeviceObject* device, NS::UInteger length, MTL::ResourceOptions options,
                         Call call = Call::current()) {
  if (!device) return nullptr;
  const ResourceModes modes = ResourceModes::from(options);
  if (const std::string wrong = check(*device, length, modes); !wrong.empty()) {
    report_misuse(nullptr, wrong, call);
    return nullptr;
  }
  auto memory = allocate_memory(*device, length, modes.storage, modes.cpu_cache);
  if (!memory) return nullptr;
  const uint64_t size = memory->size;
  return new BufferObject(device, modes, Placement{std::move(memory), 0, size}, length);
}

MTL::Buffer* make_buffer_in_heap(HeapObject* heap, NS::UInteger length, MTL::ResourceOptions options,
                                 std::optional<uint64_t> offset, Call call = Call::current()) {
  if (!heap) return nullptr;
  const ResourceModes modes = ResourceModes::from(options);
  if (const std::string wrong = check(*heap->device, length, modes); !wrong.empty()) {
    report_misuse(nullptr, wrong, call);
    return nullptr;
  }
  auto placement = heap->place(length, modes, offset);
  if (placement) return new BufferObject(heap->device, modes, *std::move(placement), length);
  report_misuse(nullptr, placement.error(), call);
  return nullptr;
}

bool check_range(const BufferObject& buffer, NS::Range range, Call call = Call::current()) {
  const bool inside = range.location <= buffer.length && range.length <= buffer.length - range.location;
  if (!inside)
    report_misuse(
        nullptr, fmt::format("range {}+{} is not in a buffer of {} bytes", range.location, range.length, buffer.length),
        call);
  return inside;
}

}  // namespace

BufferObject::BufferObject(DeviceObject* device, ResourceModes modes, Placement placement, size_t length)
    : ResourcePart(device, modes, std::move(placement)),
      length(length),
      address(first_address()),
      host(first_host_byte()),
      registered_(shader_validation_enabled()) {
  if (registered_) device::Allocations::shared().add({address, length, ""});
}

BufferObject::~BufferObject() {
  if (registered_) device::Allocations::shared().remove(address, length);
}

void BufferObject::label_changed() {
  if (registered_)
    device::Allocations::shared().set_label(address, length, std::string(foundation::text_of(label.get())));
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

Buffer* Device::newBuffer(NS::UInteger length, ResourceOptions options) {
  return make_buffer(body(this), length, options);
}

Buffer* Device::newBuffer(const void* pointer, NS::UInteger length, ResourceOptions options) {
  if (!pointer) {
    report_misuse(nullptr, "the bytes to copy must not be null");
    return nullptr;
  }
  Buffer* buffer = make_buffer(body(this), length, options);
  if (!buffer) return nullptr;
  void* destination = body(buffer)->placement.memory->host;
  if (!destination) {
    report_misuse(nullptr, "the device's private memory cannot be filled from the host; copy with a blit encoder");
    buffer->release();
    return nullptr;
  }
  std::memcpy(destination, pointer, length);
  return buffer;
}

Buffer* Device::newBuffer(const void* pointer, NS::UInteger length, ResourceOptions options,
                          const std::function<void(void*, NS::UInteger)>& deallocator) {
  DeviceObject* self = body(this);
  if (!self) return nullptr;
  const ResourceModes modes = ResourceModes::from(options);
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  std::string wrong = check(*self, length, modes);
  if (!modes.visible_to_host()) wrong = "memory of the program cannot be private to the device";
  // Large blocks from a Mac's malloc are whole pages, as Metal asks; ours are not, and no device here needs it.
  const auto first = reinterpret_cast<uintptr_t>(pointer);
  if (!pointer || first % alignof(std::max_align_t) != 0)
    wrong = fmt::format("pointer {} must be the start of a page of {} bytes", pointer, page);
  if (!wrong.empty()) {
    report_misuse(nullptr, wrong);
    return nullptr;
  }
  if ((first % page != 0 || length % page != 0) && debug_layer_enabled())
    report_misuse(nullptr, fmt::format("the {} bytes at {} must be whole pages of {} bytes", length, pointer, page));
  void* host = const_cast<void*>(pointer);
  std::function<void()> released;
  if (deallocator) released = [deallocator, host, length] { deallocator(host, length); };
  auto memory = adopt_memory(*self, host, length, std::move(released));
  if (!memory) return nullptr;
  return new BufferObject(self, modes, Placement{std::move(memory), 0, length}, length);
}

Buffer* Device::newBuffer(NS::UInteger, ResourceOptions, SparsePageSize) {
  report_misuse(nullptr, "sparse buffers are not supported");
  return nullptr;
}

Buffer* Heap::newBuffer(NS::UInteger length, ResourceOptions options) {
  return make_buffer_in_heap(body(this), length, options, std::nullopt);
}

Buffer* Heap::newBuffer(NS::UInteger length, ResourceOptions options, NS::UInteger offset) {
  return make_buffer_in_heap(body(this), length, options, offset);
}

GPUAddress Buffer::gpuAddress() const {
  const BufferObject* self = body(this);
  return self ? self->address : 0;
}

NS::UInteger Buffer::length() const {
  const BufferObject* self = body(this);
  return self ? self->length : 0;
}

void* Buffer::contents() {
  const BufferObject* self = body(this);
  if (!self || !self->host) return nullptr;
  self->placement.memory->host_access();
  return self->host;
}

void Buffer::didModifyRange(NS::Range range) {
  const BufferObject* self = body(this);
  if (!self || !check_range(*self, range)) return;
  self->placement.memory->host_access();
  if (self->modes.storage != StorageModeManaged && debug_layer_enabled())
    report_misuse(nullptr, "only a buffer in managed storage has ranges that must be told of");
}

void Buffer::addDebugMarker(const NS::String*, NS::Range range) {
  if (const BufferObject* self = body(this)) check_range(*self, range);
}

void Buffer::removeAllDebugMarkers() {}

Buffer* Buffer::newRemoteBufferViewForDevice(const Device*) {
  report_misuse(nullptr, "devices here have no peers that see each other's memory");
  return nullptr;
}

Buffer* Buffer::remoteStorageBuffer() const {
  return nullptr;
}

BufferSparseTier Buffer::sparseBufferTier() const {
  return BufferSparseTierNone;
}

Tensor* Buffer::newTensor(const TensorDescriptor*, NS::UInteger, NS::Error** error) {
  metalloid::foundation::set_error(error, TensorDomain, TensorErrorInvalidDescriptor, "tensors are not supported");
  return nullptr;
}

}  // namespace MTL

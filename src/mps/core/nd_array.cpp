#include "mps/core/nd_array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "foundation/misuse.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/temporary_memory.hpp"

namespace metalloid::mps {

void NDArrayObject::was_read() {
  if (parent)
    body(parent.get())->was_read();
  else
    life.read(buffer.get());
}

NS::SharedPtr<MPS::NDArray> new_temporary_array(MTL::CommandBuffer* command_buffer, const NDArrayLayout& layout) {
  MTL::Buffer* memory = temporary_buffer(command_buffer, layout.bytes());
  if (!memory) return {};
  auto* array = new NDArrayObject;
  array->buffer = NS::RetainPtr(memory);
  array->layout = layout;
  array->life.home = temporary_home(command_buffer);
  return NS::TransferPtr(static_cast<MPS::NDArray*>(array));
}

namespace {

template <class Array>
Array* refused(Array* array, const char* call, const std::string& reason) {
  foundation::report_misuse(call, reason);
  return foundation::failed_init(array);
}

bool has_whole_bytes(MPS::DataType type) {
  return is_known(type) && bits_of(type) % 8 == 0;
}

// The array's numbers, in its own type, as the descriptor shows them: where the first is, and the layout. Nothing where
// that takes a copy.
struct View {
  size_t offset = 0;
  NDArrayLayout layout;
};

// Slices and another order of the array's own dimensions, and of new ones of length 1.
std::optional<View> rearranged(const NDArrayObject& array, const NDArrayDescriptorObject& descriptor) {
  View view{array.offset, {array.layout.type, {}, {}}};
  if (descriptor.dimensions.size() < array.layout.dimensions()) return {};
  for (const DescribedDimension& dimension : descriptor.dimensions) {
    if (dimension.length != array.layout.length(dimension.source)) return {};
    const ptrdiff_t stride = array.layout.stride(dimension.source);
    const size_t bits = dimension.slice.start * size_t(stride) * bits_of(array.layout.type);
    if (bits % 8) return {};
    view.offset += bits / 8;
    view.layout.lengths.push_back(dimension.slice.length);
    view.layout.strides.push_back(stride);
  }
  return view;
}

// Another shape of all the numbers, if there are no gaps between them.
std::optional<View> reshaped(const NDArrayObject& array, const NDArrayDescriptorObject& descriptor) {
  const NDArrayLayout packed = layout_of(array.layout.type, descriptor.lengths(), /*packed_rows=*/true);
  if (packed.count() != array.layout.count()) return {};
  ptrdiff_t next = 1;
  for (size_t i = 0; i < array.layout.dimensions(); ++i) {
    if (array.layout.length(i) > 1 && array.layout.strides[i] != next) return {};
    next *= ptrdiff_t(array.layout.lengths[i]);
  }
  return View{array.offset, packed};
}

std::optional<View> view_of(const NDArrayObject& array, const NDArrayDescriptorObject& descriptor) {
  std::optional<View> view = rearranged(array, descriptor);
  return view ? view : reshaped(array, descriptor);
}

MPS::NDArray* array_on(NDArrayObject& array, View view) {
  auto* made = new NDArrayObject;
  made->buffer = array.buffer;
  made->offset = view.offset;
  made->layout = std::move(view.layout);
  made->has_user_buffer = array.has_user_buffer;
  made->parent = NS::RetainPtr(static_cast<MPS::NDArray*>(&array));
  return foundation::autoreleased(static_cast<MPS::NDArray*>(made));
}

// For calls that encode without being kernels.
class Copying : public KernelPart {
 public:
  explicit Copying(MTL::Device* of) { device = NS::RetainPtr(of); }
};

// A new array with the numbers in the descriptor's type, order or shape.
MPS::NDArray* copied(Encoding& encoding, NDArrayObject& array, const NDArrayDescriptorObject& descriptor,
                     MPS::AliasingStrategy aliasing) {
  NDArrayLayout target = layout_of(descriptor.type, descriptor.lengths(), descriptor.packed_rows);
  View source;
  if (const std::optional<View> view = view_of(array, descriptor)) {
    source = *view;
  } else if (target.count() == array.layout.count()) {
    // Through all the numbers in their own order; the new array has the new shape, without gaps.
    target = layout_of(descriptor.type, descriptor.lengths(), /*packed_rows=*/true);
    source = {array.offset, array.layout};
  } else {
    encoding.fail("descriptor has neither the array's dimensions nor as many numbers as it has");
    return nullptr;
  }
  NS::SharedPtr<MPS::NDArray> made;
  if (aliasing & MPS::AliasingStrategyPreferTemporaryMemory) {
    made = new_temporary_array(encoding.command_buffer(), target);
  } else {
    auto* object = new NDArrayObject;
    object->layout = target;
    object->buffer = NS::TransferPtr(encoding.device()->newBuffer(target.bytes(), MTL::ResourceStorageModeShared));
    made = NS::TransferPtr(static_cast<MPS::NDArray*>(object));
  }
  if (!made || !body(made.get())->buffer) {
    encoding.fail(fmt::format("there is no memory for {} bytes", target.bytes()));
    return nullptr;
  }
  const bool in_order = source.layout.lengths == target.lengths;
  const NDArrayLayout as_written = in_order ? target : layout_of(target.type, source.layout.lengths, true);
  if (!encoding.check(encode_copy(encoding, {array.buffer.get(), source.offset}, source.layout,
                                  body(made.get())->first(), as_written)))
    return nullptr;
  array.was_read();
  return made->retain()->autorelease();
}

// A buffer's layout from the strides of dimensions 1, 2, …; the error names what is wrong.
Result<NDArrayLayout> layout_in_buffer(const NDArrayLayout& array, MPS::DataType type, const MTL::Buffer* buffer,
                                       size_t offset, const NS::Integer* row_strides, const char* name) {
  if (!buffer) return Error{fmt::format("{} is null", name)};
  if (!has_whole_bytes(type)) return Error{fmt::format("{} cannot have numbers of {}", name, name_of(type))};
  NDArrayLayout layout = layout_of(type, array.lengths, /*packed_rows=*/true);
  const NS::Integer number = NS::Integer(bits_of(type) / 8);
  for (size_t i = 1; row_strides && i < layout.dimensions(); ++i) {
    if (row_strides[i - 1] < 0 || row_strides[i - 1] % number)
      return Error{fmt::format("rowStrides has {}, which is no multiple of the {} bytes of a {}", row_strides[i - 1],
                               number, name_of(type))};
    layout.strides[i] = row_strides[i - 1] / number;
  }
  if (offset % size_t(number) || offset > buffer->length() || layout.bytes() > buffer->length() - offset)
    return Error{fmt::format("{} has {} bytes, and {} from offset {} are needed", name, buffer->length(),
                             layout.bytes(), offset)};
  return layout;
}

// Calls `copy` with the addresses of each number in the array and on the other side.
template <class Copy>
void for_each_number(const NDArrayObject& array, const NS::Integer* stride_bytes, Copy copy) {
  const NDArrayLayout& layout = array.layout;
  const size_t number = bits_of(layout.type) / 8;
  std::vector<NS::Integer> strides(layout.dimensions());
  NS::Integer next = NS::Integer(number);
  for (size_t i = 0; i < strides.size(); ++i) {
    strides[i] = stride_bytes ? stride_bytes[i] : next;
    next *= NS::Integer(layout.lengths[i]);
  }
  std::byte* own = static_cast<std::byte*>(array.buffer->contents()) + array.offset;
  std::vector<size_t> place(layout.dimensions(), 0);
  ptrdiff_t own_at = 0, other_at = 0;
  for (size_t left = layout.count(); left > 0; --left) {
    copy(own + own_at * ptrdiff_t(number), other_at, number);
    for (size_t i = 0; i < place.size(); ++i) {
      own_at += layout.strides[i];
      other_at += strides[i];
      if (++place[i] < layout.lengths[i]) break;
      own_at -= layout.strides[i] * ptrdiff_t(place[i]);
      other_at -= strides[i] * NS::Integer(place[i]);
      place[i] = 0;
    }
  }
}

bool can_be_read(const NDArrayObject& array, const void* bytes, const char* call) {
  if (!bytes)
    foundation::report_misuse(call, "buffer is null");
  else if (!has_whole_bytes(array.layout.type))
    foundation::report_misuse(call,
                              fmt::format("numbers of {} have no bytes of their own", name_of(array.layout.type)));
  else if (!array.buffer->contents())
    foundation::report_misuse(call, "the array's memory is the device's own");
  else
    return true;
  return false;
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

NDArray* NDArray::alloc() {
  return new NDArrayObject;
}

NDArray* NDArray::init(MTL::Device* device, const NDArrayDescriptor* descriptor) {
  NDArrayObject* self = body(this);
  if (!self) return nullptr;
  constexpr const char* call = "-[MPSNDArray initWithDevice:descriptor:]";
  if (!device) return refused(this, call, "device is null");
  if (!descriptor) return refused(this, call, "descriptor is null");
  const auto* described = body(descriptor);
  self->layout = layout_of(described->type, described->lengths(), described->packed_rows);
  self->buffer = NS::TransferPtr(device->newBuffer(self->layout.bytes(), MTL::ResourceStorageModeShared));
  if (!self->buffer) return refused(this, call, fmt::format("there is no memory for {} bytes", self->layout.bytes()));
  return this;
}

NDArray* NDArray::init(MTL::Device* device, double scalar) {
  NDArray* made = init(device, NDArrayDescriptor::descriptor(DataTypeFloat32, {1}));
  if (made) *static_cast<float*>(body(made)->buffer->contents()) = float(scalar);
  return made;
}

NDArray* NDArray::init(const MTL::Buffer* buffer, NS::UInteger offset, const NDArrayDescriptor* descriptor) {
  NDArrayObject* self = body(this);
  if (!self) return nullptr;
  constexpr const char* call = "-[MPSNDArray initWithBuffer:offset:descriptor:]";
  if (!buffer) return refused(this, call, "buffer is null");
  if (!descriptor) return refused(this, call, "descriptor is null");
  const auto* described = body(descriptor);
  self->layout = layout_of(described->type, described->lengths(), described->packed_rows);
  if (const size_t number = bits_of(self->layout.type) / 8; number && offset % number)
    return refused(this, call,
                   fmt::format("offset ({}) is not a multiple of the {} bytes of a {}", offset, number,
                               name_of(self->layout.type)));
  if (offset > buffer->length() || self->layout.bytes() > buffer->length() - offset)
    return refused(this, call,
                   fmt::format("buffer has {} bytes, and {} from offset {} are described", buffer->length(),
                               self->layout.bytes(), offset));
  self->buffer = foundation::retained(buffer);
  self->offset = offset;
  self->has_user_buffer = true;
  return this;
}

NS::String* NDArray::label() const {
  const auto* self = body(this);
  return self ? self->label.get() : nullptr;
}
void NDArray::setLabel(const NS::String* label) {
  if (auto* self = body(this)) self->label = NS::TransferPtr(label ? label->copy() : nullptr);
}
DataType NDArray::dataType() const {
  const auto* self = body(this);
  return self ? self->layout.type : DataTypeInvalid;
}
size_t NDArray::dataTypeSize() const {
  const auto* self = body(this);
  return self ? bytes_of(self->layout.type, 1) : 0;
}
NS::UInteger NDArray::numberOfDimensions() const {
  const auto* self = body(this);
  return self ? self->layout.dimensions() : 0;
}
NS::UInteger NDArray::lengthOfDimension(NS::UInteger dimensionIndex) const {
  const auto* self = body(this);
  return self ? self->layout.length(dimensionIndex) : 0;
}
MTL::Device* NDArray::device() const {
  const auto* self = body(this);
  return self ? self->buffer->device() : nullptr;
}
NDArrayDescriptor* NDArray::descriptor() const {
  const auto* self = body(this);
  return self ? descriptor_of(self->layout) : nullptr;
}
NS::UInteger NDArray::resourceSize() const {
  const auto* self = body(this);
  return self ? self->buffer->length() : 0;
}
MTL::Buffer* NDArray::userBuffer() const {
  const auto* self = body(this);
  return self && self->has_user_buffer ? self->buffer.get() : nullptr;
}
NDArray* NDArray::parent() const {
  const auto* self = body(this);
  return self ? self->parent.get() : nullptr;
}

NDArray* NDArray::arrayView(const NDArrayDescriptor* descriptor) {
  NDArrayObject* self = body(this);
  if (!self || !descriptor || descriptor->dataType() != self->layout.type) return nullptr;
  std::optional<View> view = view_of(*self, *body(descriptor));
  return view ? array_on(*self, std::move(*view)) : nullptr;
}

NDArray* NDArray::arrayView(MTL::CommandBuffer* commandBuffer, const NDArrayDescriptor* descriptor,
                            AliasingStrategy aliasing) {
  NDArrayObject* self = body(this);
  if (!self) return nullptr;
  if (!(aliasing & AliasingStrategyShallNotAlias))
    if (NDArray* view = arrayView(descriptor)) return view;
  if (aliasing & AliasingStrategyShallAlias) return nullptr;
  Encoding encoding(commandBuffer, Copying(self->buffer->device()), "MPS::NDArray::arrayView");
  if (!encoding) return nullptr;
  if (!descriptor) {
    encoding.fail("descriptor is null");
    return nullptr;
  }
  return copied(encoding, *self, *body(descriptor), aliasing);
}

void NDArray::exportData(MTL::CommandBuffer* commandBuffer, const MTL::Buffer* toBuffer, DataType destinationDataType,
                         NS::UInteger offset, const NS::Integer* rowStrides) {
  NDArrayObject* self = body(this);
  if (!self) return;
  Encoding encoding(commandBuffer, Copying(self->buffer->device()), "MPS::NDArray::exportData");
  if (!encoding) return;
  const auto layout = layout_in_buffer(self->layout, destinationDataType, toBuffer, offset, rowStrides, "toBuffer");
  if (!layout) return encoding.fail(layout.error());
  encoding.check(
      encode_copy(encoding, self->first(), self->layout, {const_cast<MTL::Buffer*>(toBuffer), offset}, *layout));
  self->was_read();
}

void NDArray::importData(MTL::CommandBuffer* commandBuffer, const MTL::Buffer* fromBuffer, DataType sourceDataType,
                         NS::UInteger offset, const NS::Integer* rowStrides) {
  NDArrayObject* self = body(this);
  if (!self) return;
  Encoding encoding(commandBuffer, Copying(self->buffer->device()), "MPS::NDArray::importData");
  if (!encoding) return;
  const auto layout = layout_in_buffer(self->layout, sourceDataType, fromBuffer, offset, rowStrides, "fromBuffer");
  if (!layout) return encoding.fail(layout.error());
  encoding.check(
      encode_copy(encoding, {const_cast<MTL::Buffer*>(fromBuffer), offset}, *layout, self->first(), self->layout));
}

void NDArray::readBytes(void* buffer, const NS::Integer* strideBytes) {
  NDArrayObject* self = body(this);
  if (!self || !can_be_read(*self, buffer, "-[MPSNDArray readBytes:strideBytes:]")) return;
  for_each_number(*self, strideBytes, [&](const std::byte* own, NS::Integer other, size_t number) {
    std::memcpy(static_cast<std::byte*>(buffer) + other, own, number);
  });
}

void NDArray::writeBytes(const void* buffer, const NS::Integer* strideBytes) {
  NDArrayObject* self = body(this);
  if (!self || !can_be_read(*self, buffer, "-[MPSNDArray writeBytes:strideBytes:]")) return;
  for_each_number(*self, strideBytes, [&](std::byte* own, NS::Integer other, size_t number) {
    std::memcpy(own, static_cast<const std::byte*>(buffer) + other, number);
  });
}

void NDArray::synchronize(MTL::CommandBuffer*) {}

TemporaryNDArray* TemporaryNDArray::temporaryNDArray(MTL::CommandBuffer* commandBuffer,
                                                     const NDArrayDescriptor* descriptor) {
  constexpr const char* call = "+[MPSTemporaryNDArray temporaryNDArrayWithCommandBuffer:descriptor:]";
  if (!commandBuffer || !descriptor) {
    foundation::report_misuse(call, commandBuffer ? "descriptor is null" : "commandBuffer is null");
    return nullptr;
  }
  const auto* described = body(descriptor);
  const auto array =
      new_temporary_array(commandBuffer, layout_of(described->type, described->lengths(), described->packed_rows));
  if (!array) {
    foundation::report_misuse(call, "there is no memory for it");
    return nullptr;
  }
  return static_cast<TemporaryNDArray*>(body(array.get()))->retain()->autorelease();
}

NS::UInteger TemporaryNDArray::readCount() const {
  const auto* self = body(this);
  return self ? self->life.read_count : 0;
}
void TemporaryNDArray::setReadCount(NS::UInteger readCount) {
  if (auto* self = body(this)) self->life.set_read_count(readCount, self->buffer.get());
}

}  // namespace MPS

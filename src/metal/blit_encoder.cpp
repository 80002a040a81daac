#include "metal/blit_encoder.hpp"

#include <Metal/MTLFence.hpp>
#include <algorithm>

#include "metal/buffer.hpp"
#include "metal/counters.hpp"
#include "metal/device.hpp"
#include "metal/indirect_command_buffer.hpp"
#include "metal/mipmaps.hpp"
#include "metal/rules.hpp"
#include "metal/texture.hpp"

namespace metalloid::metal {
namespace {

// Null once encoding has ended, which is reported.
BlitCommandEncoderObject* encoding(MTL::BlitCommandEncoder* encoder, Call call) {
  auto* self = static_cast<BlitCommandEncoderObject*>(encoder);
  return self && self->is_open(call) ? self : nullptr;
}

// One side of a copy whose bytes are a box of rows.
struct Box {
  uint64_t address = 0, row_stride = 0, image_stride = 0;
};

void copy(BlitCommandEncoderObject& encoder, Box source, Box destination, const TextureBytes& extent) {
  if (extent.row_bytes == 0 || extent.rows == 0 || extent.images == 0) return;
  encoder.list().commands.emplace_back(device::Copy{.source = source.address,
                                                    .destination = destination.address,
                                                    .row_bytes = extent.row_bytes,
                                                    .rows = extent.rows,
                                                    .images = extent.images,
                                                    .source_row_stride = source.row_stride,
                                                    .source_image_stride = source.image_stride,
                                                    .destination_row_stride = destination.row_stride,
                                                    .destination_image_stride = destination.image_stride});
}

Box box_of(const TextureBytes& bytes) {
  return {bytes.address, bytes.row_stride, bytes.image_stride};
}

// A resource is there, and of this device; the command buffer keeps it.
bool use(BlitCommandEncoderObject& encoder, const MTL::Resource* resource, const char* what, Call call) {
  if (!resource) {
    encoder.misuse(std::string("the ") + what + " is null", call);
    return false;
  }
  if (encoder.checked) check_resource(encoder, *resource_part(resource), call);
  encoder.command_buffer->keep(resource);
  return true;
}

bool within(const BlitCommandEncoderObject& encoder, const BufferObject& buffer, uint64_t offset, uint64_t bytes,
            Call call) {
  if (is_within(buffer, offset, bytes)) return true;
  encoder.misuse(beyond_the_end(buffer, offset, bytes), call);
  return false;
}

// Where a region's rows lie in a buffer; false, and reported, if not all of them are inside.
bool find_rows(BlitCommandEncoderObject& encoder, const BufferObject& buffer, uint64_t offset, uint64_t bytes_per_row,
               uint64_t bytes_per_image, const TextureBytes& texture, Box& box, Call call) {
  if (texture.row_bytes == 0 || texture.rows == 0 || texture.images == 0) return false;
  if (texture.rows > 1 && bytes_per_row < texture.row_bytes) {
    encoder.misuse("bytes per row are " + std::to_string(bytes_per_row) + ", and a row of the region takes " +
                       std::to_string(texture.row_bytes),
                   call);
    return false;
  }
  constexpr uint64_t far = uint64_t{1} << 48;  // products of lengths below it do not overflow what they are added to
  const uint64_t last = std::min(bytes_per_row, far / texture.rows) * (texture.rows - 1) +
                        std::min(bytes_per_image, far / texture.images) * (texture.images - 1);
  if (!within(encoder, buffer, offset, last + texture.row_bytes, call)) return false;
  box = {buffer.address + offset, bytes_per_row, bytes_per_image};
  return true;
}

const TextureBytes* region_of(const BlitCommandEncoderObject& encoder, const Result<TextureBytes>& bytes, Call call) {
  if (bytes) return &*bytes;
  encoder.misuse(bytes.error(), call);
  return nullptr;
}

void copy_to_texture(BlitCommandEncoderObject& encoder, const MTL::Buffer* source, NS::UInteger offset,
                     NS::UInteger bytes_per_row, NS::UInteger bytes_per_image, MTL::Size size,
                     const MTL::Texture* destination, NS::UInteger slice, NS::UInteger level, MTL::Origin origin,
                     Call call) {
  if (!use(encoder, source, "source buffer", call) || !use(encoder, destination, "destination texture", call)) return;
  const auto bytes =
      body(destination)
          ->bytes_of(MTL::Region{origin.x, origin.y, origin.z, size.width, size.height, size.depth}, level, slice);
  Box box;
  const TextureBytes* region = region_of(encoder, bytes, call);
  if (region && find_rows(encoder, *body(source), offset, bytes_per_row, bytes_per_image, *region, box, call))
    copy(encoder, box, box_of(*region), *region);
}

void copy_to_buffer(BlitCommandEncoderObject& encoder, const MTL::Texture* source, NS::UInteger slice,
                    NS::UInteger level, MTL::Origin origin, MTL::Size size, const MTL::Buffer* destination,
                    NS::UInteger offset, NS::UInteger bytes_per_row, NS::UInteger bytes_per_image, Call call) {
  if (!use(encoder, source, "source texture", call) || !use(encoder, destination, "destination buffer", call)) return;
  const auto bytes = body(source)->bytes_of(
      MTL::Region{origin.x, origin.y, origin.z, size.width, size.height, size.depth}, level, slice);
  Box box;
  const TextureBytes* region = region_of(encoder, bytes, call);
  if (region && find_rows(encoder, *body(destination), offset, bytes_per_row, bytes_per_image, *region, box, call))
    copy(encoder, box_of(*region), box, *region);
}

void copy_texture(BlitCommandEncoderObject& encoder, const MTL::Texture* source, NS::UInteger source_slice,
                  NS::UInteger source_level, MTL::Origin source_origin, MTL::Size size, const MTL::Texture* destination,
                  NS::UInteger slice, NS::UInteger level, MTL::Origin origin, Call call) {
  if (!use(encoder, source, "source texture", call) || !use(encoder, destination, "destination texture", call)) return;
  const MTL::Region from{source_origin.x, source_origin.y, source_origin.z, size.width, size.height, size.depth};
  const MTL::Region to{origin.x, origin.y, origin.z, size.width, size.height, size.depth};
  const auto from_bytes = body(source)->bytes_of(from, source_level, source_slice);
  const auto to_bytes = body(destination)->bytes_of(to, level, slice);
  const TextureBytes* read = region_of(encoder, from_bytes, call);
  const TextureBytes* written = region_of(encoder, to_bytes, call);
  if (!read || !written) return;
  if (read->row_bytes != written->row_bytes)
    return encoder.misuse("texels of the textures have different sizes; their pixel formats must match", call);
  copy(encoder, box_of(*read), box_of(*written), *read);
}

}  // namespace
}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

void BlitCommandEncoder::copyFromBuffer(const Buffer* source, NS::UInteger source_offset, const Buffer* destination,
                                        NS::UInteger destination_offset, NS::UInteger size) {
  const Call call = Call::current();
  auto* self = encoding(this, call);
  if (!self || !use(*self, source, "source buffer", call) || !use(*self, destination, "destination buffer", call))
    return;
  if (!within(*self, *body(source), source_offset, size, call)) return;
  if (!within(*self, *body(destination), destination_offset, size, call)) return;
  const uint64_t from = body(source)->address + source_offset, to = body(destination)->address + destination_offset;
  if (self->checked && size != 0 && from < to + size && to < from + size)
    return self->misuse("source and destination of the copy overlap", call);
  copy(*self, {.address = from}, {.address = to}, {.row_bytes = size, .rows = 1, .images = 1});
}

void BlitCommandEncoder::copyFromBuffer(const Buffer* source, NS::UInteger offset, NS::UInteger bytes_per_row,
                                        NS::UInteger bytes_per_image, Size size, const Texture* destination,
                                        NS::UInteger slice, NS::UInteger level, Origin origin) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call))
    copy_to_texture(*self, source, offset, bytes_per_row, bytes_per_image, size, destination, slice, level, origin,
                    call);
}

// The options choose between depth and stencil in formats that have both, which textures here cannot have, and a
// compressed format that they cannot have either.
void BlitCommandEncoder::copyFromBuffer(const Buffer* source, NS::UInteger offset, NS::UInteger bytes_per_row,
                                        NS::UInteger bytes_per_image, Size size, const Texture* destination,
                                        NS::UInteger slice, NS::UInteger level, Origin origin, BlitOption) {
  copyFromBuffer(source, offset, bytes_per_row, bytes_per_image, size, destination, slice, level, origin);
}

void BlitCommandEncoder::copyFromTexture(const Texture* source, NS::UInteger slice, NS::UInteger level, Origin origin,
                                         Size size, const Buffer* destination, NS::UInteger offset,
                                         NS::UInteger bytes_per_row, NS::UInteger bytes_per_image) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call))
    copy_to_buffer(*self, source, slice, level, origin, size, destination, offset, bytes_per_row, bytes_per_image,
                   call);
}

void BlitCommandEncoder::copyFromTexture(const Texture* source, NS::UInteger slice, NS::UInteger level, Origin origin,
                                         Size size, const Buffer* destination, NS::UInteger offset,
                                         NS::UInteger bytes_per_row, NS::UInteger bytes_per_image, BlitOption) {
  copyFromTexture(source, slice, level, origin, size, destination, offset, bytes_per_row, bytes_per_image);
}

void BlitCommandEncoder::copyFromTexture(const Texture* source, NS::UInteger source_slice, NS::UInteger source_level,
                                         Origin source_origin, Size size, const Texture* destination,
                                         NS::UInteger slice, NS::UInteger level, Origin origin) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call))
    copy_texture(*self, source, source_slice, source_level, source_origin, size, destination, slice, level, origin,
                 call);
}

void BlitCommandEncoder::copyFromTexture(const Texture* source, NS::UInteger source_slice, NS::UInteger source_level,
                                         const Texture* destination, NS::UInteger slice, NS::UInteger level,
                                         NS::UInteger slices, NS::UInteger levels) {
  const Call call = Call::current();
  auto* self = encoding(this, call);
  if (!self || !use(*self, source, "source texture", call) || !use(*self, destination, "destination texture", call))
    return;
  const Origin corner(0, 0, 0);
  for (NS::UInteger i = 0; i < levels; ++i) {
    const Size size = body(source)->level_size(source_level + i);
    for (NS::UInteger j = 0; j < slices; ++j)
      copy_texture(*self, source, source_slice + j, source_level + i, corner, size, destination, slice + j, level + i,
                   corner, call);
  }
}

// As many slices and levels as both have, of equal sizes: the larger one's first levels are skipped.
void BlitCommandEncoder::copyFromTexture(const Texture* source, const Texture* destination) {
  const Call call = Call::current();
  auto* self = encoding(this, call);
  if (!self || !use(*self, source, "source texture", call) || !use(*self, destination, "destination texture", call))
    return;
  const auto &from = body(source)->description(), &to = body(destination)->description();
  NS::UInteger skipped_source = 0, skipped_destination = 0;
  while (body(source)->level_size(skipped_source).width > to.width && skipped_source + 1 < from.levels)
    ++skipped_source;
  while (body(destination)->level_size(skipped_destination).width > from.width && skipped_destination + 1 < to.levels)
    ++skipped_destination;
  copyFromTexture(source, 0, skipped_source, destination, 0, skipped_destination, std::min(from.slices, to.slices),
                  std::min(from.levels - skipped_source, to.levels - skipped_destination));
}

void BlitCommandEncoder::copyFromTensor(const Tensor*, const TensorExtents*, const TensorExtents*, const Tensor*,
                                        const TensorExtents*, const TensorExtents*) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call)) self->misuse("this device does not support tensors", call);
}

void BlitCommandEncoder::fillBuffer(const Buffer* buffer, NS::Range range, uint8_t value) {
  const Call call = Call::current();
  auto* self = encoding(this, call);
  if (!self || !use(*self, buffer, "buffer", call)) return;
  if (!within(*self, *body(buffer), range.location, range.length, call) || range.length == 0) return;
  self->list().commands.emplace_back(
      metalloid::device::Fill{body(buffer)->address + range.location, range.length, value});
}

void BlitCommandEncoder::generateMipmaps(const Texture* texture) {
  const Call call = Call::current();
  auto* self = encoding(this, call);
  if (self && use(*self, texture, "texture", call)) generate_mipmaps(*self, *body(texture), call);
}

// Host and device see the same memory; of managed resources there is one copy.
void BlitCommandEncoder::synchronizeResource(const Resource* resource) {
  const Call call = Call::current();
  auto* self = encoding(this, call);
  if (!self || !use(*self, resource, "resource", call)) return;
  if (self->checked && resource->storageMode() != StorageModeManaged)
    self->misuse("only resources of managed storage mode are synchronised", call);
}

void BlitCommandEncoder::synchronizeTexture(const Texture* texture, NS::UInteger, NS::UInteger) {
  const Call call = Call::current();
  auto* self = encoding(this, call);
  if (!self || !use(*self, texture, "texture", call)) return;
  if (self->checked && texture->storageMode() != StorageModeManaged)
    self->misuse("only textures of managed storage mode are synchronised", call);
}

// Texels have one layout, which suits both.
void BlitCommandEncoder::optimizeContentsForCPUAccess(const Texture* texture) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call)) use(*self, texture, "texture", call);
}

void BlitCommandEncoder::optimizeContentsForCPUAccess(const Texture* texture, NS::UInteger, NS::UInteger) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call)) use(*self, texture, "texture", call);
}

void BlitCommandEncoder::optimizeContentsForGPUAccess(const Texture* texture) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call)) use(*self, texture, "texture", call);
}

void BlitCommandEncoder::optimizeContentsForGPUAccess(const Texture* texture, NS::UInteger, NS::UInteger) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call)) use(*self, texture, "texture", call);
}

void BlitCommandEncoder::copyIndirectCommandBuffer(const IndirectCommandBuffer* source, NS::Range range,
                                                   const IndirectCommandBuffer* destination, NS::UInteger index) {
  const Call call = Call::current();
  auto* self = encoding(this, call);
  if (!self || !use(*self, source, "source", call) || !use(*self, destination, "destination", call)) return;
  const IndirectCommandBufferObject* from = body(source);
  IndirectCommandBufferObject* to = body(const_cast<IndirectCommandBuffer*>(destination));
  if (!from->has(range) || !to->has({index, range.length}))
    return self->misuse("the range is beyond the size of an indirect command buffer", call);
  self->list().commands.emplace_back(metalloid::device::HostWork{[from, range, to, index] {
    const std::vector<IndirectDispatch> copied(from->commands.begin() + range.location,
                                               from->commands.begin() + range.location + range.length);
    std::ranges::copy(copied, to->commands.begin() + index);
  }});
}

void BlitCommandEncoder::resetCommandsInBuffer(const IndirectCommandBuffer* buffer, NS::Range range) {
  const Call call = Call::current();
  auto* self = encoding(this, call);
  if (!self || !use(*self, buffer, "indirect command buffer", call)) return;
  IndirectCommandBufferObject* commands = body(const_cast<IndirectCommandBuffer*>(buffer));
  if (!commands->has(range)) return self->misuse("the range is beyond the indirect command buffer's size", call);
  self->list().commands.emplace_back(metalloid::device::HostWork{[commands, range] { commands->reset(range); }});
}

// There is nothing to gain: commands hold no state that could be left out.
void BlitCommandEncoder::optimizeIndirectCommandBuffer(const IndirectCommandBuffer* buffer, NS::Range range) {
  const Call call = Call::current();
  auto* self = encoding(this, call);
  if (!self || !use(*self, buffer, "indirect command buffer", call)) return;
  if (!body(buffer)->has(range)) self->misuse("the range is beyond the indirect command buffer's size", call);
}

void BlitCommandEncoder::resolveCounters(const CounterSampleBuffer* samples, NS::Range range, const Buffer* destination,
                                         NS::UInteger offset) {
  const Call call = Call::current();
  auto* self = encoding(this, call);
  if (!self || !use(*self, destination, "destination buffer", call)) return;
  if (!samples) return self->misuse("the sample buffer is null", call);
  const CounterSampleBufferObject& source = *body(samples);
  if (range.location > source.sample_count || range.length > source.sample_count - range.location)
    return self->misuse("the range is beyond the sample buffer's sampleCount", call);
  const uint64_t bytes = range.length * sizeof(uint64_t);
  if (!within(*self, *body(destination), offset, bytes, call)) return;
  self->command_buffer->keep(samples);
  copy(*self, {.address = source.memory->address + range.location * sizeof(uint64_t)},
       {.address = body(destination)->address + offset}, {.row_bytes = bytes, .rows = 1, .images = 1});
}

void BlitCommandEncoder::sampleCountersInBuffer(const CounterSampleBuffer* buffer, NS::UInteger index, bool) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call)) sample_counters(*self, buffer, index, call);
}

// Counters of access are kept for sparse textures, which this device does not have.
void BlitCommandEncoder::getTextureAccessCounters(const Texture*, Region, NS::UInteger, NS::UInteger, bool,
                                                  const Buffer*, NS::UInteger) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call)) self->misuse("this device does not support sparse textures", call);
}

void BlitCommandEncoder::resetTextureAccessCounters(const Texture*, Region, NS::UInteger, NS::UInteger) {
  const Call call = Call::current();
  if (auto* self = encoding(this, call)) self->misuse("this device does not support sparse textures", call);
}

// A queue carries out its commands one after the other: the order that fences ask for is there already.
void BlitCommandEncoder::updateFence(const Fence* fence) {
  if (auto* self = encoding(this, Call::current())) self->command_buffer->keep(fence);
}

void BlitCommandEncoder::waitForFence(const Fence* fence) {
  if (auto* self = encoding(this, Call::current())) self->command_buffer->keep(fence);
}

}  // namespace MTL

// Texels between a texture and memory of the program: getBytes and replaceRegion. Shared and managed textures only; the
// program sees to it that no kernel uses the texture at the same time.
#include <fmt/format.h>

#include <cstring>

#include "metal/misuse.hpp"
#include "metal/texture.hpp"

namespace metalloid::metal {

namespace {

// How the rows and images lie in the program's memory.
struct HostLayout {
  uint64_t bytes_per_row = 0, bytes_per_image = 0;
};

// What is wrong with the program's layout of the region; empty if nothing is. Strides that are never used may be 0.
std::string check(const TextureBytes& texture, HostLayout host) {
  if (!texture.host) return "the host cannot touch a texture in private storage; copy it with a blit encoder";
  if (texture.rows > 1 && host.bytes_per_row < texture.row_bytes)
    return fmt::format("bytesPerRow ({}) is less than a row's {} bytes", host.bytes_per_row, texture.row_bytes);
  if (texture.images > 1 && host.bytes_per_image < host.bytes_per_row * (texture.rows - 1) + texture.row_bytes)
    return fmt::format("bytesPerImage ({}) is less than {} rows", host.bytes_per_image, texture.rows);
  return "";
}

// Calls `copy_row(offset in the program's memory, row of the texture)` for each row of the region.
void for_each_row(const MTL::Texture* texture, MTL::Region region, NS::UInteger level, NS::UInteger slice,
                  const void* program, HostLayout layout, Call call, auto copy_row) {
  const TextureObject* self = body(texture);
  if (!self) return;
  const auto bytes = self->bytes_of(region, level, slice);
  const std::string wrong = !bytes ? bytes.error() : !program ? "the bytes are null" : check(*bytes, layout);
  if (!wrong.empty()) return report_misuse(nullptr, wrong, call);
  self->placement.memory->host_access();
  for (uint64_t image = 0; image < bytes->images; ++image)
    for (uint64_t row = 0; row < bytes->rows; ++row)
      copy_row(image * layout.bytes_per_image + row * layout.bytes_per_row,
               bytes->host + image * bytes->image_stride + row * bytes->row_stride, bytes->row_bytes);
}

}  // namespace

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

void Texture::getBytes(void* pixelBytes, NS::UInteger bytesPerRow, NS::UInteger bytesPerImage, Region region,
                       NS::UInteger level, NS::UInteger slice) {
  for_each_row(this, region, level, slice, pixelBytes, {bytesPerRow, bytesPerImage}, Call::current(),
               [pixelBytes](uint64_t offset, const uint8_t* texels, uint64_t bytes) {
                 std::memcpy(static_cast<uint8_t*>(pixelBytes) + offset, texels, bytes);
               });
}

void Texture::getBytes(void* pixelBytes, NS::UInteger bytesPerRow, Region region, NS::UInteger level) {
  getBytes(pixelBytes, bytesPerRow, 0, region, level, 0);
}

void Texture::replaceRegion(Region region, NS::UInteger level, NS::UInteger slice, const void* pixelBytes,
                            NS::UInteger bytesPerRow, NS::UInteger bytesPerImage) {
  for_each_row(this, region, level, slice, pixelBytes, {bytesPerRow, bytesPerImage}, Call::current(),
               [pixelBytes](uint64_t offset, uint8_t* texels, uint64_t bytes) {
                 std::memcpy(texels, static_cast<const uint8_t*>(pixelBytes) + offset, bytes);
               });
}

void Texture::replaceRegion(Region region, NS::UInteger level, const void* pixelBytes, NS::UInteger bytesPerRow) {
  replaceRegion(region, level, 0, pixelBytes, bytesPerRow, 0);
}

}  // namespace MTL

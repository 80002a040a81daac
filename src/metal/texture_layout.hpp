// Where the texels of a texture lie. A level holds its slices one after the other, a slice its rows, a row its texels,
// without gaps, so that copying a whole level is one run of bytes. Each function checks the rules of Metal for what it
// is asked for, and says which one is broken.
#pragma once

#include <Metal/MTLTypes.hpp>
#include <cstdint>
#include <metalloid/result.hpp>

#include "device/texture.hpp"
#include "metal/texture_descriptor.hpp"

namespace metalloid::metal {

struct TextureLayout {
  device::TextureDescription description;  // its base is still to be set
  uint64_t bytes = 0;
};

constexpr uint64_t linear_texture_alignment = 16;  // of offset and bytes per row in a buffer

Result<TextureLayout> lay_out(const TextureProperties& asked);

// A texture in a buffer: one image whose rows are `bytes_per_row` apart.
Result<TextureLayout> lay_out_linear(const TextureProperties& asked, uint64_t bytes_per_row);

// Other eyes on the same texels. The parent's swizzle is applied before the view's.
Result<device::TextureDescription> lay_out_view(const device::TextureDescription& parent,
                                                const TextureViewProperties& asked);

bool is_array(MTL::TextureType type);
bool is_cube(MTL::TextureType type);

// The size of a level in texels; at least one in each direction.
MTL::Size level_size(const device::TextureDescription& texture, NS::UInteger level);

}  // namespace metalloid::metal

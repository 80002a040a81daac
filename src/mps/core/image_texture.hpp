// Images as textures, and textures as images.
#pragma once

#include "mps/core/encoding.hpp"
#include "mps/core/image.hpp"

namespace metalloid::mps {

// A view of the image's memory: slice s has channels 4s to 4s + 3. Null, with a line on stderr, where no texture has
// such strides.
NS::SharedPtr<MTL::Texture> new_texture_of(const ImageObject& image);

// Makes `image` the image of this texture, whose slices hold four channels each: in the texture's own memory where it
// lies as images do, in a copy elsewhere.
Status show_texture(ImageObject& image, MTL::Texture* texture, size_t channels);

// Between a texture that lies differently and the image's copy of it.
void copy_from_texture(Encoding& encoding, const ImageObject& image);
void copy_to_texture(Encoding& encoding, const ImageObject& image);

}  // namespace metalloid::mps

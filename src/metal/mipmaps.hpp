// Mipmaps: each texel of a level is the mean of the texels of the level before that it covers, weighted by area where
// sizes are odd. Done by kernels of ours, so that every device converts pixel formats in one place.
#pragma once

#include "metal/command_encoder.hpp"
#include "metal/texture.hpp"

namespace metalloid::metal {

void generate_mipmaps(EncoderPart& encoder, const TextureObject& texture, Call call);

}  // namespace metalloid::metal

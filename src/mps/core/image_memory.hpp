// Memory for images. Images of one kind are usually made one after the other and used as a batch, so those of equal
// size are cut from common slabs, side by side: a batch then is one tensor, and needs no copying.
#pragma once

#include <Metal/Metal.hpp>
#include <memory>

namespace metalloid::mps {

struct ImageMemory {
  NS::SharedPtr<MTL::Buffer> buffer;  // null: there is no memory
  size_t offset = 0;
  std::shared_ptr<void> place;  // given back when nobody holds it
};

// Zeros when the slab is new; what an earlier image left there, otherwise.
ImageMemory take_image_memory(MTL::Device* device, MTL::ResourceOptions options, size_t bytes);

}  // namespace metalloid::mps

// Memory of tensors as Metal buffers.
#pragma once

#include <Metal/Metal.hpp>
#include <memory>
#include <mutex>

#include "transformer/tensor_memory.hpp"

namespace metalloid::transformer {

class MetalMemory : public TensorMemory {
 public:
  using TensorMemory::TensorMemory;
  // Null where the device cannot have the memory.
  virtual MTL::Buffer* buffer() = 0;
};

// A buffer of the device's, which the host sees or not. Null: there is no memory.
std::unique_ptr<MetalMemory> new_buffer_memory(MTL::Device* device, size_t bytes, MTL::ResourceOptions options);

// Memory of the program. Its pages become a buffer when a kernel first wants them: weights that are copied into memory
// of the device's never do.
std::shared_ptr<MetalMemory> new_wrapped_memory(MTL::Device* device, const void* data, size_t bytes,
                                                std::shared_ptr<const void> owner);

}  // namespace metalloid::transformer

// Memory that lives as long as a command buffer: scratch space of kernels, and the temporary matrices and images of the
// interface. Commands of a command buffer are carried out in order, so what is given back while it is encoded serves
// what is encoded later; when the commands are done, everything goes back to the device's pool.
#pragma once

#include <Metal/Metal.hpp>

namespace metalloid::mps {

// A buffer of at least this many bytes that `command_buffer` keeps; null if there is no memory. Its contents are what
// was left there.
MTL::Buffer* temporary_buffer(MTL::CommandBuffer* command_buffer, size_t bytes);

// Nothing that is encoded from now on uses it.
void give_back(MTL::CommandBuffer* command_buffer, MTL::Buffer* buffer);

}  // namespace metalloid::mps

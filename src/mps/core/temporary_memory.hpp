// Memory that lives as long as a command buffer: scratch space of kernels, and the temporary matrices and images of the
// interface. Commands of a command buffer are carried out in order, so what is given back while it is encoded serves
// what is encoded later; when the commands are done, everything goes back to the device's pool.
#pragma once

#include <Metal/Metal.hpp>
#include <atomic>
#include <memory>
#include <metalloid/result.hpp>

namespace metalloid::mps {

// Where temporary objects live: in a command buffer, in the one that goes on where that was committed
// (MPSCommandBuffer's commitAndContinue), and nowhere when the commands are done.
struct TemporaryHome {
  std::atomic<MTL::CommandBuffer*> command_buffer = nullptr;
};
using TemporaryHomePointer = std::shared_ptr<const TemporaryHome>;  // null: of what is not temporary

TemporaryHomePointer temporary_home(MTL::CommandBuffer* command_buffer);

// Whether what lives there, and will be read so many times, may be used in this command buffer.
Status check_home(const TemporaryHomePointer& home, NS::UInteger read_count, const MTL::CommandBuffer* command_buffer);

// A buffer of at least this many bytes that `command_buffer` keeps; null if there is no memory. Its contents are what
// was left there.
MTL::Buffer* temporary_buffer(MTL::CommandBuffer* command_buffer, size_t bytes);

// Nothing that is encoded from now on uses it.
void give_back(MTL::CommandBuffer* command_buffer, MTL::Buffer* buffer);
void give_back(const TemporaryHome& home, MTL::Buffer* buffer);

// What lives in a command buffer lives in the next one, too.
void move_temporary_memory(MTL::CommandBuffer* from, MTL::CommandBuffer* to);

}  // namespace metalloid::mps

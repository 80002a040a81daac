#include "mps/core/encoding.hpp"

#include <fmt/format.h>

#include "foundation/misuse.hpp"
#include "metal/buffer.hpp"
#include "metal/command_buffer.hpp"
#include "metal/device.hpp"
#include "mps/core/pipelines.hpp"
#include "mps/core/temporary_memory.hpp"

namespace metalloid::mps {

Encoding::Encoding(MTL::CommandBuffer* command_buffer, const KernelPart& kernel, const char* call)
    : command_buffer_(command_buffer), device_(kernel.device.get()), call_(call) {
  if (!command_buffer) {
    foundation::report_misuse(call, "commandBuffer is null");
    return;
  }
  if (command_buffer->device() != device_) {
    fail("commandBuffer belongs to another device than the kernel");
    return;
  }
  if (!metal::body(command_buffer)->can_encode(call)) return;
  usable_ = true;
  library_ = math_library(metal::body(device_)->info());
  if (kernel.options & MPS::KernelOptionsInsertDebugGroups) {
    grouped_ = true;
    command_buffer->pushDebugGroup(kernel.label ? kernel.label.get()
                                                : NS::String::string(call, NS::UTF8StringEncoding));
  }
}

Encoding::~Encoding() {
  for (MTL::Buffer* buffer : scratch_) give_back(command_buffer_, buffer);
  if (grouped_) command_buffer_->popDebugGroup();
}

void Encoding::fail(std::string_view sentence) {
  metal::report_misuse(metal::body(command_buffer_), call_, sentence);
}

bool Encoding::check(const Status& status) {
  if (!status) fail(status.error());
  return bool(status);
}

bool Encoding::begin_dispatch(const KernelFunction& function) {
  const Result<MTL::ComputePipelineState*> found = pipeline(device_, function);
  if (!found) {
    fail(found.error());
    return false;
  }
  encoder_ = command_buffer_->computeCommandEncoder();
  if (!encoder_) return false;
  encoder_->setComputePipelineState(*found);
  return true;
}

void Encoding::end_dispatch(MTL::Size threads, MTL::Size threads_per_threadgroup) {
  if (threads.width && threads.height && threads.depth) encoder_->dispatchThreads(threads, threads_per_threadgroup);
  encoder_->endEncoding();
}

void Encoding::run(std::shared_ptr<Primitive> primitive, const char* name, std::span<const Operand> operands) {
  metal::CommandBufferObject* command_buffer = metal::body(command_buffer_);
  device::CommandList& list = command_buffer->list();
  device::LibraryWork work;
  work.name = list.arena.text(name);
  std::vector<void*> places;
  for (const Operand& operand : operands) {
    if (!operand.buffer) {
      places.push_back(nullptr);
      continue;
    }
    const metal::BufferObject* buffer = metal::body(operand.buffer);
    command_buffer->keep(operand.buffer);
    work.buffers.push_back({buffer->address + operand.offset, buffer->length - operand.offset});
    places.push_back(reinterpret_cast<void*>(buffer->address + operand.offset));
  }
  work.enqueue = [primitive = std::move(primitive), places = std::move(places)](device::LibraryStream* stream) {
    return primitive->run(stream, places);
  };
  list.commands.emplace_back(std::move(work));
}

Operand Encoding::scratch(size_t bytes) {
  MTL::Buffer* buffer = temporary_buffer(command_buffer_, bytes);
  if (!buffer) {
    fail(fmt::format("there is no memory for {} bytes of scratch space", bytes));
    return {};
  }
  scratch_.push_back(buffer);
  return {buffer, 0};
}

void Encoding::keep(NS::Object* object) {
  metal::body(command_buffer_)->keep_always(object);
}

}  // namespace metalloid::mps

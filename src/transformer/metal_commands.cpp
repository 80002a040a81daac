#include "transformer/metal_commands.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mps/core/device_kind.hpp"
#include "transformer/metal_memory.hpp"

extern "C" const std::byte metalloid_transformer_kernels[], metalloid_transformer_kernels_end[];

namespace metalloid::transformer {

namespace {

// Of a command buffer for a GPU: few in the first, so that it begins soon, and in each several times as many as in the
// one before, which it works on meanwhile. (For a token of a Llama, a kernel takes four times as long as encoding it.)
constexpr size_t first_dispatches = 8, growth = 4, most_dispatches = 128;
constexpr size_t most_under_way = 32;  // command buffers

}  // namespace

MetalCommands::MetalCommands(NS::SharedPtr<MTL::Device> device)
    : device_(std::move(device)),
      is_gpu_(mps::is_gpu(device_.get())),
      queue_(NS::TransferPtr(device_->newCommandQueue())),
      limit_(first_dispatches) {}

bool MetalCommands::begin_dispatch(const mps::KernelFunction& function) {
  // Command buffers may outlive static objects.
  static auto& kernels =
      *new mps::KernelLibrary({metalloid_transformer_kernels, metalloid_transformer_kernels_end}, "transformers");
  const Result<MTL::ComputePipelineState*> pipeline = kernels.pipeline(device_.get(), function);
  if (!pipeline) {
    fail(pipeline.error());
    return false;
  }
  if (is_gpu_ && dispatches_ == limit_) {
    commit();
    limit_ = std::min(growth * limit_, most_dispatches);
  }
  ++dispatches_;
  if (!encoder_) {
    const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    begin_command_buffer();
    encoder_ = NS::RetainPtr(command_buffer_->computeCommandEncoder());
  }
  encoder_->setComputePipelineState(*pipeline);
  return true;
}

void MetalCommands::begin_command_buffer() {
  if (!command_buffer_) command_buffer_ = NS::RetainPtr(queue_->commandBuffer());
}

void MetalCommands::end_encoder() {
  if (encoder_) encoder_->endEncoding();
  encoder_.reset();
}

void MetalCommands::encode(const std::function<void(MTL::CommandBuffer*)>& commands) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  end_encoder();
  begin_command_buffer();
  commands(command_buffer_.get());
}

MTL::Buffer* MetalCommands::buffer_of(const Tensor& tensor) {
  MTL::Buffer* buffer = static_cast<MetalMemory*>(tensor.memory().get())->buffer();
  if (!buffer) fail(fmt::format("{} cannot use memory of the program", device_->name()->utf8String()));
  return buffer;
}

uint64_t MetalCommands::commit() {
  if (command_buffer_) {
    end_encoder();
    command_buffer_->commit();
    committed_.push_back(std::move(command_buffer_));
    command_buffer_.reset();
    dispatches_ = 0;
    if (committed_.size() > most_under_way) wait_for_first();
  }
  return waited_for_ + committed_.size();
}

void MetalCommands::wait_for_first() {
  const NS::SharedPtr<MTL::CommandBuffer> first = std::move(committed_.front());
  committed_.pop_front();
  ++waited_for_;
  first->waitUntilCompleted();
  const NS::Error* error = first->error();
  if (!error) return;
  fail(error->localizedDescription()->utf8String());
  if (error->code() == MTL::CommandBufferErrorDeviceRemoved) is_lost_ = true;
}

Status MetalCommands::wait(uint64_t command_buffers) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  while (waited_for_ < command_buffers) wait_for_first();
  if (committed_.empty()) limit_ = first_dispatches;
  if (error_.empty()) return success();
  return Error{std::exchange(error_, {})};
}

Status MetalCommands::finish() {
  return wait(commit());
}

}  // namespace metalloid::transformer

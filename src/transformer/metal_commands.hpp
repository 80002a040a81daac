// The command buffer that operations are encoded into, and those that were committed before it. Kernels that follow
// each other share an encoder, in which they run one after the other. A GPU is given them piece by piece: it works on
// one while the host encodes the next.
#pragma once

#include <Metal/Metal.hpp>
#include <deque>
#include <functional>
#include <metalloid/backend.hpp>
#include <string>
#include <type_traits>

#include "mps/core/pipelines.hpp"

namespace metalloid::transformer {

// A tensor, which must stay, or a buffer that takes a tensor's place.
struct Place {
  explicit Place(const Tensor& tensor) : tensor(&tensor) {}
  // From its memory's first byte on, for kernels that are told where in it the tensor begins: what changes from call to
  // call is then no argument of theirs, and devices need not be told anew.
  static Place memory_of(const Tensor& tensor) {
    Place place(tensor);
    place.is_whole_memory = true;
    return place;
  }
  explicit Place(MTL::Buffer* buffer) : buffer(buffer) {}

  const Tensor* tensor = nullptr;
  bool is_whole_memory = false;
  MTL::Buffer* buffer = nullptr;
};

// Numbers of the host, 4 KiB at most, that become constants.
struct HostBytes {
  const void* data;
  size_t count;
};

class MetalCommands {
 public:
  explicit MetalCommands(NS::SharedPtr<MTL::Device> device);

  MTL::Device* device() const { return device_.get(); }
  bool is_lost() const { return is_lost_; }

  // A kernel of src/transformer/kernels. Arguments are tensors, places, or values that become constants, in the order
  // of the kernel's buffers. A grid of threadgroups:
  template <class... Arguments>
  void dispatch(const mps::KernelFunction& function, MTL::Size threadgroups, size_t threads_per_threadgroup,
                const Arguments&... arguments) {
    if (!begin_dispatch(function)) return;
    NS::UInteger index = 0;
    (set(arguments, index++), ...);
    encoder_->dispatchThreadgroups(threadgroups, MTL::Size(threads_per_threadgroup, 1, 1));
  }
  // A grid of threads, each for itself:
  template <class... Arguments>
  void dispatch_threads(const mps::KernelFunction& function, MTL::Size threads, const Arguments&... arguments) {
    if (!begin_dispatch(function)) return;
    NS::UInteger index = 0;
    (set(arguments, index++), ...);
    encoder_->dispatchThreads(threads, MTL::Size(threads.width < 256 ? (threads.width + 31) / 32 * 32 : 256, 1, 1));
  }

  // Commands of MPS or a blit encoder.
  void encode(const std::function<void(MTL::CommandBuffer*)>& commands);

  // The buffer of a tensor; null, and the error is remembered, where the device cannot have it.
  MTL::Buffer* buffer_of(const Tensor& tensor);

  // finish() gives the first such sentence.
  void fail(const std::string& sentence) {
    if (error_.empty()) error_ = sentence;
  }
  // Sends off what was encoded. Answers how many command buffers were sent by now.
  uint64_t commit();
  // Waits for so many.
  Status wait(uint64_t command_buffers);
  Status finish();

 private:
  bool begin_dispatch(const mps::KernelFunction& function);
  void begin_command_buffer();
  void end_encoder();
  void wait_for_first();
  void set(const Tensor& tensor, NS::UInteger index) { encoder_->setBuffer(buffer_of(tensor), tensor.offset(), index); }
  void set(const Place& place, NS::UInteger index) {
    MTL::Buffer* buffer = place.buffer ? place.buffer : buffer_of(*place.tensor);
    encoder_->setBuffer(buffer, place.buffer || place.is_whole_memory ? 0 : place.tensor->offset(), index);
  }
  void set(const HostBytes& bytes, NS::UInteger index) { encoder_->setBytes(bytes.data, bytes.count, index); }
  template <class Value>
  void set(const Value& value, NS::UInteger index) {
    static_assert(std::is_trivially_copyable_v<Value> && !std::is_pointer_v<Value>);
    encoder_->setBytes(&value, sizeof(value), index);
  }

  NS::SharedPtr<MTL::Device> device_;
  const bool is_gpu_;
  NS::SharedPtr<MTL::CommandQueue> queue_;
  NS::SharedPtr<MTL::CommandBuffer> command_buffer_;
  NS::SharedPtr<MTL::ComputeCommandEncoder> encoder_;
  size_t dispatches_ = 0, limit_;                            // in the command buffer, and where it ends
  std::deque<NS::SharedPtr<MTL::CommandBuffer>> committed_;  // and not waited for
  uint64_t waited_for_ = 0;
  std::string error_;
  bool is_lost_ = false;
};

}  // namespace metalloid::transformer

// One call of a kernel's encode: what it adds to the command buffer, by kernels of ours or by the device's math
// library, in order with everything else there. An argument that breaks a rule fails the command buffer with a sentence
// that names the call and the argument.
#pragma once

#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <metalloid/result.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "mps/core/kernel.hpp"
#include "mps/core/operand.hpp"
#include "mps/core/pipelines.hpp"
#include "mps/libraries/library.hpp"

namespace metalloid::mps {

class Encoding {
 public:
  // `call` as errors give it, "MPS::MatrixSoftMax::encode".
  Encoding(MTL::CommandBuffer* command_buffer, const KernelPart& kernel, const char* call);
  ~Encoding();
  Encoding(const Encoding&) = delete;
  Encoding& operator=(const Encoding&) = delete;

  // False where there is nothing to encode into; that is reported already.
  explicit operator bool() const { return usable_; }
  MTL::CommandBuffer* command_buffer() const { return command_buffer_; }
  MTL::Device* device() const { return device_; }
  // The device's math library; null where there is none, or METALLOID_MPS_LIBRARIES=0 forbids it.
  const MathLibrary* library() const { return library_; }

  void fail(std::string_view sentence);
  // Fails with the error, if it is one; whether all is well.
  bool check(const Status& status);

  // A kernel of ours over a grid of threads. Arguments are operands, or values that become constants, in the order of
  // the kernel's buffers.
  template <class... Arguments>
  void dispatch(const KernelFunction& function, MTL::Size threads, MTL::Size threads_per_threadgroup,
                const Arguments&... arguments) {
    if (!begin_dispatch(function)) return;
    NS::UInteger index = 0;
    (set(arguments, index++), ...);
    end_dispatch(threads, threads_per_threadgroup);
  }

  // Work of the math library on these places, which it is given as pointers in this order.
  void run(std::shared_ptr<Primitive> primitive, const char* name, std::span<const Operand> operands);
  void run(std::shared_ptr<Primitive> primitive, const char* name, std::initializer_list<Operand> operands) {
    run(std::move(primitive), name, std::span(operands.begin(), operands.size()));
  }

  // Scratch memory until the end of this call, whose contents are anything.
  Operand scratch(size_t bytes);
  // Keeps an object until the commands are done.
  void keep(NS::Object* object);

 private:
  bool begin_dispatch(const KernelFunction& function);
  void end_dispatch(MTL::Size threads, MTL::Size threads_per_threadgroup);
  void set(const Operand& operand, NS::UInteger index) { encoder_->setBuffer(operand.buffer, operand.offset, index); }
  template <class Value>
  void set(const Value& value, NS::UInteger index) {
    static_assert(std::is_trivially_copyable_v<Value> && !std::is_pointer_v<Value>);
    encoder_->setBytes(&value, sizeof(value), index);
  }

  MTL::CommandBuffer* const command_buffer_;
  MTL::Device* const device_;
  const char* const call_;
  const MathLibrary* library_ = nullptr;
  bool usable_ = false, grouped_ = false;
  MTL::ComputeCommandEncoder* encoder_ = nullptr;
  std::vector<MTL::Buffer*> scratch_;
};

}  // namespace metalloid::mps

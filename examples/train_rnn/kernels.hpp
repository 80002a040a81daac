// The Metal kernels of train_rnn.metal, whose source is in the program, as calls that add them to a command buffer.
#pragma once

#include <Metal/Metal.hpp>
#include <map>
#include <string>

namespace metalloid::train_rnn {

class Kernels {
 public:
  // Throws a training::Failure if they do not compile.
  explicit Kernels(MTL::Device* device);

  void one_hot(MTL::CommandBuffer* commands, MTL::Buffer* rows, MTL::Buffer* symbols, size_t count,
               size_t columns) const;
  void cross_entropy(MTL::CommandBuffer* commands, MTL::Buffer* rows, MTL::Buffer* targets, MTL::Buffer* losses,
                     size_t count, size_t columns, float weight) const;
  void squared_error(MTL::CommandBuffer* commands, MTL::Buffer* numbers, MTL::Buffer* targets, MTL::Buffer* losses,
                     size_t count, float weight) const;
  void dropout(MTL::CommandBuffer* commands, MTL::Buffer* numbers, size_t count, uint32_t seed, float keep) const;
  // Of all numbers together. `sums` has room for `strips` floats.
  void clip_to_norm(MTL::CommandBuffer* commands, MTL::Buffer* numbers, size_t count, float limit,
                    MTL::Buffer* sums) const;
  static constexpr size_t strips = 64;

 private:
  template <class... Arguments>
  void dispatch(MTL::CommandBuffer* commands, const char* name, MTL::Size threads, MTL::Size threads_per_threadgroup,
                const Arguments&... arguments) const;

  std::map<std::string, NS::SharedPtr<MTL::ComputePipelineState>> pipelines_;
};

}  // namespace metalloid::train_rnn

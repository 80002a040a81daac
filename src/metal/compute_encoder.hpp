// The object behind MTL::ComputeCommandEncoder. A dispatch takes its arguments from the tables as they are at that
// moment; while nothing is bound anew, dispatches of one pipeline share their arguments.
#pragma once

#include <Metal/MTLComputeCommandEncoder.hpp>

#include "metal/argument_tables.hpp"
#include "metal/command_encoder.hpp"
#include "metal/rules.hpp"
#include "metal/sample_attachments.hpp"

namespace metalloid::metal {

class ComputeCommandEncoderObject final : public MTL::ComputeCommandEncoder, public EncoderPart {
 public:
  const MTL::DispatchType dispatch_type;

  ComputeCommandEncoderObject(CommandBufferObject& command_buffer, MTL::DispatchType dispatch_type,
                              SampleAttachments samples, Call call);

  void set_pipeline(const MTL::ComputePipelineState* pipeline);
  void set_buffer(const MTL::Buffer* buffer, NS::UInteger offset, NS::UInteger index, Call call);
  void set_buffer_offset(NS::UInteger offset, NS::UInteger index, Call call);
  void set_bytes(const void* bytes, NS::UInteger length, NS::UInteger index, Call call);
  void set_function_table(const MTL::VisibleFunctionTable* table, NS::UInteger index, Call call);
  void set_texture(const MTL::Texture* texture, NS::UInteger index, Call call);
  void set_sampler(const MTL::SamplerState* sampler, NS::UInteger index, Call call);
  void set_sampler(const MTL::SamplerState* sampler, float min_level, float max_level, NS::UInteger index, Call call);
  void set_threadgroup_memory(NS::UInteger length, NS::UInteger index, Call call);

  void dispatch_threads(MTL::Size grid, MTL::Size threadgroup, Call call);
  void dispatch_threadgroups(MTL::Size threadgroups, MTL::Size threadgroup, Call call);
  void dispatch_indirectly(const MTL::Buffer* buffer, NS::UInteger offset, MTL::Size threadgroup, Call call);
  void execute(const MTL::IndirectCommandBuffer* commands, NS::Range range, Call call);
  void execute(const MTL::IndirectCommandBuffer* commands, const MTL::Buffer* range, NS::UInteger offset, Call call);

  const char* className() const override { return "MTLComputeCommandEncoder"; }

 private:
  struct BoundBuffer {
    uint64_t address = 0, length = 0;  // of the whole buffer
  };

  bool index_is_valid(NS::UInteger index, size_t limit, const char* table, Call call);
  void bind_buffer(BoundBuffer buffer, NS::UInteger offset, NS::UInteger index);
  bool prepare(MTL::Size threadgroup, Call call);
  void dispatch(MTL::Size grid, MTL::Size threadgroup, uint64_t indirect_threadgroups, Call call);
  template <class Range>
  void execute_later(const MTL::IndirectCommandBuffer* commands, Call call, Range range);
  void will_end(Call call) override { sample_end(*this, samples_, call); }

  const ComputePipelineStateObject* pipeline_ = nullptr;
  ArgumentTables tables_;
  std::array<BoundBuffer, 31> bound_buffers_ = {};
  const device::Argument* arguments_ = nullptr;  // what the pipeline takes from the tables; null if they changed
  BoundTextures checked_textures_;               // only for the debug layer
  SampleAttachments samples_;
};

inline ComputeCommandEncoderObject* body(MTL::ComputeCommandEncoder* encoder) {
  return static_cast<ComputeCommandEncoderObject*>(encoder);
}
inline const ComputeCommandEncoderObject* body(const MTL::ComputeCommandEncoder* encoder) {
  return static_cast<const ComputeCommandEncoderObject*>(encoder);
}

}  // namespace metalloid::metal

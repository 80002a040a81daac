// The object behind MTL::BlitCommandEncoder.
#pragma once

#include <Metal/MTLBlitCommandEncoder.hpp>

#include "metal/command_encoder.hpp"
#include "metal/sample_attachments.hpp"

namespace metalloid::metal {

class BlitCommandEncoderObject final : public MTL::BlitCommandEncoder, public EncoderPart {
 public:
  BlitCommandEncoderObject(CommandBufferObject& command_buffer, SampleAttachments samples, Call call)
      : EncoderPart(command_buffer, "blit encoder"), samples_(std::move(samples)) {
    sample_start(*this, samples_, call);
  }

  const char* className() const override { return "MTLBlitCommandEncoder"; }

 private:
  void will_end(Call call) override { sample_end(*this, samples_, call); }

  SampleAttachments samples_;
};

}  // namespace metalloid::metal

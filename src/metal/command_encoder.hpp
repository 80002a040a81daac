// What every encoder has: the command buffer it writes into, a label, and an end. Methods of MTL::CommandEncoder find
// this part with a dynamic_cast.
#pragma once

#include <Metal/MTLCommandEncoder.hpp>
#include <functional>
#include <string_view>

#include "device/commands.hpp"
#include "foundation/object.hpp"
#include "metal/command_buffer.hpp"
#include "metal/misuse.hpp"

namespace metalloid::metal {

class EncoderPart {
 public:
  const NS::SharedPtr<CommandBufferObject> command_buffer;
  const bool checked;  // by the debug layer
  NS::SharedPtr<NS::String> label;

  EncoderPart(const EncoderPart&) = delete;
  EncoderPart& operator=(const EncoderPart&) = delete;

  // Whether commands may still be encoded; reports it if not.
  bool is_open(Call call);
  device::CommandList& list() const { return command_buffer->list(); }

  // Fails the command buffer.
  void misuse(std::string_view rule, Call call) const;

  void set_label(const NS::String* label);
  void insert_signpost(const NS::String* text, Call call);
  void push_group(const NS::String* text, Call call);
  void pop_group(Call call);
  void end(Call call);

  MTL::Device* device() const;

 protected:
  // `kind` is what traces call it: "compute encoder".
  EncoderPart(CommandBufferObject& command_buffer, const char* kind);
  virtual ~EncoderPart();

  // Called once, while commands may still be encoded.
  virtual void will_end(Call) {}

 private:
  void note(std::function<void()> progress);

  bool ended_ = false;
  size_t begin_;  // the command that begins the encoder's group
  size_t open_groups_ = 0;
  EncoderProgress* progress_;  // null unless the command buffer watches its encoders
};

// Null for null.
EncoderPart* encoder_part(const MTL::CommandEncoder* encoder);

}  // namespace metalloid::metal

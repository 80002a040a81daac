#include "metal/command_buffer_error.hpp"

#include <Metal/MTLDevice.hpp>
#include <Metal/MTLLogState.hpp>

#include "foundation/array.hpp"
#include "foundation/string.hpp"
#include "metal/errors.hpp"
#include "metal/property.hpp"

namespace metalloid::metal {
namespace {

class EncoderInfoObject final : public MTL::CommandBufferEncoderInfo {
 public:
  NS::SharedPtr<NS::String> label;
  NS::SharedPtr<NS::Array> signposts;
  MTL::CommandEncoderErrorState state = MTL::CommandEncoderErrorStateUnknown;

  const char* className() const override { return "MTLCommandBufferEncoderInfo"; }
};

const EncoderInfoObject* body(const MTL::CommandBufferEncoderInfo* info) {
  return static_cast<const EncoderInfoObject*>(info);
}

MTL::CommandEncoderErrorState state_of(const EncoderProgress& encoder) {
  if (encoder.faulted) return MTL::CommandEncoderErrorStateFaulted;
  return encoder.done ? MTL::CommandEncoderErrorStateCompleted : MTL::CommandEncoderErrorStatePending;
}

NS::SharedPtr<NS::Object> new_info(const EncoderProgress& encoder) {
  auto info = NS::TransferPtr(new EncoderInfoObject);
  info->label = NS::TransferPtr(foundation::new_string(encoder.label));
  std::vector<NS::SharedPtr<NS::Object>> signposts;
  for (const std::string& signpost : encoder.signposts)
    signposts.push_back(NS::TransferPtr<NS::Object>(foundation::new_string(signpost)));
  info->signposts = NS::RetainPtr(foundation::autoreleased_array(std::move(signposts)));
  info->state = state_of(encoder);
  return info;
}

}  // namespace

struct CommandBufferProperties {
  static constexpr const char* class_name = "MTLCommandBufferDescriptor";
  bool retainedReferences = true;
  MTL::CommandBufferErrorOption errorOptions = MTL::CommandBufferErrorOptionNone;
  NS::SharedPtr<MTL::LogState> logState;
};
PROPERTIES(CommandBufferDescriptor, CommandBufferProperties)

NS::Error* command_buffer_error(MTL::CommandBufferError code, std::string_view message,
                                const std::deque<EncoderProgress>& encoders) {
  NS::Error* plain = command_buffer_error(code, message);
  if (encoders.empty()) return plain;
  std::vector<NS::SharedPtr<NS::Object>> infos;
  for (const EncoderProgress& encoder : encoders) infos.push_back(new_info(encoder));
  const NS::Object* values[] = {plain->localizedDescription(), foundation::autoreleased_array(std::move(infos))};
  const NS::Object* keys[] = {NS::LocalizedDescriptionKey, MTL::CommandBufferEncoderInfoErrorKey};
  return NS::Error::error(plain->domain(), plain->code(), NS::Dictionary::dictionary(values, keys, 2));
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

STRING_CONSTANT(CommandBufferEncoderInfoErrorKey, "MTLCommandBufferEncoderInfoErrorKey")

ALLOC(CommandBufferDescriptor)
PROPERTY(CommandBufferDescriptor, retainedReferences, setRetainedReferences)
PROPERTY(CommandBufferDescriptor, errorOptions, setErrorOptions)
PROPERTY(CommandBufferDescriptor, logState, setLogState)

NS::String* CommandBufferEncoderInfo::label() const {
  const EncoderInfoObject* self = body(this);
  return self ? self->label.get() : nullptr;
}

NS::Array* CommandBufferEncoderInfo::debugSignposts() const {
  const EncoderInfoObject* self = body(this);
  return self ? self->signposts.get() : nullptr;
}

CommandEncoderErrorState CommandBufferEncoderInfo::errorState() const {
  const EncoderInfoObject* self = body(this);
  return self ? self->state : CommandEncoderErrorStateUnknown;
}

}  // namespace MTL

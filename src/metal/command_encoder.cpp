#include "metal/command_encoder.hpp"

#include "foundation/string.hpp"
#include "metal/device.hpp"
#include "metal/queue.hpp"

namespace metalloid::metal {

EncoderPart::EncoderPart(CommandBufferObject& command_buffer, const char* kind)
    : command_buffer(NS::RetainPtr(&command_buffer)),
      checked(command_buffer.checked),
      begin_(command_buffer.list().commands.size()),
      progress_(command_buffer.watch_encoder()) {
  list().commands.emplace_back(device::BeginGroup{nullptr, kind});
  if (progress_) note([progress = progress_] { progress->started = true; });
}

EncoderPart::~EncoderPart() {
  if (ended_ || command_buffer->is_committed()) return;
  report_misuse(command_buffer.get(), "MTL::CommandEncoder::release", "endEncoding() must be called before");
  command_buffer->pop_group();
  command_buffer->end_encoder();
}

// A command like others: it is left out after a fault.
void EncoderPart::note(std::function<void()> progress) {
  list().commands.emplace_back(
      device::Deferred{[progress = std::move(progress)](device::CommandList&) { progress(); }});
}

bool EncoderPart::is_open(Call call) {
  if (!ended_ && !command_buffer->is_committed()) return true;
  misuse(ended_ ? "called after endEncoding()" : "called after the command buffer was committed", call);
  return false;
}

void EncoderPart::misuse(std::string_view rule, Call call) const {
  std::string text(rule);
  if (label) text += " (encoder '" + std::string(foundation::text_of(label.get())) + "')";
  report_misuse(command_buffer.get(), text, call);
}

void EncoderPart::set_label(const NS::String* text) {
  label = NS::TransferPtr(text ? text->copy() : nullptr);
  if (ended_ || command_buffer->is_committed() || !text) return;
  std::get<device::BeginGroup>(list().commands[begin_]).label = list().arena.text(foundation::text_of(text));
  if (progress_) progress_->label = foundation::text_of(text);
}

void EncoderPart::insert_signpost(const NS::String* text, Call call) {
  if (is_open(call) && progress_) progress_->signposts.emplace_back(foundation::text_of(text));
}

void EncoderPart::push_group(const NS::String* text, Call call) {
  if (!is_open(call)) return;
  ++open_groups_;
  if (progress_) progress_->signposts.emplace_back(foundation::text_of(text));
  command_buffer->push_group(text);
}

void EncoderPart::pop_group(Call call) {
  if (!is_open(call)) return;
  if (open_groups_ == 0) return checked ? misuse("there is no debug group to pop", call) : void();
  --open_groups_;
  command_buffer->pop_group();
}

void EncoderPart::end(Call call) {
  if (!is_open(call)) return;
  if (checked && open_groups_ != 0) misuse("a debug group was pushed and not popped", call);
  for (; open_groups_ != 0; --open_groups_) command_buffer->pop_group();
  will_end(call);
  if (progress_) note([progress = progress_] { progress->done = true; });
  command_buffer->pop_group();
  command_buffer->end_encoder();
  ended_ = true;
}

MTL::Device* EncoderPart::device() const {
  return command_buffer->queue->device;
}

EncoderPart* encoder_part(const MTL::CommandEncoder* encoder) {
  return dynamic_cast<EncoderPart*>(const_cast<MTL::CommandEncoder*>(encoder));
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

Device* CommandEncoder::device() const {
  const EncoderPart* self = encoder_part(this);
  return self ? self->device() : nullptr;
}

NS::String* CommandEncoder::label() const {
  const EncoderPart* self = encoder_part(this);
  return self ? self->label.get() : nullptr;
}

void CommandEncoder::setLabel(const NS::String* label) {
  if (EncoderPart* self = encoder_part(this)) self->set_label(label);
}

// Commands of a queue are carried out one after the other: every barrier is there already.
void CommandEncoder::barrierAfterQueueStages(Stages, Stages) {
  if (EncoderPart* self = encoder_part(this)) self->is_open(Call::current());
}

void CommandEncoder::insertDebugSignpost(const NS::String* text) {
  if (EncoderPart* self = encoder_part(this)) self->insert_signpost(text, Call::current());
}

void CommandEncoder::pushDebugGroup(const NS::String* text) {
  if (EncoderPart* self = encoder_part(this)) self->push_group(text, Call::current());
}

void CommandEncoder::popDebugGroup() {
  if (EncoderPart* self = encoder_part(this)) self->pop_group(Call::current());
}

void CommandEncoder::endEncoding() {
  if (EncoderPart* self = encoder_part(this)) self->end(Call::current());
}

}  // namespace MTL

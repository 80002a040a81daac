#include "mps/core/kernel.hpp"

namespace MPS {

using namespace metalloid::mps;

bool SupportsMTLDevice(const MTL::Device* device) {
  return device != nullptr;
}

KernelOptions Kernel::options() const {
  const auto* self = shared_part_of<KernelPart>(this);
  return self ? self->options : KernelOptionsNone;
}

void Kernel::setOptions(KernelOptions options) {
  if (auto* self = shared_part_of<KernelPart>(this)) self->options = options;
}

MTL::Device* Kernel::device() const {
  const auto* self = shared_part_of<KernelPart>(this);
  return self ? self->device.get() : nullptr;
}

NS::String* Kernel::label() const {
  const auto* self = shared_part_of<KernelPart>(this);
  return self ? self->label.get() : nullptr;
}

void Kernel::setLabel(const NS::String* label) {
  if (auto* self = shared_part_of<KernelPart>(this)) self->label = NS::TransferPtr(label ? label->copy() : nullptr);
}

}  // namespace MPS

#include "metal/sampler.hpp"

#include <fmt/format.h>

#include <Metal/MTLDevice.hpp>
#include <cfloat>

#include "device/sampler.hpp"
#include "metal/device.hpp"
#include "metal/misuse.hpp"
#include "metal/property.hpp"

namespace metalloid::metal {

struct SamplerProperties {
  static constexpr const char* class_name = "MTLSamplerDescriptor";
  MTL::SamplerMinMagFilter minFilter = MTL::SamplerMinMagFilterNearest, magFilter = MTL::SamplerMinMagFilterNearest;
  MTL::SamplerMipFilter mipFilter = MTL::SamplerMipFilterNotMipmapped;
  NS::UInteger maxAnisotropy = 1;
  MTL::SamplerAddressMode sAddressMode = MTL::SamplerAddressModeClampToEdge;
  MTL::SamplerAddressMode tAddressMode = MTL::SamplerAddressModeClampToEdge;
  MTL::SamplerAddressMode rAddressMode = MTL::SamplerAddressModeClampToEdge;
  MTL::SamplerBorderColor borderColor = MTL::SamplerBorderColorTransparentBlack;
  MTL::SamplerReductionMode reductionMode = MTL::SamplerReductionModeWeightedAverage;
  bool normalizedCoordinates = true;
  float lodMinClamp = 0, lodMaxClamp = FLT_MAX, lodBias = 0;
  bool lodAverage = false;
  MTL::CompareFunction compareFunction = MTL::CompareFunctionNever;
  bool supportArgumentBuffers = false;
  Copied<NS::String> label;
};
PROPERTIES(SamplerDescriptor, SamplerProperties)

namespace {

// Values that no sampler can have; empty if there are none.
std::string check(const SamplerProperties& asked) {
  const auto known = [](NS::UInteger value, NS::UInteger last) { return value <= last; };
  if (asked.maxAnisotropy < 1 || asked.maxAnisotropy > 16)
    return fmt::format("maxAnisotropy is {}; it must be from 1 to 16", asked.maxAnisotropy);
  for (const MTL::SamplerAddressMode mode : {asked.sAddressMode, asked.tAddressMode, asked.rAddressMode})
    if (!known(mode, MTL::SamplerAddressModeClampToBorderColor)) return "an address mode is unknown";
  if (!known(asked.minFilter, MTL::SamplerMinMagFilterLinear) ||
      !known(asked.magFilter, MTL::SamplerMinMagFilterLinear) || !known(asked.mipFilter, MTL::SamplerMipFilterLinear))
    return "a filter is unknown";
  if (!known(asked.compareFunction, MTL::CompareFunctionAlways)) return "the compare function is unknown";
  if (!known(asked.borderColor, MTL::SamplerBorderColorOpaqueWhite)) return "the border colour is unknown";
  if (!known(asked.reductionMode, MTL::SamplerReductionModeMaximum)) return "the reduction mode is unknown";
  return "";
}

// Rules for samplers that work all the same.
std::string check_portable(const SamplerProperties& asked) {
  if (asked.lodMinClamp > asked.lodMaxClamp) return "lodMinClamp is more than lodMaxClamp";
  if (asked.normalizedCoordinates) return "";
  for (const MTL::SamplerAddressMode mode : {asked.sAddressMode, asked.tAddressMode, asked.rAddressMode})
    if (mode != MTL::SamplerAddressModeClampToEdge && mode != MTL::SamplerAddressModeClampToZero &&
        mode != MTL::SamplerAddressModeClampToBorderColor)
      return "with pixel coordinates, address modes must clamp";
  if (asked.mipFilter != MTL::SamplerMipFilterNotMipmapped) return "with pixel coordinates there is no mip filter";
  if (asked.minFilter != asked.magFilter) return "with pixel coordinates, minFilter and magFilter must be equal";
  if (asked.maxAnisotropy != 1) return "with pixel coordinates, maxAnisotropy must be 1";
  return "";
}

uint64_t packed(const SamplerProperties& asked) {
  return device::pack({
      .min_level = asked.lodMinClamp,
      .max_level = asked.lodMaxClamp,
      .pixel_coordinates = !asked.normalizedCoordinates,
      .address = {static_cast<device::AddressMode>(asked.sAddressMode),
                  static_cast<device::AddressMode>(asked.tAddressMode),
                  static_cast<device::AddressMode>(asked.rAddressMode)},
      .magnification = static_cast<device::Filter>(asked.magFilter),
      .minification = static_cast<device::Filter>(asked.minFilter),
      .mip = static_cast<device::MipFilter>(asked.mipFilter),
      .compare = static_cast<device::Compare>(asked.compareFunction),
      .max_anisotropy = static_cast<unsigned>(asked.maxAnisotropy),
      .border = static_cast<device::BorderColor>(asked.borderColor),
      .reduction = static_cast<device::Reduction>(asked.reductionMode),
  });
}

}  // namespace

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

ALLOC(SamplerDescriptor)
PROPERTY(SamplerDescriptor, minFilter, setMinFilter)
PROPERTY(SamplerDescriptor, magFilter, setMagFilter)
PROPERTY(SamplerDescriptor, mipFilter, setMipFilter)
PROPERTY(SamplerDescriptor, maxAnisotropy, setMaxAnisotropy)
PROPERTY(SamplerDescriptor, sAddressMode, setSAddressMode)
PROPERTY(SamplerDescriptor, tAddressMode, setTAddressMode)
PROPERTY(SamplerDescriptor, rAddressMode, setRAddressMode)
PROPERTY(SamplerDescriptor, borderColor, setBorderColor)
PROPERTY(SamplerDescriptor, reductionMode, setReductionMode)
PROPERTY(SamplerDescriptor, normalizedCoordinates, setNormalizedCoordinates)
PROPERTY(SamplerDescriptor, lodMinClamp, setLodMinClamp)
PROPERTY(SamplerDescriptor, lodMaxClamp, setLodMaxClamp)
PROPERTY(SamplerDescriptor, lodBias, setLodBias)
PROPERTY(SamplerDescriptor, lodAverage, setLodAverage)
PROPERTY(SamplerDescriptor, compareFunction, setCompareFunction)
PROPERTY(SamplerDescriptor, supportArgumentBuffers, setSupportArgumentBuffers)
PROPERTY(SamplerDescriptor, label, setLabel)

SamplerState* Device::newSamplerState(const SamplerDescriptor* descriptor) {
  DeviceObject* self = body(this);
  if (!self || !descriptor) return nullptr;
  const SamplerProperties& asked = *properties(descriptor);
  if (const std::string wrong = check(asked); !wrong.empty()) {
    report_misuse(nullptr, wrong);
    return nullptr;
  }
  if (const std::string wrong = check_portable(asked); !wrong.empty()) report_misuse(nullptr, wrong);
  return new SamplerStateObject(self, packed(asked), asked.label.object);
}

Device* SamplerState::device() const {
  const SamplerStateObject* self = body(this);
  return self ? self->device : nullptr;
}

NS::String* SamplerState::label() const {
  const SamplerStateObject* self = body(this);
  return self ? self->label.get() : nullptr;
}

ResourceID SamplerState::gpuResourceID() const {
  const SamplerStateObject* self = body(this);
  return {self ? self->handle : 0};
}

}  // namespace MTL

// Descriptors of rasterisation rates: the rates of a layer lie in two arrays, which programs fill through the layer or
// through its arrays. The maps that would be made from them are not there.
#include <Metal/MTLBuffer.hpp>
#include <Metal/MTLRasterizationRate.hpp>
#include <algorithm>
#include <vector>

#include "metal/absent.hpp"

namespace metalloid::metal {

class RateSamplesObject final : public MTL::RasterizationRateSampleArray {
 public:
  std::vector<float> values;

  const char* className() const override { return "MTLRasterizationRateSampleArray"; }
  NS::Object* contentCopy() const override {
    auto* copy = new RateSamplesObject;
    copy->values = values;
    return copy;
  }
};

static RateSamplesObject* body(MTL::RasterizationRateSampleArray* samples) {
  return static_cast<RateSamplesObject*>(samples);
}

struct RateLayerProperties {
  static constexpr const char* class_name = "MTLRasterizationRateLayerDescriptor";
  MTL::Size sampleCount = MTL::Size(0, 0, 0);
  MTL::Size maxSampleCount = MTL::Size(0, 0, 0);  // as many as there is room for
  Nested<MTL::RasterizationRateSampleArray> horizontal;
  Nested<MTL::RasterizationRateSampleArray> vertical;
};
PROPERTIES(RasterizationRateLayerDescriptor, RateLayerProperties)

struct RateMapProperties {
  static constexpr const char* class_name = "MTLRasterizationRateMapDescriptor";
  Copied<NS::String> label;
  MTL::Size screenSize = MTL::Size(0, 0, 0);
  NS::UInteger layerCount = 0;
  Nested<MTL::RasterizationRateLayerArray> layers;
};
PROPERTIES(RasterizationRateMapDescriptor, RateMapProperties)

static constexpr NS::UInteger most_layers = 16;

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

RasterizationRateSampleArray* RasterizationRateSampleArray::alloc() {
  return new RateSamplesObject;
}

RasterizationRateSampleArray* RasterizationRateSampleArray::init() {
  return this;
}

NS::Number* RasterizationRateSampleArray::object(NS::UInteger index) {
  const RateSamplesObject* self = body(this);
  return self && index < self->values.size() ? NS::Number::number(self->values[index]) : nullptr;
}

void RasterizationRateSampleArray::setObject(const NS::Number* value, NS::UInteger index) {
  RateSamplesObject* self = body(this);
  if (self && value && index < self->values.size()) self->values[index] = value->floatValue();
}

ALLOC(RasterizationRateLayerDescriptor)
READ_PROPERTY(RasterizationRateLayerDescriptor, horizontal)
READ_PROPERTY(RasterizationRateLayerDescriptor, vertical)
READ_PROPERTY(RasterizationRateLayerDescriptor, maxSampleCount)
PROPERTY(RasterizationRateLayerDescriptor, sampleCount, setSampleCount)

RasterizationRateLayerDescriptor* RasterizationRateLayerDescriptor::init(Size count) {
  auto* self = properties(this);
  if (!self) return nullptr;
  self->sampleCount = self->maxSampleCount = Size(count.width, count.height, 0);
  body(self->horizontal.get())->values.assign(count.width, 1.0f);
  body(self->vertical.get())->values.assign(count.height, 1.0f);
  return this;
}

RasterizationRateLayerDescriptor* RasterizationRateLayerDescriptor::init(Size count, const float* horizontal,
                                                                         const float* vertical) {
  if (!init(count)) return nullptr;
  if (horizontal) std::copy_n(horizontal, count.width, horizontalSampleStorage());
  if (vertical) std::copy_n(vertical, count.height, verticalSampleStorage());
  return this;
}

float* RasterizationRateLayerDescriptor::horizontalSampleStorage() const {
  const auto* self = properties(this);
  return self ? body(self->horizontal.get())->values.data() : nullptr;
}

float* RasterizationRateLayerDescriptor::verticalSampleStorage() const {
  const auto* self = properties(this);
  return self ? body(self->vertical.get())->values.data() : nullptr;
}

DESCRIPTOR_ARRAY(RasterizationRateLayerArray, RasterizationRateLayerDescriptor, most_layers)

ALLOC(RasterizationRateMapDescriptor)
PROPERTY(RasterizationRateMapDescriptor, label, setLabel)
PROPERTY(RasterizationRateMapDescriptor, screenSize, setScreenSize)
READ_PROPERTY(RasterizationRateMapDescriptor, layerCount)
READ_PROPERTY(RasterizationRateMapDescriptor, layers)

RasterizationRateMapDescriptor* RasterizationRateMapDescriptor::rasterizationRateMapDescriptor(Size screen) {
  return rasterizationRateMapDescriptor(screen, 0, nullptr);
}

RasterizationRateMapDescriptor* RasterizationRateMapDescriptor::rasterizationRateMapDescriptor(
    Size screen, const RasterizationRateLayerDescriptor* layer) {
  return rasterizationRateMapDescriptor(screen, 1, &layer);
}

RasterizationRateMapDescriptor* RasterizationRateMapDescriptor::rasterizationRateMapDescriptor(
    Size screen, NS::UInteger count, const RasterizationRateLayerDescriptor* const* layers) {
  auto* map = metalloid::foundation::autoreleased(alloc()->init());
  map->setScreenSize(screen);
  for (NS::UInteger i = 0; i < count; ++i) map->setLayer(layers[i], i);
  return map;
}

RasterizationRateLayerDescriptor* RasterizationRateMapDescriptor::layer(NS::UInteger index) {
  return index < layerCount() ? layers()->object(index) : nullptr;
}

void RasterizationRateMapDescriptor::setLayer(const RasterizationRateLayerDescriptor* layer, NS::UInteger index) {
  auto* self = properties(this);
  if (!self || index >= most_layers) return;
  self->layers->setObject(layer, index);
  self->layerCount = std::max(self->layerCount, index + 1);
}

RasterizationRateMap* Device::newRasterizationRateMap(const RasterizationRateMapDescriptor*) {
  refuse("drawing");
  return nullptr;
}

NEVER_SENT(Device* RasterizationRateMap::device() const)
NEVER_SENT(NS::String* RasterizationRateMap::label() const)
NEVER_SENT(NS::UInteger RasterizationRateMap::layerCount() const)
NEVER_SENT(SizeAndAlign RasterizationRateMap::parameterBufferSizeAndAlign() const)
NEVER_SENT(Size RasterizationRateMap::physicalGranularity() const)
NEVER_SENT(Size RasterizationRateMap::screenSize() const)
void RasterizationRateMap::copyParameterDataToBuffer(const Buffer*, NS::UInteger) {}
NEVER_SENT(Coordinate2D RasterizationRateMap::mapPhysicalToScreenCoordinates(Coordinate2D, NS::UInteger))
NEVER_SENT(Coordinate2D RasterizationRateMap::mapScreenToPhysicalCoordinates(Coordinate2D, NS::UInteger))
NEVER_SENT(Size RasterizationRateMap::physicalSize(NS::UInteger))

}  // namespace MTL

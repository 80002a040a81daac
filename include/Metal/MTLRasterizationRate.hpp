// Different rates of rasterisation over a screen.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"
#include "MTLDevice.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Buffer;

class _MTL_EXPORT RasterizationRateSampleArray : public NS::Referencing<RasterizationRateSampleArray> {
 public:
  static RasterizationRateSampleArray* alloc();
  RasterizationRateSampleArray* init();

  NS::Number* object(NS::UInteger index);
  void setObject(const NS::Number* value, NS::UInteger index);
};

class _MTL_EXPORT RasterizationRateLayerDescriptor : public NS::Copying<RasterizationRateLayerDescriptor> {
 public:
  static RasterizationRateLayerDescriptor* alloc();
  RasterizationRateLayerDescriptor* init();
  RasterizationRateLayerDescriptor* init(Size sampleCount);
  RasterizationRateLayerDescriptor* init(Size sampleCount, const float* horizontal, const float* vertical);

  RasterizationRateSampleArray* horizontal() const;
  float* horizontalSampleStorage() const;
  Size maxSampleCount() const;
  Size sampleCount() const;
  void setSampleCount(Size sampleCount);
  RasterizationRateSampleArray* vertical() const;
  float* verticalSampleStorage() const;
};

class _MTL_EXPORT RasterizationRateLayerArray : public NS::Referencing<RasterizationRateLayerArray> {
 public:
  static RasterizationRateLayerArray* alloc();
  RasterizationRateLayerArray* init();

  RasterizationRateLayerDescriptor* object(NS::UInteger layerIndex);
  void setObject(const RasterizationRateLayerDescriptor* layer, NS::UInteger layerIndex);
};

class _MTL_EXPORT RasterizationRateMapDescriptor : public NS::Copying<RasterizationRateMapDescriptor> {
 public:
  static RasterizationRateMapDescriptor* rasterizationRateMapDescriptor(Size screenSize);
  static RasterizationRateMapDescriptor* rasterizationRateMapDescriptor(Size screenSize,
                                                                        const RasterizationRateLayerDescriptor* layer);
  static RasterizationRateMapDescriptor* rasterizationRateMapDescriptor(
      Size screenSize, NS::UInteger layerCount, const RasterizationRateLayerDescriptor* const* layers);

  static RasterizationRateMapDescriptor* alloc();
  RasterizationRateMapDescriptor* init();

  NS::String* label() const;
  void setLabel(const NS::String* label);
  NS::UInteger layerCount() const;
  RasterizationRateLayerArray* layers() const;
  Size screenSize() const;
  void setScreenSize(Size screenSize);

  void setLayer(const RasterizationRateLayerDescriptor* layer, NS::UInteger layerIndex);
  RasterizationRateLayerDescriptor* layer(NS::UInteger layerIndex);
};

class _MTL_EXPORT RasterizationRateMap : public NS::Referencing<RasterizationRateMap> {
 public:
  Device* device() const;
  NS::String* label() const;
  NS::UInteger layerCount() const;
  SizeAndAlign parameterBufferSizeAndAlign() const;
  Size physicalGranularity() const;
  Size screenSize() const;

  void copyParameterDataToBuffer(const Buffer* buffer, NS::UInteger offset);
  Coordinate2D mapPhysicalToScreenCoordinates(Coordinate2D physicalCoordinates, NS::UInteger layerIndex);
  Coordinate2D mapScreenToPhysicalCoordinates(Coordinate2D screenCoordinates, NS::UInteger layerIndex);
  Size physicalSize(NS::UInteger layerIndex);
};

}  // namespace MTL

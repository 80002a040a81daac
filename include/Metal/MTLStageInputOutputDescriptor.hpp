// How the [[stage_in]] argument of a kernel is fetched from buffers.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLArgument.hpp"
#include "MTLDefines.hpp"

namespace MTL {

_MTL_ENUM(NS::UInteger, AttributeFormat){
    AttributeFormatInvalid = 0,
    AttributeFormatUChar2 = 1,
    AttributeFormatUChar3 = 2,
    AttributeFormatUChar4 = 3,
    AttributeFormatChar2 = 4,
    AttributeFormatChar3 = 5,
    AttributeFormatChar4 = 6,
    AttributeFormatUChar2Normalized = 7,
    AttributeFormatUChar3Normalized = 8,
    AttributeFormatUChar4Normalized = 9,
    AttributeFormatChar2Normalized = 10,
    AttributeFormatChar3Normalized = 11,
    AttributeFormatChar4Normalized = 12,
    AttributeFormatUShort2 = 13,
    AttributeFormatUShort3 = 14,
    AttributeFormatUShort4 = 15,
    AttributeFormatShort2 = 16,
    AttributeFormatShort3 = 17,
    AttributeFormatShort4 = 18,
    AttributeFormatUShort2Normalized = 19,
    AttributeFormatUShort3Normalized = 20,
    AttributeFormatUShort4Normalized = 21,
    AttributeFormatShort2Normalized = 22,
    AttributeFormatShort3Normalized = 23,
    AttributeFormatShort4Normalized = 24,
    AttributeFormatHalf2 = 25,
    AttributeFormatHalf3 = 26,
    AttributeFormatHalf4 = 27,
    AttributeFormatFloat = 28,
    AttributeFormatFloat2 = 29,
    AttributeFormatFloat3 = 30,
    AttributeFormatFloat4 = 31,
    AttributeFormatInt = 32,
    AttributeFormatInt2 = 33,
    AttributeFormatInt3 = 34,
    AttributeFormatInt4 = 35,
    AttributeFormatUInt = 36,
    AttributeFormatUInt2 = 37,
    AttributeFormatUInt3 = 38,
    AttributeFormatUInt4 = 39,
    AttributeFormatInt1010102Normalized = 40,
    AttributeFormatUInt1010102Normalized = 41,
    AttributeFormatUChar4Normalized_BGRA = 42,
    AttributeFormatUChar = 45,
    AttributeFormatChar = 46,
    AttributeFormatUCharNormalized = 47,
    AttributeFormatCharNormalized = 48,
    AttributeFormatUShort = 49,
    AttributeFormatShort = 50,
    AttributeFormatUShortNormalized = 51,
    AttributeFormatShortNormalized = 52,
    AttributeFormatHalf = 53,
    AttributeFormatFloatRG11B10 = 54,
    AttributeFormatFloatRGB9E5 = 55,
};

_MTL_ENUM(NS::UInteger, StepFunction){
    StepFunctionConstant = 0,
    StepFunctionPerVertex = 1,
    StepFunctionPerInstance = 2,
    StepFunctionPerPatch = 3,
    StepFunctionPerPatchControlPoint = 4,
    StepFunctionThreadPositionInGridX = 5,
    StepFunctionThreadPositionInGridY = 6,
    StepFunctionThreadPositionInGridXIndexed = 7,
    StepFunctionThreadPositionInGridYIndexed = 8,
};

class _MTL_EXPORT BufferLayoutDescriptor : public NS::Copying<BufferLayoutDescriptor> {
 public:
  static BufferLayoutDescriptor* alloc();
  BufferLayoutDescriptor* init();

  StepFunction stepFunction() const;
  void setStepFunction(StepFunction stepFunction);
  NS::UInteger stepRate() const;
  void setStepRate(NS::UInteger stepRate);
  NS::UInteger stride() const;
  void setStride(NS::UInteger stride);
};

class _MTL_EXPORT BufferLayoutDescriptorArray : public NS::Referencing<BufferLayoutDescriptorArray> {
 public:
  static BufferLayoutDescriptorArray* alloc();
  BufferLayoutDescriptorArray* init();

  BufferLayoutDescriptor* object(NS::UInteger index);
  void setObject(const BufferLayoutDescriptor* bufferDesc, NS::UInteger index);
};

class _MTL_EXPORT AttributeDescriptor : public NS::Copying<AttributeDescriptor> {
 public:
  static AttributeDescriptor* alloc();
  AttributeDescriptor* init();

  NS::UInteger bufferIndex() const;
  void setBufferIndex(NS::UInteger bufferIndex);
  AttributeFormat format() const;
  void setFormat(AttributeFormat format);
  NS::UInteger offset() const;
  void setOffset(NS::UInteger offset);
};

class _MTL_EXPORT AttributeDescriptorArray : public NS::Referencing<AttributeDescriptorArray> {
 public:
  static AttributeDescriptorArray* alloc();
  AttributeDescriptorArray* init();

  AttributeDescriptor* object(NS::UInteger index);
  void setObject(const AttributeDescriptor* attributeDesc, NS::UInteger index);
};

class _MTL_EXPORT StageInputOutputDescriptor : public NS::Copying<StageInputOutputDescriptor> {
 public:
  static StageInputOutputDescriptor* stageInputOutputDescriptor();

  static StageInputOutputDescriptor* alloc();
  StageInputOutputDescriptor* init();

  AttributeDescriptorArray* attributes() const;
  NS::UInteger indexBufferIndex() const;
  void setIndexBufferIndex(NS::UInteger indexBufferIndex);
  IndexType indexType() const;
  void setIndexType(IndexType indexType);
  BufferLayoutDescriptorArray* layouts() const;

  void reset();
};

}  // namespace MTL

// Ray tracing: the geometry that an acceleration structure is built from, and the structure itself. Ray tracing is not
// part of what runs here; programs that mention it compile, and building one is an error at run time.
#pragma once

#include <cstdint>

#include "../Foundation/Foundation.hpp"
#include "MTLAccelerationStructureTypes.hpp"
#include "MTLArgument.hpp"
#include "MTLDefines.hpp"
#include "MTLResource.hpp"
#include "MTLStageInputOutputDescriptor.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Buffer;

_MTL_ENUM(NS::Integer, MatrixLayout){
    MatrixLayoutColumnMajor = 0,
    MatrixLayoutRowMajor = 1,
};

_MTL_ENUM(uint32_t, MotionBorderMode){
    MotionBorderModeClamp = 0,
    MotionBorderModeVanish = 1,
};

_MTL_ENUM(NS::Integer, CurveType){
    CurveTypeRound = 0,
    CurveTypeFlat = 1,
};

_MTL_ENUM(NS::Integer, CurveBasis){
    CurveBasisBSpline = 0,
    CurveBasisCatmullRom = 1,
    CurveBasisLinear = 2,
    CurveBasisBezier = 3,
};

_MTL_ENUM(NS::Integer, CurveEndCaps){
    CurveEndCapsNone = 0,
    CurveEndCapsDisk = 1,
    CurveEndCapsSphere = 2,
};

_MTL_ENUM(NS::UInteger, AccelerationStructureInstanceDescriptorType){
    AccelerationStructureInstanceDescriptorTypeDefault = 0,
    AccelerationStructureInstanceDescriptorTypeUserID = 1,
    AccelerationStructureInstanceDescriptorTypeMotion = 2,
    AccelerationStructureInstanceDescriptorTypeIndirect = 3,
    AccelerationStructureInstanceDescriptorTypeIndirectMotion = 4,
};

_MTL_ENUM(NS::Integer, TransformType){
    TransformTypePackedFloat4x3 = 0,
    TransformTypeComponent = 1,
};

_MTL_OPTIONS(NS::UInteger, AccelerationStructureRefitOptions){
    AccelerationStructureRefitOptionVertexData = 1,
    AccelerationStructureRefitOptionPerPrimitiveData = 1 << 1,
};

_MTL_OPTIONS(NS::UInteger, AccelerationStructureUsage){
    AccelerationStructureUsageNone = 0,
    AccelerationStructureUsageRefit = 1,
    AccelerationStructureUsagePreferFastBuild = 1 << 1,
    AccelerationStructureUsageExtendedLimits = 1 << 2,
    AccelerationStructureUsagePreferFastIntersection = 1 << 4,
    AccelerationStructureUsageMinimizeMemory = 1 << 5,
};

_MTL_OPTIONS(uint32_t, AccelerationStructureInstanceOptions){
    AccelerationStructureInstanceOptionNone = 0,
    AccelerationStructureInstanceOptionDisableTriangleCulling = 1,
    AccelerationStructureInstanceOptionTriangleFrontFacingWindingCounterClockwise = 1 << 1,
    AccelerationStructureInstanceOptionOpaque = 1 << 2,
    AccelerationStructureInstanceOptionNonOpaque = 1 << 3,
};

struct AccelerationStructureInstanceDescriptor {
  PackedFloat4x3 transformationMatrix;
  AccelerationStructureInstanceOptions options;
  uint32_t mask;
  uint32_t intersectionFunctionTableOffset;
  uint32_t accelerationStructureIndex;
};

struct AccelerationStructureUserIDInstanceDescriptor {
  PackedFloat4x3 transformationMatrix;
  AccelerationStructureInstanceOptions options;
  uint32_t mask;
  uint32_t intersectionFunctionTableOffset;
  uint32_t accelerationStructureIndex;
  uint32_t userID;
};

struct AccelerationStructureMotionInstanceDescriptor {
  AccelerationStructureInstanceOptions options;
  uint32_t mask;
  uint32_t intersectionFunctionTableOffset;
  uint32_t accelerationStructureIndex;
  uint32_t userID;
  uint32_t motionTransformsStartIndex;
  uint32_t motionTransformsCount;
  MotionBorderMode motionStartBorderMode;
  MotionBorderMode motionEndBorderMode;
  float motionStartTime;
  float motionEndTime;
};

struct IndirectAccelerationStructureInstanceDescriptor {
  PackedFloat4x3 transformationMatrix;
  AccelerationStructureInstanceOptions options;
  uint32_t mask;
  uint32_t intersectionFunctionTableOffset;
  uint32_t userID;
  ResourceID accelerationStructureID;
};

struct IndirectAccelerationStructureMotionInstanceDescriptor {
  AccelerationStructureInstanceOptions options;
  uint32_t mask;
  uint32_t intersectionFunctionTableOffset;
  uint32_t userID;
  ResourceID accelerationStructureID;
  uint32_t motionTransformsStartIndex;
  uint32_t motionTransformsCount;
  MotionBorderMode motionStartBorderMode;
  MotionBorderMode motionEndBorderMode;
  float motionStartTime;
  float motionEndTime;
};

class _MTL_EXPORT AccelerationStructureDescriptor : public NS::Copying<AccelerationStructureDescriptor> {
 public:
  static AccelerationStructureDescriptor* alloc();
  AccelerationStructureDescriptor* init();

  AccelerationStructureUsage usage() const;
  void setUsage(AccelerationStructureUsage usage);
};

class _MTL_EXPORT AccelerationStructureGeometryDescriptor
    : public NS::Copying<AccelerationStructureGeometryDescriptor> {
 public:
  static AccelerationStructureGeometryDescriptor* alloc();
  AccelerationStructureGeometryDescriptor* init();

  NS::String* label() const;
  void setLabel(const NS::String* label);

  bool allowDuplicateIntersectionFunctionInvocation() const;
  void setAllowDuplicateIntersectionFunctionInvocation(bool allowDuplicateIntersectionFunctionInvocation);
  NS::UInteger intersectionFunctionTableOffset() const;
  void setIntersectionFunctionTableOffset(NS::UInteger intersectionFunctionTableOffset);
  bool opaque() const;
  void setOpaque(bool opaque);
  Buffer* primitiveDataBuffer() const;
  void setPrimitiveDataBuffer(const Buffer* primitiveDataBuffer);
  NS::UInteger primitiveDataBufferOffset() const;
  void setPrimitiveDataBufferOffset(NS::UInteger primitiveDataBufferOffset);
  NS::UInteger primitiveDataElementSize() const;
  void setPrimitiveDataElementSize(NS::UInteger primitiveDataElementSize);
  NS::UInteger primitiveDataStride() const;
  void setPrimitiveDataStride(NS::UInteger primitiveDataStride);
};

class _MTL_EXPORT PrimitiveAccelerationStructureDescriptor
    : public NS::Copying<PrimitiveAccelerationStructureDescriptor, AccelerationStructureDescriptor> {
 public:
  static PrimitiveAccelerationStructureDescriptor* descriptor();

  static PrimitiveAccelerationStructureDescriptor* alloc();
  PrimitiveAccelerationStructureDescriptor* init();

  NS::Array* geometryDescriptors() const;
  void setGeometryDescriptors(const NS::Array* geometryDescriptors);
  MotionBorderMode motionEndBorderMode() const;
  void setMotionEndBorderMode(MotionBorderMode motionEndBorderMode);
  float motionEndTime() const;
  void setMotionEndTime(float motionEndTime);
  NS::UInteger motionKeyframeCount() const;
  void setMotionKeyframeCount(NS::UInteger motionKeyframeCount);
  MotionBorderMode motionStartBorderMode() const;
  void setMotionStartBorderMode(MotionBorderMode motionStartBorderMode);
  float motionStartTime() const;
  void setMotionStartTime(float motionStartTime);
};

class _MTL_EXPORT AccelerationStructureTriangleGeometryDescriptor
    : public NS::Copying<AccelerationStructureTriangleGeometryDescriptor, AccelerationStructureGeometryDescriptor> {
 public:
  static AccelerationStructureTriangleGeometryDescriptor* descriptor();

  static AccelerationStructureTriangleGeometryDescriptor* alloc();
  AccelerationStructureTriangleGeometryDescriptor* init();

  Buffer* indexBuffer() const;
  void setIndexBuffer(const Buffer* indexBuffer);
  NS::UInteger indexBufferOffset() const;
  void setIndexBufferOffset(NS::UInteger indexBufferOffset);
  IndexType indexType() const;
  void setIndexType(IndexType indexType);
  Buffer* transformationMatrixBuffer() const;
  void setTransformationMatrixBuffer(const Buffer* transformationMatrixBuffer);
  NS::UInteger transformationMatrixBufferOffset() const;
  void setTransformationMatrixBufferOffset(NS::UInteger transformationMatrixBufferOffset);
  MatrixLayout transformationMatrixLayout() const;
  void setTransformationMatrixLayout(MatrixLayout transformationMatrixLayout);
  NS::UInteger triangleCount() const;
  void setTriangleCount(NS::UInteger triangleCount);
  Buffer* vertexBuffer() const;
  void setVertexBuffer(const Buffer* vertexBuffer);
  NS::UInteger vertexBufferOffset() const;
  void setVertexBufferOffset(NS::UInteger vertexBufferOffset);
  AttributeFormat vertexFormat() const;
  void setVertexFormat(AttributeFormat vertexFormat);
  NS::UInteger vertexStride() const;
  void setVertexStride(NS::UInteger vertexStride);
};

class _MTL_EXPORT AccelerationStructureBoundingBoxGeometryDescriptor
    : public NS::Copying<AccelerationStructureBoundingBoxGeometryDescriptor, AccelerationStructureGeometryDescriptor> {
 public:
  static AccelerationStructureBoundingBoxGeometryDescriptor* descriptor();

  static AccelerationStructureBoundingBoxGeometryDescriptor* alloc();
  AccelerationStructureBoundingBoxGeometryDescriptor* init();

  Buffer* boundingBoxBuffer() const;
  void setBoundingBoxBuffer(const Buffer* boundingBoxBuffer);
  NS::UInteger boundingBoxBufferOffset() const;
  void setBoundingBoxBufferOffset(NS::UInteger boundingBoxBufferOffset);
  NS::UInteger boundingBoxCount() const;
  void setBoundingBoxCount(NS::UInteger boundingBoxCount);
  NS::UInteger boundingBoxStride() const;
  void setBoundingBoxStride(NS::UInteger boundingBoxStride);
};

class _MTL_EXPORT MotionKeyframeData : public NS::Referencing<MotionKeyframeData> {
 public:
  static MotionKeyframeData* data();

  static MotionKeyframeData* alloc();
  MotionKeyframeData* init();

  Buffer* buffer() const;
  void setBuffer(const Buffer* buffer);
  NS::UInteger offset() const;
  void setOffset(NS::UInteger offset);
};

class _MTL_EXPORT AccelerationStructureMotionTriangleGeometryDescriptor
    : public NS::Copying<AccelerationStructureMotionTriangleGeometryDescriptor,
                         AccelerationStructureGeometryDescriptor> {
 public:
  static AccelerationStructureMotionTriangleGeometryDescriptor* descriptor();

  static AccelerationStructureMotionTriangleGeometryDescriptor* alloc();
  AccelerationStructureMotionTriangleGeometryDescriptor* init();

  Buffer* indexBuffer() const;
  void setIndexBuffer(const Buffer* indexBuffer);
  NS::UInteger indexBufferOffset() const;
  void setIndexBufferOffset(NS::UInteger indexBufferOffset);
  IndexType indexType() const;
  void setIndexType(IndexType indexType);
  Buffer* transformationMatrixBuffer() const;
  void setTransformationMatrixBuffer(const Buffer* transformationMatrixBuffer);
  NS::UInteger transformationMatrixBufferOffset() const;
  void setTransformationMatrixBufferOffset(NS::UInteger transformationMatrixBufferOffset);
  MatrixLayout transformationMatrixLayout() const;
  void setTransformationMatrixLayout(MatrixLayout transformationMatrixLayout);
  NS::UInteger triangleCount() const;
  void setTriangleCount(NS::UInteger triangleCount);
  NS::Array* vertexBuffers() const;
  void setVertexBuffers(const NS::Array* vertexBuffers);
  AttributeFormat vertexFormat() const;
  void setVertexFormat(AttributeFormat vertexFormat);
  NS::UInteger vertexStride() const;
  void setVertexStride(NS::UInteger vertexStride);
};

class _MTL_EXPORT AccelerationStructureMotionBoundingBoxGeometryDescriptor
    : public NS::Copying<AccelerationStructureMotionBoundingBoxGeometryDescriptor,
                         AccelerationStructureGeometryDescriptor> {
 public:
  static AccelerationStructureMotionBoundingBoxGeometryDescriptor* descriptor();

  static AccelerationStructureMotionBoundingBoxGeometryDescriptor* alloc();
  AccelerationStructureMotionBoundingBoxGeometryDescriptor* init();

  NS::Array* boundingBoxBuffers() const;
  void setBoundingBoxBuffers(const NS::Array* boundingBoxBuffers);
  NS::UInteger boundingBoxCount() const;
  void setBoundingBoxCount(NS::UInteger boundingBoxCount);
  NS::UInteger boundingBoxStride() const;
  void setBoundingBoxStride(NS::UInteger boundingBoxStride);
};

class _MTL_EXPORT AccelerationStructureCurveGeometryDescriptor
    : public NS::Copying<AccelerationStructureCurveGeometryDescriptor, AccelerationStructureGeometryDescriptor> {
 public:
  static AccelerationStructureCurveGeometryDescriptor* descriptor();

  static AccelerationStructureCurveGeometryDescriptor* alloc();
  AccelerationStructureCurveGeometryDescriptor* init();

  Buffer* controlPointBuffer() const;
  void setControlPointBuffer(const Buffer* controlPointBuffer);
  NS::UInteger controlPointBufferOffset() const;
  void setControlPointBufferOffset(NS::UInteger controlPointBufferOffset);
  NS::UInteger controlPointCount() const;
  void setControlPointCount(NS::UInteger controlPointCount);
  AttributeFormat controlPointFormat() const;
  void setControlPointFormat(AttributeFormat controlPointFormat);
  NS::UInteger controlPointStride() const;
  void setControlPointStride(NS::UInteger controlPointStride);
  CurveBasis curveBasis() const;
  void setCurveBasis(CurveBasis curveBasis);
  CurveEndCaps curveEndCaps() const;
  void setCurveEndCaps(CurveEndCaps curveEndCaps);
  CurveType curveType() const;
  void setCurveType(CurveType curveType);
  Buffer* indexBuffer() const;
  void setIndexBuffer(const Buffer* indexBuffer);
  NS::UInteger indexBufferOffset() const;
  void setIndexBufferOffset(NS::UInteger indexBufferOffset);
  IndexType indexType() const;
  void setIndexType(IndexType indexType);
  Buffer* radiusBuffer() const;
  void setRadiusBuffer(const Buffer* radiusBuffer);
  NS::UInteger radiusBufferOffset() const;
  void setRadiusBufferOffset(NS::UInteger radiusBufferOffset);
  AttributeFormat radiusFormat() const;
  void setRadiusFormat(AttributeFormat radiusFormat);
  NS::UInteger radiusStride() const;
  void setRadiusStride(NS::UInteger radiusStride);
  NS::UInteger segmentControlPointCount() const;
  void setSegmentControlPointCount(NS::UInteger segmentControlPointCount);
  NS::UInteger segmentCount() const;
  void setSegmentCount(NS::UInteger segmentCount);
};

class _MTL_EXPORT AccelerationStructureMotionCurveGeometryDescriptor
    : public NS::Copying<AccelerationStructureMotionCurveGeometryDescriptor, AccelerationStructureGeometryDescriptor> {
 public:
  static AccelerationStructureMotionCurveGeometryDescriptor* descriptor();

  static AccelerationStructureMotionCurveGeometryDescriptor* alloc();
  AccelerationStructureMotionCurveGeometryDescriptor* init();

  NS::Array* controlPointBuffers() const;
  void setControlPointBuffers(const NS::Array* controlPointBuffers);
  NS::UInteger controlPointCount() const;
  void setControlPointCount(NS::UInteger controlPointCount);
  AttributeFormat controlPointFormat() const;
  void setControlPointFormat(AttributeFormat controlPointFormat);
  NS::UInteger controlPointStride() const;
  void setControlPointStride(NS::UInteger controlPointStride);
  CurveBasis curveBasis() const;
  void setCurveBasis(CurveBasis curveBasis);
  CurveEndCaps curveEndCaps() const;
  void setCurveEndCaps(CurveEndCaps curveEndCaps);
  CurveType curveType() const;
  void setCurveType(CurveType curveType);
  Buffer* indexBuffer() const;
  void setIndexBuffer(const Buffer* indexBuffer);
  NS::UInteger indexBufferOffset() const;
  void setIndexBufferOffset(NS::UInteger indexBufferOffset);
  IndexType indexType() const;
  void setIndexType(IndexType indexType);
  NS::Array* radiusBuffers() const;
  void setRadiusBuffers(const NS::Array* radiusBuffers);
  AttributeFormat radiusFormat() const;
  void setRadiusFormat(AttributeFormat radiusFormat);
  NS::UInteger radiusStride() const;
  void setRadiusStride(NS::UInteger radiusStride);
  NS::UInteger segmentControlPointCount() const;
  void setSegmentControlPointCount(NS::UInteger segmentControlPointCount);
  NS::UInteger segmentCount() const;
  void setSegmentCount(NS::UInteger segmentCount);
};

class _MTL_EXPORT InstanceAccelerationStructureDescriptor
    : public NS::Copying<InstanceAccelerationStructureDescriptor, AccelerationStructureDescriptor> {
 public:
  static InstanceAccelerationStructureDescriptor* descriptor();

  static InstanceAccelerationStructureDescriptor* alloc();
  InstanceAccelerationStructureDescriptor* init();

  NS::UInteger instanceCount() const;
  void setInstanceCount(NS::UInteger instanceCount);
  Buffer* instanceDescriptorBuffer() const;
  void setInstanceDescriptorBuffer(const Buffer* instanceDescriptorBuffer);
  NS::UInteger instanceDescriptorBufferOffset() const;
  void setInstanceDescriptorBufferOffset(NS::UInteger instanceDescriptorBufferOffset);
  NS::UInteger instanceDescriptorStride() const;
  void setInstanceDescriptorStride(NS::UInteger instanceDescriptorStride);
  AccelerationStructureInstanceDescriptorType instanceDescriptorType() const;
  void setInstanceDescriptorType(AccelerationStructureInstanceDescriptorType instanceDescriptorType);
  MatrixLayout instanceTransformationMatrixLayout() const;
  void setInstanceTransformationMatrixLayout(MatrixLayout instanceTransformationMatrixLayout);
  NS::Array* instancedAccelerationStructures() const;
  void setInstancedAccelerationStructures(const NS::Array* instancedAccelerationStructures);
  Buffer* motionTransformBuffer() const;
  void setMotionTransformBuffer(const Buffer* motionTransformBuffer);
  NS::UInteger motionTransformBufferOffset() const;
  void setMotionTransformBufferOffset(NS::UInteger motionTransformBufferOffset);
  NS::UInteger motionTransformCount() const;
  void setMotionTransformCount(NS::UInteger motionTransformCount);
  NS::UInteger motionTransformStride() const;
  void setMotionTransformStride(NS::UInteger motionTransformStride);
  TransformType motionTransformType() const;
  void setMotionTransformType(TransformType motionTransformType);
};

class _MTL_EXPORT IndirectInstanceAccelerationStructureDescriptor
    : public NS::Copying<IndirectInstanceAccelerationStructureDescriptor, AccelerationStructureDescriptor> {
 public:
  static IndirectInstanceAccelerationStructureDescriptor* descriptor();

  static IndirectInstanceAccelerationStructureDescriptor* alloc();
  IndirectInstanceAccelerationStructureDescriptor* init();

  Buffer* instanceCountBuffer() const;
  void setInstanceCountBuffer(const Buffer* instanceCountBuffer);
  NS::UInteger instanceCountBufferOffset() const;
  void setInstanceCountBufferOffset(NS::UInteger instanceCountBufferOffset);
  Buffer* instanceDescriptorBuffer() const;
  void setInstanceDescriptorBuffer(const Buffer* instanceDescriptorBuffer);
  NS::UInteger instanceDescriptorBufferOffset() const;
  void setInstanceDescriptorBufferOffset(NS::UInteger instanceDescriptorBufferOffset);
  NS::UInteger instanceDescriptorStride() const;
  void setInstanceDescriptorStride(NS::UInteger instanceDescriptorStride);
  AccelerationStructureInstanceDescriptorType instanceDescriptorType() const;
  void setInstanceDescriptorType(AccelerationStructureInstanceDescriptorType instanceDescriptorType);
  MatrixLayout instanceTransformationMatrixLayout() const;
  void setInstanceTransformationMatrixLayout(MatrixLayout instanceTransformationMatrixLayout);
  NS::UInteger maxInstanceCount() const;
  void setMaxInstanceCount(NS::UInteger maxInstanceCount);
  NS::UInteger maxMotionTransformCount() const;
  void setMaxMotionTransformCount(NS::UInteger maxMotionTransformCount);
  Buffer* motionTransformBuffer() const;
  void setMotionTransformBuffer(const Buffer* motionTransformBuffer);
  NS::UInteger motionTransformBufferOffset() const;
  void setMotionTransformBufferOffset(NS::UInteger motionTransformBufferOffset);
  Buffer* motionTransformCountBuffer() const;
  void setMotionTransformCountBuffer(const Buffer* motionTransformCountBuffer);
  NS::UInteger motionTransformCountBufferOffset() const;
  void setMotionTransformCountBufferOffset(NS::UInteger motionTransformCountBufferOffset);
  NS::UInteger motionTransformStride() const;
  void setMotionTransformStride(NS::UInteger motionTransformStride);
  TransformType motionTransformType() const;
  void setMotionTransformType(TransformType motionTransformType);
};

class _MTL_EXPORT AccelerationStructure : public NS::Referencing<AccelerationStructure, Resource> {
 public:
  ResourceID gpuResourceID() const;
  NS::UInteger size() const;
};

}  // namespace MTL

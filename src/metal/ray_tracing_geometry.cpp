// Descriptors of the geometry that an acceleration structure is built from.
#include <Metal/MTLAccelerationStructure.hpp>
#include <Metal/MTLBuffer.hpp>

#include "metal/absent.hpp"

namespace metalloid::metal {

struct AccelerationStructureGeometryProperties {
  static constexpr const char* class_name = "MTLAccelerationStructureGeometryDescriptor";
  Copied<NS::String> label;
  bool allowDuplicateIntersectionFunctionInvocation = true;
  NS::UInteger intersectionFunctionTableOffset = 0;
  bool opaque = false;
  NS::SharedPtr<MTL::Buffer> primitiveDataBuffer;
  NS::UInteger primitiveDataBufferOffset = 0;
  NS::UInteger primitiveDataElementSize = 0;
  NS::UInteger primitiveDataStride = 0;
};
BASE_PROPERTIES(AccelerationStructureGeometryDescriptor, AccelerationStructureGeometryProperties)

struct TriangleGeometryProperties {
  static constexpr const char* class_name = "MTLAccelerationStructureTriangleGeometryDescriptor";
  NS::SharedPtr<MTL::Buffer> indexBuffer;
  NS::UInteger indexBufferOffset = 0;
  MTL::IndexType indexType = MTL::IndexTypeUInt16;
  NS::SharedPtr<MTL::Buffer> transformationMatrixBuffer;
  NS::UInteger transformationMatrixBufferOffset = 0;
  MTL::MatrixLayout transformationMatrixLayout = MTL::MatrixLayoutColumnMajor;
  NS::UInteger triangleCount = 0;
  NS::SharedPtr<MTL::Buffer> vertexBuffer;
  NS::UInteger vertexBufferOffset = 0;
  MTL::AttributeFormat vertexFormat = MTL::AttributeFormatFloat3;
  NS::UInteger vertexStride = 0;
};
DERIVED_PROPERTIES(AccelerationStructureTriangleGeometryDescriptor, AccelerationStructureGeometryProperties,
                   TriangleGeometryProperties)

struct BoundingBoxGeometryProperties {
  static constexpr const char* class_name = "MTLAccelerationStructureBoundingBoxGeometryDescriptor";
  NS::SharedPtr<MTL::Buffer> boundingBoxBuffer;
  NS::UInteger boundingBoxBufferOffset = 0;
  NS::UInteger boundingBoxCount = 0;
  NS::UInteger boundingBoxStride = sizeof(MTL::AxisAlignedBoundingBox);
};
DERIVED_PROPERTIES(AccelerationStructureBoundingBoxGeometryDescriptor, AccelerationStructureGeometryProperties,
                   BoundingBoxGeometryProperties)

struct CurveGeometryProperties {
  static constexpr const char* class_name = "MTLAccelerationStructureCurveGeometryDescriptor";
  NS::SharedPtr<MTL::Buffer> controlPointBuffer;
  NS::UInteger controlPointBufferOffset = 0;
  NS::UInteger controlPointCount = 0;
  MTL::AttributeFormat controlPointFormat = MTL::AttributeFormatFloat3;
  NS::UInteger controlPointStride = 0;
  MTL::CurveBasis curveBasis = MTL::CurveBasisBSpline;
  MTL::CurveEndCaps curveEndCaps = MTL::CurveEndCapsNone;
  MTL::CurveType curveType = MTL::CurveTypeRound;
  NS::SharedPtr<MTL::Buffer> indexBuffer;
  NS::UInteger indexBufferOffset = 0;
  MTL::IndexType indexType = MTL::IndexTypeUInt16;
  NS::SharedPtr<MTL::Buffer> radiusBuffer;
  NS::UInteger radiusBufferOffset = 0;
  MTL::AttributeFormat radiusFormat = MTL::AttributeFormatFloat;
  NS::UInteger radiusStride = 0;
  NS::UInteger segmentControlPointCount = 0;
  NS::UInteger segmentCount = 0;
};
DERIVED_PROPERTIES(AccelerationStructureCurveGeometryDescriptor, AccelerationStructureGeometryProperties,
                   CurveGeometryProperties)

struct MotionTriangleGeometryProperties {
  static constexpr const char* class_name = "MTLAccelerationStructureMotionTriangleGeometryDescriptor";
  NS::SharedPtr<MTL::Buffer> indexBuffer;
  NS::UInteger indexBufferOffset = 0;
  MTL::IndexType indexType = MTL::IndexTypeUInt16;
  NS::SharedPtr<MTL::Buffer> transformationMatrixBuffer;
  NS::UInteger transformationMatrixBufferOffset = 0;
  MTL::MatrixLayout transformationMatrixLayout = MTL::MatrixLayoutColumnMajor;
  NS::UInteger triangleCount = 0;
  Copied<NS::Array> vertexBuffers;
  MTL::AttributeFormat vertexFormat = MTL::AttributeFormatFloat3;
  NS::UInteger vertexStride = 0;
};
DERIVED_PROPERTIES(AccelerationStructureMotionTriangleGeometryDescriptor, AccelerationStructureGeometryProperties,
                   MotionTriangleGeometryProperties)

struct MotionBoundingBoxGeometryProperties {
  static constexpr const char* class_name = "MTLAccelerationStructureMotionBoundingBoxGeometryDescriptor";
  Copied<NS::Array> boundingBoxBuffers;
  NS::UInteger boundingBoxCount = 0;
  NS::UInteger boundingBoxStride = sizeof(MTL::AxisAlignedBoundingBox);
};
DERIVED_PROPERTIES(AccelerationStructureMotionBoundingBoxGeometryDescriptor, AccelerationStructureGeometryProperties,
                   MotionBoundingBoxGeometryProperties)

struct MotionCurveGeometryProperties {
  static constexpr const char* class_name = "MTLAccelerationStructureMotionCurveGeometryDescriptor";
  Copied<NS::Array> controlPointBuffers;
  NS::UInteger controlPointCount = 0;
  MTL::AttributeFormat controlPointFormat = MTL::AttributeFormatFloat3;
  NS::UInteger controlPointStride = 0;
  MTL::CurveBasis curveBasis = MTL::CurveBasisBSpline;
  MTL::CurveEndCaps curveEndCaps = MTL::CurveEndCapsNone;
  MTL::CurveType curveType = MTL::CurveTypeRound;
  NS::SharedPtr<MTL::Buffer> indexBuffer;
  NS::UInteger indexBufferOffset = 0;
  MTL::IndexType indexType = MTL::IndexTypeUInt16;
  Copied<NS::Array> radiusBuffers;
  MTL::AttributeFormat radiusFormat = MTL::AttributeFormatFloat;
  NS::UInteger radiusStride = 0;
  NS::UInteger segmentControlPointCount = 0;
  NS::UInteger segmentCount = 0;
};
DERIVED_PROPERTIES(AccelerationStructureMotionCurveGeometryDescriptor, AccelerationStructureGeometryProperties,
                   MotionCurveGeometryProperties)

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

ALLOC(AccelerationStructureGeometryDescriptor)
PROPERTY(AccelerationStructureGeometryDescriptor, label, setLabel)
PROPERTY(AccelerationStructureGeometryDescriptor, allowDuplicateIntersectionFunctionInvocation,
         setAllowDuplicateIntersectionFunctionInvocation)
PROPERTY(AccelerationStructureGeometryDescriptor, intersectionFunctionTableOffset, setIntersectionFunctionTableOffset)
PROPERTY(AccelerationStructureGeometryDescriptor, opaque, setOpaque)
PROPERTY(AccelerationStructureGeometryDescriptor, primitiveDataBuffer, setPrimitiveDataBuffer)
PROPERTY(AccelerationStructureGeometryDescriptor, primitiveDataBufferOffset, setPrimitiveDataBufferOffset)
PROPERTY(AccelerationStructureGeometryDescriptor, primitiveDataElementSize, setPrimitiveDataElementSize)
PROPERTY(AccelerationStructureGeometryDescriptor, primitiveDataStride, setPrimitiveDataStride)

ALLOC(AccelerationStructureTriangleGeometryDescriptor)
AUTORELEASED(AccelerationStructureTriangleGeometryDescriptor, descriptor)
PROPERTY(AccelerationStructureTriangleGeometryDescriptor, indexBuffer, setIndexBuffer)
PROPERTY(AccelerationStructureTriangleGeometryDescriptor, indexBufferOffset, setIndexBufferOffset)
PROPERTY(AccelerationStructureTriangleGeometryDescriptor, indexType, setIndexType)
PROPERTY(AccelerationStructureTriangleGeometryDescriptor, transformationMatrixBuffer, setTransformationMatrixBuffer)
PROPERTY(AccelerationStructureTriangleGeometryDescriptor, transformationMatrixBufferOffset,
         setTransformationMatrixBufferOffset)
PROPERTY(AccelerationStructureTriangleGeometryDescriptor, transformationMatrixLayout, setTransformationMatrixLayout)
PROPERTY(AccelerationStructureTriangleGeometryDescriptor, triangleCount, setTriangleCount)
PROPERTY(AccelerationStructureTriangleGeometryDescriptor, vertexBuffer, setVertexBuffer)
PROPERTY(AccelerationStructureTriangleGeometryDescriptor, vertexBufferOffset, setVertexBufferOffset)
PROPERTY(AccelerationStructureTriangleGeometryDescriptor, vertexFormat, setVertexFormat)
PROPERTY(AccelerationStructureTriangleGeometryDescriptor, vertexStride, setVertexStride)

ALLOC(AccelerationStructureBoundingBoxGeometryDescriptor)
AUTORELEASED(AccelerationStructureBoundingBoxGeometryDescriptor, descriptor)
PROPERTY(AccelerationStructureBoundingBoxGeometryDescriptor, boundingBoxBuffer, setBoundingBoxBuffer)
PROPERTY(AccelerationStructureBoundingBoxGeometryDescriptor, boundingBoxBufferOffset, setBoundingBoxBufferOffset)
PROPERTY(AccelerationStructureBoundingBoxGeometryDescriptor, boundingBoxCount, setBoundingBoxCount)
PROPERTY(AccelerationStructureBoundingBoxGeometryDescriptor, boundingBoxStride, setBoundingBoxStride)

ALLOC(AccelerationStructureCurveGeometryDescriptor)
AUTORELEASED(AccelerationStructureCurveGeometryDescriptor, descriptor)
PROPERTY(AccelerationStructureCurveGeometryDescriptor, controlPointBuffer, setControlPointBuffer)
PROPERTY(AccelerationStructureCurveGeometryDescriptor, controlPointBufferOffset, setControlPointBufferOffset)
PROPERTY(AccelerationStructureCurveGeometryDescriptor, controlPointCount, setControlPointCount)
PROPERTY(AccelerationStructureCurveGeometryDescriptor, controlPointFormat, setControlPointFormat)
PROPERTY(AccelerationStructureCurveGeometryDescriptor, controlPointStride, setControlPointStride)
PROPERTY(AccelerationStructureCurveGeometryDescriptor, curveBasis, setCurveBasis)
PROPERTY(AccelerationStructureCurveGeometryDescriptor, curveEndCaps, setCurveEndCaps)
PROPERTY(AccelerationStructureCurveGeometryDescriptor, curveType, setCurveType)
PROPERTY(AccelerationStructureCurveGeometryDescriptor, indexBuffer, setIndexBuffer)
PROPERTY(AccelerationStructureCurveGeometryDescriptor, indexBufferOffset, setIndexBufferOffset)
PROPERTY(AccelerationStructureCurveGeometryDescriptor, indexType, setIndexType)
PROPERTY(AccelerationStructureCurveGeometryDescriptor, radiusBuffer, setRadiusBuffer)
PROPERTY(AccelerationStructureCurveGeometryDescriptor, radiusBufferOffset, setRadiusBufferOffset)
PROPERTY(AccelerationStructureCurveGeometryDescriptor, radiusFormat, setRadiusFormat)
PROPERTY(AccelerationStructureCurveGeometryDescriptor, radiusStride, setRadiusStride)
PROPERTY(AccelerationStructureCurveGeometryDescriptor, segmentControlPointCount, setSegmentControlPointCount)
PROPERTY(AccelerationStructureCurveGeometryDescriptor, segmentCount, setSegmentCount)

ALLOC(AccelerationStructureMotionTriangleGeometryDescriptor)
AUTORELEASED(AccelerationStructureMotionTriangleGeometryDescriptor, descriptor)
PROPERTY(AccelerationStructureMotionTriangleGeometryDescriptor, indexBuffer, setIndexBuffer)
PROPERTY(AccelerationStructureMotionTriangleGeometryDescriptor, indexBufferOffset, setIndexBufferOffset)
PROPERTY(AccelerationStructureMotionTriangleGeometryDescriptor, indexType, setIndexType)
PROPERTY(AccelerationStructureMotionTriangleGeometryDescriptor, transformationMatrixBuffer,
         setTransformationMatrixBuffer)
PROPERTY(AccelerationStructureMotionTriangleGeometryDescriptor, transformationMatrixBufferOffset,
         setTransformationMatrixBufferOffset)
PROPERTY(AccelerationStructureMotionTriangleGeometryDescriptor, transformationMatrixLayout,
         setTransformationMatrixLayout)
PROPERTY(AccelerationStructureMotionTriangleGeometryDescriptor, triangleCount, setTriangleCount)
PROPERTY(AccelerationStructureMotionTriangleGeometryDescriptor, vertexBuffers, setVertexBuffers)
PROPERTY(AccelerationStructureMotionTriangleGeometryDescriptor, vertexFormat, setVertexFormat)
PROPERTY(AccelerationStructureMotionTriangleGeometryDescriptor, vertexStride, setVertexStride)

ALLOC(AccelerationStructureMotionBoundingBoxGeometryDescriptor)
AUTORELEASED(AccelerationStructureMotionBoundingBoxGeometryDescriptor, descriptor)
PROPERTY(AccelerationStructureMotionBoundingBoxGeometryDescriptor, boundingBoxBuffers, setBoundingBoxBuffers)
PROPERTY(AccelerationStructureMotionBoundingBoxGeometryDescriptor, boundingBoxCount, setBoundingBoxCount)
PROPERTY(AccelerationStructureMotionBoundingBoxGeometryDescriptor, boundingBoxStride, setBoundingBoxStride)

ALLOC(AccelerationStructureMotionCurveGeometryDescriptor)
AUTORELEASED(AccelerationStructureMotionCurveGeometryDescriptor, descriptor)
PROPERTY(AccelerationStructureMotionCurveGeometryDescriptor, controlPointBuffers, setControlPointBuffers)
PROPERTY(AccelerationStructureMotionCurveGeometryDescriptor, controlPointCount, setControlPointCount)
PROPERTY(AccelerationStructureMotionCurveGeometryDescriptor, controlPointFormat, setControlPointFormat)
PROPERTY(AccelerationStructureMotionCurveGeometryDescriptor, controlPointStride, setControlPointStride)
PROPERTY(AccelerationStructureMotionCurveGeometryDescriptor, curveBasis, setCurveBasis)
PROPERTY(AccelerationStructureMotionCurveGeometryDescriptor, curveEndCaps, setCurveEndCaps)
PROPERTY(AccelerationStructureMotionCurveGeometryDescriptor, curveType, setCurveType)
PROPERTY(AccelerationStructureMotionCurveGeometryDescriptor, indexBuffer, setIndexBuffer)
PROPERTY(AccelerationStructureMotionCurveGeometryDescriptor, indexBufferOffset, setIndexBufferOffset)
PROPERTY(AccelerationStructureMotionCurveGeometryDescriptor, indexType, setIndexType)
PROPERTY(AccelerationStructureMotionCurveGeometryDescriptor, radiusBuffers, setRadiusBuffers)
PROPERTY(AccelerationStructureMotionCurveGeometryDescriptor, radiusFormat, setRadiusFormat)
PROPERTY(AccelerationStructureMotionCurveGeometryDescriptor, radiusStride, setRadiusStride)
PROPERTY(AccelerationStructureMotionCurveGeometryDescriptor, segmentControlPointCount, setSegmentControlPointCount)
PROPERTY(AccelerationStructureMotionCurveGeometryDescriptor, segmentCount, setSegmentCount)

}  // namespace MTL

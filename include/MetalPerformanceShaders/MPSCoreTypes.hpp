// Types that all of Metal Performance Shaders shares.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../Metal/Metal.hpp"
#include "MPSDefines.hpp"

namespace MPS {

_MPS_OPTIONS(NS::UInteger, KernelOptions){
    KernelOptionsNone = 0,
    KernelOptionsSkipAPIValidation = 1 << 0,
    KernelOptionsAllowReducedPrecision = 1 << 1,
    KernelOptionsDisableInternalTiling = 1 << 2,
    KernelOptionsInsertDebugGroups = 1 << 3,
    KernelOptionsVerbose = 1 << 4,
};

_MPS_ENUM(NS::UInteger, ImageEdgeMode){
    ImageEdgeModeZero = 0,           ImageEdgeModeClamp = 1,    ImageEdgeModeMirror = 2,
    ImageEdgeModeMirrorWithEdge = 3, ImageEdgeModeConstant = 4,
};

_MPS_ENUM(NS::UInteger, ImageFeatureChannelFormat){
    ImageFeatureChannelFormatNone = 0,    ImageFeatureChannelFormatUnorm8 = 1,  ImageFeatureChannelFormatUnorm16 = 2,
    ImageFeatureChannelFormatFloat16 = 3, ImageFeatureChannelFormatFloat32 = 4, ImageFeatureChannelFormat_reserved0 = 5,
    ImageFeatureChannelFormatCount = 6,
};

_MPS_ENUM(uint32_t, DataType){
    DataTypeInvalid = 0,

    DataTypeFloatBit = 0x10000000,
    DataTypeAlternateEncodingBit = 0x80000000,
    DataTypeFloat16 = DataTypeFloatBit | 16,
    DataTypeFloat32 = DataTypeFloatBit | 32,
    DataTypeBFloat16 = DataTypeAlternateEncodingBit | DataTypeFloat16,

    DataTypeComplexBit = 0x01000000,
    DataTypeComplexFloat16 = DataTypeFloatBit | DataTypeComplexBit | 16,
    DataTypeComplexFloat32 = DataTypeFloatBit | DataTypeComplexBit | 32,

    DataTypeSignedBit = 0x20000000,
    DataTypeIntBit = DataTypeSignedBit,
    DataTypeInt2 = DataTypeSignedBit | 2,
    DataTypeInt4 = DataTypeSignedBit | 4,
    DataTypeInt8 = DataTypeSignedBit | 8,
    DataTypeInt16 = DataTypeSignedBit | 16,
    DataTypeInt32 = DataTypeSignedBit | 32,
    DataTypeInt64 = DataTypeSignedBit | 64,

    DataTypeUInt2 = 2,
    DataTypeUInt4 = 4,
    DataTypeUInt8 = 8,
    DataTypeUInt16 = 16,
    DataTypeUInt32 = 32,
    DataTypeUInt64 = 64,

    DataTypeBool = DataTypeAlternateEncodingBit | 8,

    DataTypeNormalizedBit = 0x40000000,
    DataTypeUnorm1 = DataTypeNormalizedBit | 1,
    DataTypeUnorm8 = DataTypeNormalizedBit | 8,
};

_MPS_OPTIONS(NS::UInteger, AliasingStrategy){
    AliasingStrategyDefault = 0,
    AliasingStrategyDontCare = AliasingStrategyDefault,
    AliasingStrategyShallAlias = 1 << 0,
    AliasingStrategyShallNotAlias = 1 << 1,
    AliasingStrategyAliasingReserved = AliasingStrategyShallAlias | AliasingStrategyShallNotAlias,
    AliasingStrategyPreferTemporaryMemory = 1 << 2,
    AliasingStrategyPreferNonTemporaryMemory = 1 << 3,
};

struct Offset {
  NS::Integer x, y, z;
};

struct Origin {
  double x, y, z;
};

struct Size {
  double width, height, depth;
};

struct Region {
  Origin origin;
  Size size;
};

struct ScaleTransform {
  double scaleX, scaleY, translateX, translateY;
};

struct ImageCoordinate {
  NS::UInteger x, y, channel;
};

struct ImageRegion {
  ImageCoordinate offset, size;
};

struct DimensionSlice {
  NS::UInteger start, length;
};

// The whole of an image, however large.
inline const MTL::Region RectNoClip(0, 0, 0, NS::UIntegerMax, NS::UIntegerMax, NS::UIntegerMax);

// Whether kernels of this library run on the device: on all of ours.
_MPS_EXPORT bool SupportsMTLDevice(const MTL::Device* device);

}  // namespace MPS

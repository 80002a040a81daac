// A device: what it can do, and the source of every object that lives on it.
#pragma once

#include <dispatch/dispatch.h>

#include <cstdint>
#include <functional>

#include "../Foundation/Foundation.hpp"
#include "MTLArgument.hpp"
#include "MTLDataType.hpp"
#include "MTLDefines.hpp"
#include "MTLPixelFormat.hpp"
#include "MTLResource.hpp"
#include "MTLTexture.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class AccelerationStructure;
class AccelerationStructureDescriptor;
class ArgumentEncoder;
class BinaryArchive;
class BinaryArchiveDescriptor;
class Buffer;
class CommandQueue;
class CommandQueueDescriptor;
class CompileOptions;
class ComputePipelineDescriptor;
class ComputePipelineReflection;
class ComputePipelineState;
class CounterSampleBuffer;
class CounterSampleBufferDescriptor;
class DepthStencilDescriptor;
class DepthStencilState;
class Device;
class DynamicLibrary;
class Event;
class Fence;
class Function;
class FunctionHandle;
class Heap;
class HeapDescriptor;
class IOCommandQueue;
class IOCommandQueueDescriptor;
class IOFileHandle;
class IndirectCommandBuffer;
class IndirectCommandBufferDescriptor;
class Library;
class LogState;
class LogStateDescriptor;
class MeshRenderPipelineDescriptor;
class RasterizationRateMap;
class RasterizationRateMapDescriptor;
class RenderPipelineDescriptor;
class RenderPipelineReflection;
class RenderPipelineState;
class ResidencySet;
class ResidencySetDescriptor;
class ResourceViewPoolDescriptor;
class SamplerDescriptor;
class SamplerState;
class SharedEvent;
class SharedEventHandle;
class StitchedLibraryDescriptor;
class TextureViewPool;
class TileRenderPipelineDescriptor;

_MTL_ENUM(NS::Integer, IOCompressionMethod){
    IOCompressionMethodZlib = 0, IOCompressionMethodLZFSE = 1,    IOCompressionMethodLZ4 = 2,
    IOCompressionMethodLZMA = 3, IOCompressionMethodLZBitmap = 4,
};

_MTL_ENUM(NS::UInteger, FeatureSet){
    FeatureSet_iOS_GPUFamily1_v1 = 0,
    FeatureSet_iOS_GPUFamily2_v1 = 1,
    FeatureSet_iOS_GPUFamily1_v2 = 2,
    FeatureSet_iOS_GPUFamily2_v2 = 3,
    FeatureSet_iOS_GPUFamily3_v1 = 4,
    FeatureSet_iOS_GPUFamily1_v3 = 5,
    FeatureSet_iOS_GPUFamily2_v3 = 6,
    FeatureSet_iOS_GPUFamily3_v2 = 7,
    FeatureSet_iOS_GPUFamily1_v4 = 8,
    FeatureSet_iOS_GPUFamily2_v4 = 9,
    FeatureSet_iOS_GPUFamily3_v3 = 10,
    FeatureSet_iOS_GPUFamily4_v1 = 11,
    FeatureSet_iOS_GPUFamily1_v5 = 12,
    FeatureSet_iOS_GPUFamily2_v5 = 13,
    FeatureSet_iOS_GPUFamily3_v4 = 14,
    FeatureSet_iOS_GPUFamily4_v2 = 15,
    FeatureSet_iOS_GPUFamily5_v1 = 16,
    FeatureSet_macOS_GPUFamily1_v1 = 10000,
    FeatureSet_OSX_GPUFamily1_v1 = 10000,
    FeatureSet_macOS_GPUFamily1_v2 = 10001,
    FeatureSet_OSX_GPUFamily1_v2 = 10001,
    FeatureSet_macOS_ReadWriteTextureTier2 = 10002,
    FeatureSet_OSX_ReadWriteTextureTier2 = 10002,
    FeatureSet_macOS_GPUFamily1_v3 = 10003,
    FeatureSet_macOS_GPUFamily1_v4 = 10004,
    FeatureSet_macOS_GPUFamily2_v1 = 10005,
    FeatureSet_watchOS_GPUFamily1_v1 = 20000,
    FeatureSet_WatchOS_GPUFamily1_v1 = 20000,
    FeatureSet_watchOS_GPUFamily2_v1 = 20001,
    FeatureSet_WatchOS_GPUFamily2_v1 = 20001,
    FeatureSet_tvOS_GPUFamily1_v1 = 30000,
    FeatureSet_TVOS_GPUFamily1_v1 = 30000,
    FeatureSet_tvOS_GPUFamily1_v2 = 30001,
    FeatureSet_tvOS_GPUFamily1_v3 = 30002,
    FeatureSet_tvOS_GPUFamily2_v1 = 30003,
    FeatureSet_tvOS_GPUFamily1_v4 = 30004,
    FeatureSet_tvOS_GPUFamily2_v2 = 30005,
};

_MTL_ENUM(NS::Integer, GPUFamily){
    GPUFamilyApple1 = 1001,       GPUFamilyApple2 = 1002,  GPUFamilyApple3 = 1003,  GPUFamilyApple4 = 1004,
    GPUFamilyApple5 = 1005,       GPUFamilyApple6 = 1006,  GPUFamilyApple7 = 1007,  GPUFamilyApple8 = 1008,
    GPUFamilyApple9 = 1009,       GPUFamilyApple10 = 1010, GPUFamilyMac1 = 2001,    GPUFamilyMac2 = 2002,
    GPUFamilyCommon1 = 3001,      GPUFamilyCommon2 = 3002, GPUFamilyCommon3 = 3003, GPUFamilyMacCatalyst1 = 4001,
    GPUFamilyMacCatalyst2 = 4002, GPUFamilyMetal3 = 5001,  GPUFamilyMetal4 = 5002,
};

_MTL_ENUM(NS::UInteger, DeviceLocation){
    DeviceLocationBuiltIn = 0,
    DeviceLocationSlot = 1,
    DeviceLocationExternal = 2,
    DeviceLocationUnspecified = NS::UIntegerMax,
};

_MTL_ENUM(NS::UInteger, ReadWriteTextureTier){
    ReadWriteTextureTierNone = 0,
    ReadWriteTextureTier1 = 1,
    ReadWriteTextureTier2 = 2,
};

_MTL_ENUM(NS::UInteger, ArgumentBuffersTier){
    ArgumentBuffersTier1 = 0,
    ArgumentBuffersTier2 = 1,
};

_MTL_ENUM(NS::UInteger, SparseTextureRegionAlignmentMode){
    SparseTextureRegionAlignmentModeOutward = 0,
    SparseTextureRegionAlignmentModeInward = 1,
};

_MTL_ENUM(NS::UInteger, CounterSamplingPoint){
    CounterSamplingPointAtStageBoundary = 0,    CounterSamplingPointAtDrawBoundary = 1,
    CounterSamplingPointAtDispatchBoundary = 2, CounterSamplingPointAtTileDispatchBoundary = 3,
    CounterSamplingPointAtBlitBoundary = 4,
};

_MTL_OPTIONS(NS::UInteger, PipelineOption){
    PipelineOptionNone = 0,
    PipelineOptionArgumentInfo = 1,
    PipelineOptionBindingInfo = 1,
    PipelineOptionBufferTypeInfo = 1 << 1,
    PipelineOptionFailOnBinaryArchiveMiss = 1 << 2,
};

using DeviceNotificationName = NS::String*;
using DeviceNotificationHandlerFunction = std::function<void(Device* pDevice, DeviceNotificationName notifyName)>;
using AutoreleasedComputePipelineReflection = ComputePipelineReflection*;
using AutoreleasedRenderPipelineReflection = RenderPipelineReflection*;
using NewLibraryCompletionHandlerFunction = std::function<void(Library*, NS::Error*)>;
using NewRenderPipelineStateCompletionHandlerFunction = std::function<void(RenderPipelineState*, NS::Error*)>;
using NewRenderPipelineStateWithReflectionCompletionHandlerFunction =
    std::function<void(RenderPipelineState*, RenderPipelineReflection*, NS::Error*)>;
using NewComputePipelineStateCompletionHandlerFunction = std::function<void(ComputePipelineState*, NS::Error*)>;
using NewComputePipelineStateWithReflectionCompletionHandlerFunction =
    std::function<void(ComputePipelineState*, ComputePipelineReflection*, NS::Error*)>;
using Timestamp = uint64_t;
#ifdef __BLOCKS__
using DeviceNotificationHandlerBlock = void (^)(Device* pDevice, DeviceNotificationName notifyName);
using NewLibraryCompletionHandler = void (^)(Library*, NS::Error*);
using NewRenderPipelineStateCompletionHandler = void (^)(RenderPipelineState*, NS::Error*);
using NewRenderPipelineStateWithReflectionCompletionHandler = void (^)(RenderPipelineState*, RenderPipelineReflection*,
                                                                       NS::Error*);
using NewComputePipelineStateCompletionHandler = void (^)(ComputePipelineState*, NS::Error*);
using NewComputePipelineStateWithReflectionCompletionHandler = void (^)(ComputePipelineState*,
                                                                        ComputePipelineReflection*, NS::Error*);
#endif

_MTL_CONST(DeviceNotificationName, DeviceWasAddedNotification);
_MTL_CONST(DeviceNotificationName, DeviceRemovalRequestedNotification);
_MTL_CONST(DeviceNotificationName, DeviceWasRemovedNotification);
_MTL_CONST(NS::ErrorUserInfoKey, CommandBufferEncoderInfoErrorKey);

struct AccelerationStructureSizes {
  NS::UInteger accelerationStructureSize;
  NS::UInteger buildScratchBufferSize;
  NS::UInteger refitScratchBufferSize;
};

struct SizeAndAlign {
  NS::UInteger size;
  NS::UInteger align;
};

class _MTL_EXPORT ArgumentDescriptor : public NS::Copying<ArgumentDescriptor> {
 public:
  static ArgumentDescriptor* argumentDescriptor();

  static ArgumentDescriptor* alloc();
  ArgumentDescriptor* init();

  BindingAccess access() const;
  void setAccess(BindingAccess access);
  NS::UInteger arrayLength() const;
  void setArrayLength(NS::UInteger arrayLength);
  NS::UInteger constantBlockAlignment() const;
  void setConstantBlockAlignment(NS::UInteger constantBlockAlignment);
  DataType dataType() const;
  void setDataType(DataType dataType);
  NS::UInteger index() const;
  void setIndex(NS::UInteger index);
  TextureType textureType() const;
  void setTextureType(TextureType textureType);
};

class _MTL_EXPORT Architecture : public NS::Copying<Architecture> {
 public:
  static Architecture* alloc();
  Architecture* init();

  NS::String* name() const;
};

class _MTL_EXPORT Device : public NS::Referencing<Device> {
 public:
  NS::String* name() const;

  Architecture* architecture() const;
  bool areBarycentricCoordsSupported() const;
  bool areProgrammableSamplePositionsSupported() const;
  bool areRasterOrderGroupsSupported() const;
  ArgumentBuffersTier argumentBuffersSupport() const;
  NS::Array* counterSets() const;
  NS::UInteger currentAllocatedSize() const;
  bool hasUnifiedMemory() const;
  bool isDepth24Stencil8PixelFormatSupported() const;
  bool isHeadless() const;
  bool isLowPower() const;
  bool isRemovable() const;
  DeviceLocation location() const;
  NS::UInteger locationNumber() const;
  NS::UInteger maxArgumentBufferSamplerCount() const;
  NS::UInteger maxBufferLength() const;
  NS::UInteger maxThreadgroupMemoryLength() const;
  Size maxThreadsPerThreadgroup() const;
  uint64_t maxTransferRate() const;
  NS::UInteger maximumConcurrentCompilationTaskCount() const;
  uint32_t peerCount() const;
  uint64_t peerGroupID() const;
  uint32_t peerIndex() const;
  ReadWriteTextureTier readWriteTextureSupport() const;
  uint64_t recommendedMaxWorkingSetSize() const;
  uint64_t registryID() const;
  bool shouldMaximizeConcurrentCompilation() const;
  void setShouldMaximizeConcurrentCompilation(bool shouldMaximizeConcurrentCompilation);
  NS::UInteger sparseTileSizeInBytes() const;
  bool supports32BitFloatFiltering() const;
  bool supports32BitMSAA() const;
  bool supportsBCTextureCompression() const;
  bool supportsDynamicLibraries() const;
  bool supportsFunctionPointers() const;
  bool supportsFunctionPointersFromRender() const;
  bool supportsPrimitiveMotionBlur() const;
  bool supportsPullModelInterpolation() const;
  bool supportsQueryTextureLOD() const;
  bool supportsRaytracing() const;
  bool supportsRaytracingFromRender() const;
  bool supportsRenderDynamicLibraries() const;
  bool supportsShaderBarycentricCoordinates() const;

  CommandQueue* newCommandQueue();
  CommandQueue* newCommandQueue(NS::UInteger maxCommandBufferCount);
  CommandQueue* newCommandQueue(const CommandQueueDescriptor* descriptor);
  Event* newEvent();
  Fence* newFence();
  LogState* newLogState(const LogStateDescriptor* descriptor, NS::Error** error);
  ResidencySet* newResidencySet(const ResidencySetDescriptor* desc, NS::Error** error);
  SharedEvent* newSharedEvent();
  SharedEvent* newSharedEvent(const SharedEventHandle* sharedEventHandle);

  AccelerationStructure* newAccelerationStructure(NS::UInteger size);
  AccelerationStructure* newAccelerationStructure(const AccelerationStructureDescriptor* descriptor);
  Buffer* newBuffer(NS::UInteger length, ResourceOptions options);
  Buffer* newBuffer(const void* pointer, NS::UInteger length, ResourceOptions options);
  Buffer* newBuffer(NS::UInteger length, ResourceOptions options, SparsePageSize placementSparsePageSize);
  Buffer* newBuffer(const void* pointer, NS::UInteger length, ResourceOptions options,
                    const std::function<void(void*, NS::UInteger)>& deallocator);
  Heap* newHeap(const HeapDescriptor* descriptor);
  SamplerState* newSamplerState(const SamplerDescriptor* descriptor);
  Texture* newSharedTexture(const TextureDescriptor* descriptor);
  Texture* newSharedTexture(const SharedTextureHandle* sharedHandle);
  Tensor* newTensor(const TensorDescriptor* descriptor, NS::Error** error);
  Texture* newTexture(const TextureDescriptor* descriptor);
  Texture* newTexture(const TextureDescriptor* descriptor, const IOSurfaceRef iosurface, NS::UInteger plane);

  Library* newDefaultLibrary();
  Library* newDefaultLibrary(const NS::Bundle* bundle, NS::Error** error);
  DynamicLibrary* newDynamicLibrary(const Library* library, NS::Error** error);
  DynamicLibrary* newDynamicLibrary(const NS::URL* url, NS::Error** error);
  Library* newLibrary(const NS::String* filepath, NS::Error** error);
  Library* newLibrary(const NS::URL* url, NS::Error** error);
  Library* newLibrary(const dispatch_data_t data, NS::Error** error);
  Library* newLibrary(const NS::String* source, const CompileOptions* options, NS::Error** error);
  Library* newLibrary(const StitchedLibraryDescriptor* descriptor, NS::Error** error);
  void newLibrary(const NS::String* pSource, const CompileOptions* pOptions,
                  const NewLibraryCompletionHandlerFunction& completionHandler);
  void newLibrary(const StitchedLibraryDescriptor* pDescriptor,
                  const NewLibraryCompletionHandlerFunction& completionHandler);

  ComputePipelineState* newComputePipelineState(const Function* computeFunction, NS::Error** error);
  ComputePipelineState* newComputePipelineState(const Function* computeFunction, PipelineOption options,
                                                const AutoreleasedComputePipelineReflection* reflection,
                                                NS::Error** error);
  ComputePipelineState* newComputePipelineState(const ComputePipelineDescriptor* descriptor, PipelineOption options,
                                                const AutoreleasedComputePipelineReflection* reflection,
                                                NS::Error** error);
  void newComputePipelineState(const Function* pFunction,
                               const NewComputePipelineStateCompletionHandlerFunction& completionHandler);
  void newComputePipelineState(const Function* pFunction, PipelineOption options,
                               const NewComputePipelineStateWithReflectionCompletionHandlerFunction& completionHandler);
  void newComputePipelineState(const ComputePipelineDescriptor* pDescriptor, PipelineOption options,
                               const NewComputePipelineStateWithReflectionCompletionHandlerFunction& completionHandler);

  DepthStencilState* newDepthStencilState(const DepthStencilDescriptor* descriptor);
  RasterizationRateMap* newRasterizationRateMap(const RasterizationRateMapDescriptor* descriptor);
  RenderPipelineState* newRenderPipelineState(const RenderPipelineDescriptor* descriptor, NS::Error** error);
  RenderPipelineState* newRenderPipelineState(const RenderPipelineDescriptor* descriptor, PipelineOption options,
                                              const AutoreleasedRenderPipelineReflection* reflection,
                                              NS::Error** error);
  RenderPipelineState* newRenderPipelineState(const TileRenderPipelineDescriptor* descriptor, PipelineOption options,
                                              const AutoreleasedRenderPipelineReflection* reflection,
                                              NS::Error** error);
  RenderPipelineState* newRenderPipelineState(const MeshRenderPipelineDescriptor* descriptor, PipelineOption options,
                                              const AutoreleasedRenderPipelineReflection* reflection,
                                              NS::Error** error);
  void newRenderPipelineState(const RenderPipelineDescriptor* pDescriptor,
                              const NewRenderPipelineStateCompletionHandlerFunction& completionHandler);
  void newRenderPipelineState(const RenderPipelineDescriptor* pDescriptor, PipelineOption options,
                              const NewRenderPipelineStateWithReflectionCompletionHandlerFunction& completionHandler);
  void newRenderPipelineState(const TileRenderPipelineDescriptor* pDescriptor, PipelineOption options,
                              const NewRenderPipelineStateWithReflectionCompletionHandlerFunction& completionHandler);
  void newRenderPipelineState(const MeshRenderPipelineDescriptor* descriptor, PipelineOption options,
                              const NewRenderPipelineStateWithReflectionCompletionHandlerFunction& completionHandler);

  ArgumentEncoder* newArgumentEncoder(const NS::Array* arguments);
  ArgumentEncoder* newArgumentEncoder(const BufferBinding* bufferBinding);
  BinaryArchive* newBinaryArchive(const BinaryArchiveDescriptor* descriptor, NS::Error** error);
  CounterSampleBuffer* newCounterSampleBuffer(const CounterSampleBufferDescriptor* descriptor, NS::Error** error);
  IOCommandQueue* newIOCommandQueue(const IOCommandQueueDescriptor* descriptor, NS::Error** error);
  IOFileHandle* newIOFileHandle(const NS::URL* url, NS::Error** error);
  IOFileHandle* newIOFileHandle(const NS::URL* url, IOCompressionMethod compressionMethod, NS::Error** error);
  IOFileHandle* newIOHandle(const NS::URL* url, NS::Error** error);
  IOFileHandle* newIOHandle(const NS::URL* url, IOCompressionMethod compressionMethod, NS::Error** error);
  IndirectCommandBuffer* newIndirectCommandBuffer(const IndirectCommandBufferDescriptor* descriptor,
                                                  NS::UInteger maxCount, ResourceOptions options);
  TextureViewPool* newTextureViewPool(const ResourceViewPoolDescriptor* descriptor, NS::Error** error);

  AccelerationStructureSizes accelerationStructureSizes(const AccelerationStructureDescriptor* descriptor);
  void convertSparsePixelRegions(const Region* pixelRegions, Region* tileRegions, Size tileSize,
                                 SparseTextureRegionAlignmentMode mode, NS::UInteger numRegions);
  void convertSparseTileRegions(const Region* tileRegions, Region* pixelRegions, Size tileSize,
                                NS::UInteger numRegions);
  FunctionHandle* functionHandle(const Function* function);
  void getDefaultSamplePositions(SamplePosition* positions, NS::UInteger count);
  SizeAndAlign heapAccelerationStructureSizeAndAlign(NS::UInteger size);
  SizeAndAlign heapAccelerationStructureSizeAndAlign(const AccelerationStructureDescriptor* descriptor);
  SizeAndAlign heapBufferSizeAndAlign(NS::UInteger length, ResourceOptions options);
  SizeAndAlign heapTextureSizeAndAlign(const TextureDescriptor* desc);
  NS::UInteger minimumLinearTextureAlignmentForPixelFormat(PixelFormat format);
  NS::UInteger minimumTextureBufferAlignmentForPixelFormat(PixelFormat format);
  uint64_t queryTimestampFrequency();
  void sampleTimestamps(Timestamp* cpuTimestamp, Timestamp* gpuTimestamp);
  Size sparseTileSize(TextureType textureType, PixelFormat pixelFormat, NS::UInteger sampleCount);
  Size sparseTileSize(TextureType textureType, PixelFormat pixelFormat, NS::UInteger sampleCount,
                      SparsePageSize sparsePageSize);
  NS::UInteger sparseTileSizeInBytes(SparsePageSize sparsePageSize);
  bool supportsCounterSampling(CounterSamplingPoint samplingPoint);
  bool supportsFamily(GPUFamily gpuFamily);
  bool supportsFeatureSet(FeatureSet featureSet);
  bool supportsRasterizationRateMap(NS::UInteger layerCount);
  bool supportsTextureSampleCount(NS::UInteger sampleCount);
  bool supportsVertexAmplificationCount(NS::UInteger count);
  SizeAndAlign tensorSizeAndAlign(const TensorDescriptor* descriptor);

#ifdef __BLOCKS__
  Buffer* newBuffer(const void* pointer, NS::UInteger length, ResourceOptions options,
                    void (^deallocator)(void*, NS::UInteger)) {
    return newBuffer(pointer, length, options, NS::Private::functionFromBlock(deallocator));
  }
  void newComputePipelineState(const Function* computeFunction,
                               const NewComputePipelineStateCompletionHandler completionHandler) {
    newComputePipelineState(computeFunction, NS::Private::functionFromBlock(completionHandler));
  }
  void newComputePipelineState(const Function* computeFunction, PipelineOption options,
                               const NewComputePipelineStateWithReflectionCompletionHandler completionHandler) {
    newComputePipelineState(computeFunction, options, NS::Private::functionFromBlock(completionHandler));
  }
  void newComputePipelineState(const ComputePipelineDescriptor* descriptor, PipelineOption options,
                               const NewComputePipelineStateWithReflectionCompletionHandler completionHandler) {
    newComputePipelineState(descriptor, options, NS::Private::functionFromBlock(completionHandler));
  }
  void newLibrary(const NS::String* source, const CompileOptions* options,
                  const NewLibraryCompletionHandler completionHandler) {
    newLibrary(source, options, NS::Private::functionFromBlock(completionHandler));
  }
  void newLibrary(const StitchedLibraryDescriptor* descriptor, const NewLibraryCompletionHandler completionHandler) {
    newLibrary(descriptor, NS::Private::functionFromBlock(completionHandler));
  }
  void newRenderPipelineState(const RenderPipelineDescriptor* descriptor,
                              const NewRenderPipelineStateCompletionHandler completionHandler) {
    newRenderPipelineState(descriptor, NS::Private::functionFromBlock(completionHandler));
  }
  void newRenderPipelineState(const RenderPipelineDescriptor* descriptor, PipelineOption options,
                              const NewRenderPipelineStateWithReflectionCompletionHandler completionHandler) {
    newRenderPipelineState(descriptor, options, NS::Private::functionFromBlock(completionHandler));
  }
  void newRenderPipelineState(const TileRenderPipelineDescriptor* descriptor, PipelineOption options,
                              const NewRenderPipelineStateWithReflectionCompletionHandler completionHandler) {
    newRenderPipelineState(descriptor, options, NS::Private::functionFromBlock(completionHandler));
  }
  void newRenderPipelineState(const MeshRenderPipelineDescriptor* descriptor, PipelineOption options,
                              const NewRenderPipelineStateWithReflectionCompletionHandler completionHandler) {
    newRenderPipelineState(descriptor, options, NS::Private::functionFromBlock(completionHandler));
  }
#endif

  [[deprecated("use areBarycentricCoordsSupported()")]] bool barycentricCoordsSupported() const {
    return areBarycentricCoordsSupported();
  }
  [[deprecated("use isDepth24Stencil8PixelFormatSupported()")]] bool depth24Stencil8PixelFormatSupported() const {
    return isDepth24Stencil8PixelFormatSupported();
  }
  [[deprecated("use isHeadless()")]] bool headless() const { return isHeadless(); }
  [[deprecated("use isLowPower()")]] bool lowPower() const { return isLowPower(); }
  [[deprecated("use areProgrammableSamplePositionsSupported()")]] bool programmableSamplePositionsSupported() const {
    return areProgrammableSamplePositionsSupported();
  }
  [[deprecated("use areRasterOrderGroupsSupported()")]] bool rasterOrderGroupsSupported() const {
    return areRasterOrderGroupsSupported();
  }
  [[deprecated("use isRemovable()")]] bool removable() const { return isRemovable(); }
};

_MTL_EXPORT Device* CreateSystemDefaultDevice();
_MTL_EXPORT NS::Array* CopyAllDevices();
_MTL_EXPORT NS::Array* CopyAllDevicesWithObserver(NS::Object** pOutObserver,
                                                  const DeviceNotificationHandlerFunction& handler);
_MTL_EXPORT void RemoveDeviceObserver(const NS::Object* pObserver);
#ifdef __BLOCKS__
inline NS::Array* CopyAllDevicesWithObserver(NS::Object** pOutObserver, DeviceNotificationHandlerBlock handler) {
  return CopyAllDevicesWithObserver(pOutObserver, NS::Private::functionFromBlock(handler));
}
#endif

}  // namespace MTL

// What a device says about itself. Programs ask to find out what they may use, so the answers are those of an Apple
// M-series GPU wherever a kernel is concerned, the limits are the device's own, and features that would lead to calls
// that fail here (ray tracing, dynamic libraries, what only drawing needs) are denied.
#include "metal/device.hpp"

#include <Metal/MTLArgument.hpp>
#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "foundation/string.hpp"

namespace metalloid::metal {
namespace {

class ArchitectureObject final : public MTL::Architecture {
 public:
  NS::SharedPtr<NS::String> architecture_name;

  const char* className() const override { return "MTLArchitecture"; }
};

MTL::Architecture* new_architecture(std::string_view name) {
  auto* architecture = new ArchitectureObject;
  architecture->architecture_name = NS::TransferPtr(foundation::new_string(name));
  return architecture;
}

}  // namespace

DeviceObject::DeviceObject(std::shared_ptr<device::Device> device)
    : device(std::move(device)),
      device_name(NS::TransferPtr(foundation::new_string(info().name))),
      device_architecture(NS::TransferPtr(new_architecture(info().architecture))) {}

bool shader_validation_enabled() {
  const char* value = std::getenv("MTL_SHADER_VALIDATION");
  return value && *value && std::string_view(value) != "0";
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

Architecture* Architecture::alloc() {
  return new ArchitectureObject;
}

Architecture* Architecture::init() {
  return this;
}

NS::String* Architecture::name() const {
  const auto* self = static_cast<const ArchitectureObject*>(this);
  return self ? self->architecture_name.get() : nullptr;
}

NS::String* Device::name() const {
  const DeviceObject* self = body(this);
  return self ? self->device_name.get() : nullptr;
}

Architecture* Device::architecture() const {
  const DeviceObject* self = body(this);
  return self ? self->device_architecture.get() : nullptr;
}

uint64_t Device::registryID() const {
  const DeviceObject* self = body(this);
  return self ? self->info().registry_id : 0;
}

bool Device::supportsFamily(GPUFamily family) {
  if (!body(this)) return false;
  switch (family) {
    case GPUFamilyApple1:
    case GPUFamilyApple2:
    case GPUFamilyApple3:
    case GPUFamilyApple4:
    case GPUFamilyApple5:
    case GPUFamilyApple6:
    case GPUFamilyApple7:
    case GPUFamilyApple8:
    case GPUFamilyApple9:
    case GPUFamilyMac2:
    case GPUFamilyCommon1:
    case GPUFamilyCommon2:
    case GPUFamilyCommon3:
    case GPUFamilyMetal3:
      return true;
    default:
      return false;
  }
}

// Families before there were families: the macOS ones.
bool Device::supportsFeatureSet(FeatureSet set) {
  return body(this) && set >= FeatureSet_macOS_GPUFamily1_v1 && set <= FeatureSet_macOS_GPUFamily2_v1;
}

// A query about a feature: the same for every device.
#define FEATURE(query, answer)     \
  bool Device::query() const {     \
    return body(this) && (answer); \
  }

FEATURE(supportsFunctionPointers, true)
FEATURE(supports32BitFloatFiltering, true)
FEATURE(supports32BitMSAA, true)
FEATURE(supportsQueryTextureLOD, true)
FEATURE(supportsPullModelInterpolation, true)
FEATURE(supportsShaderBarycentricCoordinates, true)
FEATURE(areBarycentricCoordsSupported, true)
FEATURE(areProgrammableSamplePositionsSupported, true)
FEATURE(areRasterOrderGroupsSupported, true)
FEATURE(supportsBCTextureCompression, false)
FEATURE(isDepth24Stencil8PixelFormatSupported, false)
FEATURE(supportsRaytracing, false)
FEATURE(supportsRaytracingFromRender, false)
FEATURE(supportsPrimitiveMotionBlur, false)
FEATURE(supportsFunctionPointersFromRender, false)
FEATURE(supportsDynamicLibraries, false)
FEATURE(supportsRenderDynamicLibraries, false)
FEATURE(isHeadless, false)
FEATURE(isLowPower, false)
FEATURE(isRemovable, false)

bool Device::supportsTextureSampleCount(NS::UInteger count) {
  return body(this) && (count == 1 || count == 2 || count == 4);
}

bool Device::supportsVertexAmplificationCount(NS::UInteger count) {
  return body(this) && count == 1;
}

bool Device::supportsRasterizationRateMap(NS::UInteger) {
  return false;
}

ArgumentBuffersTier Device::argumentBuffersSupport() const {
  return body(this) ? ArgumentBuffersTier2 : ArgumentBuffersTier1;
}

ReadWriteTextureTier Device::readWriteTextureSupport() const {
  return body(this) ? ReadWriteTextureTier2 : ReadWriteTextureTierNone;
}

bool Device::hasUnifiedMemory() const {
  const DeviceObject* self = body(this);
  return self && self->info().unified_memory;
}

NS::UInteger Device::currentAllocatedSize() const {
  const DeviceObject* self = body(this);
  return self ? self->allocated_bytes.load(std::memory_order_relaxed) : 0;
}

uint64_t Device::recommendedMaxWorkingSetSize() const {
  const DeviceObject* self = body(this);
  return self ? self->info().recommended_working_set : 0;
}

NS::UInteger Device::maxBufferLength() const {
  const DeviceObject* self = body(this);
  return self ? self->info().max_buffer_length : 0;
}

NS::UInteger Device::maxThreadgroupMemoryLength() const {
  const DeviceObject* self = body(this);
  return self ? self->info().max_threadgroup_memory : 0;
}

Size Device::maxThreadsPerThreadgroup() const {
  const DeviceObject* self = body(this);
  if (!self) return Size(0, 0, 0);
  const NS::UInteger most = self->info().max_threads_per_threadgroup;
  return Size(most, most, most);
}

NS::UInteger Device::maxArgumentBufferSamplerCount() const {
  constexpr NS::UInteger of_an_m_series = 1024;
  return body(this) ? of_an_m_series : 0;
}

uint64_t Device::maxTransferRate() const {
  return 0;  // built in, so nothing is transferred
}

DeviceLocation Device::location() const {
  return DeviceLocationBuiltIn;
}

NS::UInteger Device::locationNumber() const {
  return 0;
}

uint64_t Device::peerGroupID() const {
  return 0;
}

uint32_t Device::peerIndex() const {
  return 0;
}

uint32_t Device::peerCount() const {
  return 0;
}

NS::UInteger Device::maximumConcurrentCompilationTaskCount() const {
  return body(this) ? std::max(1U, std::thread::hardware_concurrency()) : 0;
}

bool Device::shouldMaximizeConcurrentCompilation() const {
  const DeviceObject* self = body(this);
  return self && self->maximize_concurrent_compilation;
}

void Device::setShouldMaximizeConcurrentCompilation(bool maximize) {
  if (DeviceObject* self = body(this)) self->maximize_concurrent_compilation = maximize;
}

// The device's clock is the host's.
void Device::sampleTimestamps(Timestamp* cpu, Timestamp* gpu) {
  const DeviceObject* self = body(this);
  const uint64_t now = self ? self->device->clock() : 0;
  if (cpu) *cpu = now;
  if (gpu) *gpu = now;
}

uint64_t Device::queryTimestampFrequency() {
  constexpr uint64_t nanoseconds = 1'000'000'000;
  return body(this) ? nanoseconds : 0;
}

// There are no sparse textures: their tiles have no size, and regions of them no tiles.
Size Device::sparseTileSize(TextureType, PixelFormat, NS::UInteger) {
  return Size(0, 0, 0);
}

Size Device::sparseTileSize(TextureType, PixelFormat, NS::UInteger, SparsePageSize) {
  return Size(0, 0, 0);
}

NS::UInteger Device::sparseTileSizeInBytes() const {
  return 0;
}

NS::UInteger Device::sparseTileSizeInBytes(SparsePageSize) {
  return 0;
}

void Device::convertSparsePixelRegions(const Region*, Region* tiles, Size, SparseTextureRegionAlignmentMode,
                                       NS::UInteger count) {
  std::fill_n(tiles, tiles ? count : 0, Region(0, 0, 0, 0, 0, 0));
}

void Device::convertSparseTileRegions(const Region*, Region* pixels, Size, NS::UInteger count) {
  std::fill_n(pixels, pixels ? count : 0, Region(0, 0, 0, 0, 0, 0));
}

// Metal's standard positions, in sixteenths of a pixel.
void Device::getDefaultSamplePositions(SamplePosition* positions, NS::UInteger count) {
  if (!body(this) || !positions) return;
  static constexpr float one[][2] = {{8, 8}};
  static constexpr float two[][2] = {{12, 12}, {4, 4}};
  static constexpr float four[][2] = {{6, 2}, {14, 6}, {2, 10}, {10, 14}};
  const float (*known)[2] = count == 1 ? one : count == 2 ? two : count == 4 ? four : nullptr;
  for (NS::UInteger i = 0; known && i < count; ++i) positions[i] = SamplePosition(known[i][0] / 16, known[i][1] / 16);
}

}  // namespace MTL

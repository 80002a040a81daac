#include "metal/counters.hpp"

#include <Metal/MTLDevice.hpp>

#include "foundation/array.hpp"
#include "foundation/data.hpp"
#include "foundation/error.hpp"
#include "foundation/string.hpp"
#include "metal/buffer.hpp"
#include "metal/device.hpp"
#include "metal/property.hpp"

namespace metalloid::metal {

CounterSampleBufferObject::CounterSampleBufferObject(DeviceObject* device, NS::SharedPtr<NS::String> label,
                                                     size_t sample_count, bool visible_to_host,
                                                     std::unique_ptr<device::Memory> memory)
    : device(device),
      label(std::move(label)),
      sample_count(sample_count),
      visible_to_host(visible_to_host),
      memory(std::move(memory)) {
  std::fill_n(sample(0), sample_count, uint64_t{MTL::CounterErrorValue});  // until it is sampled
}

void sample_counters(EncoderPart& encoder, const MTL::CounterSampleBuffer* buffer, NS::UInteger index, Call call) {
  const CounterSampleBufferObject* samples = body(buffer);
  if (!samples) return encoder.misuse("the sample buffer is null", call);
  if (index >= samples->sample_count)
    return encoder.misuse("sample " + std::to_string(index) + " is beyond the sample buffer's sampleCount of " +
                              std::to_string(samples->sample_count),
                          call);
  encoder.command_buffer->keep(buffer);
  encoder.list().commands.emplace_back(device::Timestamp{samples->sample(index)});
}

namespace {

class CounterObject final : public MTL::Counter {
 public:
  const char* className() const override { return "MTLCounter"; }
};

class CounterSetObject final : public MTL::CounterSet {
 public:
  const NS::SharedPtr<CounterObject> timestamp = NS::TransferPtr(new CounterObject);

  const char* className() const override { return "MTLCounterSet"; }
};

CounterSetObject* timestamps() {
  static CounterSetObject* const set = new CounterSetObject;
  return set;
}

}  // namespace

struct CounterSampleBufferProperties {
  static constexpr const char* class_name = "MTLCounterSampleBufferDescriptor";
  NS::SharedPtr<MTL::CounterSet> counterSet;
  Copied<NS::String> label;
  MTL::StorageMode storageMode = MTL::StorageModeShared;
  NS::UInteger sampleCount = 0;
};
PROPERTIES(CounterSampleBufferDescriptor, CounterSampleBufferProperties)

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

STRING_CONSTANT(CounterErrorDomain, "MTLCounterErrorDomain")
STRING_CONSTANT(CommonCounterTimestamp, "GPUTimestamp")
STRING_CONSTANT(CommonCounterTessellationInputPatches, "TessellationInputPatches")
STRING_CONSTANT(CommonCounterVertexInvocations, "VertexInvocations")
STRING_CONSTANT(CommonCounterPostTessellationVertexInvocations, "PostTessellationVertexInvocations")
STRING_CONSTANT(CommonCounterClipperInvocations, "ClipperInvocations")
STRING_CONSTANT(CommonCounterClipperPrimitivesOut, "ClipperPrimitivesOut")
STRING_CONSTANT(CommonCounterFragmentInvocations, "FragmentInvocations")
STRING_CONSTANT(CommonCounterFragmentsPassed, "FragmentsPassed")
STRING_CONSTANT(CommonCounterComputeKernelInvocations, "KernelInvocations")
STRING_CONSTANT(CommonCounterTotalCycles, "TotalCycles")
STRING_CONSTANT(CommonCounterVertexCycles, "VertexCycles")
STRING_CONSTANT(CommonCounterTessellationCycles, "TessellationCycles")
STRING_CONSTANT(CommonCounterPostTessellationVertexCycles, "PostTessellationVertexCycles")
STRING_CONSTANT(CommonCounterFragmentCycles, "FragmentCycles")
STRING_CONSTANT(CommonCounterRenderTargetWriteCycles, "RenderTargetWriteCycles")
STRING_CONSTANT(CommonCounterSetTimestamp, "timestamp")
STRING_CONSTANT(CommonCounterSetStageUtilization, "stageutilization")
STRING_CONSTANT(CommonCounterSetStatistic, "statistic")

NS::String* Counter::name() const {
  const Counter* self = this;
  return self ? CommonCounterTimestamp : nullptr;
}

NS::String* CounterSet::name() const {
  const CounterSet* self = this;
  return self ? CommonCounterSetTimestamp : nullptr;
}

NS::Array* CounterSet::counters() const {
  const CounterSet* self = this;
  return self ? NS::Array::array(timestamps()->timestamp.get()) : nullptr;
}

ALLOC(CounterSampleBufferDescriptor)
PROPERTY(CounterSampleBufferDescriptor, counterSet, setCounterSet)
PROPERTY(CounterSampleBufferDescriptor, label, setLabel)
PROPERTY(CounterSampleBufferDescriptor, storageMode, setStorageMode)
PROPERTY(CounterSampleBufferDescriptor, sampleCount, setSampleCount)

NS::Array* Device::counterSets() const {
  const DeviceObject* self = body(this);
  return self ? NS::Array::array(timestamps()) : nullptr;
}

// Commands are carried out one after the other, so between any two there is a place to sample.
bool Device::supportsCounterSampling(CounterSamplingPoint point) {
  return body(this) && (point == CounterSamplingPointAtStageBoundary ||
                        point == CounterSamplingPointAtDispatchBoundary || point == CounterSamplingPointAtBlitBoundary);
}

CounterSampleBuffer* Device::newCounterSampleBuffer(const CounterSampleBufferDescriptor* descriptor,
                                                    NS::Error** error) {
  DeviceObject* self = body(this);
  const auto* asked = properties(descriptor);
  const auto fail = [&](CounterSampleBufferError code, std::string_view message) {
    metalloid::foundation::set_error(error, CounterErrorDomain, code, message);
    return nullptr;
  };
  if (!self) return nullptr;
  if (!asked || asked->counterSet.get() != timestamps())
    return fail(CounterSampleBufferErrorInvalid,
                "counterSet must be one of the device's counterSets(); the one there is holds timestamps");
  if (asked->sampleCount == 0) return fail(CounterSampleBufferErrorInvalid, "sampleCount must be at least 1");
  if (asked->storageMode != StorageModeShared && asked->storageMode != StorageModePrivate)
    return fail(CounterSampleBufferErrorInvalid, "storageMode must be shared or private");
  auto memory = self->device->allocate(asked->sampleCount * sizeof(uint64_t), metalloid::device::Storage::shared);
  if (!memory) return fail(CounterSampleBufferErrorOutOfMemory, memory.error());
  return new CounterSampleBufferObject(self, asked->label.object, asked->sampleCount,
                                       asked->storageMode == StorageModeShared, std::move(*memory));
}

Device* CounterSampleBuffer::device() const {
  const CounterSampleBufferObject* self = body(this);
  return self ? self->device : nullptr;
}

NS::String* CounterSampleBuffer::label() const {
  const CounterSampleBufferObject* self = body(this);
  return self ? self->label.get() : nullptr;
}

NS::UInteger CounterSampleBuffer::sampleCount() const {
  const CounterSampleBufferObject* self = body(this);
  return self ? self->sample_count : 0;
}

NS::Data* CounterSampleBuffer::resolveCounterRange(NS::Range range) {
  const CounterSampleBufferObject* self = body(this);
  if (!self) return nullptr;
  if (range.location > self->sample_count || range.length > self->sample_count - range.location) {
    report_misuse(nullptr, "the range is beyond the sample buffer's sampleCount");
    return nullptr;
  }
  if (!self->visible_to_host) {
    report_misuse(nullptr, "the sample buffer's storage mode is private; resolve it into a buffer with a blit encoder");
    return nullptr;
  }
  const auto* bytes = reinterpret_cast<const char*>(self->sample(range.location));
  return metalloid::foundation::autoreleased_data(std::string(bytes, range.length * sizeof(uint64_t)));
}

}  // namespace MTL

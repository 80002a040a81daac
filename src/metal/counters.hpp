// The object behind MTL::CounterSampleBuffer. The one counter that devices have is the time, in nanoseconds.
#pragma once

#include <Metal/MTLCounters.hpp>
#include <memory>

#include "device/device.hpp"
#include "metal/command_encoder.hpp"

namespace metalloid::metal {

class DeviceObject;

class CounterSampleBufferObject final : public MTL::CounterSampleBuffer {
 public:
  DeviceObject* const device;
  const NS::SharedPtr<NS::String> label;
  const size_t sample_count;
  const bool visible_to_host;  // its storage mode is shared
  const std::unique_ptr<device::Memory> memory;

  CounterSampleBufferObject(DeviceObject* device, NS::SharedPtr<NS::String> label, size_t sample_count,
                            bool visible_to_host, std::unique_ptr<device::Memory> memory);

  uint64_t* sample(size_t index) const { return static_cast<uint64_t*>(memory->host) + index; }

  const char* className() const override { return "MTLCounterSampleBuffer"; }
};

inline const CounterSampleBufferObject* body(const MTL::CounterSampleBuffer* buffer) {
  return static_cast<const CounterSampleBufferObject*>(buffer);
}

// Encodes taking a sample.
void sample_counters(EncoderPart& encoder, const MTL::CounterSampleBuffer* buffer, NS::UInteger index, Call call);

}  // namespace metalloid::metal

// The object behind MTL::ComputePipelineState: a kernel made ready for its device.
#pragma once

#include <Metal/MTLComputePipeline.hpp>
#include <memory>
#include <mutex>
#include <vector>

#include "device/pipeline.hpp"
#include "metal/compute_pipeline_descriptor.hpp"
#include "metal/function.hpp"

namespace metalloid::metal {

class ComputePipelineStateObject final : public MTL::ComputePipelineState {
 public:
  // What it was made from, with the functions linked to it.
  struct Recipe {
    NS::SharedPtr<FunctionObject> function;
    std::vector<NS::SharedPtr<FunctionObject>> linked;
    ComputePipelineProperties properties;
    MTL::Size required_threads = MTL::Size(0, 0, 0);
    device::PipelineRequest request;
  };

  ComputePipelineStateObject(Recipe recipe, std::shared_ptr<device::Pipeline> pipeline);

  DeviceObject* const device;
  const Recipe recipe;
  const std::shared_ptr<device::Pipeline> pipeline;
  const bool supports_indirect_command_buffers;
  const MTL::Size required_threads;  // 0: any number
  const NS::SharedPtr<NS::String> label;

  MTL::ComputePipelineReflection* reflection_object() const;

  const char* className() const override { return "MTLComputePipelineState"; }

 private:
  mutable std::once_flag asked_for_reflection_;
  mutable NS::SharedPtr<MTL::ComputePipelineReflection> reflection_;
};

inline ComputePipelineStateObject* body(MTL::ComputePipelineState* state) {
  return static_cast<ComputePipelineStateObject*>(state);
}
inline const ComputePipelineStateObject* body(const MTL::ComputePipelineState* state) {
  return static_cast<const ComputePipelineStateObject*>(state);
}

// What the device is to be asked for; the error says what is wrong with the descriptor.
Result<ComputePipelineStateObject::Recipe> pipeline_recipe(DeviceObject& device,
                                                           const ComputePipelineProperties& properties,
                                                           MTL::PipelineOption options);

// Asks the device.
Result<std::shared_ptr<device::Pipeline>> compile_pipeline(DeviceObject& device,
                                                           const device::PipelineRequest& request);

}  // namespace metalloid::metal

// The objects behind MTL::FunctionHandle and MTL::VisibleFunctionTable.
#pragma once

#include <Metal/MTLFunctionHandle.hpp>
#include <Metal/MTLVisibleFunctionTable.hpp>
#include <memory>
#include <vector>

#include "metal/compute_pipeline.hpp"
#include "metal/resource.hpp"

namespace metalloid::metal {

// A visible function in the code of one pipeline, which it keeps alive.
class FunctionHandleObject final : public MTL::FunctionHandle {
 public:
  FunctionHandleObject(NS::SharedPtr<FunctionObject> function, std::shared_ptr<device::Pipeline> pipeline,
                       uint64_t address)
      : function(std::move(function)), pipeline(std::move(pipeline)), address(address) {}

  const NS::SharedPtr<FunctionObject> function;
  const std::shared_ptr<device::Pipeline> pipeline;
  const uint64_t address;

  const char* className() const override { return "MTLFunctionHandle"; }
};

inline const FunctionHandleObject* body(const MTL::FunctionHandle* handle) {
  return static_cast<const FunctionHandleObject*>(handle);
}

// A device::FunctionTable in memory of the device.
class VisibleFunctionTableObject final : public MTL::VisibleFunctionTable, public ResourcePart {
 public:
  // Null if there is not enough memory.
  static VisibleFunctionTableObject* make(DeviceObject* device, NS::UInteger count);

  const uint64_t handle;  // what kernels get

  void set(const FunctionHandleObject* function, NS::UInteger index);

  const char* className() const override { return "MTLVisibleFunctionTable"; }

 private:
  VisibleFunctionTableObject(DeviceObject* device, Placement placement, NS::UInteger count);

  std::vector<std::shared_ptr<device::Pipeline>> pipelines_;  // of each entry, kept alive
};

inline VisibleFunctionTableObject* body(MTL::VisibleFunctionTable* table) {
  return static_cast<VisibleFunctionTableObject*>(table);
}
inline const VisibleFunctionTableObject* body(const MTL::VisibleFunctionTable* table) {
  return static_cast<const VisibleFunctionTableObject*>(table);
}

}  // namespace metalloid::metal

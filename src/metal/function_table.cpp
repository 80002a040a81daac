#include "metal/function_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "device/texture.hpp"
#include "foundation/misuse.hpp"
#include "foundation/string.hpp"
#include "metal/heap.hpp"

namespace metalloid::metal {

struct VisibleFunctionTableProperties {
  static constexpr const char* class_name = "MTLVisibleFunctionTableDescriptor";
  NS::UInteger functionCount = 0;
};
PROPERTIES(VisibleFunctionTableDescriptor, VisibleFunctionTableProperties)

namespace {

MTL::FunctionHandle* handle_of(const ComputePipelineStateObject& state, const NS::SharedPtr<FunctionObject>& function) {
  const uint64_t address = state.pipeline->function_address(function->function.name);
  if (address == 0) return nullptr;
  return foundation::autoreleased(new FunctionHandleObject(function, state.pipeline, address));
}

bool is_same(const FunctionObject& a, const FunctionObject& b) {
  return a.function.library == b.function.library && a.function.name == b.function.name &&
         a.function.constants == b.function.constants;
}

}  // namespace

VisibleFunctionTableObject* VisibleFunctionTableObject::make(DeviceObject* device, NS::UInteger count) {
  const size_t bytes = offsetof(device::FunctionTable, entries) + std::max<size_t>(count, 1) * sizeof(uint64_t);
  auto memory = allocate_memory(*device, bytes, MTL::StorageModeShared);
  if (!memory) return nullptr;
  return new VisibleFunctionTableObject(device, Placement{std::move(memory), 0, bytes, {}}, count);
}

VisibleFunctionTableObject::VisibleFunctionTableObject(DeviceObject* device, Placement placement, NS::UInteger count)
    : ResourcePart(device, {}, std::move(placement)), handle(first_address()), pipelines_(count) {
  auto* table = reinterpret_cast<device::FunctionTable*>(first_host_byte());
  table->size = count;
  std::fill_n(table->entries, std::max<size_t>(count, 1), 0);
}

void VisibleFunctionTableObject::set(const FunctionHandleObject* function, NS::UInteger index) {
  if (index >= pipelines_.size()) {
    foundation::report_misuse("-[MTLVisibleFunctionTable setFunction:atIndex:]",
                              fmt::format("index {} is beyond the table's {} functions", index, pipelines_.size()));
    return;
  }
  reinterpret_cast<device::FunctionTable*>(first_host_byte())->entries[index] = function ? function->address : 0;
  pipelines_[index] = function ? function->pipeline : nullptr;
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::foundation;
using namespace metalloid::metal;

ALLOC(VisibleFunctionTableDescriptor)
PROPERTY(VisibleFunctionTableDescriptor, functionCount, setFunctionCount)

VisibleFunctionTableDescriptor* VisibleFunctionTableDescriptor::visibleFunctionTableDescriptor() {
  return autoreleased(alloc()->init());
}

VisibleFunctionTable* ComputePipelineState::newVisibleFunctionTable(const VisibleFunctionTableDescriptor* descriptor) {
  const ComputePipelineStateObject* self = body(this);
  const VisibleFunctionTableProperties* wanted = properties(descriptor);
  return self && wanted ? VisibleFunctionTableObject::make(self->device, wanted->functionCount) : nullptr;
}

// Ray tracing's: Device::supportsRaytracing() is false.
IntersectionFunctionTable* ComputePipelineState::newIntersectionFunctionTable(
    const IntersectionFunctionTableDescriptor*) {
  return nullptr;
}

FunctionHandle* ComputePipelineState::functionHandle(const Function* function) {
  const ComputePipelineStateObject* self = body(this);
  const FunctionObject* wanted = body(function);
  if (!self || !wanted) return nullptr;
  for (const auto& linked : self->recipe.linked)
    if (is_same(*linked.get(), *wanted)) return handle_of(*self, linked);
  return nullptr;
}

FunctionHandle* ComputePipelineState::functionHandle(const NS::String* name) {
  const ComputePipelineStateObject* self = body(this);
  if (!self || !name) return nullptr;
  for (const auto& linked : self->recipe.linked)
    if (linked->function_name->isEqualToString(name)) return handle_of(*self, linked);
  return nullptr;
}

// A visible function has an address only in a pipeline.
FunctionHandle* Device::functionHandle(const Function*) {
  return nullptr;
}

Device* FunctionHandle::device() const {
  const FunctionHandleObject* self = body(this);
  return self ? self->function->device : nullptr;
}

NS::String* FunctionHandle::name() const {
  const FunctionHandleObject* self = body(this);
  return self ? self->function->function_name.get() : nullptr;
}

FunctionType FunctionHandle::functionType() const {
  return body(this) ? FunctionTypeVisible : FunctionType{};
}

ResourceID FunctionHandle::gpuResourceID() const {
  const FunctionHandleObject* self = body(this);
  return {self ? self->address : 0};
}

ResourceID VisibleFunctionTable::gpuResourceID() const {
  const VisibleFunctionTableObject* self = body(this);
  return {self ? self->handle : 0};
}

void VisibleFunctionTable::setFunction(const FunctionHandle* function, NS::UInteger index) {
  if (VisibleFunctionTableObject* self = body(this)) self->set(body(function), index);
}

void VisibleFunctionTable::setFunctions(const FunctionHandle* const functions[], NS::Range range) {
  for (NS::UInteger i = 0; i < range.length; ++i) setFunction(functions ? functions[i] : nullptr, range.location + i);
}

}  // namespace MTL

#include "metal/argument_tables.hpp"

namespace metalloid::metal {

template <size_t size>
static device::Argument at(const std::array<device::Argument, size>& table, uint32_t index) {
  return index < size ? table[index] : device::Argument{};
}

device::Argument ArgumentTables::operator[](const device::Slot& slot) const {
  switch (slot.kind) {
    case ParameterKind::buffer:
    case ParameterKind::visible_function_table:
      return at(buffers, slot.index);
    case ParameterKind::threadgroup_memory:
      return at(threadgroup_memory, slot.index);
    case ParameterKind::texture:
      return at(textures, slot.index);
    case ParameterKind::sampler:
      return at(samplers, slot.index);
    case ParameterKind::grid_value:
    case ParameterKind::value:
      break;
  }
  return {};
}

const device::Argument* ArgumentTables::arguments_of(const device::Pipeline& pipeline, device::Arena& arena) const {
  void* memory = arena.allocate(pipeline.slots.size() * sizeof(device::Argument), alignof(device::Argument));
  auto* arguments = static_cast<device::Argument*>(memory);
  for (size_t i = 0; i < pipeline.slots.size(); ++i) arguments[i] = (*this)[pipeline.slots[i]];
  return arguments;
}

uint64_t threadgroup_memory_of(const device::Pipeline& pipeline, const device::Argument* arguments) {
  constexpr uint64_t granularity = 16;
  uint64_t bytes = pipeline.static_threadgroup_memory;
  for (size_t i = 0; i < pipeline.slots.size(); ++i)
    if (pipeline.slots[i].kind == ParameterKind::threadgroup_memory)
      bytes = (bytes + granularity - 1) / granularity * granularity + arguments[i].length;
  return bytes;
}

}  // namespace metalloid::metal

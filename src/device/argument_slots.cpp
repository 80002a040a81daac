#include <algorithm>

#include "device/pipeline.hpp"

namespace metalloid::device {

namespace {

bool is_on(const Parameter& parameter, std::span<const ConstantValue> constants) {
  if (parameter.function_constant_index == no_function_constant) return true;
  auto value = std::ranges::find(constants, parameter.function_constant_index, &ConstantValue::index);
  return value != constants.end() && !value->bytes.empty() && value->bytes[0] != 0;
}

}  // namespace

std::vector<Slot> argument_slots(const Function& function, std::span<const ConstantValue> constants) {
  std::vector<Slot> slots;
  for (uint32_t i = 0; i < function.parameters.size(); ++i) {
    const Parameter& parameter = function.parameters[i];
    if (parameter.kind == ParameterKind::grid_value || parameter.kind == ParameterKind::value) continue;
    if (!is_on(parameter, constants)) continue;
    for (uint32_t element = 0; element < parameter.array_length; ++element)
      slots.push_back({parameter.kind, parameter.index + element, i});
  }
  return slots;
}

}  // namespace metalloid::device

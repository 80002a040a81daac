#include <algorithm>

#include "device/pipeline.hpp"

namespace metalloid::device {

namespace {

bool is_on(const std::string& constant_name, const Library& library, std::span<const ConstantValue> constants) {
  if (constant_name.empty()) return true;
  const auto& declared = library.function_constants();
  auto constant = std::ranges::find(declared, constant_name, &FunctionConstant::name);
  if (constant == declared.end()) return true;
  auto value = std::ranges::find(constants, constant->index, &ConstantValue::index);
  return value != constants.end() && !value->bytes.empty() && value->bytes[0] != 0;
}

}  // namespace

std::vector<Slot> argument_slots(const Function& function, const Library& library,
                                 std::span<const ConstantValue> constants) {
  std::vector<Slot> slots;
  for (uint32_t i = 0; i < function.parameters.size(); ++i) {
    const Parameter& parameter = function.parameters[i];
    if (parameter.kind == ParameterKind::grid_value || parameter.kind == ParameterKind::value) continue;
    if (!is_on(parameter.function_constant, library, constants)) continue;
    for (uint32_t element = 0; element < parameter.array_length; ++element)
      slots.push_back({parameter.kind, parameter.index + element, i});
  }
  return slots;
}

}  // namespace metalloid::device

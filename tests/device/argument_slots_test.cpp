// Which bindings a dispatch passes to a kernel, and in which order.
#include <gtest/gtest.h>

#include "device/pipeline.hpp"

namespace metalloid::device {
namespace {

Parameter parameter(ParameterKind kind, uint32_t index, uint32_t array_length = 1,
                    uint32_t constant = no_function_constant) {
  Parameter parameter;
  parameter.kind = kind;
  parameter.index = index;
  parameter.array_length = array_length;
  parameter.function_constant_index = constant;
  return parameter;
}

std::string text(const std::vector<Slot>& slots) {
  std::string text;
  for (const Slot& slot : slots)
    text += to_string(slot.kind) + " " + std::to_string(slot.index) + " of " + std::to_string(slot.parameter) + "\n";
  return text;
}

TEST(ArgumentSlots, FollowTheParametersAndLeaveOutWhatTheGridProvides) {
  Function function;
  function.parameters = {parameter(ParameterKind::buffer, 2), parameter(ParameterKind::grid_value, 0),
                         parameter(ParameterKind::texture, 4, 3), parameter(ParameterKind::threadgroup_memory, 0)};
  EXPECT_EQ(text(argument_slots(function, {})),
            "buffer 2 of 0\ntexture 4 of 2\ntexture 5 of 2\ntexture 6 of 2\nthreadgroup_memory 0 of 3\n");
}

TEST(ArgumentSlots, LeaveOutWhatAFunctionConstantSwitchesOff) {
  Function function;
  function.parameters = {parameter(ParameterKind::buffer, 0), parameter(ParameterKind::buffer, 1, 1, 5)};
  EXPECT_EQ(argument_slots(function, {}).size(), 1u);
  EXPECT_EQ(argument_slots(function, {{ConstantValue{5, {0}}}}).size(), 1u);
  EXPECT_EQ(argument_slots(function, {{ConstantValue{5, {1}}}}).size(), 2u);
}

}  // namespace
}  // namespace metalloid::device

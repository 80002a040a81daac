// The object behind MTL::FunctionConstantValues, and how its values meet the constants of a function.
#pragma once

#include <Metal/MTLFunctionConstantValues.hpp>
#include <map>
#include <metalloid/library.hpp>
#include <string>
#include <vector>

#include "device/pipeline.hpp"
#include "metal/property.hpp"

namespace metalloid::metal {

struct TypedValue {
  DataType type = DataType::none;
  std::vector<uint8_t> bytes;
};

struct ConstantValues {
  static constexpr const char* class_name = "MTLFunctionConstantValues";

  std::map<NS::UInteger, TypedValue> by_index;
  std::map<std::string, TypedValue, std::less<>> by_name;
};
PROPERTIES(FunctionConstantValues, ConstantValues)

// The constants that a function uses, by index. Its code is compiled to find out.
Result<std::vector<FunctionConstant>> used_constants(const Library& library, const Function& function);

// The values of those constants, by index; constants that need none may be without one. An error names the constants
// that are missing or were given with another type.
Result<std::vector<device::ConstantValue>> values_for(const std::vector<FunctionConstant>& constants,
                                                      const ConstantValues& values, const std::string& function);

// An error that names the constants without which the function cannot run; success if there are none.
Status check_complete(const std::vector<FunctionConstant>& constants, const std::vector<device::ConstantValue>& values,
                      const std::string& function);

}  // namespace metalloid::metal

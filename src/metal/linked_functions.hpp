// The object behind MTL::LinkedFunctions.
#pragma once

#include <Metal/MTLLinkedFunctions.hpp>
#include <vector>

#include "metal/function.hpp"
#include "metal/property.hpp"

namespace metalloid::metal {

struct LinkedFunctionsProperties {
  static constexpr const char* class_name = "MTLLinkedFunctions";

  Copied<NS::Array> functions;
  Copied<NS::Array> binaryFunctions;
  Copied<NS::Array> privateFunctions;
  Copied<NS::Dictionary> groups;  // which functions a call may reach: of no use to us
};
PROPERTIES(LinkedFunctions, LinkedFunctionsProperties)

// All of them, each once, in order.
std::vector<NS::SharedPtr<FunctionObject>> functions_of(const LinkedFunctionsProperties& linked);
std::vector<NS::SharedPtr<FunctionObject>> functions_of(const NS::Array* functions);

}  // namespace metalloid::metal

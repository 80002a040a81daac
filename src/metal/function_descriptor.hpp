// The object behind MTL::FunctionDescriptor and MTL::IntersectionFunctionDescriptor.
#pragma once

#include <Metal/MTLFunctionConstantValues.hpp>
#include <Metal/MTLFunctionDescriptor.hpp>

#include "metal/property.hpp"

namespace metalloid::metal {

struct FunctionProperties {
  static constexpr const char* class_name = "MTLFunctionDescriptor";

  Copied<NS::String> name;
  Copied<NS::String> specializedName;
  Copied<MTL::FunctionConstantValues> constantValues;
  MTL::FunctionOptions options = MTL::FunctionOptionNone;
  Copied<NS::Array> binaryArchives;
};
BASE_PROPERTIES(FunctionDescriptor, FunctionProperties)

using IntersectionFunctionDescriptorObject = PropertyBag<MTL::IntersectionFunctionDescriptor, FunctionProperties>;

}  // namespace metalloid::metal

#include "metal/function_descriptor.hpp"

namespace MTL {

ALLOC(FunctionDescriptor)
PROPERTY(FunctionDescriptor, name, setName)
PROPERTY(FunctionDescriptor, specializedName, setSpecializedName)
PROPERTY(FunctionDescriptor, constantValues, setConstantValues)
PROPERTY(FunctionDescriptor, options, setOptions)
PROPERTY(FunctionDescriptor, binaryArchives, setBinaryArchives)

FunctionDescriptor* FunctionDescriptor::functionDescriptor() {
  return metalloid::foundation::autoreleased(alloc()->init());
}

ALLOC(IntersectionFunctionDescriptor)

}  // namespace MTL

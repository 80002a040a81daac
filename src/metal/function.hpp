// The object behind MTL::Function: a function of a library, with the values of its constants if it was given any.
#pragma once

#include <Metal/MTLLibrary.hpp>
#include <memory>
#include <mutex>
#include <optional>

#include "device/pipeline.hpp"
#include "metal/library.hpp"

namespace metalloid::metal {

class FunctionObject final : public MTL::Function {
 public:
  FunctionObject(const LibraryObject& library, const metalloid::Function& reflection, MTL::FunctionOptions options);

  DeviceObject* const device;
  device::SpecialisedFunction function;
  const metalloid::Function* const reflection;  // owned by function.library
  const ThreadgroupLimits limits;               // of its library
  const MTL::FunctionOptions function_options;
  NS::SharedPtr<NS::String> function_name;  // the name in the library, or the one given to the specialised function
  NS::SharedPtr<NS::String> label;

  // The constants that the function uses; its code is compiled to find out, once.
  const Result<std::vector<FunctionConstant>>& constants() const;

  // Of an argument, whether the values of the constants leave it there.
  bool has(const Parameter& parameter) const;

  const char* className() const override { return "MTLFunction"; }

 private:
  mutable std::once_flag asked_for_constants_;
  mutable std::optional<Result<std::vector<FunctionConstant>>> constants_;
};

inline FunctionObject* body(MTL::Function* function) {
  return static_cast<FunctionObject*>(function);
}
inline const FunctionObject* body(const MTL::Function* function) {
  return static_cast<const FunctionObject*>(function);
}

struct FunctionProperties;

// A function as a descriptor asks for it; null and an error if there is none, or constants are missing.
FunctionObject* new_function(const LibraryObject& library, const FunctionProperties& properties, NS::Error** error);

}  // namespace metalloid::metal

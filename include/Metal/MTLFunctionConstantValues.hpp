// Values for the [[function_constant(n)]] variables of a library, given before its functions are compiled.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDataType.hpp"
#include "MTLDefines.hpp"

namespace MTL {

class _MTL_EXPORT FunctionConstantValues : public NS::Copying<FunctionConstantValues> {
 public:
  static FunctionConstantValues* alloc();
  FunctionConstantValues* init();

  void setConstantValue(const void* value, DataType type, NS::UInteger index);
  void setConstantValue(const void* value, DataType type, const NS::String* name);
  void setConstantValues(const void* values, DataType type, NS::Range range);
  void reset();
};

}  // namespace MTL

// Which function to take from a library, specialised how and under which name.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"

namespace MTL {

class FunctionConstantValues;

_MTL_OPTIONS(NS::UInteger, FunctionOptions){
    FunctionOptionNone = 0,
    FunctionOptionCompileToBinary = 1,
    FunctionOptionStoreFunctionInMetalPipelinesScript = 1 << 1,
    FunctionOptionStoreFunctionInMetalScript = 1 << 1,
    FunctionOptionFailOnBinaryArchiveMiss = 1 << 2,
    FunctionOptionPipelineIndependent = 1 << 3,
};

class _MTL_EXPORT FunctionDescriptor : public NS::Copying<FunctionDescriptor> {
 public:
  static FunctionDescriptor* functionDescriptor();

  static FunctionDescriptor* alloc();
  FunctionDescriptor* init();

  NS::String* name() const;

  void setName(const NS::String* name);
  NS::Array* binaryArchives() const;
  void setBinaryArchives(const NS::Array* binaryArchives);
  FunctionConstantValues* constantValues() const;
  void setConstantValues(const FunctionConstantValues* constantValues);
  FunctionOptions options() const;
  void setOptions(FunctionOptions options);
  NS::String* specializedName() const;
  void setSpecializedName(const NS::String* specializedName);
};

class _MTL_EXPORT IntersectionFunctionDescriptor
    : public NS::Copying<IntersectionFunctionDescriptor, FunctionDescriptor> {
 public:
  static IntersectionFunctionDescriptor* alloc();
  IntersectionFunctionDescriptor* init();
};

}  // namespace MTL

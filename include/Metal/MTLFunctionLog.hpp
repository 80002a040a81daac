// What functions reported while a command buffer ran: one log per report, with the place in the source it comes from.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"

namespace MTL {

class Function;

_MTL_ENUM(NS::UInteger, FunctionLogType){
    FunctionLogTypeValidation = 0,
};

class _MTL_EXPORT LogContainer : public NS::Referencing<LogContainer, NS::FastEnumeration> {
 protected:
  using NS::Referencing<LogContainer, NS::FastEnumeration>::Referencing;
};

class _MTL_EXPORT FunctionLogDebugLocation : public NS::Referencing<FunctionLogDebugLocation> {
 public:
  NS::URL* URL() const;
  NS::UInteger column() const;
  NS::String* functionName() const;
  NS::UInteger line() const;
};

class _MTL_EXPORT FunctionLog : public NS::Referencing<FunctionLog> {
 public:
  FunctionLogDebugLocation* debugLocation() const;
  NS::String* encoderLabel() const;
  Function* function() const;
  FunctionLogType type() const;
};

}  // namespace MTL

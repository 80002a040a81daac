// Where os_log messages of shaders go.
#pragma once

#include <functional>

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"

namespace MTL {

_MTL_ENUM(NS::Integer, LogLevel){
    LogLevelUndefined = 0, LogLevelDebug = 1, LogLevelInfo = 2,
    LogLevelNotice = 3,    LogLevelError = 4, LogLevelFault = 5,
};

_MTL_ENUM(NS::UInteger, LogStateError){
    LogStateErrorInvalidSize = 1,
    LogStateErrorInvalid = 2,
};

using LogHandlerFunction =
    std::function<void(NS::String* subsystem, NS::String* category, LogLevel logLevel, NS::String* message)>;

_MTL_CONST(NS::ErrorDomain, LogStateErrorDomain);

class _MTL_EXPORT LogState : public NS::Referencing<LogState> {
 public:
  void addLogHandler(const LogHandlerFunction& handler);

#ifdef __BLOCKS__
  void addLogHandler(void (^block)(NS::String*, NS::String*, LogLevel, NS::String*)) {
    addLogHandler(NS::Private::functionFromBlock(block));
  }
#endif
};

class _MTL_EXPORT LogStateDescriptor : public NS::Copying<LogStateDescriptor> {
 public:
  static LogStateDescriptor* alloc();
  LogStateDescriptor* init();

  NS::Integer bufferSize() const;
  void setBufferSize(NS::Integer bufferSize);
  LogLevel level() const;
  void setLevel(LogLevel level);
};

}  // namespace MTL
